"""Mission evidence: what a claim's references come to. The service has read files and looked events up; here is decided what that
proves, what is missing and what has to be done next. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.mission import (
    EventType,
    EvidenceClass,
    EvidenceGrade,
    MissionClaim,
    MissionEvent,
    MissionMode,
    Outcome,
    Verdict,
    VerifyResult,
)
from hindbrain.domain.mission_comparison import Comparison
from hindbrain.engines.claim_support import Source, compared
from hindbrain.engines.claim_wording import says_it_fails, says_it_passes
from hindbrain.policy.missions import GRADES, SWEEPS
from hindbrain.policy.proof import CONFIDENCE_CAP, LABELS, RANKS

__all__ = [
    "Judgement",
    "Reference",
    "Resolved",
    "about",
    "judged",
    "place_of",
    "read_reference",
    "sources_of",
    "subjects",
]

_EVENT = re.compile(r"\A(?:event:)?(evt_[A-Za-z0-9_-]{1,60})\Z")
_PLACE = re.compile(r"\A(?P<path>.+?)(?::(?P<line>[1-9]\d{0,8})(?::(?P<column>\d{1,9}))?)?\Z", re.DOTALL)
_SYMBOL = re.compile(r"::.*\Z|#L\d+.*\Z", re.DOTALL)
_RUNS = frozenset({EvidenceClass.DIRECT_TEST, EvidenceClass.DIRECT_COMPILER})
_STATED = frozenset({EventType.HUMAN_STATEMENT, EventType.HOST_HANDSHAKE, EventType.RECOVERY})
# What a run says by its kind and its end, beside what it printed.
_KINDS = {
    EventType.TEST_RUN: "all every test tests suite checks",
    EventType.COMPILE: "code project build builds compile compiles compilation type check",
    EventType.LINT: "all lint linter checks",
}
_ENDS = {Outcome.PASSED: "passed succeeded ok green clean", Outcome.FAILED: "failed red broken, does not pass"}
_NAMED_MOST = 5  # things that an event is about, told to whoever looked for another
_ADVICE = (
    "cite the lines that show it and say it in their words, run a command whose end decides it (hindbrain mission run -- "
    "COMMAND), or ask a person"
)
# Events whose target is what the agent calls them: what they are about stands in their payload, put there by the runtime.
_CALLED = SWEEPS | {
    EventType.LITERAL_SEARCH,
    EventType.DIFF_READ,
    EventType.WEB_FETCH,
    EventType.HOST_HANDSHAKE,
    EventType.RECOVERY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a claim says it rests on: an event, or a place in a file under a label."""

    raw: str
    event_id: str | None = None
    label: EvidenceClass | None = None
    path: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A reference with what was found: the event, or the event in which the runtime read the place; else why there is none.
    `sources` are the texts that it stands for, as they are now."""

    reference: Reference
    event: MissionEvent | None = None
    sources: tuple[Source, ...] = ()
    established: EvidenceClass | None = None  # of a document that was checked
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What came of a claim."""

    verdict: Verdict
    grade: EvidenceGrade
    classes: tuple[EvidenceClass, ...]
    evidence_refs: tuple[str, ...]
    missing: tuple[str, ...]
    confidence: float | None
    next_required_move: dict[str, Any]
    comparison: Comparison | None = None

    def applied(self, claim: MissionClaim, *, stamp: str, reported: float | None = None) -> MissionClaim:
        """The claim as it stands now. Verified it names the events that show it; till then also what it was hoped to rest on."""
        judged_by = set(claim.evidence_refs) if claim.verified_at is not None else set()
        fresh = bool(set(self.evidence_refs) - judged_by)
        hoped = () if self.verdict == "verified_for_mission" else claim.evidence_refs
        return msgspec.structs.replace(
            claim,
            evidence_refs=tuple(dict.fromkeys((*hoped, *self.evidence_refs))),
            evidence_grade=self.grade,
            evidence_classes=self.classes,
            verdict=self.verdict,
            missing=self.missing,
            confidence=self.confidence,
            confidence_reported=reported if reported is not None else claim.confidence_reported,
            verified_at=stamp,
            judged=0 if fresh else claim.judged + 1,
            comparison=self.comparison,
        )

    def result(self, mission_id: str, claim_id: str, non_claims: tuple[str, ...] = ()) -> VerifyResult:
        """The answer to whoever asked."""
        return VerifyResult(
            mission_id=mission_id,
            claim_id=claim_id,
            verdict=self.verdict,
            evidence_grade=self.grade,
            evidence_classes=self.classes,
            missing=self.missing,
            confidence=self.confidence,
            next_required_move=self.next_required_move,
            comparison=self.comparison,
            non_claims=non_claims,
        )


