"""The part of a runtime that deals with prompt templates: kept by name, rendered, their reads noted."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, cast

from agentctx_nb.errors import DefinitionTypeError, TemplateError, UnknownPromptError
from agentctx_nb.names import check_name, shown
from agentctx_nb.secrecy.masked_errors import masked_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentctx_nb.numbered import Numbered, NumberedEntry
    from agentctx_nb.runtime import AgentRuntime
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

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        return (str(self),), {"name": self.name}


class Prompting:
    """Keeps templates by name and renders them."""

    _prompts: Numbered[PromptTemplate]
    read_recorder: ReadRecorder

    def register_prompt(self, name: str, template: str, *, origin: str | None = None) -> PromptTemplate:
        """Keep a template under ``name``, in place of an older one; `compose_prompt` takes what is returned.

        Raises `TemplateError`, with line and column, and leaves the older one standing where the template
        cannot be read.
        """
        from agentctx_nb.templates import check_template

        if not isinstance(name, str) or not name.strip():
            raise DefinitionTypeError(
                f"the name of a prompt is a string that is not blank, not {shown(name)}"
            )
        if not isinstance(template, str):
            raise DefinitionTypeError(f"the template of prompt {name} is a string, not {shown(template)}")
        try:
            check_template(str(template))
        except TemplateError as exc:
            raise masked_error(exc, cast("AgentRuntime", self).mask) from None
        kept = PromptTemplate(template, name=name)
        self._prompts.register(name, kept, origin=origin)
        return kept

    def unregister_prompt(self, name: str) -> bool:
        """Remove a prompt; return whether there was one."""
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
        return MappingProxyType({name: entry.thing for name, entry in entries if entry is not None})

    def registered_prompt(self, name: str) -> NumberedEntry[PromptTemplate]:
        """Return the prompt ``name`` (as ``.thing``) with its version; `UnknownPromptError` if there is none."""
        check_name(name, of="a prompt")
        try:
            return self._prompts[name]
        except UnknownPromptError as exc:  # which names others, and may be printed
            raise masked_error(exc, cast("AgentRuntime", self).mask) from None

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
        What the template reads is noted for `reads`.
        """
        from agentctx_nb.usage.watched_names import noted_prompt

        return noted_prompt(self.read_recorder, state, template, extra=extra, missing=missing)
