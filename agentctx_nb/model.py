"""Memory, Content and Entity: the data that goes in and out of a runtime, nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NoReturn, TypeAlias

from agentctx_nb.bare import bare
from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.freeze import FrozenDict, copy_containers, freeze, thawed
from agentctx_nb.names import counted, known_fields, shown
from agentctx_nb.secrecy.secret_mask import mask_of_all, printed_fields

__all__ = [
    "Content",
    "Entity",
    "Memory",
    "MessageLike",
    "as_entity",
    "as_message",
    "check_fields",
    "seal",
]


class Content:
    """What a message says: ``text``, and any other attribute its source gave it.

    An attribute nobody gave reads as ``None``, as it does on the reference page.

    >>> content = Content("Is it raining?", user="ada")
    >>> content.text, content.user, content.source
    ('Is it raining?', 'ada', None)
    >>> "source" in content, list(content)
    (False, ['text', 'user'])
    """

    _sealed_type: ClassVar[type[Content]]  # set below, as of the two other classes

    text: str | None

    def __init__(self, /, text: str | None = "", **more: Any) -> None:
        if text is not None and not isinstance(text, str):
            _refuse_text(text)
        self.__dict__["text"] = text
        if more:
            self.__dict__.update(more)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and pickle ask for hooks that must really be missing
            raise AttributeError(name)
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # it can be edited

    def __contains__(self, name: object) -> bool:
        return name in self.__dict__

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __repr__(self) -> str:
        return mask_of_all(f"Content({', '.join(f'{k}={bare(v)!r}' for k, v in self.__dict__.items())})")

    def get(self, name: str, default: Any = None) -> Any:
        """Return the attribute ``name``, or ``default`` when nobody gave it."""
        return self.__dict__.get(name, default)

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a new dict."""
        return dict(self.__dict__)


@dataclass(slots=True, repr=False)
class Memory:
    """One message, fact or document; printed it shows the fields that are set, and how long its vector is.

    Parameters
    ----------
    content
        A `Content`, a string (taken as its text) or a dict of its attributes.
    created_at
        Milliseconds since the epoch; a store fills it in when it is missing.
    embedding
        Floats, all of one table of the same length.
    similarity
        Cosine with the query, at most 1.0, set on what a search returns.
    unique
        False where a near twin stood in the same table and room already.

    >>> Memory("Is it raining?", room_id="lobby", embedding=[0.6, 0.8])
    Memory(content=Content(text='Is it raining?'), room_id='lobby', embedding=<2 floats>)
    """

    _sealed_type: ClassVar[type[Memory]]

    content: Content
    entity_id: str | None = None
    room_id: str | None = None
    id: str | None = None
    agent_id: str | None = None
    world_id: str | None = None
    created_at: int | None = None
    embedding: Any = None
    similarity: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    unique: bool | None = None

    def __init__(
        self,
        content: Content | str | Mapping[str, Any] | None = None,
        entity_id: str | None = None,
        room_id: str | None = None,
        id: str | None = None,  # noqa: A002  the field's own name
        agent_id: str | None = None,
        world_id: str | None = None,
        created_at: int | None = None,
        embedding: Any = None,
        similarity: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        unique: bool | None = None,  # noqa: FBT001  the fields of a dataclass, in their order
    ) -> None:
        self.content = content if type(content) is Content else _as_content(content)
        self.entity_id = entity_id
        self.room_id = room_id
        self.id = id
        self.agent_id = agent_id
        self.world_id = world_id
        self.created_at = created_at
        self.embedding = embedding
        self.similarity = similarity
        self.metadata = _as_metadata(metadata, "a Memory") if metadata else {}
        self.unique = unique

    def __repr__(self) -> str:
        said = [
            f"{name}={_vector_text(value) if name == 'embedding' else repr(bare(value))}"
            for name in _MEMORY_FIELDS  # there are none yet while it is unpickled
            if (value := getattr(self, name, None)) is not None and not (name == "metadata" and not value)
        ]
        return mask_of_all(f"Memory({', '.join(said)})")

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Memory:
        """Read a dict in either spelling; a bare ``text`` stands for ``content``.

        >>> Memory.from_dict({"text": "hi", "roomId": "lobby"}).room_id
        'lobby'
        """
        if "text" in given and "content" not in given:
            given = {"content": {"text": given["text"]}, **{k: v for k, v in given.items() if k != "text"}}
        return cls(**known_fields(given, _MEMORY_FIELDS, of="a memory"))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, in snake_case."""
        check_fields(self)
        found = {name: getattr(self, name) for name in _MEMORY_FIELDS}
        found["content"] = self.content.to_dict()
        return _set_ones(found)


def _vector_text(embedding: Any) -> str:
    try:
        return f"<{counted(len(embedding), 'float')}>"
    except Exception:  # noqa: BLE001  whatever somebody took for a vector
        return f"<{type(embedding).__name__}>"


@dataclass(slots=True)
class Entity:
    """Somebody a message comes from.

    ``names`` holds the name to show first, then others; ``metadata`` is free, and its
    ``preferences`` are what USER_PREFERENCES reads. ``created_at`` is in milliseconds since the epoch.

    >>> Entity(id="u1", names=["Ada"]).names[0]
    'Ada'
    """

    _sealed_type: ClassVar[type[Entity]]

    id: str | None = None
    names: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    created_at: int | None = None
    agent_id: str | None = None
    __repr__ = printed_fields

    def __post_init__(self) -> None:
        if isinstance(self.names, str):
            self.names = [self.names]
        elif isinstance(self.names, Iterator):
            self.names = list(self.names)
        _check_names(self.names)
        self.names = list(self.names)
        self.metadata = _as_metadata(self.metadata, "an Entity")

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Entity:
        """Read a dict in either spelling."""
        return cls(**known_fields(given, _ENTITY_FIELDS, of="an entity"))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, in snake_case."""
        found = {name: getattr(self, name) for name in _ENTITY_FIELDS}
        return _set_ones(found)


