"""Operations on outcomes: adoption guidance, prepare, check, record, capture and the reports; knowledge advise."""

import shlex
from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.adoption import Signal, Track
from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    ClaimTooLarge,
    HygieneRefused,
    InvalidParams,
    Rejected,
    StoreUnavailable,
    SwitchedOff,
)
from hindbrain.domain.read_errors import CheckFailed
from hindbrain.engines import adoption as records
from hindbrain.engines.advice import Request, advised
from hindbrain.operations.memory import TimeArgument, moment
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.adoption import CANDIDATES, GATES, LIST_LIMIT, SURFACES
from hindbrain.services.adoption import Asked
from hindbrain.services.call import Call

__all__ = [
    "advise",
    "analytics",
    "capture",
    "check",
    "gate",
    "guidance",
    "instrumentation",
    "list_",
    "prepare",
    "readiness",
    "record",
    "review",
    "stats",
    "told_by",
]


def _one_of(names: Any) -> dict[str, Any]:
    """What a schema says of a word from a table. The engine refuses others, so that its message can list them."""
    return {"enum": [str(name) for name in names]}


TrackWord = Annotated[str, Meta(description="what kind of guidance it is about", extra_json_schema=_one_of(Track))]
SignalWord = Annotated[str, Meta(description="what came of it", extra_json_schema=_one_of(Signal))]
SurfaceWord = Annotated[str, Meta(description=f"where it was seen: {', '.join(SURFACES)}")]
OutcomeWord = Annotated[str, Meta(description="what came of it", extra_json_schema=_one_of(Signal))]
Feature = Annotated[str, Meta(description="what it is about, such as include_cards")]
OwnId = Annotated[str | None, Meta(description="an id of your own, adoption_…; refused when it is taken")]
Query = Annotated[str | None, Meta(description="what had been asked")]
ContextHash = Annotated[str | None, Meta(description="context_hash of the pack that was used")]
CardArgument = Annotated[str | None, Meta(description="the card it is about, card_…")]
EvaluatorArgument = Annotated[str | None, Meta(description="whose advice it is about")]
ReportArgument = Annotated[str | None, Meta(description="the research report it is about")]
Note = Annotated[str | None, Meta(description="what happened, in a sentence or two")]
Metadata = Annotated[dict[str, Any] | None, Meta(description="more, as one JSON object")]
AllowWarnings = Annotated[bool, Meta(description="write a record that lacks something; never one that is invalid")]
FailOnBlock = Annotated[bool, Meta(description="exit with 3 when the report says blocked or not ready")]
OnlyTrack = Annotated[TrackWord | None, Meta(description="only this track")]
OnlyFeature = Annotated[str | None, Meta(description="only this feature")]
OnlySignal = Annotated[SignalWord | None, Meta(description="only this signal")]
Most = Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="the newest so many; all when left out")]
Since = Annotated[TimeArgument, Meta(description="from this time on: milliseconds, seconds or ISO")]
Until = Annotated[TimeArgument, Meta(description="before this time")]

_RECORDING = (
    BrainlessRoot,
    CallerRootUnknown,
    ClaimTooLarge,
    HygieneRefused,
    InvalidParams,
    Rejected,
    StoreUnavailable,
    SwitchedOff,
)


def told_by(answer: dict[str, Any], *, blocked: bool, fail_on_block: bool) -> dict[str, Any]:
    """A negative report, for a caller who asked to fail on one: the whole report, an error and an exit code of its own."""
    if not (blocked and fail_on_block):
        return answer
    failed = CheckFailed("the report says blocked or not ready", fix="the report names what is missing")
    return failed.report(answer) | {"exit_code": 3}


@operation("adoption.guidance", effect=Effect.READ)
def guidance(call: Call) -> dict[str, Any]:
    """Explain when an outcome is worth recording, and under which track and signal."""
    return {"schema": "hindbrain-adoption-guidance-v0", **records.guidance()}


@operation("adoption.instrumentation", effect=Effect.READ)
def instrumentation(call: Call) -> dict[str, Any]:
    """Tell how outcomes may be observed: which ways are allowed, which are forbidden, and what each needs."""
    return {"schema": "hindbrain-adoption-instrumentation-v0", **records.instrumentation()}


