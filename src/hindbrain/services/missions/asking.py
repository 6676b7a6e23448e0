"""Asking: the ten questions of an agent about where it is, what to do, what to leave alone and what is proven. Reads only."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.mission import EventType, MissionMode, Outcome, Route
from hindbrain.engines.fence import quoted
from hindbrain.engines.guarding import guard_do_not
from hindbrain.policy.asking import QUESTIONS, ROUTES_SAID, Topic
from hindbrain.policy.missions import BUDGETS, CLOSED_STATUSES, route_of
from hindbrain.services.missions.desk import Desk, chosen
from hindbrain.services.missions.guard import Guard, told
from hindbrain.services.recovery import Recovery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hindbrain.engines.course import Course
    from hindbrain.services.brains import OpenBrain

__all__ = ["Asking", "Question"]

Explain = Callable[..., dict[str, Any]]
Answer = Callable[[Caller, "Question"], tuple[dict[str, Any], str]]

_FAILED = frozenset({Outcome.FAILED, Outcome.ERROR, Outcome.BLOCKED, Outcome.NOT_RECOVERED, Outcome.HYPOTHESIS_REFUTED})
_SHOWN = 50  # failed events that an answer names, the latest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with all that it may be about."""

    topic: Topic
    repo: str | None = None
    federation_intent: bool = False
    mode: str = MissionMode.REVIEW.value
    budget: str = "normal"
    risk: str = "medium"
    known_targets: tuple[str, ...] = ()
    mission_id: str | None = None
    claim: str | None = None
    host: str | None = None


