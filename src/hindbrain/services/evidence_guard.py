"""The guard of evidence: what of a text may not be kept. Secrets close the chunk they stand in; a rejected or forgotten value is
cut out of it, and what stands around stays. The same fingerprints as for claims, so that one rejection holds for both."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HumanNeeded, HygieneRefused, InvalidParams
from hindbrain.domain.evidence import Provenance
from hindbrain.engines.hygiene import Finding, has_conflict_markers, scan
from hindbrain.engines.text import folds
from hindbrain.policy.evidence import TAG_MAX, TAGS_MOST
from hindbrain.policy.fields import RECOMMENDED, hint
from hindbrain.policy.hygiene import HIGH_ENTROPY
from hindbrain.services.brains import OpenBrain
from hindbrain.services.gateway import STANDS_ALONE, Gateway, recorded

__all__ = [
    "Secret",
    "check_human",
    "check_tags",
    "check_word",
    "check_words",
    "default_provenance",
    "field_hint",
    "row_print",
    "secrets_in",
    "traces_of",
    "values_of",
]

Span = tuple[int, int]
Trace = tuple[str, int, int]  # fingerprint, and where in the text

_WINDOW = 4_096  # characters looked at together: the patterns are not linear in the length of what they look at
_SHARED = 256
_RUN = 8  # neighbours that are read together when a value may have been cut into pieces
_UNIT = re.compile(r"[^\n](?:[^\n]*?[.!?…。！？](?=[\s\"'”’)\]]|$)|[^\n]*+)", re.M)
_BULLET = re.compile(r"[\s>*#•–—-]*(?:\d{1,3}[.)]\s+)?")
_PAIR = re.compile(r"(.{1,200}?)\s*(?::|=|\bis\b|\bare\b)\s*(.+)", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Something that must not be kept: where it stands, and what it looks like."""

    start: int
    end: int
    line: int
    refusal: HygieneRefused


def default_provenance(channel: Channel) -> Provenance:
    """What an observation is taken for when nobody says: trust follows the channel."""
    return {Channel.HUMAN: Provenance.HUMAN, Channel.RESEARCH: Provenance.RESEARCH}.get(channel, Provenance.RUNTIME)


def check_human(caller: Caller, provenance: Provenance | None) -> None:
    """Refuse a word that only a person can give: that what is written is a person's."""
    if provenance is Provenance.HUMAN and caller.channel is not Channel.HUMAN:
        raise HumanNeeded(
            f"provenance human is for people; this call came by the channel {caller.channel.value}",
            fix="leave provenance out, or ask a person to record it in a terminal",
        )


def check_word(value: str, name: str, most: int) -> str:
    """A name that stands beside evidence: short, one line, plain."""
    if len(value) > most or any(ord(c) < 32 for c in value):
        raise InvalidParams(f"{name} is a name of at most {most} characters on one line", fix=f"shorten {name}")
    return value


def check_tags(tags: Sequence[str]) -> None:
    """Some short words, none of them empty."""
    if len(tags) > TAGS_MOST:
        raise InvalidParams(f"{len(tags)} tags; {TAGS_MOST} are the most", fix="leave some out")
    for tag in tags:
        if not check_word(tag, "a tag", TAG_MAX).strip():
            raise InvalidParams("a tag is empty", fix="leave it out")


def check_words(
    gateway: Gateway, opened: OpenBrain, names: Iterable[str | None], ids: Iterable[str | None], *, site: str
) -> None:
    """Words beside a text hold no secret either. What a program numbers its messages by may look random, and is none by that."""
    told = [name for name in names if name]
    told += [one for one in ids if one and any(hit.pattern_class != HIGH_ENTROPY["name"] for hit in scan(one))]
    gateway.check_hygiene(opened, told, site=site)


def field_hint(opened: OpenBrain, field: str) -> dict[str, str]:
    """Whether a field that is new here is another spelling of one that is known; told, and never in the way."""
    if field in RECOMMENDED:
        return {}
    told = hint(field, (one.field for one in opened.store.fields(least=1, samples=0)))
    return {"hint": told} if told else {}


