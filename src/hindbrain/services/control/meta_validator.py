"""R4b: waits for all outcomes of a plan, lets nothing through that is not shown, and reports to the solver alone.

It computes no loss, directs nobody, retries nothing and writes no memory. Time comes from the messages, so that a recorded task
comes to the same decisions again. An outcome that came twice, or that no open manifest lists, is left aside; whoever reads the
stream sees both there (the same subtask twice; an outcome without a manifest), and the auditor names them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import msgspec

from hindbrain.domain.errors import BoundaryViolation, ConfigInvalid, HindbrainError
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.task import (
    Criterion,
    DispatchManifest,
    OutcomeSummary,
    ReplanMore,
    ReplanRequest,
    SubTaskOutcome,
    SummaryMore,
    Verdict,
)
from hindbrain.domain.typed import converted
from hindbrain.engines.judging import Found, Opinion, accepted, not_shown
from hindbrain.engines.merging import corrections, drift, evidence_of, gap_summary, invented, merged, summary, task_found
from hindbrain.engines.showing import as_text
from hindbrain.engines.supporting import unsupported
from hindbrain.policy.checks import DRIFT, DRIFT_CRITERION, INVENTED_CRITERION
from hindbrain.policy.control import Params
from hindbrain.policy.experience import law_lines
from hindbrain.services.control.ports import Heard, Mind, Voice

__all__ = ["Gate", "MetaValidator"]

Reason = Literal["gate_failed", "criteria_rejected", "validator_error"]

_SYSTEM = (
    "You decide whether the merged result of a task is what was asked. Judge each criterion alone, on the tool calls and not on "
    "what is claimed; a pass names the event_ids it rests on; when in doubt say unclear. Put into `drift` what the request asked "
    "for and the result does not give, else leave it out. `summary` says in one or two sentences what was found, with no value "
    "that is not in the result."
)


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked for. It judges criteria; whether the task passes is counted."""

    verdicts: tuple[Opinion, ...]
    drift: str | None = None
    summary: str = ""


@dataclass(slots=True)
class _Fanin:
    """What is known of one task. `outcomes` is of the round that is open; the rest stays from round to round."""

    began: int
    manifest: DispatchManifest | None = None
    outcomes: dict[str, SubTaskOutcome] = field(default_factory=dict)
    requests: int = 0


