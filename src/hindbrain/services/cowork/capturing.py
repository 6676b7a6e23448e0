"""Capture: the one way from the bus into memory. A hand-over becomes one row of evidence, and only when somebody asks for it."""

import hashlib
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Provenance
from hindbrain.engines.cowork_handoff import Filters, kept_lines, shortened
from hindbrain.engines.fence import fenced, shown
from hindbrain.policy.cowork_rooms import CAPTURE_BYTES, CAPTURE_IMPORTANCE
from hindbrain.services.cowork.handing_over import HandingOver
from hindbrain.services.cowork.sessions import Sessions
from hindbrain.services.evidence import Observation, Observations
from hindbrain.services.gateway import Gateway
from hindbrain.services.routing import Router

__all__ = ["Capture", "Capturing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What shall be kept, and where."""

    filters: Filters
    source: str = "handoff"
    wing: str
    room: str | None = None
    note: str | None = None
    execute: bool = False


class Capturing:
    """Captures of a bus."""

    def __init__(
        self, handing_over: HandingOver, sessions: Sessions, observations: Observations, router: Router, gateway: Gateway
    ) -> None:
        self._handing_over = handing_over
        self._sessions = sessions
        self._observations = observations
        self._router = router
        self._gateway = gateway

    def kept(self, caller: Caller, capture: Capture, *, project_root: str | None) -> dict[str, Any]:
        """Show what would be kept; with `execute` keep it. The same state of the bus is kept once."""
        if capture.execute:
            self._router.write_route(caller)  # memory belongs to a project: without its brain nothing is kept
        bus, found = self._handing_over.seen(caller, capture.filters, project_root=project_root)
        lines = [f"project: {bus.root}", f"source: {capture.source}"]
        if capture.note is not None:
            self._gateway.check_secrets((capture.note,), site="cowork.capture")
            lines.append(f"note: {_noted(capture.note)}")
        text = "\n".join([*lines, *kept_lines(found)])
        while len(text.encode("utf-8", "replace")) > CAPTURE_BYTES and found.filters.limit > 1:
            found = shortened(found)  # it says how much more there was
            text = "\n".join([*lines, *kept_lines(found)])
        # The id follows from what is kept, so the same state gives the same id at any time.
        capture_id = f"cowork-capture-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"
        content, source = f"{capture_id}\n{text}", f"cowork-capture://{capture_id}"
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-cowork-capture-v0",
            "writes": False,
            "evidence_id": None,
            "capture_id": capture_id,
            "wing": capture.wing,
            "room": capture.room,
            "source": source,
            "content": content,
            "created": False,
        }
        if not capture.execute:
            told = f"This would be kept as one row of evidence in wing {capture.wing}; add --execute to keep it."
            return answer | {"rendered": f"{told}\n{fenced(content)}"}
        made = self._observations.record(
            caller,
            Observation(
                text=content,
                wing=capture.wing,
                room=capture.room,
                provenance=Provenance.RUNTIME,
                importance=CAPTURE_IMPORTANCE,
                source=source,
                whole=True,
            ),
        )
        told = "Kept" if made["created"] else "Already kept"
        written = {"writes": True, "evidence_id": made["evidence_id"], "created": made["created"]}
        return answer | written | {"rendered": f"{told}: {made['evidence_id']} in wing {capture.wing}."}

    def close(self, caller: Caller, session_id: str, capture: Capture | None, *, project_root: str | None) -> dict[str, Any]:
        """Close a session, and capture it where that is asked for. Closing it again is no change and may capture it still."""
        if capture is not None and capture.execute:
            self._router.write_route(caller)  # told before the session is closed
        closed = self._sessions.moved(caller, session_id=session_id, status="closed", project_root=project_root)
        kept = self.kept(caller, capture, project_root=project_root) if capture is not None else None
        told = closed["rendered"] if kept is None else f"{closed['rendered']}\n{kept['rendered']}"
        shown_capture = None if kept is None else {name: kept[name] for name in kept if name not in ("ok", "schema", "rendered")}
        return {
            "ok": True,
            "schema": "hindbrain-cowork-session-close-v0",
            "session": closed["session"],
            "capture": shown_capture,
            "rendered": told,
        }


def _noted(note: str) -> str:
    """A note as one line."""
    line = " ".join(shown(note).split())
    if not line:
        raise InvalidParams("the note is empty", fix="say what the capture is for, or leave note out")
    return line