# -- secrets ---------------------------------------------------------------------------------------------------------


def secrets_in(gateway: Gateway, opened: OpenBrain, text: str, *, site: str) -> list[Secret]:
    """What the hygiene floor refuses in a text, unless a person let that line through."""
    found = []
    for start, part in _parts(text):
        for hit in scan(part):
            lines = part.split("\n")
            begin = start + sum(len(line) + 1 for line in lines[: hit.line - 1])
            told = _lines_of(hit, lines)
            try:
                if hit.pattern_class != "conflict_marker" or _unfinished(text):
                    gateway.check_hygiene(opened, [told], site=site)
            except HygieneRefused as refusal:
                line = text.count("\n", 0, begin) + 1
                found.append(Secret(start=begin, end=begin + len(told), line=line, refusal=refusal))
    return found


def _lines_of(hit: Finding, lines: Sequence[str]) -> str:
    """The line of a finding; with the next one when the secret was broken over a line end."""
    own = lines[hit.line - 1]
    return own if own.strip() == hit.text else "\n".join(lines[hit.line - 1 : hit.line + 1])


def _unfinished(text: str) -> bool:
    """A line of equal signs is a heading in many documents; with the other marks it is a merge that nobody finished."""
    return has_conflict_markers(text) and re.search(r"^<{7}(?: |$)", text, re.M) is not None


def _parts(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    while True:
        end = min(at + _WINDOW, len(text))
        if end < len(text) and (cut := text.rfind("\n", at + _WINDOW // 2, end)) > 0:
            end = cut + 1
        yield at, text[at:end]
        if end >= len(text):
            return
        at = max(at + 1, end - _SHARED)


# -- values that stay away -------------------------------------------------------------------------------------------


def row_print(salt: str, evidence_id: str) -> str:
    """What is remembered of a row that somebody deleted: reading its source again does not bring it back."""
    return recorded(salt, f"row\x1f{evidence_id}")


def traces_of(text: str, salt: str) -> list[Trace]:
    """What a buried value would look like in a text: the whole, each sentence and line, runs of them, and `label: value`.

    A value that stands in the text several times has a trace for each place."""
    units = list(_units(text))
    made: dict[str, dict[Span, None]] = {}

    def found(value: str, start: int, end: int) -> None:
        made.setdefault(value, {})[start, end] = None

    for form in (0, -1):
        folded = [(folds(text[start:end])[form], start, end) for start, end in units]
        for at, (own, start, end) in enumerate(folded):
            run = ""
            for more, _, stop in folded[at : at + _RUN]:
                run += more
                if len(run) >= STANDS_ALONE:
                    found(run, start, stop)
            if pair := _PAIR.fullmatch(text, start, end):
                label, value = folds(pair[1])[form], folds(pair[2])[form]
                found(f"{label}\x1f{value}", start, end)
                if len(value) >= STANDS_ALONE:
                    found(value, start, end)
            if len(own) < STANDS_ALONE and len(units) == 1 and own:
                found(f"{own}\x1f{own}", start, end)
        whole = folds(text)[form]
        if len(whole) >= STANDS_ALONE:
            found(whole, 0, len(text))
        if text.isascii():
            break
    marked = ((recorded(salt, value), spans) for value, spans in made.items())
    return [(mark, start, end) for mark, spans in marked for start, end in spans]


def _units(text: str) -> Iterator[Span]:
    """Sentences and lines, without the marks of a list or a quotation."""
    for match in _UNIT.finditer(text):
        begin = _BULLET.match(text, match.start(), match.end())
        start, end = (begin.end() if begin else match.start()), match.end()
        while end > start and text[end - 1].isspace():
            end -= 1
        if end > start:
            yield start, end


def values_of(text: str, salt: str) -> list[str]:
    """What a tombstone remembers when a text is forgotten: the whole, and each sentence that is long enough to be a value."""
    pieces = [text, *(text[start:end] for start, end in _units(text))]
    values: Iterable[str] = (folded for piece in pieces for folded in folds(piece) if len(folded) >= STANDS_ALONE)
    return list(dict.fromkeys(recorded(salt, value) for value in values))
