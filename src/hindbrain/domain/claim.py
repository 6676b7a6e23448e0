"""Claims: one labelled belief per `.light.md` file. Owns the L1GHT grammar and the strength of a claim; reads no file."""

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum

from hindbrain.domain.brain import Tier
from hindbrain.domain.label import Slug, slug_of

__all__ = [
    "Block",
    "Claim",
    "ClaimState",
    "Headline",
    "Slug",
    "Strength",
    "body_text",
    "headline",
    "looks_like_light",
    "one_line",
    "outdated",
    "parse",
    "qualified",
    "render",
    "slug_of",
    "stamped",
    "state_of",
]

_KINDS = {"entity": "⍂", "state": "⍐", "event": "⍌"}
_MARKER = re.compile(r"^\[(?P<glyph>⍂|⍐|⍌|𝔻|⟁|RED|AMBER) (?P<name>[a-z_]+): (?P<value>.*)\]\s*$")
_STRUCTURE = re.compile(r"^(?:---\s*$|#|\[(?:⍂|⍐|⍌|𝔻|⟁|RED|AMBER)\s|(?:<{7}|={7}|>{7})(?:\s|$))")
_BREAKS = re.compile("[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_KEY = re.compile(r"^([A-Za-z][A-Za-z0-9-]*):[ \t]?(.*)$")

# The order in which memorize writes the keys.
_ORDER = (
    ("Protocol", "protocol"),
    ("Node", "label"),
    ("State", "state"),
    ("Created", "created"),
    ("Source-Agent", "source_agent"),
    ("Origin-Brain", "origin_brain"),
    ("Supersedes", "supersedes"),
    ("Promoted-To", "promoted_to"),
    ("Origin-Claim", "origin_claim"),
    ("Promoted-By", "promoted_by"),
    ("Promotion-Reason", "promotion_reason"),
    ("Origin-Created", "origin_created"),
    ("Evidence-Unverifiable", "evidence_unverifiable"),
    ("Absolute", "absolute"),
)
_FIELDS = dict(_ORDER)
_INTEGERS = {"created", "origin_created"}
_FLAGS = {"evidence_unverifiable", "absolute"}

_STATE_RANK = {"verified": 2, "authored": 1}
_WORDS = {"high": 0.9, "medium": 0.6, "low": 0.3}


class ClaimState(StrEnum):
    """The state of one claim file, derived from where it lies; never stored."""

    PROJECT_PRIVATE = "project_private"
    PROMOTED = "promoted"
    DOCTRINE_BORN = "doctrine_born"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One claim block: prose, its kind marker and the qualifiers that belong to it."""

    label: str
    text: str = ""
    kind: str = "entity"
    confidence: str | None = None
    ambiguity: str | None = None
    evidence: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Strength:
    """How firmly a version is held. Compared per axis, never as a sum."""

    rank: int
    confidence: float | None

    def holds_against(self, live: "Strength") -> bool:
        """True when neither axis is weaker. No confidence ranks below every number."""
        mine = -1.0 if self.confidence is None else self.confidence
        theirs = -1.0 if live.confidence is None else live.confidence
        return self.rank >= live.rank and mine >= theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One version of one belief. What the file does not say is None, never a guess."""

    label: str
    protocol: str = "L1GHT/1.0"
    state: str = "authored"
    created: int | None = None
    source_agent: str | None = None
    origin_brain: str | None = None
    supersedes: str | None = None
    promoted_to: str | None = None
    origin_claim: str | None = None
    promoted_by: str | None = None
    promotion_reason: str | None = None
    origin_created: int | None = None
    evidence_unverifiable: bool = False
    absolute: bool = False
    title: str | None = None
    blocks: tuple[Block, ...] = ()
    extra: tuple[str, ...] = field(default=())

    @property
    def slug(self) -> Slug:
        return slug_of(self.label)

    @property
    def active(self) -> bool:
        return self.state != "outdated"

    @property
    def evidence(self) -> tuple[str, ...]:
        return tuple(path for block in self.blocks for path in block.evidence)

    @property
    def strength(self) -> Strength:
        known = [value for block in self.blocks if (value := _confidence(block.confidence)) is not None]
        return Strength(rank=_STATE_RANK.get(self.state, 0), confidence=max(known, default=None))


def _confidence(raw: str | None) -> float | None:
    if raw is None:
        return None
    word = raw.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    try:
        value = float(word)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


def one_line(value: str) -> str:
    """A frontmatter value: line breaks become single spaces."""
    return _BREAKS.sub(" ", value).strip()


def looks_like_light(text: str) -> bool:
    """True for a file that names the protocol or carries two kinds of L1GHT marker."""
    if "Protocol: L1GHT/" in text:
        return True
    return len({(m["glyph"], m["name"]) for line in text.split("\n") if (m := _MARKER.match(line))}) >= 2


def _prose(text: str) -> str:
    """Prose that cannot forge structure: a line that would read as one is indented by two spaces."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    return "\n".join(("  " + line if _STRUCTURE.match(line) else line).rstrip() for line in lines).strip("\n")


def _render_block(block: Block) -> str:
    kind = block.kind if block.kind in _KINDS else "entity"
    lines = [f"[{_KINDS[kind]} {kind}: {one_line(block.label)}]"]
    lines += [f"[𝔻 confidence: {one_line(block.confidence)}]"] if block.confidence is not None else []
    lines += [f"[𝔻 ambiguity: {one_line(block.ambiguity)}]"] if block.ambiguity is not None else []
    lines += [f"[𝔻 evidence: {one_line(path)}]" for path in block.evidence]
    lines += [f"[⟁ depends_on: {one_line(label)}]" for label in block.depends_on]
    return (_prose(block.text) or _prose(block.label)) + "\n\n" + "\n".join(lines)


def _frontmatter(claim: Claim) -> list[str]:
    lines = []
    for key, name in _ORDER:
        value = getattr(claim, name)
        if value is None or value is False or value == "":
            continue
        lines.append(f"{key}: {'true' if value is True else one_line(str(value))}")
    return lines + list(claim.extra)


def render(claim: Claim) -> str:
    """The file text of a claim: frontmatter in fixed order, heading, title, blocks; LF and a final newline."""
    head = [
        "---",
        *_frontmatter(claim),
        "---",
        "",
        f"# {one_line(claim.label)}",
        "",
        f"## {one_line(claim.title or claim.label)}",
    ]
    return "\n".join(head) + "\n\n" + "\n\n".join(_render_block(block) for block in claim.blocks) + "\n"


def _split(text: str) -> tuple[list[str], list[str]]:
    """Frontmatter lines and body lines. Without a fence the first 40 lines may hold keys."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines and lines[0].rstrip() == "---":
        for at in range(1, len(lines)):
            if lines[at].rstrip() == "---":
                return lines[1:at], lines[at + 1 :]
    return [line for line in lines[:40] if _KEY.match(line)], lines


def parse(text: str, *, fallback_label: str = "") -> Claim:
    """Read a claim file. Unknown keys are kept; what is missing stays unknown."""
    head, body = _split(text)
    values: dict[str, object] = {}
    extra: list[str] = []
    for line in head:
        match = _KEY.match(line)
        name = _FIELDS.get(match[1]) if match else None
        if match is None or name is None or name in values:
            extra.append(line)
            continue
        raw = match[2].strip()
        if name in _INTEGERS:
            if raw.isascii() and raw.isdigit() and len(raw) <= 18:
                values[name] = int(raw)
        elif name in _FLAGS:
            values[name] = raw.lower() == "true"
        elif raw:
            values[name] = raw
    title, blocks = _parse_body(body)
    label = str(values.pop("label", "") or fallback_label)
    state = str(values.pop("state", "authored"))
    return Claim(label=label, state=state, title=title, blocks=blocks, extra=tuple(extra), **values)  # type: ignore[arg-type]  # keys come from _FIELDS, whose types the branches above fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """What a list tells of a claim, without what it says."""

    label: str
    state: str
    created: int | None
    source_agent: str | None
    origin_brain: str | None
    promoted_to: str | None
    confidence: float | None

    @property
    def strength(self) -> Strength:
        return Strength(rank=_STATE_RANK.get(self.state, 0), confidence=self.confidence)


_CONFIDENCE = re.compile(r"^\[𝔻 confidence: (.*)\]\s*$", re.MULTILINE)


def headline(text: str, *, fallback_label: str = "") -> Headline:
    """The head of a claim as `parse` reads it, in a third of the time: a list of a large brain reads every one of them."""
    end = text.find("\n---\n", 3)
    if not text.startswith("---\n") or end < 0 or "\r" in text:
        whole = parse(text, fallback_label=fallback_label)
        return Headline(
            label=whole.label,
            state=whole.state,
            created=whole.created,
            source_agent=whole.source_agent,
            origin_brain=whole.origin_brain,
            promoted_to=whole.promoted_to,
            confidence=whole.strength.confidence,
        )
    values: dict[str, str] = {}
    for line in text[4:end].split("\n"):
        key, colon, raw = line.partition(":")
        if colon and (name := _FIELDS.get(key)) is not None and name not in values and (told := raw.strip()):
            values[name] = told
    created = values.get("created", "")
    known = [value for raw in _CONFIDENCE.findall(text, end) if (value := _confidence(raw.strip())) is not None]
    return Headline(
        label=values.get("label") or fallback_label,
        state=values.get("state", "authored"),
        created=int(created) if created.isascii() and created.isdigit() and len(created) <= 18 else None,
        source_agent=values.get("source_agent"),
        origin_brain=values.get("origin_brain"),
        promoted_to=values.get("promoted_to"),
        confidence=max(known, default=None),
    )


def _parse_body(lines: list[str]) -> tuple[str | None, tuple[Block, ...]]:
    title: str | None = None
    blocks: list[Block] = []
    prose: list[str] = []
    for line in lines:
        if line.startswith("## ") and title is None:
            title = line[3:].strip()
            prose.clear()
            continue
        if line.startswith("# ") and not blocks and title is None:
            prose.clear()
            continue
        match = _MARKER.match(line)
        if match is None:
            prose.append(line)
            continue
        name, value = match["name"], match["value"].strip()
        if match["glyph"] in _KINDS.values():
            kind = name if name in _KINDS else "entity"
            blocks.append(Block(label=value, text="\n".join(prose).strip("\n").rstrip(), kind=kind))
            prose.clear()
        elif blocks:
            blocks[-1] = _qualified_block(blocks[-1], name, value)
    if not blocks and (text := "\n".join(prose).strip()):
        blocks.append(Block(label=title or "", text=text))
    return title, tuple(blocks)


def _qualified_block(block: Block, name: str, value: str) -> Block:
    if name == "confidence":
        return replace(block, confidence=value)
    if name == "ambiguity":
        return replace(block, ambiguity=value)
    if name == "evidence":
        return replace(block, evidence=(*block.evidence, value))
    if name == "depends_on":
        return replace(block, depends_on=(*block.depends_on, value))
    return block


def body_text(claim: Claim) -> str:
    """What a claim says, as prose: the texts of its blocks, one after another."""
    return "\n".join(block.text or block.label for block in claim.blocks)


def stamped(text: str, key: str, value: str) -> str:
    """The same file with one frontmatter key set; every other byte stays."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(newline)
    line = f"{key}: {one_line(value)}"
    order = [name for name, _ in _ORDER]
    if lines[0].removeprefix("\ufeff").rstrip() != "---":
        return _stamped_unfenced(text, lines, newline, key, line, order)
    place = 1
    for at in range(1, len(lines)):
        if lines[at].rstrip() == "---":
            break
        match = _KEY.match(lines[at])
        if match and match[1] == key:
            return newline.join([*lines[:at], line, *lines[at + 1 :]])
        if match and match[1] in order and order.index(match[1]) < order.index(key):
            place = at + 1
    return newline.join([*lines[:place], line, *lines[place:]])


def _stamped_unfenced(text: str, lines: list[str], newline: str, key: str, line: str, order: list[str]) -> str:
    """A file from before the fence keeps its form: a fence above its keys would hide them."""
    keys = [(at, match[1]) for at, one in enumerate(lines[:40]) if (match := _KEY.match(one)) and match[1] in order]
    if not keys:
        return newline.join(["---", line, "---", "", text])
    known = next((at for at, name in keys if name == key), None)
    if known is not None:
        return newline.join([*lines[:known], line, *lines[known + 1 :]])
    place = max((at + 1 for at, name in keys if order.index(name) < order.index(key)), default=keys[0][0])
    return newline.join([*lines[:place], line, *lines[place:]])


def outdated(text: str) -> str:
    """The archived form of a version: only its State line differs."""
    return stamped(text, "State", "outdated")


def qualified(path: str, root: str) -> str:
    """An evidence path as the medulla keeps it: tied to its origin."""
    return path if "#" in path else f"{root}#{path}"


def state_of(claim: Claim, *, tier: Tier, in_history: bool) -> ClaimState:
    """Exactly one of four states, from where the file lies and whether it is outdated."""
    if in_history or not claim.active:
        return ClaimState.SUPERSEDED
    if tier is Tier.PROJECT:
        return ClaimState.PROJECT_PRIVATE
    return ClaimState.PROMOTED if claim.origin_claim else ClaimState.DOCTRINE_BORN
