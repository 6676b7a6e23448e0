"""Chunks: a text cut where its structure allows, into pieces an embedder can read. Every chunk is a span of the text itself,
so that what is kept is word for word what was read. Knows nothing of files and of what is kept."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hindbrain.policy import evidence as policy
from hindbrain.policy.evidence import Limit

__all__ = ["Chunk", "Shape", "chunked", "estimated_tokens", "is_short", "shape_of", "without"]

Span = tuple[int, int]

_TOKEN = re.compile(r"[A-Za-z]+|\d+|[^\s\w]|\w")
_WORDS = re.compile(r"\S+")
_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})", re.M)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*\Z")

# From coarse to fine: a piece that is too large is cut at the first of these that helps.
_CUTS = (
    re.compile(r"\n[ \t]*\n\s*"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?…。！？])\s*(?=\s|[^\x00-\x7f])"),
    re.compile(r"\s+"),
)


class Shape(StrEnum):
    """What kind of structure a text has."""

    MARKDOWN = "markdown"
    CODE = "code"
    PLAIN = "plain"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One piece of a text: where it stands, and under which headings."""

    start: int
    end: int
    headings: tuple[str, ...] = ()


def shape_of(name: str) -> Shape:
    """The shape of a file by its name."""
    _, dot, last = name.rpartition("/")[2].rpartition(".")
    suffix = dot + last.lower()
    if suffix in policy.DOCUMENT_SUFFIXES:
        return Shape.MARKDOWN
    return Shape.CODE if suffix in policy.CODE_SUFFIXES else Shape.PLAIN


def is_short(text: str) -> bool:
    """Whether a turn is one that is understood by those around it."""
    return len(text) < policy.SHORT_WORDS * 12 and len(text.split()) < policy.SHORT_WORDS


def estimated_tokens(text: str) -> int:
    """About how many word pieces an embedder makes of a text: long words fall apart, other scripts have one a character."""
    total = 0
    for match in _TOKEN.finditer(text):
        size = match.end() - match.start()
        total += 1 + max(0, size - 5) // 3 if size > 1 else 1
    return total


def chunked(text: str, shape: Shape) -> list[Chunk]:
    """The chunks of a text in order. Together they hold every character that is not white space between two of them."""
    if shape is Shape.PLAIN:
        return [Chunk(start=start, end=end) for start, end in _windows(text)]
    if shape is Shape.MARKDOWN:
        return list(_sections(text))
    limit = policy.CODE if shape is Shape.CODE else policy.MESSAGE
    return [Chunk(start=start, end=end) for start, end in _cut(text, (0, len(text)), limit, 0)]


def without(chunk: Chunk, spans: Iterable[Span], text: str) -> list[Chunk]:
    """What is left of a chunk when some spans of the text are taken out: the pieces between them."""
    left, at = [], chunk.start
    for start, end in sorted(spans):
        if end <= at or start >= chunk.end:
            continue
        left.append((at, max(at, start)))
        at = end
    left.append((min(at, chunk.end), chunk.end))
    trimmed = (_trimmed(text, piece) for piece in left)
    # Marks and quotes that stood around what was taken out say nothing by themselves.
    return [Chunk(start=a, end=b, headings=chunk.headings) for a, b in trimmed if any(c.isalnum() for c in text[a:b])]


# -- cutting ---------------------------------------------------------------------------------------------------------


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _fits(text: str, span: Span, limit: Limit) -> bool:
    start, end = span
    if end - start > limit.chars:
        return False
    piece = text[start:end]
    return (end - start <= limit.tokens or estimated_tokens(piece) <= limit.tokens) and len(piece.split()) <= limit.words


def _cut(text: str, span: Span, limit: Limit, level: int) -> list[Span]:
    """A span as pieces that fit: cut at the coarsest structure that helps, neighbours put together again while they fit."""
    start, end = _trimmed(text, span)
    if start == end:
        return []
    if _fits(text, (start, end), limit):
        return [(start, end)]
    if level == len(_CUTS):
        return _packed(text, _every(start, end, policy.HARD_CUT), limit)
    parts: list[Span] = []
    for part in _split(text, (start, end), _CUTS[level]):
        parts += _cut(text, part, limit, level + 1)
    return _packed(text, parts, limit)