def _set_ones(found: dict[str, Any]) -> dict[str, Any]:
    # Only what is a dict or a list is asked whether it is empty: an array would not answer.
    return {k: v for k, v in found.items() if v is not None and (not isinstance(v, dict | list) or v)}


_MEMORY_FIELDS = tuple(f.name for f in fields(Memory))
_ENTITY_FIELDS = tuple(f.name for f in fields(Entity))

MessageLike: TypeAlias = "Memory | Content | str | Mapping[str, Any]"


def as_message(message: MessageLike) -> Memory:
    """Return ``message`` as a `Memory`: a string is its text, a dict may be in either spelling.

    Raises
    ------
    DefinitionTypeError
        It is none of these.
    """
    if isinstance(message, Memory):
        content = message.content
        # What is as it should be at a glance is not looked at further: this is done for every message.
        plain = type(content) is Content and type(content.text) is str and type(message.metadata) is dict
        if not plain:
            check_fields(message)
        return message
    if isinstance(message, str):
        return Memory(Content(message))
    if isinstance(message, Content):
        return Memory(message)
    if isinstance(message, Mapping):
        return Memory.from_dict(message)
    raise DefinitionTypeError(f"a message is a Memory, a string or a dict, not {type(message).__name__}")


def as_entity(entity: Entity | Mapping[str, Any]) -> Entity:
    """Return ``entity`` as an `Entity`; a dict may be in either spelling."""
    if isinstance(entity, Entity):
        check_fields(entity)
        return entity
    if isinstance(entity, Mapping):
        return Entity.from_dict(entity)
    raise DefinitionTypeError(f"an entity is an Entity or a dict, not {type(entity).__name__}")


def check_fields(given: Memory | Entity) -> None:
    """Raise `DefinitionTypeError` where a field was assigned what its class would not have taken."""
    if isinstance(given, Memory):
        content = given.content
        if not isinstance(content, Content):
            raise DefinitionTypeError(
                f"the content of a Memory is a Content, not {shown(content)}; "
                "assign Content(text), or the text to memory.content.text"
            )
        text = content.__dict__.get("text")
        if text is not None and not isinstance(text, str):
            _refuse_text(text)
        of = "a Memory"
    else:
        _check_names(given.names)
        of = "an Entity"
    if type(given.metadata) is not dict and not isinstance(given.metadata, Mapping):
        raise DefinitionTypeError(f"the metadata of {of} is a dict, not {shown(given.metadata)}")


def _refuse_text(text: object) -> NoReturn:
    raise DefinitionTypeError(f"the text of a message must be a string, not {shown(text)}")


def _check_names(names: object) -> None:
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Collection):
        raise DefinitionTypeError(f"the names of an entity must be a list of strings, not {shown(names)}")
    for name in names:
        if not isinstance(name, str):
            raise DefinitionTypeError(f"the names of an entity must be strings, and {shown(name)} is none")