@operation("adoption.prepare", effect=Effect.READ, raises=(InvalidParams,))
def prepare(
    call: Call,
    track: TrackWord,
    signal: SignalWord,
    feature: Feature,
    id: OwnId = None,  # noqa: A002 - the name on the wire
    query: Query = None,
    context_hash: ContextHash = None,
    card_id: CardArgument = None,
    evaluator_id: EvaluatorArgument = None,
    research_report_id: ReportArgument = None,
    note: Note = None,
    metadata: Metadata = None,
) -> dict[str, Any]:
    """Show how a record would be written, as a command and as a call. Writes nothing."""
    found = records.Record.of(
        track,
        signal,
        feature,
        id=id,
        query=query,
        context_hash=context_hash,
        card_id=card_id,
        evaluator_id=evaluator_id,
        research_report_id=research_report_id,
        note=note,
        metadata=metadata,
    )
    plan = records.planned(found)
    return {"schema": "hindbrain-adoption-plan-v0", **plan, "rendered": shlex.join(plan["record_command"])}


@operation("adoption.check", effect=Effect.READ, raises=(InvalidParams,))
def check(
    call: Call,
    track: TrackWord,
    signal: SignalWord,
    feature: Feature = "",
    query: Query = None,
    context_hash: ContextHash = None,
    card_id: CardArgument = None,
    evaluator_id: EvaluatorArgument = None,
    research_report_id: ReportArgument = None,
    note: Note = None,
    metadata: Metadata = None,
) -> dict[str, Any]:
    """Rate a record before it is written: ready, warning or invalid, with the reasons. Writes nothing and blocks nothing."""
    found = records.checked(
        records.Record.of(
            track,
            signal,
            feature,
            query=query,
            context_hash=context_hash,
            card_id=card_id,
            evaluator_id=evaluator_id,
            research_report_id=research_report_id,
            note=note,
            metadata=metadata,
        )
    )
    said = [f"quality={found.name}", *(f"- {one}" for one in (*found.errors, *found.warnings))]
    return {"schema": "hindbrain-adoption-quality-v0", **found.told(), "rendered": "\n".join(said)}


@operation("adoption.record", effect=Effect.WRITE, raises=_RECORDING)
def record(
    call: Call,
    track: TrackWord,
    signal: SignalWord,
    feature: Feature,
    id: OwnId = None,  # noqa: A002 - the name on the wire
    query: Query = None,
    context_hash: ContextHash = None,
    card_id: CardArgument = None,
    evaluator_id: EvaluatorArgument = None,
    research_report_id: ReportArgument = None,
    note: Note = None,
    metadata: Metadata = None,
    checked: Annotated[bool, Meta(description="rate the record first, and write it only when it is good enough")] = False,
    allow_warnings: AllowWarnings = False,
    fail_on_block: FailOnBlock = False,
) -> dict[str, Any]:
    """Record one outcome of using memory in this project: what really happened, after it happened."""
    found = records.Record.of(
        track,
        signal,
        feature,
        id=id,
        query=query,
        context_hash=context_hash,
        card_id=card_id,
        evaluator_id=evaluator_id,
        research_report_id=research_report_id,
        note=note,
        metadata=metadata,
    )
    if not checked:
        return call.house.adoption.record(call.caller, found)
    answer = call.house.adoption.record_checked(call.caller, found, allow_warnings=allow_warnings)
    return told_by(answer, blocked=answer["blocked"], fail_on_block=fail_on_block)


@operation("adoption.capture", effect=Effect.WRITE, raises=_RECORDING)
def capture(
    call: Call,
    surface: SurfaceWord,
    outcome: OutcomeWord,
    query: Query = None,
    context_hash: ContextHash = None,
    card_id: CardArgument = None,
    evaluator_id: EvaluatorArgument = None,
    research_report_id: ReportArgument = None,
    note: Note = None,
    metadata: Metadata = None,
    execute: Annotated[bool, Meta(description="write it, by the checked way; without this only the plan is shown")] = False,
    allow_warnings: AllowWarnings = False,
    fail_on_block: FailOnBlock = False,
) -> dict[str, Any]:
    """Turn an outcome seen at a surface into a checked record: planned and rated first, written only with execute."""
    found = records.captured(
        surface,
        outcome,
        query=query,
        context_hash=context_hash,
        card_id=card_id,
        evaluator_id=evaluator_id,
        research_report_id=research_report_id,
        note=note,
        metadata=metadata,
    )
    place = records.surface_of(surface)
    answer = call.house.adoption.capture(call.caller, found, surface=place, execute=execute, allow_warnings=allow_warnings)
    blocked = answer["record_checked"] is not None and answer["record_checked"]["blocked"]
    return told_by(answer, blocked=blocked, fail_on_block=fail_on_block)


