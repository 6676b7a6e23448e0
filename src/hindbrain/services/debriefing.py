"""Debriefing: what a child brings back is graded against its packet, and what it found out is remembered under its own name, in
the project of the packet and nowhere else."""

import os
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from hindbrain.domain.caller import AgentId, Caller, Channel
from hindbrain.domain.claim import body_text, one_line, parse
from hindbrain.domain.delegation import DelegationRecord, Outcome, OutcomeRow, Report
from hindbrain.domain.errors import ClaimTooLarge, InvalidLabel, InvalidParams, PathRefused, Refusal
from hindbrain.engines.delegation import Grade, graded, paths_in_diff
from hindbrain.engines.delegation_prompt import parse_report
from hindbrain.engines.fence import plain_line
from hindbrain.policy.delegation import FINDING_LABEL
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.claims import Claims
from hindbrain.services.counters import Refusals
from hindbrain.services.delegation import record_of, relative_path
from hindbrain.services.delegation_ground import Grounding, checkout_of
from hindbrain.services.gateway import Gateway, recorded
from hindbrain.services.grades import Grades
from hindbrain.services.routing import Router
from hindbrain.stores.delegations import DelegationFiles

if TYPE_CHECKING:
    from hindbrain.services.graph_room import GraphRoom

__all__ = ["Debriefing", "Finding", "Told"]

