"""Recording: what was done in a mission, as an agent tells it, as a command ran here, or as a host's hook saw it; and what the
runtime has to say to it."""

import os
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.mission import EventType, MissionEvent, MissionStatus
from hindbrain.domain.mission_run import Origin, Ran
from hindbrain.domain.typed import converted
from hindbrain.engines.host_hook import heard
from hindbrain.engines.mission_limits import undeclared
from hindbrain.engines.mission_report import Report, said_by
from hindbrain.services.missions.desk import Desk, check_meant
from hindbrain.services.missions.log import Draft, Turn
from hindbrain.services.missions.observing import circled
from hindbrain.services.missions.running import run
from hindbrain.services.missions.telling import rendered_event
from hindbrain.services.missions.witness import Witness

__all__ = ["Recording"]

_OVER = 0.6  # of the budget, from which a mission without direct evidence is warned


class Recording:
    """Adds what was done to missions."""

    def __init__(self, desk: Desk, witness: Witness) -> None:
        self._desk = desk
        self._log = desk.log
        self._witness = witness

    def event(
        self, caller: Caller, *, mission_id: str | None, told: dict[str, Any], whole: dict[str, Any] | None
    ) -> dict[str, Any]:
        """Record what an agent did, with the class that the runtime established itself."""
        report = said_by(told, whole)
        with self._desk.opened(caller) as opened:
            found = self._log.find(opened, caller, mission_id)
            check_meant(found, whole)
            self._desk.check_values(opened, report.texts)
            with self._log.turn(opened, caller, found) as turn:
                made = self.reported(turn, report)
        return self._told(turn, made)

    def run(self, caller: Caller, *, mission_id: str | None, argv: list[str]) -> dict[str, Any]:
        """Run a command in this process and record it. Nothing is held while it runs."""
        with self._desk.opened(caller) as opened:
            found = self._log.find(opened, caller, mission_id)
            with self._log.turn(opened, caller, found):
                pass  # refused before the command runs, not after
            ran = converted(run(argv, cwd=os.getcwd()), Ran)
            with self._log.turn(opened, caller, found) as turn:
                made = self._recorded(turn, self._witness.ran(turn, ran, origin="mission_run"))
        told = self._told(turn, made)
        if ran.not_started:
            told["rendered"] += f"\n{argv[0]} could not be started: {ran.output.strip()}"
        return {**told, "exit_status": ran.exit_status, "interrupted": ran.interrupted}

    def heard(self, caller: Caller, *, payload: dict[str, Any]) -> dict[str, Any]:
        """Record what a host's hook tells of a tool. Without an active mission there is nothing to record. What an agent sends
        in place of its hook is told, and no more."""
        with self._desk.opened(caller) as opened:
            mine = opened.store.missions(agent=caller.agent, status=MissionStatus.ACTIVE.value, limit=2)
            said = heard(payload) if len(mine) == 1 else None
            if said is None:
                return {"ok": True, "schema": "hindbrain-mission-heard-v1", "recorded": False, "rendered": ""}
            with self._log.turn(opened, caller, mine[0].mission_id) as turn:
                origin: Origin = "host_hook" if caller.channel is Channel.RUNTIME else "told"
                draft = self._witness.ran(turn, said, origin=origin) if isinstance(said, Ran) else self._witness.draft(turn, said)
                made = self._recorded(turn, draft)
        return {**self._told(turn, made), "schema": "hindbrain-mission-heard-v1", "recorded": True}

    def reported(self, turn: Turn, report: Report) -> MissionEvent:
        """What an agent tells on the way to something else."""
        return self._recorded(turn, self._witness.draft(turn, report))

    def _recorded(self, turn: Turn, draft: Draft) -> MissionEvent:
        """One event, and what the runtime has to say to it: circles, a broken do_not, the budget."""
        made = turn.add(draft)
        if (broken := undeclared(turn.course, made)) is not None:
            turn.add(Draft(event_type=EventType.NOTE, target=made.target, payload={"warnings": [broken], "of": made.event_id}))
        circled(turn)
        self._budget(turn)
        return made

    @staticmethod
    def _budget(turn: Turn) -> None:
        """Each of the two warnings is given once."""
        course, used = turn.course, turn.course.consumed(turn.now)
        due = []
        if used > _OVER and not course.direct_count:
            due.append(("over_60", "over 60% of the budget is used and nothing was proven directly"))
        if course.elapsed(turn.now) > course.spec.budget.soft_deadline_ms:
            due.append(("deadline", "the soft deadline has passed: verify, hand over or close"))
        for kind, text in due:
            if f"budget:{kind}" not in course.checked:
                turn.add(
                    Draft(
                        event_type=EventType.BUDGET_WARNING,
                        target=kind,
                        payload={"kind": kind, "warnings": [text], "checked": [f"budget:{kind}"]},
                    )
                )

    def _told(self, turn: Turn, made: MissionEvent) -> dict[str, Any]:
        course = turn.course
        warned = [one for one in turn.made if one is not made]
        answer = {
            "ok": True,
            "schema": "hindbrain-mission-event-answer-v1",
            "mission_id": course.spec.mission_id,
            "event": msgspec.to_builtins(made),
            "event_id": made.event_id,
            "seq": made.seq,
            "event_count": course.seq,
            "evidence_class": made.evidence_class.value,
            "phase": course.phase.value,
            "budget_consumed": course.consumed(turn.now),
            "loop_warnings": [msgspec.to_builtins(one.payload) for one in warned if one.event_type is EventType.LOOP_WARNING],
            "warnings": [text for one in warned for text in one.payload.get("warnings", ())],
        }
        return {**answer, "rendered": rendered_event(answer)}
