"""The part of a runtime that deals with prompt templates: kept by name, rendered, their reads noted."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.names import check_name, shown
from agentctx_nb.short_errors import short_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentctx_nb.log import RuntimeLogger
    from agentctx_nb.numbered import Numbered, NumberedEntry
    from agentctx_nb.state import State
    from agentctx_nb.templates import Prompt
    from agentctx_nb.usage.read_recorder import ReadRecorder

__all__ = ["PromptTemplate", "Prompting"]


class PromptTemplate(str):
    """The text of a template that was registered, with the name it goes by.

    >>> PromptTemplate("Hi {{who}}", name="GREETING").name
    'GREETING'
    """

    __slots__ = ("name",)

    name: str

    def __new__(cls, text: str, *, name: str) -> Self:
        """Make the string and attach the name."""
        template = super().__new__(cls, text)
        template.name = name
        return template

    def __repr__(self) -> str:
        from agentctx_nb.secrecy.secret_mask import mask_of_all

        return mask_of_all(super().__repr__())

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        return (str(self),), {"name": self.name}


class _ByName(dict[str, PromptTemplate]):
    """Templates by name; one that is not there is asked for, so that the error names the near ones."""

    def __init__(self, found: dict[str, PromptTemplate], ask: Callable[[str], Any]) -> None:
        super().__init__(found)
        self._ask = ask

    def __repr__(self) -> str:
        from agentctx_nb.secrecy.secret_mask import mask_of_all

        return mask_of_all(super().__repr__())

    def __missing__(self, name: str) -> PromptTemplate:
        with short_errors(self):
            found: PromptTemplate = self._ask(name).thing
            return found


class Prompting:
    """Keeps templates by name and renders them."""

    _prompts: Numbered[PromptTemplate]
    read_recorder: ReadRecorder
    logger: RuntimeLogger

    def register_prompt(self, name: str, template: str, *, origin: str | None = None) -> PromptTemplate:
        """Keep a template under ``name``, in place of an older one; `compose_prompt` takes what is returned.

        Raises `TemplateError`, with line and column, and leaves the older one standing where the template
        cannot be read.
        """
        from agentctx_nb.templates import check_template

        with short_errors(self):
            if not isinstance(name, str) or not name.strip():
                raise DefinitionTypeError(
                    f"the name of a prompt is a string that is not blank, not {shown(name)}"
                )
            if not isinstance(template, str):
                raise DefinitionTypeError(f"the template of prompt {name} is a string, not {shown(template)}")
            check_template(str(template))
            kept = PromptTemplate(template, name=name)
            self._prompts.register(name, kept, origin=origin)
            return kept

    def unregister_prompt(self, name: str) -> bool:
        """Remove a prompt; return whether there was one."""
        with short_errors(self):
            check_name(name, of="a prompt")
            return self._prompts.unregister(name)

    @property
    def prompts(self) -> Mapping[str, PromptTemplate]:
        """The templates by name, in the order of first registration; to read only.

        >>> from agentctx_nb import AgentRuntime
        >>> runtime = AgentRuntime()
        >>> _ = runtime.register_prompt("GREETING", "Hi {{who}}!")
        >>> runtime.compose_prompt(runtime.compose("hello"), runtime.prompts["GREETING"], who="Ada")
        'Hi Ada!'
        """
        entries = [(name, self._prompts.find(name)) for name in self._prompts]
        found = {name: entry.thing for name, entry in entries if entry is not None}
        return MappingProxyType(_ByName(found, self.registered_prompt))

    def registered_prompt(self, name: str) -> NumberedEntry[PromptTemplate]:
        """Return the prompt ``name`` (as ``.thing``) with its version; `UnknownPromptError` if there is none."""
        with short_errors(self):
            check_name(name, of="a prompt")
            return self._prompts[name]

    def name_as_template(self, template: object) -> str:
        """Return what to say where a template is the mere name of a prompt; nothing of any other."""
        if not isinstance(template, str) or isinstance(template, PromptTemplate):
            return ""
        if self._prompts.find(template) is None:
            return ""
        return (
            f"the template is the text {str(template)!r}, which is the name of a prompt; "
            f"its template is runtime.prompts[{str(template)!r}]"
        )

    def compose_prompt(
        self,
        state: State,
        template: str | Callable[[State], str],
        /,
        *,
        missing: str = "empty",
        **extra: Any,
    ) -> Prompt:
        """Render a Handlebars template with ``extra``, then the state's values, then its ``data``.

        ``missing`` says what a name becomes that nobody wrote: ``"empty"``, an ``"error"``, or its own
        tag (``"keep"``). Raises `TemplateError` with line and column where the template cannot be read.
        What the template reads is noted for `reads`. The name of a prompt is a text like any other, which is
        logged as a warning: the template is ``runtime.prompts[name]``.
        """
        from agentctx_nb.state import State
        from agentctx_nb.usage.watched_names import noted_prompt

        with short_errors(self):
            if not isinstance(state, State):
                raise DefinitionTypeError(
                    f"compose_prompt takes a state first, as compose returns it, not {shown(state)}"
                )
            if said := self.name_as_template(template):
                self.logger.warning(said)
            return noted_prompt(self.read_recorder, state, template, extra=extra, missing=missing)
