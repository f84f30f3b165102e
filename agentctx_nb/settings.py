"""Settings and secrets: which layer a value comes from, and what must be hidden wherever it shows up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentctx_nb.caution import caution
from agentctx_nb.errors import DefinitionTypeError, SettingError
from agentctx_nb.names import shown
from agentctx_nb.secrecy.named_secrets import (
    named_parts,
    names_a_secret,
    texts_to_hide,
    with_named_replaced,
)
from agentctx_nb.secrecy.secret_mask import SecretMask
from agentctx_nb.short_errors import short_errors
from agentctx_nb.tracebacks import theirs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

__all__ = ["Settings"]

_SWITCHES = {"true": True, "false": False}


class _Found:
    # Written out: a NamedTuple would be compiled at every start of an interpreter.
    __slots__ = ("hidden", "layer", "value")

    def __init__(self, value: Any, layer: str, *, hidden: bool) -> None:
        self.value = value
        self.layer = layer  # "secret", "setting", "environment", ".env" or "default"
        self.hidden = hidden  # it is a secret, or its name says so


class Settings:
    """What a runtime was told: secrets before settings before environment before ``.env`` before defaults.

    Parameters
    ----------
    env
        Also read the process environment, under the very names asked for.
    env_prefix
        Read the environment under ``env_prefix + name``; alone it hides all other variables.
    env_file
        Also read this file of lines ``NAME=value``, once, now. A name in it may have the prefix or not.
    environ
        The environment to read instead of the process's own.

    Attributes
    ----------
    mask
        Called with a text, covers the value of every secret in it, in whatever encoding it stands there.

    >>> settings = Settings({"units": "metric", "port": "8080"}, secrets={"API_KEY": "k3y-0f-the-d00r"})
    >>> settings.get("units"), settings.get("port", type=int), settings.get("missing", "fallback")
    ('metric', 8080, 'fallback')
    >>> settings.mask("called with k3y-0f-the-d00r")
    'called with [secret API_KEY]'
    """

    def __init__(
        self,
        settings: Mapping[str, Any] | None = None,
        secrets: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        *,
        env: bool = False,
        env_prefix: str | None = None,
        env_file: str | PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        if env_prefix is not None and not isinstance(env_prefix, str):
            raise DefinitionTypeError(f"env_prefix is a string such as 'AGENT_', not {shown(env_prefix)}")
        self._settings = _layer(settings, "settings")
        self._secrets = _layer(secrets, "secrets")
        self._defaults = _layer(defaults, "defaults")
        self._prefixes = (*([env_prefix] if env_prefix is not None else []), *([""] if env else []))
        self._environ = environ
        self._read: set[str] = set()  # names found in the environment so far
        self.mask = SecretMask()
        self._warned: set[str] = set()
        for key, value in self._secrets.items():
            self._hide(key, value)
        for layer in (self._settings, self._defaults):
            self._hide_named(layer)
        self._env_file: dict[str, str] = {}
        if env_file is not None:
            from agentctx_nb.env_file import read_env_file

            with short_errors(self):
                self._env_file = self._hidden_file(read_env_file(env_file))

    def get(
        self,
        key: str,
        default: Any = None,
        *,
        type: Callable[[Any], Any] | None = None,  # noqa: A002  as argparse names it
    ) -> Any:
        """Return the value of ``key`` from the first layer that has one, else ``default``.

        Parameters
        ----------
        default
            Returned as it is. Falsy values count as set; ``None`` does not.
        type
            ``int``, ``float``, ``bool``, ``str``, ``list`` or ``list[int]`` (texts between commas), ``Path``,
            an ``Enum``, or any callable that takes the value. Without it a value comes as it is, but that
            exactly ``"true"`` and ``"false"`` are booleans.

        Raises
        ------
        SettingError
            The value is none of ``type``. It names key, layer and type, and never a secret.
        """
        _checked_key(key)
        if type is not None and not callable(type):
            raise DefinitionTypeError(
                f"type of the setting {key!r} is int, list or any callable, not {shown(type)}"
            )
        found = next(self._layers_of(key), None)
        if found is None:
            return default
        return _as_switch(found.value) if type is None else self._typed(key, found, type)

    def set(self, key: str, value: Any, *, secret: bool = False) -> None:
        """Put ``value`` into the settings layer, or the secrets layer; ``None`` clears ``key`` in both.

        What was secret once stays masked, since earlier outputs may still hold it. A setting whose name
        says it is a secret is masked as one, unless it is short or reads as plain words.
        """
        _checked_key(key)
        if value is None:
            self._settings.pop(key, None)
            self._secrets.pop(key, None)
        elif secret:
            self._hide(key, value)
            self._secrets[key] = value
        else:
            self._hide_named({key: value})
            self._settings[key] = value

    def to_frame(self) -> Any:
        """Return every setting as a pandas DataFrame for display, ordered by key; secrets are masked.

        Columns: ``key``, ``value``, ``type``, ``layer``, ``shadowed`` (the layers below that have it too). A
        value whose name says it is a secret is hidden here whatever its layer: as ``[secret KEY]`` where it is
        masked everywhere, as ``[hidden KEY]`` where it is too short or too plain a word for that. Of the
        environment it holds what ``env_prefix`` lets in, and what was read so far.
        """
        from agentctx_nb.frames import frame

        return frame(self.rows(), ["key", "value", "type", "layer", "shadowed"])

    def rows(self) -> list[tuple[Any, ...]]:
        """Return what `to_frame` holds, row by row."""
        from agentctx_nb.render.masked import masked_copy

        rows = []
        for key in self._keys():
            found, *below = self._layers_of(key)
            if found.hidden:
                value: Any = self._label(key, found)
            else:
                value = masked_copy(with_named_replaced(key, found.value, self._named), mask=self.mask)
            shadowed = tuple([each.layer for each in below])
            rows.append((self.mask(key), value, type(found.value).__name__, found.layer, shadowed))
        return rows

    def replaced(self, replace: Callable[[str, Any], Any]) -> Settings:
        """Return a copy in which each secret ``key`` has the value ``replace(key, value)``, hidden as it was.

        A setting whose name says it is a secret counts as one. Of an environment it holds what there is now.
        """

        def swapped(layer: Mapping[str, Any], *, all_secret: bool = False) -> dict[str, Any]:
            return {
                key: replace(key, value) if all_secret else with_named_replaced(key, value, replace)
                for key, value in layer.items()
                if value is not None
            }

        copied = Settings(secrets=swapped(self._secrets, all_secret=True))
        copied._settings, copied._defaults = swapped(self._settings), swapped(self._defaults)
        for layer, twin in ((self._settings, copied._settings), (self._defaults, copied._defaults)):
            for key, fakes in twin.items():
                pairs = zip(named_parts(key, layer[key]), named_parts(key, fakes), strict=True)
                for (path, part), (_, fake) in pairs:
                    if next(texts_to_hide(path, part), None):  # else it is masked in no copy either
                        copied._hide_named({path: fake})
        copied._prefixes = self._prefixes
        let_in = {name: value for name, value in self._variables().items() if name.startswith(self._prefixes)}
        copied._environ = swapped(let_in)
        copied._env_file = copied._hidden_file(swapped(self._env_file))
        return copied

    def __repr__(self) -> str:
        layers = {
            "secrets": self._secrets,
            "settings": self._settings,
            ".env": self._env_file,
            "defaults": self._defaults,
        }
        named = "; ".join(f"{name}: {', '.join(layer)}" for name, layer in layers.items() if layer)
        return self.mask(f"<Settings {named}>") if named else "<Settings, empty>"

    def _layers_of(self, key: str) -> Iterator[_Found]:
        """Yield the value of ``key`` in each layer that has one, the first first."""
        for layer, values in (("secret", self._secrets), ("setting", self._settings)):
            if values.get(key) is not None:
                yield _Found(values[key], layer, hidden=layer == "secret" or names_a_secret(key))
        value = self._from_environment(key)
        if value is not None:
            yield _Found(value, "environment", hidden=names_a_secret(key))
        for name in dict.fromkeys([*(prefix + key for prefix in self._prefixes), key]):
            if name in self._env_file:
                yield _Found(self._env_file[name], ".env", hidden=names_a_secret(key))
                break
        if self._defaults.get(key) is not None:
            yield _Found(self._defaults[key], "default", hidden=names_a_secret(key))

    def _keys(self) -> list[str]:
        keys = {
            key
            for layer in (self._secrets, self._settings, self._defaults)
            for key, value in layer.items()
            if value is not None
        }
        prefix = next((prefix for prefix in self._prefixes if prefix), "")
        keys.update(name.removeprefix(prefix) or name for name in self._env_file)
        if prefix:
            keys.update(
                name[len(prefix) :]
                for name in self._variables()
                if name.startswith(prefix) and name != prefix
            )
        keys.update(key for key in list(self._read) if self._from_environment(key) is not None)
        return sorted(keys)

    def _typed(self, key: str, found: _Found, wanted: Callable[[Any], Any]) -> Any:
        from agentctx_nb.setting_types import as_type, type_name

        try:
            return as_type(found.value, wanted)
        except Exception as exc:  # noqa: BLE001  whatever a callable of theirs raises
            failed = exc
        told, value = str(failed), shown(found.value)
        secret = (
            found.hidden
            or self.mask(told + value) != told + value
            or next(named_parts(key, found.value), None) is not None
        )
        where = {"secret": "the secrets", "setting": "the settings", "default": "the defaults"}.get(
            found.layer, f"the {found.layer.replace('.env', '.env file')}"
        )
        said = f"the setting {self.mask(key)}, from {where}, is no {type_name(wanted)}: "
        said += self._label(key, found) if secret else value
        if told and not secret and wanted not in (int, float):  # those repeat the value
            said += f"; {told}"
        # The cause would print the value, in its message or in the line that raised it.
        raise SettingError(said, key=key, layer=found.layer) from (None if secret else theirs(failed))

    def _label(self, key: str, found: _Found) -> str:
        """Return what stands for a value that is not shown; only one that is masked everywhere is a secret."""
        named_only = found.layer in ("setting", "default") and found.hidden
        masked = not named_only or next(texts_to_hide(key, found.value), None) is not None
        return self.mask(f"[secret {key}]" if masked else f"[hidden {key}]")

    def _named(self, path: str, part: Any) -> str:
        """Return what stands for a part of a setting whose own name says that it is a secret."""
        return self._label(path, _Found(part, "setting", hidden=True))

    def _variables(self) -> Mapping[str, str]:
        if self._environ is not None:
            return self._environ
        import os

        return os.environ

    def _from_environment(self, key: str) -> str | None:
        for prefix in self._prefixes:
            value = self._variables().get(prefix + key)
            if value is not None:
                self._read.add(key)
                if names_a_secret(key):
                    self.mask.add(key, value)
                return value
        return None

    def _hidden_file(self, found: dict[str, str]) -> dict[str, str]:
        for key, value in found.items():
            if names_a_secret(key):
                self.mask.add(key, value)
        return found

    def _hide_named(self, layer: Mapping[str, Any]) -> None:
        for key, value in layer.items():
            for path, part in named_parts(key, value):
                for text in texts_to_hide(path, part):
                    self.mask.add(path, text)

    def _hide(self, key: str, value: Any) -> None:
        from agentctx_nb.secrecy.masking import SHORTEST_MASKED, secret_texts

        self.mask.add(key, value)
        if key not in self._warned and any(len(text) < SHORTEST_MASKED for text in secret_texts(value)):
            self._warned.add(key)
            caution(
                f"the secret {key!r} is shorter than {SHORTEST_MASKED} characters and cannot be masked "
                "in outputs; use a longer one"
            )


def _layer(given: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DefinitionTypeError(f"{name} is a dict from names to values, not {type(given).__name__}")
    for key in given:
        _checked_key(key)
    return dict(given)


def _checked_key(key: object) -> None:
    if not isinstance(key, str) or not key:
        what = "an empty string" if key == "" else type(key).__name__
        raise DefinitionTypeError(f"the name of a setting is a string such as 'STOCK_API_KEY', not {what}")


def _as_switch(value: Any) -> Any:
    return _SWITCHES.get(value, value) if isinstance(value, str) else value
