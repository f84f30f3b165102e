"""The function that hides secrets, made to be carried along by whatever may be shown later."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.names import kind_name

if TYPE_CHECKING:
    from agentctx_nb.secrecy.masking import Masker

__all__ = ["SecretMask", "mask_of_all", "printed_fields"]

SHORTEST_KEY = 12  # characters of the shortest text in which a vendor's key can be recognised

# A pickle names its mask instead of holding it, so that no secret is written to a file by way of the mask.
_named: WeakValueDictionary[str, SecretMask] = WeakValueDictionary()
_alive: WeakValueDictionary[int, SecretMask] = WeakValueDictionary()  # those that hide something, in order
_numbers = count()


class SecretMask:
    """Called with a text, returns it with the value of every secret covered, and every vendor's key.

    What has the shape of a well-known vendor's key is hidden though nobody registered it.

    States, reports and views keep it and nothing else of their runtime. Copies share it. A pickle read in
    the process that wrote it, or in a fork of that, finds it again; read anywhere else it hides those shapes
    alone, for it takes no secret along.

    >>> mask = SecretMask()
    >>> mask.add("API_KEY", "k3y-0f-the-d00r")
    >>> mask("called with k3y-0f-the-d00r")
    'called with [secret API_KEY]'
    """

    __slots__ = ("__weakref__", "_masker", "_name")

    def __init__(self) -> None:
        self._masker: Masker | None = None  # made, and its module imported, with the first secret
        self._name: str | None = None

    def add(self, name: str, value: Any) -> None:
        """Hide ``value``, called ``name``, from now on."""
        from agentctx_nb.secrecy.masking import Masker

        if self._masker is None:
            self._masker = Masker()
            _alive[next(_numbers)] = self
        self._masker.add(name, value)

    @property
    def longest(self) -> int:
        """How many characters the longest secret may have where it shows up, encoded."""
        return 0 if self._masker is None else self._masker.longest

    def __call__(self, text: str) -> str:
        """Return ``text`` with every secret in it covered."""
        masker = self._masker
        try:
            long = str.__len__(text) >= SHORTEST_KEY
        except TypeError:
            raise DefinitionTypeError(f"a mask takes a text, not {kind_name(text)}") from None
        if masker is None and not long:
            return text
        from agentctx_nb.secrecy.masking import cover

        spans = [] if masker is None else masker.spans(text)
        if long:
            from agentctx_nb.secrecy.vendor_keys import vendor_keys

            # Both are looked for in the text as it came: a covered part would hide the rest of a key.
            spans += [
                (start, end, label if masker is None else masker.safe(label))
                for start, end, label in vendor_keys(text)
            ]
        return cover(text, spans) if spans else text

    def __copy__(self) -> SecretMask:
        return self

    def __deepcopy__(self, memo: object) -> SecretMask:
        return self

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        if self._name is None:
            import secrets

            self._name = secrets.token_hex(16)
            _named[self._name] = self
        return _found, (self._name,)

    def __repr__(self) -> str:
        return "<SecretMask>"


def mask_of_all(text: str) -> str:
    """Return ``text`` with the secrets of every runtime covered: for a thing that belongs to none, as a `Memory`."""
    for mask in list(_alive.values()):
        text = mask(text)
    return SecretMask()(text)


def printed_fields(thing: Any) -> str:
    """Return the repr of a dataclass that belongs to no runtime, with no secret of any in it."""
    given = ", ".join(f"{name}={getattr(thing, name)!r}" for name in type(thing).__match_args__)
    return mask_of_all(f"{type(thing).__qualname__}({given})")


def _found(name: str) -> SecretMask:
    mask = _named.get(name)
    return SecretMask() if mask is None else mask
