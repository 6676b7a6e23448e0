"""Closing: the end of a mission and its proof packet. Refused while something required is open; what was learned is kept."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import MissionClosed, MissionOpen, PathRefused
from hindbrain.domain.handover import LedgerPlace, ProofPacket
from hindbrain.domain.ledger import Act
from hindbrain.domain.mission import EventType, MissionEvent, MissionStatus
from hindbrain.engines.course import Course
from hindbrain.engines.fence import quoted
from hindbrain.engines.light_note import light_note
from hindbrain.engines.mission_chain import first_break
from hindbrain.engines.mission_closing import open_requirements
from hindbrain.engines.mission_packet import SUMMARY_MOST, packed, packet_bytes
from hindbrain.engines.moments import stamped
from hindbrain.engines.packet_compare import shortened
from hindbrain.engines.solving import Decision
from hindbrain.policy.missions import MOVES_OF_STATUS
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.control import MissionControl
from hindbrain.services.missions.erasing import note_of
from hindbrain.services.missions.files import MissionFiles
from hindbrain.services.missions.handing import Handing
from hindbrain.services.missions.log import Draft, MissionLog, Turn
from hindbrain.services.missions.surroundings import may_write
from hindbrain.stores.atomic import write_below
from hindbrain.stores.mission_port import StoredPaper

__all__ = ["Closed", "Closing"]

LOG = logging.getLogger("hindbrain.missions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A mission that is over, with its packet and how the controller judged its end."""

    course: Course
    packet: ProofPacket
    decision: Decision
    event: MissionEvent
    now: int
    own: bool  # whether a note may be written in its repository


class Closing:
    """Ends missions."""

    def __init__(
        self,
        log: MissionLog,
        control: MissionControl,
        handing: Handing,
        *,
        files: MissionFiles,
    ) -> None:
        self._log = log
        self._control = control
        self._handing = handing
        self._files = files

    @staticmethod
    def check_open(turn: Turn) -> None:
        """Whether it may still be closed at all."""
        course = turn.course
        if MissionStatus.CLOSED.value not in MOVES_OF_STATUS[course.status.value]:
            raise MissionClosed(
                f"mission {course.spec.mission_id} is {course.status.value}", fix="begin another one: mission start"
            )

    def close(self, turn: Turn, *, summary: str, gaps: tuple[str, ...], forced: str | None) -> Closed:
        """Close, with a reason where it is forced."""
        lacks = (*_unchained(turn), *open_requirements(turn.course, gaps))
        if lacks and forced is None:
            raise MissionOpen(
                f"mission {turn.course.spec.mission_id} cannot be closed: {'; '.join(lacks)}",
                fix="mission next says what to do; or name it in gaps; to close all the same give force and a reason",
                open=list(lacks),
            )
        if forced is not None:
            said = {"why": forced, "chosen_tool": "mission.close", "evidence_required": "; ".join(lacks) or "none"}
            turn.add(Draft(event_type=EventType.DISSENT, actor=turn.agent, source="agent", target="close", payload=said))
        return self._end(turn, MissionStatus.CLOSED, summary=summary, gaps=gaps, lacks=lacks, forced=forced)

    def abandon(self, turn: Turn, *, reason: str) -> Closed:
        return self._end(
            turn,
            MissionStatus.ABANDONED,
            summary=reason,
            gaps=(),
            lacks=(*_unchained(turn), *open_requirements(turn.course)),
            forced=None,
        )

    def _end(
        self,
        turn: Turn,
        status: MissionStatus,
        *,
        summary: str,
        gaps: tuple[str, ...],
        lacks: tuple[str, ...],
        forced: str | None,
    ) -> Closed:
        course, mission_id = turn.course, turn.course.spec.mission_id
        decision = self._control.ending(
            turn.opened, course, self._events(turn), turn.now, given_up=summary if status is MissionStatus.ABANDONED else None
        )
        proven = "1 claim" if len(course.verified) == 1 else f"{len(course.verified)} claims"
        told = shortened(summary or f"{proven} verified: {course.spec.task}", SUMMARY_MOST)
        payload: dict[str, Any] = {
            "status": status.value,
            "about": {  # what a packet says beside its events, bound to them
                "agent_id": course.spec.agent_id,
                "task": course.spec.task,
                "mode": course.spec.mode.value,
                "route": course.spec.route.value,
                "summary": told,
            },
            "forced": forced is not None,
            "reason": forced,
            "gaps": list(gaps),
            "open": list(lacks),
            "control": {
                "directive": decision.directive,
                "loss": msgspec.to_builtins(decision.loss),
                "grad_l": decision.grad_l,
                "replans": decision.after.directed,
            },
        }
        event = turn.add(Draft(event_type=EventType.CLOSE, actor=turn.agent, source="agent", target=mission_id, payload=payload))
        packet = packed(
            course,
            self._events(turn),
            summary=told,
            stamp=stamped(turn.now),
            gaps=(*gaps, *lacks),
            ledger=_place(turn),
            children={one.mission_id: one.event_digest for one in self._handing.proofs(turn.opened, mission_id)},
        )
        turn.keep(
            StoredPaper(
                paper_id=mission_id,
                mission_id=mission_id,
                kind="proof",
                number=1,
                at=turn.now,
                body=packet_bytes(packet).decode(),
            )
        )
        turn.writer.append(
            Act(
                act="mission.proof",
                subject=mission_id,
                actor="hindbrain",
                channel=Channel.RUNTIME,
                at=turn.now,
                payload={"packet": packet.packet_digest, "events": packet.event_digest},
            )
        )
        own = may_write(turn)
        return Closed(course=course, packet=packet, decision=decision, event=event, now=turn.now, own=own)

    def _events(self, turn: Turn) -> tuple[MissionEvent, ...]:
        kept = {one.seq: one for one in self._log.events(turn.opened, turn.course.spec.mission_id)}
        kept |= {one.seq: one for one in turn.made}
        return tuple(kept[seq] for seq in sorted(kept))

    def told(self, opened: OpenBrain, closed: Closed, *, write_light: bool) -> dict[str, Any]:
        """Tell the bus and memory, then the caller. A note that cannot be written does not undo the close."""
        course, packet = closed.course, closed.packet
        self._control.ended(
            opened, course, closed.decision, summary=packet.summary, because=closed.event.event_id, now=closed.now
        )
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-mission-close-v1",
            "mission_id": course.spec.mission_id,
            "status": course.status.value,
            "directive": closed.decision.directive,
            "proof": json.loads(packet_bytes(packet)),
            "proof_file": str(self._files.directory(opened, course.spec.mission_id).path / "proof.json"),
        }
        if write_light:
            answer |= self._noted(course, closed.now, own=closed.own)
        return {**answer, "rendered": _rendered(answer, packet)}

    @staticmethod
    def _noted(course: Course, now: int, *, own: bool) -> dict[str, Any]:
        if not own:
            return {"light_error": "the note was not written: the mission is about another repository than that of its brain"}
        text = light_note(course.spec, course.verified, stamp=stamped(now))
        repo = course.spec.repo
        try:
            path = note_of(repo, course.spec.mission_id)
            write_below(Path(repo), str(path.relative_to(repo)), text.encode("utf-8"))
            return {"light_file": str(path)}
        except PathRefused as refused:
            return {"light_error": f"the note could not be written: {refused.message}"}
        except OSError as failure:
            LOG.warning("the note of %s could not be written: %s", course.spec.mission_id, failure)
            return {"light_error": f"the note could not be written: {failure.strerror or failure}"}


