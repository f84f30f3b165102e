"""Does this keyword wake on this text: the index that answers for thousands of keywords at once.

A message is folded and split at its spaces. Which keywords stand inside one such chunk depends on the
chunk alone, so the answer is kept from message to message; a keyword with a space in it is found by its
longest chunk and then checked against the whole message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from reprlib import repr as short_repr
from typing import TYPE_CHECKING, NamedTuple, get_args

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, did_you_mean
from agentctx_nb.keyword_lookup import KeywordMode, Lookup, Pattern
from agentctx_nb.keyword_text import FoldedMessage, cut, fold, forms, loosened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["KeywordIndex", "KeywordMode", "NearMiss", "check_keywords"]

_LONGEST_KEPT = 64  # characters; a longer chunk (a sentence in Chinese, a data URL) seldom comes again
_MOST_KEPT = 200_000  # chunks and the keywords in them, counted together: some 20 MB
_MOST_WORDS = 10
_MOST_SEARCHED = 100_000


class _NearMiss(NamedTuple):
    provider: str
    keyword: str
    word: str


class NearMiss(_NearMiss):
    """A keyword that did not match because it stands inside ``word``, as "rain" does in "train"."""

    mask: Callable[[str], str] = str

    def masked_by(self, mask: Callable[[str], str]) -> NearMiss:
        """Return this very near miss, printed with ``mask`` from now on."""
        self.mask = mask
        return self

    def __repr__(self) -> str:
        return self.mask(super().__repr__())


def check_keywords(keywords: object) -> tuple[str, ...]:
    """Return the keywords as written; one string is one keyword, a set comes back sorted.

    Raises
    ------
    DefinitionTypeError
        ``keywords`` is neither a string nor an iterable of strings.
    DefinitionError
        A keyword has nothing in it but spaces, hyphens and invisible characters.

    >>> check_keywords("how to"), check_keywords(["rain", "C++"])
    (('how to',), ('rain', 'C++'))
    """
    if keywords is None:
        return ()
    if isinstance(keywords, str):
        keywords = (keywords,)
    if not isinstance(keywords, Iterable) or isinstance(keywords, bytes | bytearray | Mapping):
        raise DefinitionTypeError(
            f"relevance keywords must be a string or a list of strings, not {short_repr(keywords)}"
        )
    items = list(keywords)
    for item in items:
        if not isinstance(item, str):
            raise DefinitionTypeError(f"a relevance keyword must be a string, not {short_repr(item)}")
        if not fold(item):
            raise DefinitionError(
                f"the relevance keyword {short_repr(item)} is blank; leave it out or write a word"
            )
    return tuple(sorted(items) if isinstance(keywords, set | frozenset) else items)


class _Owner(NamedTuple):
    provider: str
    keyword: str
    folded: str


class _Found(NamedTuple):
    """What one chunk says: keywords that are in it, patterns that may be in the message around it."""

    numbers: tuple[int, ...]
    candidates: tuple[Pattern, ...]


class KeywordIndex:
    """Which providers' keywords appear in a text, without a look at those that do not.

    >>> index = KeywordIndex()
    >>> index.add("WEATHER", ["rain", "heavy rain", "snow"])
    >>> index.match("Heavy-Rain on the train")
    {'WEATHER': ('rain', 'heavy rain')}
    """

    def __init__(self) -> None:
        self._next = 0
        self._owners: dict[int, _Owner] = {}
        self._patterns: dict[str, list[Pattern]] = {}
        self._edged = Lookup()  # keywords that begin at the edge of a word
        self._anywhere = Lookup()
        self._kept: dict[str, _Found | None] = {}
        self._kept_size = 0

    def __len__(self) -> int:
        """Return how many keywords are indexed."""
        return len(self._owners)

    def add(self, provider: str, keywords: Sequence[str], *, mode: KeywordMode = "word") -> None:
        """Index ``keywords`` for ``provider`` in place of those it had."""
        if mode not in get_args(KeywordMode):
            known = get_args(KeywordMode)
            raise DefinitionError(
                f"keyword_match is {mode!r}{did_you_mean(str(mode), known) or '; use ' + ' or '.join(known)}"
            )
        self.remove(provider)
        patterns = []
        for keyword in keywords:
            folded = fold(keyword)
            if not folded:
                continue
            number, self._next = self._next, self._next + 1
            self._owners[number] = _Owner(provider, keyword, folded)
            for form in forms(folded) if mode == "word" else (folded,):
                pattern = Pattern.of(number, form, loosened(folded, mode))
                self._lookup(pattern).add(pattern)
                patterns.append(pattern)
        if patterns:
            self._patterns[provider] = patterns

    def remove(self, provider: str) -> None:
        """Forget the keywords of ``provider``; a name that has none is fine."""
        # Replaced, not cleared: a match under way in another thread goes on filling the old one.
        self._kept, self._kept_size = {}, 0
        for pattern in self._patterns.pop(provider, ()):
            self._lookup(pattern).remove(pattern)
            self._owners.pop(pattern.number, None)

    def _lookup(self, pattern: Pattern) -> Lookup:
        return self._anywhere if pattern.mode == "substring" else self._edged

    def match(self, text: str) -> dict[str, tuple[str, ...]]:
        """Return every provider with a keyword in ``text``, and all its keywords that are in it."""
        found: dict[str, list[str]] = {}
        for number in sorted(self._numbers(FoldedMessage(text))):
            owner = self._owners[number]
            if owner.provider in found:
                found[owner.provider].append(owner.keyword)
            else:
                found[owner.provider] = [owner.keyword]
        return {provider: tuple(keywords) for provider, keywords in found.items()}

    def near_misses(self, text: str) -> list[NearMiss]:
        """Return the keywords that are in ``text`` only as a part of longer words, up to ten words each.

        Slow beside `match`, as it tries every keyword, so it looks no further than 100,000 characters
        into a message. A word is shown as the message has it where folding allows. The order is that
        in which the keywords were added, then that of the words.
        """
        matched = self._numbers(FoldedMessage(text))
        text = text[:_MOST_SEARCHED]
        message = FoldedMessage(text)
        misses = [
            NearMiss(owner.provider, owner.keyword, word)
            for number, owner in self._owners.items()
            if number not in matched and owner.folded in message.text
            for word in message.words_around(owner.folded, most=_MOST_WORDS)
            if word != owner.folded  # the rest of it was cut off just above
        ]
        if not misses:
            return misses
        written = {fold(word): word for word in reversed(cut(text))}
        return [miss._replace(word=written.get(miss.word, miss.word)) for miss in misses]

    def _numbers(self, message: FoldedMessage) -> set[int]:
        """Return the numbers of all keywords in the message."""
        numbers: set[int] = set()
        if not self._owners or not message.text:
            return numbers
        candidates: set[Pattern] = set()
        kept = self._kept
        for chunk in set(message.text.split(" ")):
            try:
                found = kept[chunk]
            except KeyError:
                found = self._search(chunk)
                if len(chunk) <= _LONGEST_KEPT:
                    self._keep(kept, chunk, found)
            if found is not None:
                numbers.update(found.numbers)
                candidates.update(found.candidates)
        for pattern in candidates:
            if pattern.number not in numbers and message.has(pattern.form, mode=pattern.mode):
                numbers.add(pattern.number)
        return numbers

    def _keep(self, kept: dict[str, _Found | None], chunk: str, found: _Found | None) -> None:
        self._kept_size += 1 if found is None else 1 + len(found.numbers) + len(found.candidates)
        if self._kept_size > _MOST_KEPT:
            kept.clear()
            self._kept_size = 0
        kept[chunk] = found

    def _search(self, chunk: str) -> _Found | None:
        """Return the keywords that are in ``chunk``, and those that may be in a message holding it."""
        numbers: set[int] = set()
        candidates: set[Pattern] = set()
        ends = list(accumulate(map(len, cut(chunk))))
        edges = set(ends)
        for end, patterns in self._edged.find(chunk, (0, *ends)):
            whole = end in edges
            for pattern in patterns:
                if pattern.anchor != pattern.form:
                    candidates.add(pattern)
                elif whole or pattern.mode == "prefix":
                    numbers.add(pattern.number)
        for _, patterns in self._anywhere.find(chunk, range(len(chunk))):
            for pattern in patterns:
                if pattern.anchor != pattern.form:
                    candidates.add(pattern)
                else:
                    numbers.add(pattern.number)
        if not numbers and not candidates:
            return None
        return _Found(tuple(numbers), tuple(candidates))
