"""Whether cited lines show what a claim says. A claim is held against one statement at a time, with the blocks that enclose it:
every number, name, quotation, word, comparison, condition and denial has to be accounted for by that statement. A value that is
another one contradicts; what is left over is not shown. This compares what is written; it does not understand it. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hindbrain.domain.mission_comparison import Comparison
from hindbrain.domain.source_statement import Statement
from hindbrain.engines.claim_content import Content, content_of
from hindbrain.engines.claim_match import matched
from hindbrain.engines.source_statements import statements_of
from hindbrain.engines.statement_view import View, bindings
from hindbrain.policy.claim_words import AROUND, COMMENTED, VERBS

__all__ = ["Source", "compared"]

_LOOKED_MOST = 400  # statements of one text that are looked at
_LISTED_MOST = 20  # things that a comparison names of each kind
_LINE_MOST = 2_000  # characters of a line that are read
_LINES_MOST = 20_000
_BODY_MOST = 60  # lines of a block that a cited header stands for
_AND = re.compile(r",?\s+(?:and|but)\s+|;\s+", re.IGNORECASE)
_ORDER = re.compile(r"\s(before|after)\s(?!\d)", re.IGNORECASE)
_PRONOUNS = re.compile(r"\b(?:it|they|them|he|she)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text that was cited: all its lines, which of them are meant (all, when none is named), and the file it lies in. What is
    `whole` is prose, as a statement of a person is. A `run` prints lines; `path` is then its command, and `ends` how it ended."""

    name: str
    lines: tuple[str, ...]
    path: str = ""
    cited: tuple[int, int] | None = None
    whole: bool = False
    run: bool = False
    ends: str = ""


