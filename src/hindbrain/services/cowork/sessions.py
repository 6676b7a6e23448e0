"""Sessions of a bus: pieces of work that several agents share. A session changes no delivery and is no memory."""

from collections.abc import Sequence
from typing import Any

import msgspec

from hindbrain.domain.agent_errors import UnknownChannel, UnknownCoworkSession
from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import ACTIVE, CoworkSession, checked_name
from hindbrain.domain.errors import InvalidParams
from hindbrain.engines.cowork_handoff import session_row
from hindbrain.engines.fence import fenced, shown
from hindbrain.services.cowork.channels import checked_agents
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.recording import Recorder
from hindbrain.services.gateway import Gateway
from hindbrain.stores.bus_records import BusLook

__all__ = ["Sessions", "no_session"]


def no_session(session_id: str) -> UnknownCoworkSession:
    return UnknownCoworkSession(
        f"this bus has no session {session_id[:64]!r}", fix="hindbrain cowork session list shows what there is"
    )


class Sessions:
    """The sessions of a bus."""

    def __init__(self, buses: Buses, recorder: Recorder, gateway: Gateway) -> None:
        self._buses = buses
        self._recorder = recorder
        self._gateway = gateway

    def create(
        self,
        caller: Caller,
        *,
        session_id: str,
        title: str,
        goal: str | None,
        agents: Sequence[str],
        channels: Sequence[str],
        thread_id: str | None,
        project_root: str | None,
    ) -> dict[str, Any]:
        """Begin a session, or say anew what it is; when it was first made is kept."""
        checked_name(session_id, "session_id")
        if thread_id is not None:
            checked_name(thread_id, "thread_id")
        told, aim = _plain(title, "title"), _plain(goal, "goal") if goal is not None else None
        self._gateway.check_secrets((session_id, told, aim or "", thread_id or ""), site="cowork.session.create")
        if not agents:
            raise InvalidParams("a session has at least one agent", fix="name the agents that take part")
        bus = self._buses.of(caller, project_root)
        with bus.turn() as turn:
            members = checked_agents(turn, agents)
            reached = _checked_channels(turn, channels)
            before, now = turn.sessions().get(session_id), self._recorder.now()
            made = CoworkSession(
                session_id=session_id,
                title=told,
                goal=aim,
                agents=members,
                channels=reached,
                thread_id=thread_id,
                status=ACTIVE,
                created_at=before.created_at if before is not None else now,
                updated_at=now,
            )
            turn.put_session(made)
            details = {"session_id": session_id, "thread_id": thread_id}
            turn.log(self._recorder.event("session_create", "created", targets=members, details=details))
        self._recorder.published(bus, caller, "session.create", agents=members)
        return _answer(made, f"{session_id} is {made.status}: {', '.join(members)}.")

    def listed(self, caller: Caller, *, project_root: str | None) -> dict[str, Any]:
        """Every session, whatever its status."""
        with self._buses.of(caller, project_root).look() as look:
            found = list(look.sessions().values())
        told = [f"{one.session_id} [{one.status}] {one.title}: {', '.join(one.agents)}" for one in found]
        return {
            "ok": True,
            "schema": "hindbrain-cowork-sessions-v0",
            "sessions": [session_row(one) for one in found],
            "rendered": fenced("\n".join(told)) if told else "This bus has no session.",
        }

    def moved(self, caller: Caller, *, session_id: str, status: str, project_root: str | None) -> dict[str, Any]:
        """Give a session a status. The one that it has already is no change, and no event."""
        checked_name(session_id, "session_id")
        bus = self._buses.of(caller, project_root)
        with bus.turn() as turn:
            found = turn.sessions().get(session_id)
            if found is None:
                raise no_session(session_id)
            if found.status == status:
                return _answer(found, f"{session_id} is {status} already.")
            made = msgspec.structs.replace(found, status=status, updated_at=self._recorder.now())
            turn.put_session(made)
            details = {"session_id": session_id, "thread_id": found.thread_id, "before": found.status}
            turn.log(self._recorder.event("session_status", status, targets=found.agents, details=details))
        self._recorder.published(bus, caller, "session.status", agents=found.agents)
        return _answer(made, f"{session_id} is {status}.")


def _answer(session: CoworkSession, told: str) -> dict[str, Any]:
    return {
        "ok": True,
        "schema": "hindbrain-cowork-session-v0",
        "session": session_row(session),
        "rendered": told,
    }


def _plain(text: str, what: str) -> str:
    """A line of words for people."""
    if not text.strip() or shown(text) != text or len(text.splitlines()) > 1:
        raise InvalidParams(f"the {what} is one line of text", fix=f"give a {what} without control characters")
    return text.strip()


def _checked_channels(look: BusLook, names: Sequence[str]) -> tuple[str, ...]:
    found, known = tuple(dict.fromkeys(checked_name(one, "channel") for one in names)), look.channels()
    if missing := [one for one in found if one not in known]:
        raise UnknownChannel(
            f"this bus has no channel {', '.join(missing[:5])}",
            fix="make it first with hindbrain cowork channel set --channel CHANNEL --agents AGENT",
        )
    return found
