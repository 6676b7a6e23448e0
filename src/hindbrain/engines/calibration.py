"""Calibration: what memory gave, turned into what a plan is told: rules, the newest episodes, a bare hint where there is neither.
No model, no store: data in, text out."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hindbrain.domain.notes import MegramNote, PotentialsNote, RuleNote
from hindbrain.domain.task import OverriddenRule
from hindbrain.engines.insight import insight_of
from hindbrain.engines.plan_check import Forbidden
from hindbrain.engines.potentials import broken_law
from hindbrain.policy.control import TARGET_CHARS
from hindbrain.policy.planning import ENTRIES, ENTRY_CUT, RECENT

__all__ = ["Calibration", "Entry", "Recalled", "calibrated", "forbidden_by", "mentions", "must_not_list", "told"]

_Note = TypeVar("_Note", RuleNote, MegramNote)
_GOOD, _BAD = frozenset({"accept", "success"}), frozenset({"abandon"})
_NEWEST = 2  # episodes that outweigh a rule for one task: one may be an accident
_HINTS = {
    "Exploit": "what was done before for tasks like this one: it went well",
    "Avoid": "do again what was done before for tasks like this one: it failed",
}
_CARE = "TAKE CARE: experience with this is divided. Ask before anything is changed, or change it in a sandbox."


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What memory answered about one pair."""

    space: str
    entity: str
    sops: tuple[RuleNote, ...] = ()
    potentials: PotentialsNote | None = None
    recent: tuple[MegramNote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One memory that reaches a plan."""

    id: str
    text: str
    prefer: bool
    rule: OverriddenRule | None = None  # the rule itself, should the plan go without it


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What a plan is told."""

    entries: tuple[Entry, ...] = ()
    hint: str = ""
    caution: bool = False
    overridden: tuple[OverriddenRule, ...] = ()
    law_conflicts: tuple[str, ...] = ()
    sop_ids: tuple[str, ...] = ()
    megram_ids: tuple[str, ...] = ()

    @property
    def prefer(self) -> tuple[str, ...]:
        return tuple(one.text for one in self.entries if one.prefer)

    @property
    def must_not(self) -> tuple[str, ...]:
        return tuple(one.text for one in self.entries if not one.prefer)


def calibrated(recalled: Sequence[Recalled], *, tools: Collection[str] = ()) -> Calibration:
    """The three layers: rules, the newest episodes, and a hint when both are empty."""
    rules: list[Entry] = []
    episodes: list[MegramNote] = []
    overridden: list[OverriddenRule] = []
    conflicts: list[str] = []
    for one in recalled:
        for sop in _unique(one.sops):
            rule = OverriddenRule(id=sop.id, space=sop.space, entity=sop.entity, sigma=sop.sigma)
            text = _text(sop.content)
            law = broken_law(text, sop.sigma)
            if law is not None:
                conflicts.append(f"law_conflict: rule {sop.id} against law {law.number}")
            elif _outweighed(sop, one.recent, tools):
                overridden.append(rule)
            else:
                rules.append(Entry(id=sop.id, text=text, prefer=sop.sigma > 0, rule=rule))
        # What draws no attention any more adds nothing.
        if one.potentials is None or one.potentials.action != "Ignore":
            episodes += one.recent
    newest = sorted(_unique(episodes), key=lambda one: one.created_at, reverse=True)
    spoken = [
        Entry(id=one.id, text=_text(one.content), prefer=one.state in _GOOD)
        for one in newest
        if one.state in _GOOD | _BAD and one.content.strip() and broken_law(_text(one.content), one.sigma) is None
    ]
    kept = (_distinct(rules) + _distinct(spoken)[:RECENT])[:ENTRIES]
    advised = [one.potentials.action for one in recalled if one.potentials is not None]
    hint = "" if kept else next((action for action in advised if action in _HINTS), "")
    ids = {one.id for one in rules}
    return Calibration(
        entries=tuple(kept),
        hint=hint,
        caution="Caution" in advised,
        overridden=tuple(overridden),
        law_conflicts=tuple(conflicts),
        sop_ids=tuple(one.id for one in kept if one.id in ids),
        megram_ids=tuple(one.id for one in kept if one.id not in ids),
    )


def must_not_list(calibration: Calibration, blocked_tools: Sequence[str], blocked_targets: Sequence[str]) -> tuple[str, ...]:
    """Everything a plan must not do, each once: what memory says, then blocked tools, then blocked targets."""
    lines = [*calibration.must_not]
    if calibration.hint == "Avoid":
        lines.append(_HINTS["Avoid"])
    lines += [f"use the tool {tool}" for tool in blocked_tools]
    lines += [f"use the target {target}" for target in blocked_targets]
    return tuple(dict.fromkeys(lines))


def told(calibration: Calibration, blocked_tools: Sequence[str] = (), blocked_targets: Sequence[str] = ()) -> str:
    """The constraints as text; empty where there are none."""
    prefer = list(calibration.prefer) + ([_HINTS["Exploit"]] if calibration.hint == "Exploit" else [])
    forbid = must_not_list(calibration, blocked_tools, blocked_targets)
    parts = []
    if prefer:
        parts.append("SHOULD PREFER:\n" + "\n".join(f"- {line}" for line in dict.fromkeys(prefer)))
    if forbid:
        parts.append("MUST NOT:\n" + "\n".join(f"- {line}" for line in forbid))
    if calibration.caution:
        parts.append(_CARE)
    return "\n".join(parts)


def mentions(text: str, tool: str, target: str) -> bool:
    """Whether a memory names this tool on this target: together as the controller writes them, or each as a whole."""
    return _whole(f"{tool} {target}"[:TARGET_CHARS], text) or (_whole(tool, text) and _whole(target, text))


def forbidden_by(calibration: Calibration, acts: Iterable[tuple[str, str]]) -> tuple[Forbidden, ...]:
    """Which of these acts a memory says must not be repeated."""
    return tuple(
        Forbidden(tool=tool, target=target, why=line)
        for tool, target in acts
        for line in calibration.must_not
        if mentions(line, tool, target)
    )


def _whole(part: str, text: str) -> bool:
    return bool(part) and re.search(rf"(?<![\w./*-]){re.escape(part)}(?![\w*/-]|\.\w)", text) is not None


def _outweighed(sop: RuleNote, recent: Sequence[MegramNote], tools: Collection[str]) -> bool:
    """Whether the newest episodes of a rule's pair speak against it. Where both name tools, they must be about the same ones."""
    newest = sorted((one for one in recent if one.level == "M"), key=lambda one: one.created_at, reverse=True)[:_NEWEST]
    against = _BAD if sop.sigma > 0 else _GOOD
    if len(newest) < _NEWEST or any(one.state not in against for one in newest):
        return False
    named = {tool for tool in tools if _whole(tool, sop.content)}
    return not named or all(not (seen := _named(one, tools)) or named & seen for one in newest)


def _named(megram: MegramNote, tools: Collection[str]) -> set[str]:
    return {tool for tool in tools if _whole(tool, megram.content)}


def _text(content: str) -> str:
    found = insight_of(content)
    return " ".join((found.lesson if found is not None else content).split())[:ENTRY_CUT]


def _unique(notes: Sequence[_Note]) -> list[_Note]:
    return list({one.id: one for one in notes}.values())


def _distinct(entries: Sequence[Entry]) -> list[Entry]:
    first: dict[tuple[str, bool], Entry] = {}
    for one in entries:
        first.setdefault((one.text, one.prefer), one)
    return list(first.values())
