"""Telling: missions as they are asked for. State, list, exports, checks of chains and packets, and the texts of the answers."""

import json
import logging
import shlex
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams, PathRefused, UnknownMission
from hindbrain.domain.mission import MissionStatus, Move, NextMove
from hindbrain.domain.stored import stored_json
from hindbrain.engines.course import Course, stated
from hindbrain.engines.fence import plain_line, quoted
from hindbrain.engines.mission_chain import first_break, written
from hindbrain.engines.mission_packet import verify_packet
from hindbrain.engines.moments import stamped
from hindbrain.engines.provenance import prov_json
from hindbrain.policy.missions import OBSERVED
from hindbrain.services.brains import OpenBrain
from hindbrain.services.mission_record import ERASE, erased_as
from hindbrain.services.missions.desk import Desk, chosen
from hindbrain.services.missions.flight import Flights
from hindbrain.services.missions.handing import Handing
from hindbrain.services.missions.log import check_kept, checked_id
from hindbrain.stores.mission_port import MissionHead
from hindbrain.stores.ordinary_file import open_ordinary

__all__ = ["Telling", "read_file", "rendered_event", "rendered_next", "rendered_start"]

LOG = logging.getLogger("hindbrain.missions")
_FORMS = ("state", "events", "flight", "handoff", "proof", "prov-json")
_PACKET_BYTES = 1_000_000
_EVENTS_BYTES = 500_000_000