@operation("adoption.list", effect=Effect.READ, raises=(InvalidParams,))
def list_(
    call: Call,
    track: OnlyTrack = None,
    feature: OnlyFeature = None,
    signal: OnlySignal = None,
    context_hash: Annotated[str | None, Meta(description="only of this context pack")] = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, Meta(ge=1, description="at most so many")] = LIST_LIMIT,
) -> dict[str, Any]:
    """List outcomes of this project, newest first."""
    asked = Asked(
        track=track,
        feature=feature,
        signal=signal,
        context_hash=context_hash,
        limit=limit,
        since=moment(since, "since"),
        until=moment(until, "until"),
    )
    return call.house.adoption.listed(call.caller, asked)


@operation("adoption.stats", effect=Effect.READ, raises=(InvalidParams,))
def stats(
    call: Call,
    track: OnlyTrack = None,
    feature: OnlyFeature = None,
    since: Since = None,
    until: Until = None,
    limit: Most = None,
) -> dict[str, Any]:
    """Count the outcomes of this project by signal."""
    asked = Asked(track=track, feature=feature, limit=limit, since=moment(since, "since"), until=moment(until, "until"))
    return call.house.adoption.stats(call.caller, asked)


@operation("adoption.review", effect=Effect.READ, raises=(InvalidParams,))
def review(
    call: Call,
    track: OnlyTrack = None,
    feature: OnlyFeature = None,
    signal: OnlySignal = None,
    since: Since = None,
    until: Until = None,
    limit: Most = None,
) -> dict[str, Any]:
    """Sum up outcomes and say what they mean together. Advice: it opens no gate and changes no default."""
    begin, end = moment(since, "since"), moment(until, "until")
    asked = Asked(track=track, feature=feature, signal=signal, limit=limit, since=begin, until=end)
    return call.house.adoption.review(call.caller, asked)


@operation("adoption.analytics", effect=Effect.READ, raises=(InvalidParams,))
def analytics(call: Call, since: Since = None, until: Until = None, limit: Most = None) -> dict[str, Any]:
    """Group outcomes by track and feature, each with what to do next."""
    asked = Asked(limit=limit, since=moment(since, "since"), until=moment(until, "until"))
    return call.house.adoption.analytics(call.caller, asked)


@operation("adoption.gate", effect=Effect.READ, positional=("candidate",), raises=(InvalidParams,))
def gate(
    call: Call,
    candidate: Annotated[str, Meta(description=f"what is to be started: {', '.join(GATES)}")],
    since: Since = None,
    until: Until = None,
    fail_on_block: FailOnBlock = False,
) -> dict[str, Any]:
    """Tell whether outcomes speak for starting work on a candidate. It starts nothing and grants nothing."""
    asked = Asked(since=moment(since, "since"), until=moment(until, "until"))
    answer = call.house.adoption.gate(call.caller, candidate, asked)
    return told_by(answer, blocked=not answer["ready"], fail_on_block=fail_on_block)


@operation("adoption.readiness", effect=Effect.READ, positional=("candidate",), raises=(InvalidParams,))
def readiness(
    call: Call,
    candidate: Annotated[str, Meta(description=f"which default: {' or '.join(CANDIDATES)}")],
    since: Since = None,
    until: Until = None,
    fail_on_block: FailOnBlock = False,
) -> dict[str, Any]:
    """Tell whether a default may be proposed. Ready means eligible; nothing is switched on."""
    asked = Asked(since=moment(since, "since"), until=moment(until, "until"))
    answer = call.house.adoption.readiness(call.caller, candidate, asked)
    return told_by(answer, blocked=not answer["ready"], fail_on_block=fail_on_block)


@operation("knowledge.advise", effect=Effect.READ, raises=(InvalidParams,))
def advise(
    call: Call,
    evaluator_id: Annotated[str, Meta(description="who advises, such as evaluator:reader")],
    subject_kind: Annotated[str, Meta(description="what it is about: a tier, or another kind of thing")],
    subject_id: Annotated[str, Meta(description="which one, such as card_…")],
    proposed_action: Annotated[str, Meta(description="what should be done with it, such as promote")],
    evidence_refs: Annotated[list[str] | None, Meta(description="evidence that speaks for it")] = None,
    counterexample_refs: Annotated[list[str] | None, Meta(description="evidence that speaks against it")] = None,
    risk_notes: Annotated[list[str] | None, Meta(description="what could go wrong")] = None,
    note: Note = None,
) -> dict[str, Any]:
    """Give an evaluator's advice on a card as a report. It changes nothing, opens no gate and counts as no review."""
    request = Request.of(
        evaluator_id=evaluator_id,
        subject_kind=subject_kind,
        subject_id=subject_id,
        proposed_action=proposed_action,
        evidence_refs=evidence_refs,
        counterexample_refs=counterexample_refs,
        risk_notes=risk_notes,
        note=note,
    )
    return {"schema": "hindbrain-evaluator-advice-v0", **advised(request)}