def seal(message: Memory) -> Memory:
    """Return a copy of ``message`` that refuses edits, so that no provider changes it for another."""
    # Done for every message: past each __init__, and a text alone is not looked through.
    new, said = object.__new__, message.content.__dict__
    content = new(Content)
    content.__dict__ = FrozenDict(said) if len(said) == 1 and type(said.get("text")) is str else freeze(said)
    content.__class__ = _SealedContent
    sealed = new(Memory)
    sealed.content = content
    sealed.entity_id = message.entity_id
    sealed.room_id = message.room_id
    sealed.id = message.id
    sealed.agent_id = message.agent_id
    sealed.world_id = message.world_id
    sealed.created_at = message.created_at
    embedding = message.embedding
    sealed.embedding = embedding if embedding is None else _sealed_vector(embedding)
    sealed.similarity = message.similarity
    sealed.metadata = freeze(message.metadata) if message.metadata else _NO_METADATA
    sealed.unique = message.unique
    sealed.__class__ = _SealedMemory
    return sealed


_NO_METADATA = FrozenDict()


def _sealed_vector(embedding: Any) -> Any:
    if hasattr(embedding, "setflags"):  # an array, without an import of numpy to ask for it
        embedding = embedding.view()
        embedding.setflags(write=False)
        return embedding
    return freeze(embedding)


def _read_only(self: object, name: str, *_: object) -> NoReturn:
    raise AttributeError(
        f"a provider sees the message and the state read-only: {name} cannot be changed; work on a copy"
    )


def _open_new(cls: type, *given: Any, **more: Any) -> Any:
    """Make an object that can be edited, where `dataclasses.replace` asks for one of a sealed class."""
    assert cls.__base__ is not None
    return cls.__base__(*copy_containers(given), **copy_containers(more))


def _equal(self: Any, other: object) -> bool:
    names = _MEMORY_FIELDS if isinstance(self, Memory) else _ENTITY_FIELDS
    if not isinstance(other, Memory if isinstance(self, Memory) else Entity):
        return False
    return tuple(getattr(self, name) for name in names) == tuple(getattr(other, name) for name in names)


class _SealedContent(Content):
    __qualname__ = "Content"  # it prints as what it is to its reader
    __new__ = _open_new
    __setattr__ = __delattr__ = _read_only
    __reduce_ex__ = thawed

    def to_dict(self) -> dict[str, Any]:
        return dict(copy_containers(self.__dict__))


class _SealedMemory(Memory):
    __slots__ = ()
    __qualname__ = "Memory"
    __new__ = _open_new
    __eq__ = _equal  # a dataclass is equal to none of another class
    __hash__ = None  # type: ignore[assignment]
    __setattr__ = __delattr__ = _read_only
    __reduce_ex__ = thawed

    def to_dict(self) -> dict[str, Any]:
        return dict(copy_containers(Memory.to_dict(self)))


class _SealedEntity(Entity):
    __slots__ = ()
    __qualname__ = "Entity"
    __new__ = _open_new
    __eq__ = _equal
    __hash__ = None  # type: ignore[assignment]
    __setattr__ = __delattr__ = _read_only
    __reduce_ex__ = thawed


Content._sealed_type = _SealedContent  # noqa: SLF001  this module's own
Memory._sealed_type = _SealedMemory  # noqa: SLF001  this module's own
Entity._sealed_type = _SealedEntity  # noqa: SLF001  this module's own


def _as_content(content: Any) -> Content:
    if isinstance(content, Content):
        return copy_containers(content) if isinstance(content, _SealedContent) else content
    if content is None or isinstance(content, str):
        return Content(content if content is not None else "")
    if isinstance(content, Mapping):
        if not all(isinstance(key, str) for key in content):
            raise DefinitionTypeError("the keys of a content must be strings")
        return Content(**content)
    raise DefinitionTypeError(f"content is a Content, a string or a dict, not {type(content).__name__}")


def _as_metadata(metadata: Any, of: str) -> dict[str, Any]:
    if isinstance(metadata, FrozenDict):
        return dict(copy_containers(metadata))
    if not isinstance(metadata, Mapping):
        raise DefinitionTypeError(f"the metadata of {of} is a dict, not {shown(metadata)}")
    return dict(metadata)