class Telling:
    """Reads missions; changes nothing."""

    def __init__(self, desk: Desk, flights: Flights, handing: Handing) -> None:
        self._desk = desk
        self._log = desk.log
        self._flights = flights
        self._handing = handing

    def status(self, caller: Caller, *, mission_id: str | None, at: int | None, events: int) -> dict[str, Any]:
        with self._desk.opened(caller) as opened:
            found = self._log.find(opened, caller, mission_id, over=True)
            if at is not None:
                return self.state(opened, self._log.at(opened, found, at), events=events)
            with self._log.reading(opened, found) as course:
                return self.state(opened, course, events=events)

    def state(self, opened: OpenBrain, course: Course, *, events: int) -> dict[str, Any]:
        """A mission's state with its last events."""
        last = self._log.events(opened, course.spec.mission_id, after=max(0, course.seq - events), limit=min(events, course.seq))
        children = tuple(dict.fromkeys((*course.children, *self._handing.children(opened, course.spec.mission_id))))
        made = stated(course, now=self._log.now(), stamp=stamped(course.updated_at), events=last if events else ())
        state = msgspec.structs.replace(made, child_mission_ids=children)
        used = {"tool_calls": course.tool_calls, "files": len(course.files), "ms": course.elapsed(self._log.now())}
        told = {"ok": True, **msgspec.to_builtins(state), "budget_used": used}
        return {**told, "rendered": _rendered_state(course, self._log.now())}

    def listed(self, caller: Caller, *, agent: str | None, state: str | None, limit: int, standing: bool) -> dict[str, Any]:
        if state is not None:
            chosen([one.value for one in MissionStatus], state, "state")
        with self._desk.opened(caller) as opened:
            heads = opened.store.missions(agent=agent, status=state, limit=limit)
            missions = [{**_brief(one), **(self._standing(opened, one) if standing else {})} for one in heads]
        rows = [
            f"{one['mission_id']}  {one['status']} {one['mode']} {one['agent_id']}: {plain_line(one['task'])[:60]}"
            for one in missions
        ]
        text = "\n".join(quoted(rows)) if rows else 'no mission yet: hindbrain mission start "review the retry path"'
        return {"ok": True, "schema": "hindbrain-mission-list-v1", "missions": missions, "rendered": text}

    def _standing(self, opened: OpenBrain, head: MissionHead) -> dict[str, Any]:
        """How far a mission is, in numbers. An erased one has none."""
        if head.erased:
            return {}
        with self._log.reading(opened, head.mission_id) as course:
            return {
                "phase": course.phase.value,
                "budget_consumed": course.consumed(self._log.now()),
                "claims": _counted(course),
                "loop_warnings": course.loop_warnings,
                "warnings": len(course.warnings),
            }

    def flight(self, caller: Caller, *, mission_id: str | None, records: int) -> dict[str, Any]:
        with self._desk.opened(caller) as opened:
            return self._flights.told(opened, self._log.find(opened, caller, mission_id, over=True), records=records)

    def export(self, caller: Caller, *, mission_id: str | None, form: str, file: bool) -> dict[str, Any]:
        """A mission as data, in one of its forms; with the text of its file, byte for byte, where that is wanted."""
        chosen(_FORMS, form, "format")
        with self._desk.opened(caller) as opened:
            found = self._log.find(opened, caller, mission_id, over=True)
            data = self._data(opened, found, form)
        return {
            "ok": True,
            "schema": "hindbrain-mission-export-v1",
            "mission_id": found,
            "format": form,
            "data": data,
            **({"file": written(form, data).decode()} if file else {}),
            "rendered": json.dumps(data, ensure_ascii=False, indent=2, sort_keys=form == "proof"),
        }

    def _data(self, opened: OpenBrain, mission_id: str, form: str) -> Any:
        if form in ("handoff", "proof"):
            if (head := opened.store.mission(mission_id)) is not None:
                check_kept(head)
            papers = opened.store.mission_papers(mission_id, kind="handoff" if form == "handoff" else "proof")
            if not papers:
                raise UnknownMission(
                    f"{mission_id} has no {'hand-over' if form == 'handoff' else 'proof packet'} yet",
                    fix="make one: mission handoff, or mission close",
                )
            return stored_json(papers[-1].body, "mission_paper")
        if form == "flight":
            return msgspec.to_builtins(self._flights.records(opened, mission_id))
        with self._log.reading(opened, mission_id) as course:
            events = self._log.events(opened, mission_id, limit=max(1, course.seq))
            if form == "events":
                return msgspec.to_builtins(events)
            if form == "prov-json":
                return prov_json(course.spec, events)
            made = stated(course, now=self._log.now(), stamp=stamped(course.updated_at), events=events)
            return msgspec.to_builtins(made)

    def verify_chain(self, caller: Caller, *, mission_id: str | None) -> dict[str, Any]:
        """Compute a mission's chain again, against its own rows and against its head."""
        with self._desk.opened(caller) as opened:
            found = self._log.find(opened, caller, mission_id, over=True)
            head = opened.store.mission(found)
            if head is not None and head.erased:
                return _erased(opened, head)
            events = [stored_json(one.body, "mission_event") for one in opened.store.mission_events(found)]
        broken = first_break(found, events)
        if broken is None and head is not None and events and (len(events) != head.seq or events[-1]["hash"] != head.hash):
            broken = (len(events) + 1, "the mission says that it goes on, and it does not")
        answer = {"ok": True, "schema": "hindbrain-mission-chain-v1", "mission_id": found, "events": len(events)}
        if broken is None:
            return {**answer, "valid": True, "first_bad_seq": None, "rendered": f"{found}: {len(events)} events, all as written"}
        seq, why = broken
        return {**answer, "valid": False, "first_bad_seq": seq, "why": why, "rendered": f"{found}: event {seq}: {why}"}

    def verify_packet(self, caller: Caller, *, path: str, events: str | None) -> dict[str, Any]:
        """Check a packet by itself, with its events where they are, and with the ledger where the mission is known."""
        packet = Path(path)
        raw = _read(packet, _PACKET_BYTES)
        beside = packet.parent / "events.jsonl" if events is None else Path(events)
        chain = _events(beside) if events is not None or (beside.is_file() and not beside.is_symlink()) else None
        findings = list(verify_packet(raw, chain))
        known = self._known(caller, raw, findings)
        text = "the packet holds" if not findings else "the packet does not hold:\n" + "\n".join(findings)
        text += "" if chain is not None else "\nits events were not at hand: only the packet itself was checked"
        return {
            "ok": True,
            "schema": "hindbrain-mission-packet-check-v1",
            "valid": not findings,
            "exit_code": 1 if findings else 0,
            "findings": findings,
            "events_checked": len(chain) if chain is not None else 0,
            "ledger_checked": known,
            "rendered": text,
        }

    def _known(self, caller: Caller, raw: bytes, findings: list[str]) -> bool:
        """Whether this home has the mission: then the packet must be the one that it kept."""
        try:
            mission_id = checked_id(str(json.loads(raw)["mission_id"]))
        except (ValueError, KeyError, TypeError, RecursionError, InvalidParams):
            return False  # what is no packet is no packet of ours
        route = self._desk.router.route(caller)
        if route.brain is None:
            return False
        with self._desk.brains.use(route.brain) as opened:
            kept = opened.store.mission_papers(mission_id, kind="proof")
        if kept and kept[-1].body.encode() != raw:
            findings.append("it is not the packet that this home kept")
        return bool(kept)