def read_reference(text: str, label: EvidenceClass | None = None) -> Reference:
    """Read one of the six forms: `evt_…`, `event:evt_…`, `kind:path`, `kind:path:line`, `kind:path:line:col`, `kind path`. A bare
    place takes the label of the whole; prose is a reference to nothing."""
    raw = text.strip()
    if found := _EVENT.match(raw):
        return Reference(raw=raw, event_id=found[1], label=label)
    kind, sign, rest = _divided(raw)
    if kind in LABELS and rest:
        if sign == ":" and (found := _EVENT.match(rest)):
            return Reference(raw=raw, event_id=found[1], label=LABELS[kind])
        return _placed(raw, LABELS[kind], rest)
    if raw in LABELS:
        return Reference(raw=raw, label=LABELS[raw])
    if raw and not any(mark.isspace() for mark in raw):
        return _placed(raw, label, raw)
    return Reference(raw=raw)


def _divided(raw: str) -> tuple[str, str, str]:
    for at, mark in enumerate(raw):
        if mark == ":" or mark.isspace():
            return raw[:at], ":" if mark == ":" else " ", raw[at + 1 :].strip()
    return raw, "", ""


def _placed(raw: str, label: EvidenceClass | None, place: str) -> Reference:
    path, line, column = place_of(place)
    return Reference(raw=raw, label=label, path=path, line=line, column=column)


def place_of(text: str) -> tuple[str, int | None, int | None]:
    """A path, and the line and column that stand behind it."""
    found = _PLACE.match(text)
    if found is None:
        return text, None, None
    line, column = found["line"], found["column"]
    return found["path"], int(line) if line else None, int(column) if column else None


def about(target: str) -> str:
    """The file of a target: without line, column or the name of something in it."""
    plain = _SYMBOL.sub("", target.strip())
    return place_of(plain)[0].removeprefix("./") if plain else target


def judged(
    claim: MissionClaim,
    resolved: Sequence[Resolved],
    *,
    label: EvidenceClass,
    mode: MissionMode,
    changed: tuple[str, ...] = (),
    reported: float | None = None,
) -> Judgement:
    """Judge a claim by what its references came to. `label` is what the agent calls its evidence; `changed` are inherited files
    that are not what they were."""
    wanted = frozenset(about(one) for one in claim.targets)
    backing = [one.event for one in resolved if one.event is not None and _backs(one.event, wanted)]
    grade, classes = _graded(resolved, backing, label)
    refused = _contradicted(claim.claim, backing)
    missing = _missing(claim, resolved, backing, grade, wanted)
    comparison = _compared(claim, resolved, backing) if backing else None
    if comparison is not None and comparison.reason and not refused:
        refused = _told(comparison, resolved) if comparison.reason == "contradicted_by_source" else ""
        missing = (*missing, _told(comparison, resolved), _ADVICE)
    moved = tuple(one for one in changed if not wanted or about(one) in wanted)
    verdict: Verdict
    if refused:
        verdict, missing = "rejected", (refused,)
    elif grade == "direct" and not missing:
        verdict = "verified_for_mission"
    elif claim.inherited_from is not None and moved:
        verdict = "stale"
        missing = tuple(f"{one} is not what it was when this was shown: read it again" for one in moved)
    elif claim.inherited_from is not None and not resolved and claim.verdict == "inherited":
        verdict, grade, classes, missing = "inherited", claim.evidence_grade, claim.evidence_classes, ()
    else:
        verdict = "insufficient_evidence"
    told = reported if reported is not None else claim.confidence_reported
    cap = 1.0 if verdict in ("verified_for_mission", "inherited") else min(CONFIDENCE_CAP[grade], 0.5)
    return Judgement(
        verdict=verdict,
        grade=grade,
        classes=classes,
        evidence_refs=tuple(dict.fromkeys(one.event_id for one in backing)),
        missing=missing,
        confidence=None if told is None else min(round(told, 9), cap),
        next_required_move=_next(verdict, mode, claim, moved),
        comparison=comparison,
    )


def _compared(claim: MissionClaim, resolved: Sequence[Resolved], backing: Sequence[MissionEvent]) -> Comparison:
    """The claim against the texts of what backs it. What a person said in the same words, and the end of a test that the claim
    names as its target, decide a claim that cannot be compared."""
    found = compared(claim.claim, sources_of([one for one in resolved if one.event in backing]))
    if not found.reason:
        return found
    for event in backing:
        same = " ".join(claim.claim.lower().split()).rstrip(".")
        if event.evidence_class is EvidenceClass.DIRECT_HUMAN and same in " ".join(_texts(event)).lower():
            return Comparison(compared=(f"event {event.event_id}: a person said it",), matched=(claim.claim,))
        linked = bool(claim.targets) and event.evidence_class is EvidenceClass.DIRECT_TEST and event.outcome is Outcome.PASSED
        if found.reason == "nothing_checkable" and linked:
            told = f"event {event.event_id}: the test that the claim names passed"
            return Comparison(compared=(told,), not_checked=found.not_checked or (claim.claim,))
    return found