def compared(claim: str, sources: Sequence[Source]) -> Comparison:
    """Compare a claim with what it cites. Parts of a claim that are whole statements may be shown by different places."""
    content = content_of(claim)
    plain = [item for item in content.items if item.kind not in ("quantifier", "relation")]
    if not plain or (len(plain) == 1 and plain[0].kind == "word" and not content.compares):
        return Comparison(reason="nothing_checkable", not_checked=content.uncompared[:_LISTED_MOST])
    texts = [_Text(source) for source in sources]
    found = _verbatim(content, texts) or _shown(content, texts)
    if found.lacks or found.against:
        for parts in (_ordered(claim, texts), _parts(claim, texts)):
            if parts is not None and (parts.against or not parts.lacks):
                found = parts
                break
    return Comparison(
        reason="contradicted_by_source" if found.against else "not_shown_by_source" if found.lacks else "",
        compared=tuple(dict.fromkeys(found.places))[:_LISTED_MOST],
        matched=tuple(dict.fromkeys(found.matched))[:_LISTED_MOST],
        contradicted=tuple(dict.fromkeys(found.against))[:_LISTED_MOST],
        not_shown=tuple(dict.fromkeys(found.lacks))[:_LISTED_MOST],
        not_checked=content.uncompared[:_LISTED_MOST],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What a text shows of a claim, and where."""

    places: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    statement: Statement | None = None

    def and_also(self, other: "_Shown") -> "_Shown":
        return _Shown(
            places=self.places + other.places,
            matched=self.matched + other.matched,
            lacks=self.lacks + other.lacks,
            against=self.against + other.against,
        )


class _Text:
    """A source in statements: the cited ones first, then those around them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        lines = tuple(line[:_LINE_MOST] for line in source.lines[:_LINES_MOST])
        self.all = _ran(source, lines) if source.run else statements_of("" if source.whole else source.path, lines)
        self.first, self.last = source.cited or (1, max(1, len(lines)))

    def candidates(self, content: Content) -> Iterator[tuple[Statement, bool]]:
        """Statements to look at, and whether the cited lines are theirs."""
        if self.source.run or self.source.whole or self.source.cited is None:
            chosen = [(one, True) for one in self.all if self.source.run or _hints(content, one)]
            yield from chosen[:_LOOKED_MOST] or [(one, True) for one in self.all[:1]]
            return
        last = self.last
        for one in self.all:
            if one.body_end and one.first <= self.first <= one.last:
                last = max(last, min(one.body_end, one.last + _BODY_MOST))
        cited = [(one, True) for one in self.all if one.first <= last and one.last >= self.first]
        near = [
            (one, False)
            for one in self.all
            if (one, True) not in cited and one.first <= self.last + AROUND and one.last >= self.first - AROUND
        ]
        yield from cited[:_LOOKED_MOST]
        yield from near

    def place(self, one: Statement | None) -> str:
        name = self.source.path if self.source.path and not self.source.run else self.source.name
        if one is None:
            return name
        return f"{name}:{one.first}" if one.first == one.last else f"{name}:{one.first}-{one.last}"


def _verbatim(content: Content, texts: Sequence[_Text]) -> _Shown | None:
    """A claim that only quotes a file: its words stand there just so, in the cited lines or around them."""
    quotes = [item.form for item in content.items if item.kind == "quote"]
    paths = [item.form for item in content.items if item.kind == "path"]
    if not quotes or len(quotes) + len(paths) != len(content.items) or content.compares or content.negated:
        return None
    for text in texts:
        lines = text.source.lines
        first, last = (max(1, text.first - AROUND), text.last + AROUND) if text.source.cited else (1, len(lines))
        near = re.sub(r"\s+", "", "\n".join(lines[first - 1 : last]))
        here = all(re.sub(r"\s+", "", one) in near for one in quotes)
        if here and not text.source.run and all(View.is_path(one, text.source.path) for one in paths):
            place = f"{text.source.path or text.source.name}:{first}-{min(last, len(lines))}"
            return _Shown(places=(place,), matched=tuple(item.text for item in content.items))
    return None


def _ran(source: Source, lines: tuple[str, ...]) -> tuple[Statement, ...]:
    """What a run says: how it ended, and each line that it printed."""
    ended = tuple(Statement(kind="prose", text=one, first=1, last=1) for one in source.ends.split("\n") if one.strip())
    return (*ended, *(Statement(kind="prose", text=line, first=at, last=at) for at, line in enumerate(lines, 1) if line.strip()))


def _hints(content: Content, one: Statement) -> bool:
    """Whether a statement may show something of a claim: a fast look before the long one."""
    low = one.text.lower()
    return any(item.form.lower()[:4] in low for item in content.items if item.kind not in ("number", "idiom", "switch")) or any(
        item.kind in ("number", "idiom", "switch") for item in content.items
    )


def _shown(content: Content, texts: Sequence[_Text]) -> _Shown:
    """The statement that shows most of a claim; one that says otherwise weighs more than one that says nothing."""
    best: tuple[tuple[int, ...], _Shown] | None = None
    refuting: set[str] = set()
    says = re.search(COMMENTED, content.claim, re.IGNORECASE) is not None
    for text in texts:
        path = "" if text.source.run else text.source.path
        aside = f"{text.source.path} {text.source.ends}" if text.source.run else ""
        for one, cited in text.candidates(content):
            if one.kind == "comment" and not says:
                continue
            view = View(one, path=path, aside=aside)
            match = matched(content, view)
            against = tuple(f"{text.place(one)} says {said}" for said in match.against)
            if not match.lacks and not against:
                against, lacks = (), _elsewhere(content, view, text)
            else:
                lacks = match.lacks
            made = _Shown(
                places=(text.place(one),), matched=match.shown, lacks=lacks, against=against if not lacks else (), statement=one
            )
            refuted = bool(against) and not lacks
            shows = not lacks and not against
            refuting |= {text.place(one)} if refuted else set()
            rank = (
                cited and shows,
                cited and refuted,
                shows,
                refuted,
                -len(lacks) if match.shown else -99,
                len(match.shown),
                cited,
            )
            key = tuple(int(value) for value in rank)
            if best is None or key > best[0]:
                best = (key, made)
    if best is None:
        return _Shown(lacks=tuple(item.text for item in content.items))
    shown = best[1]
    if not shown.lacks and not shown.against and refuting & set(shown.places):
        return _Shown(places=shown.places, matched=shown.matched, lacks=("which branch is meant",))  # both are on one line
    return shown


def _elsewhere(content: Content, view: View, text: _Text) -> tuple[str, ...]:
    """Another value that the same name gets in the same block: which of them holds is not written."""
    own = {name: value for name, value in bindings(view.text) if view.mentions(content, name)}
    if not own or view.statement.kind == "prose":
        return ()
    found = []
    for one in text.all:
        if one.kind not in ("code", "data") or one.enclosing != view.statement.enclosing or one == view.statement:
            continue
        for name, value in bindings(one.text):
            if name in own and value != own[name] and name not in ("-", "name"):
                found.append(f"{text.place(one)} sets {name} to {value}")
    return tuple(found)


def _parts(claim: str, texts: Sequence[_Text]) -> _Shown | None:
    """A claim of several whole statements, each looked up alone. None where it is only one."""
    parts = [one.strip() for one in _AND.split(claim) if one.strip()]
    if len(parts) < 2:
        return None
    subject = _subject(parts[0])
    whole, complete = _Shown(), True
    for at, part in enumerate(parts):
        words = part.lower().split()
        content = content_of(f"{subject} {part}" if at and words[0] in VERBS else part)
        found = _shown(content, texts)
        if found.against and len(content.items) > 1:
            return found  # one part that is wrong is enough
        complete = complete and len(content.items) > 1 and any(word in VERBS for word in words)
        whole = whole.and_also(found)
    return whole if complete else None


def _subject(part: str) -> str:
    words = part.split()
    at = next((place for place, word in enumerate(words) if word.lower() in VERBS), 0)
    return " ".join(words[:at])


def _ordered(claim: str, texts: Sequence[_Text]) -> _Shown | None:
    """A claim that one thing happens before another: both are statements of one block, in that order."""
    found = _ORDER.search(claim)
    if found is None:
        return None
    left, right = claim[: found.start()], claim[found.end() :]
    if _PRONOUNS.search(right):
        right = _PRONOUNS.sub(_subject(left) or " ", right, count=1)
    if found[1].lower() == "after":
        left, right = right, left
    first, second = content_of(left), content_of(right)
    if not first.items or not second.items:
        return None
    for text in texts:
        one, other = _shown(first, [text]), _shown(second, [text])
        if one.lacks or other.lacks or one.against or other.against or one.statement is None or other.statement is None:
            continue
        if one.statement.kind not in ("code",) or one.statement.enclosing != other.statement.enclosing:
            continue
        both = one.and_also(other)
        if one.statement.first < other.statement.first:
            return both
        if one.statement.first > other.statement.first:
            said = f"{text.place(other.statement)} comes before {text.place(one.statement)}"
            return _Shown(places=both.places, matched=both.matched, against=(said,))
    return None