def read_file(path: str, most: int) -> bytes:
    """The bytes of an ordinary file."""
    return _read(Path(path), most)


def _read(path: Path, most: int) -> bytes:
    try:
        with open_ordinary(path) as file:
            raw = file.read(most + 1)
    except OSError as failure:
        raise PathRefused(
            f"{path.name} cannot be read: {failure.strerror or failure}", fix="give the path of a file"
        ) from failure
    if len(raw) > most:
        raise PathRefused(f"{path.name} is larger than {most} bytes", fix="give the file that Hindbrain wrote")
    return raw


def _events(path: Path) -> list[dict[str, Any]]:
    found = []
    for number, line in enumerate(_read(path, _EVENTS_BYTES).splitlines(), 1):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as broken:
            raise InvalidParams(
                f"line {number} of {path.name} is no JSON", fix="give the events.jsonl of the mission"
            ) from broken
        if not isinstance(event, dict):
            raise InvalidParams(f"line {number} of {path.name} is no event", fix="give the events.jsonl of the mission")
        found.append(event)
    return found


def _erased(opened: OpenBrain, head: MissionHead) -> dict[str, Any]:
    """What there is to say of the chain of an erased mission: whether the ledger knows of it, as it was left."""
    entries = opened.store.entries(after=0, limit=1_000_000, act=ERASE)
    known = any(one.subject == head.mission_id and erased_as(head, stored_json(one.payload, "ledger")) for one in entries)
    answer = {"ok": True, "schema": "hindbrain-mission-chain-v1", "mission_id": head.mission_id, "events": 0, "erased": known}
    if known:
        text = f"{head.mission_id}: erased; it had {head.seq} events, the last with {head.hash}"
        return {**answer, "valid": None, "first_bad_seq": None, "rendered": text}
    why = "it is gone, and the ledger does not say that it was erased"
    return {**answer, "valid": False, "first_bad_seq": 1, "why": why, "rendered": f"{head.mission_id}: event 1: {why}"}


def _brief(head: MissionHead) -> dict[str, Any]:
    spec = {"route": None, "task": "(erased)"} if head.erased else stored_json(head.spec, "mission")
    return {
        "mission_id": head.mission_id,
        "agent_id": head.agent,
        "status": head.status,
        "mode": head.mode,
        "route": spec["route"],
        "task": spec["task"],
        "parent_mission_id": head.parent_id,
        "event_count": head.seq,
        "erased": head.erased,
        "created_at": stamped(head.created_at),
        "updated_at": stamped(head.updated_at),
    }


def _counted(course: Course) -> dict[str, int]:
    """Claims by how they stand. What was judged and not shown is as open as what was never judged."""
    rejected = sum(one.verdict == "rejected" for one in course.claims.values())
    verified = len(course.verified)
    return {
        "all": len(course.claims),
        "verified": verified,
        "open": len(course.claims) - verified - rejected,
        "rejected": rejected,
    }


# -- texts -----------------------------------------------------------------------------------------------------------