def sources_of(resolved: Sequence[Resolved]) -> tuple[Source, ...]:
    """The texts that references stand for: what a file says, or what a run printed."""
    return tuple(source for one in resolved for source in one.sources or _said_by(one.event))


def _said_by(event: MissionEvent | None) -> tuple[Source, ...]:
    """What an event itself tells: the command, the tests it names, its end and what it printed; or what was stated."""
    if event is None:
        return ()
    name = f"event {event.event_id}"
    if _is_run(event) or event.event_type in _KINDS or event.event_type is EventType.RUNTIME_PROBE:
        status = event.payload.get("exit_status")
        ended = f"{_KINDS.get(event.event_type, '')} {_ENDS.get(event.outcome, '')}\nexits with exit status {status}"
        command = " ".join([event.target or "", *_listed(event, "command", "targets", "tests")])
        return (Source(name=name, lines=tuple(_printed(event)), path=command, run=True, ends=ended),)
    return (Source(name=name, lines=tuple(_texts(event)), whole=True),) if event.event_type in _STATED else ()


def _listed(event: MissionEvent, *names: str) -> list[str]:
    found = [event.payload.get(name) for name in names]
    return [
        str(one) for value in found for one in (value if isinstance(value, list | tuple) else (value,)) if isinstance(one, str)
    ]


def _printed(event: MissionEvent) -> list[str]:
    """What a run printed, line by line: every text of it that is not its command."""
    known = set(_listed(event, "command", "targets", "tests", "cwd", "origin"))
    return [line for line in _texts(event) if line not in known and line != event.target]


def _texts(event: MissionEvent) -> list[str]:
    """Every text of an event, line by line."""
    listed = [one for value in event.payload.values() for one in (value if isinstance(value, list | tuple) else (value,))]
    return [line for one in (event.target, *listed) if isinstance(one, str) for line in one.split("\n") if line.strip()]


def _told(comparison: Comparison, resolved: Sequence[Resolved]) -> str:
    """Why a comparison shows nothing, with its reason first."""
    if comparison.reason == "contradicted_by_source":
        return f"{comparison.reason}: {'; '.join(comparison.contradicted)}"
    if comparison.reason == "nothing_checkable":
        return f"{comparison.reason}: the claim says nothing that can be looked for in a text"
    why = [f"{one.reference.raw[:120]}: {one.why}" for one in resolved if one.event is not None and one.why]
    where = ", ".join(comparison.compared) or "; ".join(why) or "what is cited"
    return f"{comparison.reason}: {where} does not show: {', '.join(comparison.not_shown)}"


def _backs(event: MissionEvent, wanted: frozenset[str]) -> bool:
    """A direct event, on what the claim is about."""
    if GRADES[event.evidence_class] != "direct" or event.outcome in (Outcome.ERROR, Outcome.BLOCKED):
        return False
    return not wanted or bool(wanted & subjects(event))


def subjects(event: MissionEvent) -> set[str]:
    """What an event is about: what the runtime saw it touch. A target counts where the runtime itself resolved it; the name that
    an agent gave a search, a diff, a page, a sweep or a handshake shows nothing."""
    more = event.payload.get("targets")
    seen = {about(str(one)) for one in more} if isinstance(more, list | tuple) else set()
    return seen | {about(event.target)} if event.target and event.event_type not in _CALLED else seen


def _graded(
    resolved: Sequence[Resolved], backing: Sequence[MissionEvent], label: EvidenceClass
) -> tuple[EvidenceGrade, tuple[EvidenceClass, ...]]:
    """The rules in their order: what backs it, then a direct label that nothing backs, then the graph, then nothing."""
    if backing:
        return "direct", tuple(sorted({one.evidence_class for one in backing}))
    found = {_standing(one, label) for one in resolved} or {_unbacked(label)}
    best = max((GRADES[one] for one in found), key=RANKS.__getitem__)
    return best, tuple(sorted(one for one in found if GRADES[one] == best))