class Asking:
    """Answers from the guard, the missions of this project and the recovery plane."""

    def __init__(self, desk: Desk, guard: Guard, recovery: Recovery, explain: Explain) -> None:
        self._desk = desk
        self._guard = guard
        self._recovery = recovery
        self._explain = explain  # the kernel's: which rule gives the next move

    def ask(self, caller: Caller, question: Question) -> dict[str, Any]:
        """The answer, as data and as a sentence."""
        answers: dict[Topic, Answer] = {
            "workspace": self._workspace,
            "freshness": self._freshness,
            "route": self._route,
            "next": self._next,
            "avoid": self._avoid,
            "proven": self._proven,
            "covered": self._covered,
            "failed": self._failed,
            "resumable": self._resumable,
            "rebound": self._rebound,
        }
        found, said = answers[question.topic](caller, question)
        asked = QUESTIONS[question.topic]
        return {
            "ok": True,
            "schema": "hindbrain-ask-v1",
            "topic": question.topic,
            "question": asked,
            "answer": found,
            "rendered": "\n".join([asked, *quoted(said.split("\n"))]),
        }

    # -- the place ---------------------------------------------------------------------------------------------------

    def _workspace(self, caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        looked = self._guard.look(caller, repo=question.repo, federation_intent=question.federation_intent)
        guard = looked.guard
        place = guard.workspace_root or "no workspace"
        said = f"{place} (from {guard.workspace_root_source}): {guard.classification}. {guard.reason}."
        return {**told(guard), "repository_identity": looked.identity}, said

    def _freshness(self, caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        looked = self._guard.look(caller, repo=question.repo, federation_intent=question.federation_intent)
        trust, generation = looked.trust, looked.guard.graph_generation
        brain = self._desk.router.route(caller).brain
        since = brain.last_ingest_ms if brain is not None else None
        age = max(0, self._desk.log.now() - since) if since is not None else None
        found = {
            "graph_generation": generation,
            "age_ms": age,
            "changed_files": trust.changed_files_since_ingest,
            "graph_freshness": trust.graph_freshness,
            "verdict": trust.verdict,
            "node_count": trust.node_count,
        }
        old = "was never filled" if age is None else f"is {age // 1000} s old"
        changed = trust.changed_files_since_ingest
        return found, f"{trust.verdict}: generation {generation} {old}, {changed} files changed since ({trust.graph_freshness})."

    @staticmethod
    def _route(caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        mode = MissionMode(chosen([one.value for one in MissionMode], question.mode, "mode"))
        budget = chosen(BUDGETS, question.budget, "budget")
        risk = chosen(("low", "medium", "high"), question.risk, "risk")
        planned = route_of(mode, budget, risk)
        first = Route.DIRECT_PROOF if question.known_targets else planned
        why = f"{mode.value} with a {budget} budget at {risk} risk: {ROUTES_SAID[planned]}"
        if question.known_targets:
            why += f"; the first move is {first.value}, for the target is known"
        return {"route": planned.value, "first_move_route": first.value, "reason": why}, f"{planned.value}. {why}."

    def _rebound(self, caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        status = self._recovery.hosts_status(caller, host=question.host, project=None)
        hosts = [
            {key: row.get(key) for key in ("host", "host_rebind_proven", "last_handshake", "aligned", "reason")}
            for row in status["hosts"]
        ]
        proven = [str(row["host"]) for row in hosts if row["host_rebind_proven"]]
        found = {"host_rebind_proven": bool(proven), "hosts": hosts, "non_claims": status["non_claims"]}
        return found, f"Proven by a new handshake: {', '.join(proven)}." if proven else "Not proven: no new handshake shows it."

    # -- the mission -------------------------------------------------------------------------------------------------

    def _next(self, caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        found = self._explain(caller, mission_id=question.mission_id)
        move = found["move"]
        return {name: found[name] for name in ("move", "rule", "policy")}, f"{move['type']} {move['target']}: {move['why']}"

    def _avoid(self, caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        """What the mission forbids now; without one, what the place itself forbids."""
        if question.mission_id is None and not self._has_mission(caller):
            looked = self._guard.look(caller, repo=question.repo, federation_intent=question.federation_intent)
            listed = told(guard_do_not(looked.guard))
        else:
            listed = self._explain(caller, mission_id=question.mission_id)["policy"]["do_not"]
        said = "\n".join(f"- {one['kind']} {one['item']}: {one['reason']} (until {one['until']})" for one in listed)
        return {"do_not": listed}, said or "Nothing in particular."

    def _proven(self, caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        with self._course(caller, question) as (_, course):
            claims = [one for one in course.claims.values() if question.claim in (None, one.claim_id, one.claim)]
            if question.claim is not None and not claims:
                raise InvalidParams(f"this mission has no claim {question.claim[:80]!r}", fix="ask without claim for all of them")
            rows = [
                {
                    "claim_id": one.claim_id,
                    "claim": one.claim,
                    "verdict": one.verdict,
                    "evidence_grade": one.evidence_grade,
                    "evidence_refs": list(one.evidence_refs),
                    "missing": list(one.missing),
                    "proven": one.verdict == "verified_for_mission" and one.evidence_grade == "direct",
                }
                for one in claims
            ]
        said = "\n".join(f"- {'proven' if row['proven'] else row['verdict']}: {row['claim']}" for row in rows)
        return {"claims": rows, "proven": bool(rows) and all(row["proven"] for row in rows)}, said or "Nothing is claimed yet."

    def _covered(self, caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        """What this mission, and those it was handed on from, have looked at."""
        with self._course(caller, question) as (_, course):
            before = course.inherited
            found = {
                "agent_id": course.spec.agent_id,
                "files_read": told(tuple(course.files.values())),
                "tests_run": told(tuple(course.tests)),
                "dead_paths": told(tuple(course.dead.values())),
                "inherited": told(before.covered),
                "handoffs": list(course.handoffs),
            }
        return found, (
            f"{len(found['files_read'])} files read, {len(found['tests_run'])} tests run, {len(found['dead_paths'])} dead ends, "
            f"{len(found['inherited'])} things inherited."
        )

    def _failed(self, caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        with self._course(caller, question) as (opened, course):
            claims = [
                {"claim_id": one.claim_id, "claim": one.claim, "verdict": one.verdict, "missing": list(one.missing)}
                for one in course.claims.values()
                if one.verdict in ("rejected", "insufficient_evidence", "stale")
            ]
            events = [
                {
                    "event_id": one.event_id,
                    "event_type": one.event_type.value,
                    "target": one.target,
                    "outcome": one.outcome.value,
                    "failure_class": one.failure_class,
                }
                for one in self._desk.log.events(opened, course.spec.mission_id)
                if (one.outcome in _FAILED or one.failure_class is not None) and one.event_type is not EventType.VERIFY
            ]
        said = [f"- {one['verdict']}: {one['claim']} ({'; '.join(one['missing']) or 'contradicted'})" for one in claims]
        said += [f"- {one['outcome']}: {one['event_type']} {one['target'] or ''}".rstrip() for one in events[-_SHOWN:]]
        found = {"claims": claims, "events": events[-_SHOWN:][::-1], "event_count": len(events)}
        return found, "\n".join(said) or "Nothing failed."

    def _resumable(self, caller: Caller, question: Question) -> tuple[dict[str, Any], str]:
        with self._course(caller, question) as (_, course):
            over, own = course.status.value in CLOSED_STATUSES, course.spec.agent_id == caller.agent
            handed = course.handoffs[-1] if course.handoffs else None
            resumable = not over and (own or handed is not None)
            if over:
                why = f"it is {course.status.value}"
            elif own:
                why = f"its {course.seq} events are kept; it goes on with the same id"
            elif handed is not None:
                why = f"{course.spec.agent_id} handed it over; a mission of yours is made from that"
            else:
                why = f"it belongs to {course.spec.agent_id}, who has not handed it over"
            name = course.spec.mission_id if own or handed is None else handed
            found = {
                "mission_id": course.spec.mission_id,
                "resumable": resumable,
                "why": why,
                "call": {"tool": "mission.resume", "arguments": {"mission_id": name}} if resumable else None,
                "event_count": course.seq,
                "event_digest": course.head,
            }
        return found, f"{'Yes' if resumable else 'No'}: {why}."

    # -- within ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _course(self, caller: Caller, question: Question) -> "Iterator[tuple[OpenBrain, Course]]":
        with self._desk.opened(caller) as opened:
            mission = self._desk.log.find(opened, caller, question.mission_id)
            with self._desk.log.reading(opened, mission) as course:
                yield opened, course

    def _has_mission(self, caller: Caller) -> bool:
        route = self._desk.router.route(caller)
        if route.brain is None:
            return False
        with self._desk.brains.use(route.brain) as opened:
            return bool(opened.store.missions(agent=caller.agent, status="active", limit=1))