def _split(text: str, span: Span, cut: re.Pattern[str]) -> Iterator[Span]:
    at, end = span
    for match in cut.finditer(text, at, end):
        if match.start() > at:
            yield at, match.start()
        at = match.end()
    if at < end:
        yield at, end


def _every(start: int, end: int, size: int) -> list[Span]:
    return [(at, min(at + size, end)) for at in range(start, end, size)]


def _packed(text: str, parts: Sequence[Span], limit: Limit) -> list[Span]:
    """Neighbours together as long as they fit. Costs are counted once a part, so the work grows with the text only."""
    packed: list[Span] = []
    words = tokens = 0
    for start, end in parts:
        piece = text[start:end]
        more_words, more_tokens = sum(1 for _ in _WORDS.finditer(piece)), estimated_tokens(piece)
        fits = packed and end - packed[-1][0] <= limit.chars
        if fits and words + more_words <= limit.words and tokens + more_tokens <= limit.tokens:
            packed[-1] = (packed[-1][0], end)
            words, tokens = words + more_words, tokens + more_tokens
        else:
            packed.append((start, end))
            words, tokens = more_words, more_tokens
    return packed


# -- plain text ------------------------------------------------------------------------------------------------------


def _windows(text: str) -> Iterator[Span]:
    """Windows that share some text with the one before, cut at white space when there is some beyond the half."""
    start, end = _trimmed(text, (0, len(text)))
    while start < end:
        stop = min(start + policy.WINDOW, end)
        if stop < end:
            half = start + policy.WINDOW // 2
            stop = next((at for at in range(stop, half, -1) if text[at].isspace()), stop)
        yield from _cut(text, (start, stop), policy.SECTION, 0)
        if stop >= end:
            return
        again = max(start + 1, stop - policy.OVERLAP)
        start = next((at + 1 for at in range(again, stop) if text[at].isspace()), again if again > start else stop)
        start, _ = _trimmed(text, (start, end))


# -- documents -------------------------------------------------------------------------------------------------------


def _sections(text: str) -> Iterator[Chunk]:
    """A document by its headings; inside a section paragraphs and fences stay whole and together while they fit."""
    headings: list[tuple[int, str]] = []
    blocks: list[Span] = []
    for start, end, heading in _blocks(text):
        if heading is not None:
            yield from _section(text, blocks, headings)
            blocks = []
            depth, title = heading
            headings = [*((d, t) for d, t in headings if d < depth), (depth, title)]
        blocks.append((start, end))
    yield from _section(text, blocks, headings)


def _section(text: str, blocks: list[Span], headings: list[tuple[int, str]]) -> Iterator[Chunk]:
    parts: list[Span] = []
    for block in blocks:
        parts += _cut(text, block, policy.SECTION, 0)
    titles = tuple(title for _, title in headings)
    for start, end in _packed(text, parts, policy.SECTION):
        yield Chunk(start=start, end=end, headings=titles)


def _blocks(text: str) -> Iterator[tuple[int, int, tuple[int, str] | None]]:
    """Paragraphs, fences and headings of a document, in order."""
    at, begun = 0, 0
    fence: str | None = None
    for line in _lines(text):
        start, end = line
        told = text[start:end]
        mark = _FENCE.match(told)
        if fence is not None:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not told[mark.end() :].strip():
                yield begun, end, None
                fence, begun = None, end
        elif mark:
            yield from _paragraph(text, begun, start)
            fence, begun = mark[1], start
        elif heading := _HEADING.match(told.rstrip("\r\n")):
            yield from _paragraph(text, begun, start)
            yield start, end, (len(heading[1]), heading[2])
            begun = end
        elif not told.strip():
            yield from _paragraph(text, begun, start)
            begun = end
        at = end
    yield from _paragraph(text, begun, at)


def _paragraph(text: str, start: int, end: int) -> Iterator[tuple[int, int, None]]:
    if text[start:end].strip():
        yield start, end, None


def _lines(text: str) -> Iterator[Span]:
    at, find = 0, text.find
    while at < len(text):
        stop = find("\n", at)
        stop = len(text) if stop < 0 else stop + 1
        yield at, stop
        at = stop