class MetaValidator:
    """The sensor of the medium loop."""

    hears = frozenset({MessageType.DISPATCH_MANIFEST, MessageType.SUB_TASK_OUTCOME})

    def __init__(self, voice: Voice, mind: Mind | None, params_of: Callable[[str], Params]) -> None:
        if voice is None:
            raise BoundaryViolation("a gate without a voice", fix="Build the bus first, then the roles.")
        if mind is not None and mind.tier(Role.META_VALIDATOR) < mind.tier(Role.PLANNER):
            raise ConfigInvalid(
                f"R4b has a model of tier {mind.tier(Role.META_VALIDATOR)}, and R2 one of tier {mind.tier(Role.PLANNER)}: "
                "what judges a plan may not be weaker than what makes it",
                fix="Give R4b a model of at least the tier of R2, or none to both.",
            )
        self._voice = voice
        self._mind = mind
        self._params_of = params_of
        self._tasks: dict[str, _Fanin] = {}

    def hear(self, heard: Heard) -> None:
        """Collect; decide when the last outcome is there, never before."""
        record = heard.record
        if isinstance(record, DispatchManifest):
            task = self._tasks.setdefault(record.task_id, _Fanin(began=_ms(heard.message.timestamp)))
            task.manifest, task.outcomes = record, {}
            self._decide(task, record, heard)
        elif isinstance(record, SubTaskOutcome):
            found = self._tasks.get(record.parent_task_id)
            if found is None or found.manifest is None or record.subtask_id not in found.manifest.subtask_ids:
                return
            if record.subtask_id not in found.outcomes:
                found.outcomes[record.subtask_id] = record
                self._decide(found, found.manifest, heard)

    def _decide(self, task: _Fanin, manifest: DispatchManifest, heard: Heard) -> None:
        if len(task.outcomes) < len(set(manifest.subtask_ids)):
            return
        outcomes = tuple(task.outcomes[one] for one in dict.fromkeys(manifest.subtask_ids))
        if any(one.status == "failed" for one in outcomes):
            self._reject(task, manifest, outcomes, heard, reason="gate_failed", gap=gap_summary(outcomes))
            return
        try:
            found, drifted, told = self._judged(manifest, outcomes)
        except (HindbrainError, msgspec.ValidationError) as failure:
            gap = f"the gate could not judge: {failure}"
            self._reject(task, manifest, outcomes, heard, reason="validator_error", gap=gap)
            return
        verdicts = tuple(one.verdict for one in found)
        rejected = next((one for one in (_untrue(manifest, outcomes), drifted) if one is not None), None)
        if not verdicts or any(one.verdict == "fail" for one in verdicts):
            gap = gap_summary(outcomes, verdicts) or "the plan has nothing by which its result could be judged"
            self._reject(task, manifest, outcomes, heard, reason="criteria_rejected", gap=gap, verdicts=verdicts)
        elif rejected is not None:
            # Met to the letter, and not what was asked: the criteria that passed were not those of the request.
            self._reject(task, manifest, outcomes, heard, reason="criteria_rejected", gap=rejected.evidence, verdicts=(rejected,))
        else:
            self._accept(task, manifest, outcomes, heard, verdicts, told)

    def _judged(
        self, manifest: DispatchManifest, outcomes: tuple[SubTaskOutcome, ...]
    ) -> tuple[tuple[Found, ...], Verdict | None, str]:
        """Every criterion of the manifest, what the request lost, and a model's words for it if there is one."""
        intent = manifest.task_spec.intent if manifest.task_spec is not None else ""
        found = task_found(manifest.task_criteria, outcomes, intent)
        drifted = drift(manifest, outcomes)
        if self._mind is None or any(one.verdict.verdict == "fail" and not one.open for one in found):
            return found, drifted, ""
        thought = self._mind.think(
            Role.META_VALIDATOR,
            task_id=manifest.task_id,
            system="\n".join((*law_lines(), _SYSTEM)),
            user=_question(manifest, outcomes, [one.verdict for one in found if one.open]),
            schema=Gate,
        )
        if thought is None:
            return found, drifted, ""
        gate = thought.data if isinstance(thought.data, Gate) else converted(thought.data, Gate)
        opinions = {one.criterion: one for one in gate.verdicts}
        made = [call.event_id for outcome in outcomes for call in outcome.tool_calls]
        found = tuple(
            accepted(criterion, opinions.get(criterion.criterion), made) if one.open else one
            for criterion, one in zip(manifest.task_criteria, found, strict=True)
        )
        if drifted is None and gate.drift:
            drifted = not_shown(Criterion(criterion=DRIFT_CRITERION), f"{DRIFT}: {gate.drift}")
        return found, drifted, _worded(gate.summary, manifest, outcomes)

    def _reject(
        self,
        task: _Fanin,
        manifest: DispatchManifest,
        outcomes: tuple[SubTaskOutcome, ...],
        heard: Heard,
        *,
        reason: Reason,
        gap: str,
        verdicts: tuple[Verdict, ...] = (),
    ) -> None:
        task.requests += 1
        task.manifest, task.outcomes = None, {}
        spec = manifest.task_spec
        most = self._params_of(spec.x.task_class if spec is not None else "").max_replans
        self._voice.say(
            Role.SOLVER,
            ReplanRequest(
                task_id=manifest.task_id,
                intent=spec.intent if spec is not None else "",
                gap_summary=gap,
                failed_subtasks=tuple(one.subtask_id for one in outcomes if one.status == "failed"),
                correction_count=corrections(outcomes),
                elapsed_ms=_since(task, heard),
                outcomes=outcomes,
                recommendation="abandon" if task.requests > most else "replan",
                x=ReplanMore(
                    round=task.requests,
                    reason=reason,
                    task_criteria_verdicts=verdicts,
                    task_class=spec.x.task_class if spec is not None else "",
                    mission_id=spec.x.mission_id if spec is not None else None,
                    plan_fingerprint=manifest.x.plan_fingerprint,
                    overridden=manifest.x.overridden,
                ),
            ),
            task_id=manifest.task_id,
            because=heard,
        )

    def _accept(
        self,
        task: _Fanin,
        manifest: DispatchManifest,
        outcomes: tuple[SubTaskOutcome, ...],
        heard: Heard,
        verdicts: tuple[Verdict, ...],
        told: str,
    ) -> None:
        del self._tasks[manifest.task_id]
        spec = manifest.task_spec
        self._voice.say(
            Role.SOLVER,
            OutcomeSummary(
                task_id=manifest.task_id,
                intent=spec.intent if spec is not None else "",
                summary=told or summary(outcomes, verdicts),
                merged_output=merged(outcomes),
                elapsed_ms=_since(task, heard),
                outcomes=outcomes,
                x=SummaryMore(
                    task_criteria_verdicts=verdicts,
                    task_class=spec.x.task_class if spec is not None else "",
                    mission_id=spec.x.mission_id if spec is not None else None,
                    declarative=spec.x.declarative if spec is not None else False,
                    plan_fingerprint=manifest.x.plan_fingerprint,
                    overridden=manifest.x.overridden,
                ),
            ),
            task_id=manifest.task_id,
            because=heard,
        )


def _untrue(manifest: DispatchManifest, outcomes: tuple[SubTaskOutcome, ...]) -> Verdict | None:
    lost = invented(outcomes, manifest)
    if not lost:
        return None
    told = ", ".join(repr(value) for value in lost[:3])
    return not_shown(Criterion(criterion=INVENTED_CRITERION), f"the result says {told}, and no call shows it")


def _worded(text: str, manifest: DispatchManifest, outcomes: tuple[SubTaskOutcome, ...]) -> str:
    """A model's summary, if all its values are in the result."""
    known = [as_text(merged(outcomes)), *(one.text for one in evidence_of(outcomes).shown)]
    given = [manifest.task_spec.raw_input, manifest.task_spec.intent] if manifest.task_spec is not None else []
    return "" if unsupported(text, known, given) else text.strip()


def _question(manifest: DispatchManifest, outcomes: tuple[SubTaskOutcome, ...], open_: list[Verdict]) -> str:
    asked: dict[str, Any] = {
        "request": manifest.task_spec.raw_input if manifest.task_spec is not None else "",
        "criteria": [{"criterion": one.criterion, "mode": one.mode} for one in open_],
        "result": as_text(merged(outcomes))[:8000],
        "tool_calls": [
            {"event_id": call.event_id, "call": call.rendered[:600], "error": call.error}
            for outcome in outcomes
            for call in outcome.tool_calls
        ],
    }
    return msgspec.json.encode(asked).decode()


def _ms(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000)


def _since(task: _Fanin, heard: Heard) -> int:
    """Since the first manifest of the task, by the messages."""
    return max(_ms(heard.message.timestamp) - task.began, 0)