def _standing(one: Resolved, label: EvidenceClass) -> EvidenceClass:
    """What a reference that backs nothing is worth."""
    if one.established is not None:
        return one.established
    if one.event is not None:
        # It is there, and on something else or without weight: no more than the agent's own reasoning.
        return EvidenceClass.INFERRED if GRADES[one.event.evidence_class] == "direct" else one.event.evidence_class
    if one.reference.event_id is None and one.reference.path is None and one.reference.label is None:
        return _unbacked(label) if GRADES[label] == "direct" else EvidenceClass.INFERRED
    return _unbacked(one.reference.label or label)


def _unbacked(label: EvidenceClass) -> EvidenceClass:
    return EvidenceClass.DIRECT_UNVERIFIED if GRADES[label] == "direct" else label


def _contradicted(text: str, backing: Sequence[MissionEvent]) -> str:
    """Why direct evidence says the opposite; empty when it does not. Of runs of one command the last one counts."""
    refuting = next((one for one in backing if one.outcome is Outcome.HYPOTHESIS_REFUTED), None)
    if refuting is not None:
        return f"event {refuting.event_id} refutes it"
    passes, fails = says_it_passes(text), says_it_fails(text)
    if not passes and not fails:
        return ""
    last = {
        str(one.payload.get("command") or one.target): one for one in sorted(backing, key=lambda event: event.seq) if _is_run(one)
    }
    if fails and last and all(one.outcome is Outcome.PASSED for one in last.values()):
        return f"event {next(iter(last.values())).event_id} passed"
    failed = next((one for one in last.values() if one.outcome is Outcome.FAILED), None)
    if failed is None or not passes:
        return ""
    status = failed.payload.get("exit_status")
    return f"event {failed.event_id} failed" + (f" with exit status {status}" if status is not None else "")


def _is_run(event: MissionEvent) -> bool:
    return event.evidence_class in _RUNS or event.event_type in (EventType.COMMAND, EventType.TEST_RUN)


def _missing(
    claim: MissionClaim,
    resolved: Sequence[Resolved],
    backing: Sequence[MissionEvent],
    grade: EvidenceGrade,
    wanted: frozenset[str],
) -> tuple[str, ...]:
    if backing:
        if says_it_passes(claim.claim) and not any(one.evidence_class in _RUNS for one in backing):
            return ("a recorded run shows that something passes: hindbrain mission run -- COMMAND",)
        return ()
    lines = [_lack(one, wanted) for one in resolved]
    if grade == "graph_only":
        lines.append("the graph only shows where to look: direct evidence is needed")
    if not resolved:
        lines.append("it names no event and no file")
    place = claim.targets[0] if claim.targets else "PATH:LINE"
    lines.append(f"read {place} (direct_source:{place}) or run its test (hindbrain mission run -- COMMAND)")
    return tuple(dict.fromkeys(line for line in lines if line))


def _lack(one: Resolved, wanted: frozenset[str]) -> str:
    """What is wrong with one reference."""
    raw, event = one.reference.raw[:120], one.event
    if event is None:
        return f"{raw}: {one.why}" if one.why else f"{raw}: nothing backs it"
    if GRADES[event.evidence_class] == "direct_unverified":
        return f"event {event.event_id} was told and not seen by the runtime"
    if event.outcome in (Outcome.ERROR, Outcome.BLOCKED):
        return f"event {event.event_id} ended with {event.outcome.value}"
    if GRADES[event.evidence_class] == "direct" and wanted:
        seen = ", ".join(sorted(subjects(event))[:_NAMED_MOST]) or "nothing named"
        return f"event {event.event_id} is about {seen}, not about {', '.join(sorted(wanted))}"
    return ""


def _next(verdict: Verdict, mode: MissionMode, claim: MissionClaim, moved: tuple[str, ...]) -> dict[str, Any]:
    if verdict == "verified_for_mission":
        if mode is MissionMode.BUG_HUNT:
            return {"type": "next", "tool": "mission_next", "target": claim.claim_id, "why": "a sweep may be due"}
        return {
            "type": "claim",
            "tool": "mission_claim",
            "target": claim.claim_id,
            "why": "claim what else was found, or close",
            "or": "mission_close",
        }
    if verdict == "rejected":
        return {"type": "next", "tool": "mission_next", "target": claim.claim_id, "why": "the evidence says otherwise"}
    if verdict == "inherited":
        return {"type": "next", "tool": "mission_next", "target": claim.claim_id, "why": "what it rests on is unchanged"}
    target = moved[0] if moved else about(claim.targets[0]) if claim.targets else ""
    tests = says_it_passes(claim.claim)
    return {
        "type": "run_test" if tests else "read_file",
        "tool": "hindbrain mission run" if tests else "file_read",
        "target": target,
        "why": "it changed since" if moved else "direct evidence is missing",
        "evidence_required": (EvidenceClass.DIRECT_TEST if tests else EvidenceClass.DIRECT_SOURCE).value,
    }