def _unchained(turn: Turn) -> tuple[str, ...]:
    """The first event that is not what was written, as something only force passes. What is kept counts, not what this process
    remembers of it."""
    course, mission_id = turn.course, turn.course.spec.mission_id
    kept = [one.body for one in turn.writer.mission_events(mission_id)]
    broken = first_break(mission_id, map(_object, kept))
    if broken is None and (len(kept) != course.seq or (kept and _object(kept[-1]).get("hash") != course.head)):
        broken = (len(kept) + 1, "the mission says that it goes on, and it does not")
    return (f"event_chain: event {broken[0]} does not hold: {broken[1]}",) if broken is not None else ()


def _object(body: str) -> dict[str, Any]:
    """A row that somebody made unreadable holds nothing, and breaks the chain by that."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _place(turn: Turn) -> LedgerPlace | None:
    entry = turn.entry
    return LedgerPlace(brain_id=turn.opened.brain.id, seq=entry.seq, hash=entry.hash) if entry is not None else None


def _rendered(answer: dict[str, Any], packet: ProofPacket) -> str:
    refuted = sum(one.verdict == "rejected" for one in packet.rejected_claims)
    left = len(packet.rejected_claims) - refuted  # judged without enough, or resting on what changed
    unproven = f"unproven {left}, " if left else ""
    lines = [
        f"{answer['mission_id']} {answer['status']}{' by force' if packet.forced else ''}",
        *quoted([f"summary: {packet.summary}"]),
        f"verified {len(packet.verified_claims)}, rejected {refuted}, {unproven}gaps {len(packet.gaps)}",
        f"events {packet.event_count}, digest {packet.event_digest}",
        f"packet: {answer['proof_file']}",
        f"check it anywhere: hindbrain mission verify-packet {answer['proof_file']}",
    ]
    if "light_error" in answer:
        lines.append(answer["light_error"])
    return "\n".join(lines)