def rendered_start(answer: dict[str, Any]) -> str:
    guard, budget = answer["context_guard"], answer["budget"]
    lines = [
        f"mission {answer['mission_id']}: {answer['mode']} by the route {answer['route']}, "
        f"{budget['tool_calls_max']} calls, {budget['files_read_max']} files, {budget['soft_deadline_ms'] // 1000} s",
        f"workspace: {guard['classification']}: {guard['reason']}",
    ]
    told = [f"to show: {one['criterion']}" for one in answer["criteria"]]
    told += [f"do not: {one['item']}: {one['reason']}" for one in answer["do_not"]]
    told += [f"warning: {one}" for one in answer["warnings"]]
    lines += quoted(told)
    lines += [f"first: {one['tool']}: {one['why']}" for one in answer["starter_moves"]]
    return "\n".join([*lines, "then: hindbrain mission next"])


def rendered_event(answer: dict[str, Any]) -> str:
    event = answer["event"]
    # The target is what the caller itself has just named.
    named = plain_line(f"{event['event_type']} {event['target'] or ''}")
    lines, told = [f"{answer['event_id']} {named}: {event['outcome']}, {answer['evidence_class']}"], []
    if why := event["payload"].get("not_seen"):
        told.append(f"not seen: {why}")
    told += [f"{one['rule']}: {one['message']}" for one in answer["loop_warnings"]]
    told += [f"warning: {one}" for one in answer["warnings"]]
    return "\n".join([*lines, *quoted(told)])


def rendered_next(told: NextMove) -> str:
    move = told.move
    lines = [f"{told.step_id}. {move.type} with {move.tool}"]
    if command := _command(move):
        lines.append(f"run: {plain_line(command)}")
    if told.directive:
        lines.append(f"directive: {told.directive}, before it {told.prev_directive}")
    # Targets, reasons and lessons hold words of agents.
    said = [f"target: {move.target}: {move.why}", f"shows: {move.evidence_required}"]
    said += [f"look at: {one}" for one in move.suggested_focus]
    said += [f"do not: {one.item}: {one.reason} (until {one.until})" for one in told.policy.do_not]
    said += [f"{one.rule}: {one.message}" for one in told.loop_warnings]
    said += [f"warning: {told.soft_warning}"] if told.soft_warning else []
    said += [f"experience: {one}" for one in told.doctrine]
    said.append(f"stop when: {told.policy.stop_condition}; else {told.policy.fallback}")
    return "\n".join([*lines, *quoted(said)])


def _command(move: Move) -> str:
    """The move as somebody would type it; nothing for a tool that is not ours."""
    if move.tool not in OBSERVED and not move.tool.startswith("mission."):
        return ""
    words = ["hindbrain", *move.tool.replace("_", "-").split(".")]
    given = {name: value for name, value in move.arguments.items() if name != "mission_id"}
    if given.get("payload") == {"linked_seqs": []}:  # a sweep with nothing in it yet would not count
        return ""
    if move.tool == "mission.claim":
        words.append("WHAT IT SHOWS")
    if move.tool == "mission.run":
        return shlex.join([*words, "--", *map(str, given.get("command", ()))])
    for name, value in given.items():
        listed = value if isinstance(value, list | tuple) else [value]
        for one in listed:
            words += [f"--{name.replace('_', '-')}", one if isinstance(one, str) else json.dumps(one)]
    return shlex.join(words)


def _rendered_state(course: Course, now: int) -> str:
    spec = course.spec
    lines = [
        f"{spec.mission_id} {course.status.value}, {course.phase.value}",
        f"{spec.mode.value} by {spec.route.value}, {course.consumed(now):.0%} of the budget, {course.seq} events, "
        f"{course.direct_count} direct, {course.graph_calls} to the graph",
    ]
    if course.guard is not None:
        lines.append(f"workspace: {course.guard.classification}: {course.guard.reason}")
    told = [f"task: {spec.task}"]
    told += [f"{one.claim_id} {one.verdict}: {one.claim}" for one in course.claims.values()]
    told += [f"dead end: {one.target}: {one.why_ruled_out}" for one in course.dead.values()]
    told += [f"warning: {one}" for one in course.warnings]
    return "\n".join([*lines, *quoted(told)])