SCHEMA = "m1nd-debrief-v0"
_TAUGHT = 0.2  # of a verdict on code; the same as a verdict that an agent gives itself
_NAMED = 20  # unforeseen paths that a claim names
_KEPT_OUT = (Refusal, ClaimTooLarge, InvalidLabel, InvalidParams, PathRefused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a child found out."""

    text: str
    label: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is told of a child's work. What was touched is None when nobody said."""

    delegation_id: str
    subagent_id: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    touched_paths: tuple[str, ...] | None = None
    diff: str | None = None
    command: str | None = None
    exit_status: int | None = None
    report: str | None = None


class Debriefing:
    """Takes in what children report."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        gateway: Gateway,
        claims: Claims,
        refusals: Refusals,
        grades: Grades,
        ground: Grounding,
        room: "Callable[[], GraphRoom]",
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._claims = claims
        self._refusals = refusals
        self._grades = grades
        self._ground = ground
        self._room = room
        self._clock = clock

    def debrief(self, caller: Caller, told: Told) -> dict[str, Any]:
        """Grade, remember, and note the outcome. Telling the same twice changes nothing."""
        brain = self._router.write_route(caller)
        if not told.subagent_id.strip():
            raise InvalidParams("subagent_id is empty", fix="name the child, as host:role")
        self._gateway.check_actor(told.subagent_id)
        files = DelegationFiles(self._brains.home.delegations_dir(brain))
        record_of(files, brain, told.delegation_id)
        report = parse_report(told.report) if told.report is not None else Report()
        if report.delegation_id not in (None, told.delegation_id):
            raise InvalidParams("the report is that of another packet", fix="give the delegation_id that the report opens with")
        given = {_one_line(one.text) for one in told.findings}
        reported = tuple(Finding(text=text) for text in report.findings if _one_line(text) not in given)
        told = replace(told, findings=(*told.findings, *reported))
        with self._brains.use(brain) as opened, files.held():
            record = record_of(files, brain, told.delegation_id)
            checkout = checkout_of(record.workspace_root, caller.root)
            said = (
                relative_path(one, root=record.workspace_root, checkout=checkout) or plain_line(one) for one in report.deviations
            )
            report = msgspec.structs.replace(report, deviations=tuple(said))
            grade = self._graded(record, told, report, checkout)
            return self._taken(caller, opened, files, record, told, report, grade)

    @staticmethod
    def _graded(record: DelegationRecord, told: Told, report: Report, checkout: str) -> Grade:
        named = [*(told.touched_paths or ()), *paths_in_diff(told.diff or ""), *report.deviations]
        known = told.touched_paths is not None or told.diff is not None or bool(report.deviations)
        at = {one: relative_path(one, root=record.workspace_root, checkout=checkout) for one in named if one.strip()}
        beyond = {plain_line(one) for one, path in at.items() if path is None}
        touched = tuple(dict.fromkeys(plain_line(one) if path is None else path for one, path in at.items()))
        return graded(
            touched, told=known, scope=record.may_touch, expected=record.expected_change, near=record.dependents, beyond=beyond
        )

    def _taken(
        self,
        caller: Caller,
        opened: OpenBrain,
        files: DelegationFiles,
        record: DelegationRecord,
        told: Told,
        report: Report,
        grade: Grade,
    ) -> dict[str, Any]:
        salt = self._gateway.salt(opened)
        digest = recorded(salt, msgspec.json.encode([told.delegation_id, told.subagent_id, *_content(told)]).decode())
        repeated = digest in record.debriefs or any(row.debrief == digest for row in files.outcomes())
        landed: list[dict[str, Any]] = []
        refused: list[dict[str, Any]] = []
        marks = set(record.findings)
        for at, finding in enumerate((*told.findings, *self._unforeseen(record, told, grade))):
            named = f"\x1f{finding.label}" if finding.label is not None else ""
            mark = recorded(salt, f"{told.delegation_id}\x1f{told.subagent_id}\x1f{finding.text}{named}")
            try:
                taken = {one["slug"] for one in landed}
                landed.append(self._remembered(caller, opened, told, finding, mark, known=mark in marks, taken=taken))
            except _KEPT_OUT as kept_out:
                if isinstance(kept_out, Refusal) and not repeated:
                    self._refusals.record(caller, "debrief", kept_out)
                refused.append({"finding": at, "code": kept_out.code, "reason": kept_out.message, "fix": kept_out.fix})
            else:
                marks.add(mark)
        unverified = told.command is None or told.exit_status is None
        taught = [] if repeated or unverified else self._taught(caller, opened, told, grade)
        now = self._clock()
        row = _row(record, told, grade, now, caller.agent, digest, landed=len(landed), refused=len(refused))
        if not repeated:
            files.append(row)
        debriefs = record.debriefs if digest in record.debriefs else (*record.debriefs, digest)
        kept = msgspec.structs.replace(record, status="debriefed", debriefs=debriefs, findings=tuple(sorted(marks)))
        if kept != record:
            files.write(kept)
        answer = {
            "ok": True,
            "schema": SCHEMA,
            "delegation_id": told.delegation_id,
            "subagent_id": told.subagent_id,
            "outcome": told.outcome,
            "outcome_unverified": row.outcome_unverified,
            "conformance": grade.conformance(),
            "map_grade": grade.map_grade(),
            "learned": {"memorized": landed, "taught": taught},
            "refused": refused,
            "caveats": _caveats(record, told, report, grade, now),
            "repeated": repeated,
        }
        return answer | {"rendered": _text(answer)}

    # -- memory ------------------------------------------------------------------------------------------------------

    def _remembered(
        self,
        caller: Caller,
        opened: OpenBrain,
        told: Told,
        finding: Finding,
        mark: str,
        *,
        known: bool,
        taken: Container[str],
    ) -> dict[str, Any]:
        """One finding through the door of every claim. The words are the child's, so its name stands on them and no channel of
        a person does."""
        self._gateway.check_text(finding.text)
        label = finding.label if finding.label is not None else _label(finding.text, mark)
        slug = opened.slug_for(label)
        if slug in taken and not known:
            raise InvalidParams("another finding of this debrief has that label", fix="give each a label of its own")
        if known and slug not in opened.store.live([slug]):
            raise InvalidParams("it was remembered before, and taken back since", fix="leave it out, or tell what holds instead")
        if known or self._stands(opened, slug, finding.text, told.subagent_id):
            return {"slug": slug, "already": True}
        child = replace(caller, agent=AgentId(told.subagent_id), channel=Channel.AGENT)
        answer = self._claims.memorize(
            child,
            node_label=label,
            blocks=[{"label": label, "text": finding.text, "evidence": list(finding.evidence)}],
            title=None,
            state="authored",
            tier=None,
            indexed=True,
            absolute=False,
            payload={"delegation": told.delegation_id},
        )
        if not answer["bytes_written"]:
            raise InvalidParams("a stronger claim of that label is live", fix=str(answer["next_action"]))
        return {"slug": slug, "path": answer["path"], "already": False}

    @staticmethod
    def _stands(opened: OpenBrain, slug: str, text: str, author: str) -> bool:
        """Whether the finding is live as it is told: a process that died after the write leaves it so."""
        live = opened.store.live([slug]).get(slug)
        if live is None:
            return False
        claim = parse(live.text, fallback_label=slug)
        return body_text(claim).split() == text.split() and claim.source_agent == one_line(author)

    @staticmethod
    def _unforeseen(record: DelegationRecord, told: Told, grade: Grade) -> tuple[Finding, ...]:
        """What the map did not know and the work showed: files that change together. A failure shows nothing."""
        root = record.workspace_root
        own = (path for path in grade.unpredicted if path not in grade.beyond and path.isprintable())
        there = [path for path in own if os.path.isfile(os.path.join(root, path))]
        if told.outcome == "failure" or not there:
            return ()
        more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
        foreseen = ", ".join(grade.predicted[:_NAMED]) or "none of them"
        text = f"Work in one packet also changed {', '.join(there[:_NAMED])}{more}; the map had foreseen {foreseen}."
        cited = tuple(path for path in there[:_NAMED] if not {*path} & {*"[]"})  # a bracket would end the marker of a citation
        return (Finding(text=text, evidence=cited),)

    def _taught(self, caller: Caller, opened: OpenBrain, told: Told, grade: Grade) -> list[str]:
        """A checked success tells the graph that these files belong together."""
        if told.outcome != "success" or told.exit_status != 0:
            return []
        touched = (*grade.predicted, *grade.unpredicted)
        nodes = [f"file::{path}" for path in self._ground.files_within(opened, touched, ())]
        if nodes:
            self._room().learning.learn(
                caller, self._grades, feedback="correct", node_ids=nodes, query="debrief", strength=_TAUGHT, tier=None
            )
        return nodes


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _content(told: Told) -> list[Any]:
    """What makes one debrief another."""
    findings = [[one.text, one.label, one.evidence] for one in told.findings]
    return [told.outcome, findings, told.touched_paths, told.diff, told.command, told.exit_status]


def _label(text: str, mark: str) -> str:
    """The beginning of a finding as its label, with a mark that tells two of the same beginning apart."""
    line = plain_line(text).replace("[", "(").replace("]", ")")
    if len(line) > FINDING_LABEL:
        line = line[:FINDING_LABEL].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"
    return f"{line or 'finding'} ({mark[:8]})"


def _row(
    record: DelegationRecord,
    told: Told,
    grade: Grade,
    now: int,
    agent: str,
    digest: str,
    *,
    landed: int,
    refused: int,
) -> OutcomeRow:
    return OutcomeRow(
        delegation_id=record.delegation_id,
        subagent_id=told.subagent_id,
        agent_id=agent,
        at=now,
        outcome=told.outcome,
        outcome_unverified=told.command is None or told.exit_status is None,
        expired=now > record.expires_ms,
        memory_slice=record.memory_slice,
        memory_rows_project=record.memory_rows_project,
        memory_rows_medulla=record.memory_rows_medulla,
        memory_rows_stale=record.memory_rows_stale,
        touched=len(grade.within) + len(grade.outside),
        outside_scope=len(grade.outside),
        unpredicted=len(grade.unpredicted),
        findings_landed=landed,
        findings_refused=refused,
        debrief=digest,
        exit_status=told.exit_status,
    )


def _caveats(record: DelegationRecord, told: Told, report: Report, grade: Grade, now: int) -> list[str]:
    found = ["packet_expired"] if now > record.expires_ms else []
    if told.outcome == "success" and told.exit_status not in (None, 0):
        found.append("evidence_contradicts_outcome")
    if not grade.told:
        found.append("touched_paths_unknown")
    if told.report is not None:
        found += ["report_without_id"] if report.delegation_id is None else []
        found += ["findings_left_out"] if report.left_out else []
        found += ["deviations_not_reported"] if set(grade.outside) - set(report.deviations) else []
    return found


def _text(answer: dict[str, Any]) -> str:
    learned, conformance, mapped = answer["learned"], answer["conformance"], answer["map_grade"]
    lines = [
        f"{plain_line(answer['subagent_id'])}: {answer['outcome']}{' (unverified)' if answer['outcome_unverified'] else ''}."
    ]
    lines.append(f"Scope: {conformance['verdict']}. Map: {mapped['verdict']}.")
    lines += [f"  outside of its scope: {plain_line(path)}" for path in conformance["outside"][:20]]
    new = [one for one in learned["memorized"] if not one["already"]]
    lines.append(f"Remembered {len(new)} of {len(learned['memorized']) + len(answer['refused'])}.")
    lines += [f"  refused: {_said(one)}" for one in answer["refused"]]
    lines += [f"caveat: {one}" for one in answer["caveats"]]
    lines += ["This was told before; nothing was added."] if answer["repeated"] else []
    return "\n".join(lines)


def _said(one: dict[str, Any]) -> Sequence[str] | str:
    return f"{one['code']}: {one['reason']}"
