"""Settings and secrets: which layer a value comes from, and what must be hidden wherever it shows up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentctx_nb.caution import caution
from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.names import shown
from agentctx_nb.secret_mask import SecretMask

__all__ = ["Settings"]

_SWITCHES = {"true": True, "false": False}
# An environment has no secrets layer, so its names have to say what is one.
_SECRET_ENDINGS = frozenset(
    ("KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS")
)


class Settings:
    """What a runtime was told: secrets before settings before the environment before defaults.

    Parameters
    ----------
    env
        Also read the process environment, under the very names asked for.
    env_prefix
        Read the environment under ``env_prefix + name``; alone it hides all other variables.
    environ
        The environment to read instead of the process's own.

    Attributes
    ----------
    mask
        Called with a text, covers the value of every secret in it, in whatever encoding it stands there.

    >>> settings = Settings({"units": "metric", "verbose": "false"}, secrets={"API_KEY": "k3y-0f-the-d00r"})
    >>> settings.get("units"), settings.get("verbose"), settings.get("missing", "fallback")
    ('metric', False, 'fallback')
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
        environ: Mapping[str, str] | None = None,
    ) -> None:
        if env_prefix is not None and not isinstance(env_prefix, str):
            raise DefinitionTypeError(f"env_prefix is a string such as 'AGENT_', not {shown(env_prefix)}")
        self._settings = _layer(settings, "settings")
        self._secrets = _layer(secrets, "secrets")
        self._defaults = _layer(defaults, "defaults")
        self._prefixes = (*([env_prefix] if env_prefix is not None else []), *([""] if env else []))
        self._environ = environ
        self.mask = SecretMask()
        self._warned: set[str] = set()
        for key, value in self._secrets.items():
            self._hide(key, value)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of ``key`` from the first layer that has one, else ``default``.

        Falsy values count; ``None`` does not. Exactly ``"true"`` and ``"false"`` come back as booleans.
        """
        _checked_key(key)
        for layer in (self._secrets, self._settings):
            if layer.get(key) is not None:
                return _as_switch(layer[key])
        found = self._from_environment(key)
        if found is None:
            found = self._defaults.get(key)
        return default if found is None else _as_switch(found)

    def set(self, key: str, value: Any, *, secret: bool = False) -> None:
        """Put ``value`` into the settings layer, or the secrets layer; ``None`` clears ``key`` in both.

        What was secret once stays masked, since earlier outputs may still hold it.
        """
        _checked_key(key)
        if value is None:
            self._settings.pop(key, None)
            self._secrets.pop(key, None)
        elif secret:
            self._hide(key, value)
            self._secrets[key] = value
        else:
            self._settings[key] = value

    def __repr__(self) -> str:
        layers = {"secrets": self._secrets, "settings": self._settings, "defaults": self._defaults}
        named = "; ".join(f"{name}: {', '.join(layer)}" for name, layer in layers.items() if layer)
        return f"<Settings {named}>" if named else "<Settings, empty>"

    def _from_environment(self, key: str) -> str | None:
        if not self._prefixes:
            return None
        environ = self._environ
        if environ is None:
            import os

            environ = os.environ
        for prefix in self._prefixes:
            value = environ.get(prefix + key)
            if value is not None:
                if key.upper().rpartition("_")[2] in _SECRET_ENDINGS:
                    self.mask.add(key, value)
                return value
        return None

    def _hide(self, key: str, value: Any) -> None:
        from agentctx_nb.masking import SHORTEST_MASKED, secret_texts

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
