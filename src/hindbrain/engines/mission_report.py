"""Reports: what an agent says it did, read from any of its three shapes into one. Words are matched exactly; what is not known is
refused with what is. A report is a statement: it proves nothing."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.mission import EventType, EvidenceClass, Outcome
from hindbrain.domain.task import Class
from hindbrain.engines.mission_payload import kept, told
from hindbrain.engines.moments import milliseconds
from hindbrain.policy.missions import EVENTS
from hindbrain.policy.proof import TARGETED

__all__ = ["Report", "class_of", "reported", "said_by"]

_SCHEMAS = ("hindbrain-mission-event-v1", "m1nd-mission-event-v1")
_ID = re.compile(r"\Aevt_[A-Za-z0-9_-]{1,60}\Z")
_CLASSES = get_args(Class)
_LONGEST = 500  # characters of a target
_DURATION_MOST = 30 * 86_400_000

# What a report may say. Names of a record that only the runtime fills are read, compared with what it knows, and not believed.
_FIELDS = frozenset(
    {
        "event_id",
        "event_type",
        "timestamp",
        "tool",
        "target",
        "target_digest",
        "evidence_class",
        "outcome",
        "failure_class",
        "duration_ms",
        "agent_confidence",
        "payload",
        "schema",
        "mission_id",
        "tool_family",
    }
)
# Of these the payload of a named event may speak too.
_LIFTED = _FIELDS - {"event_id", "event_type", "payload", "schema", "mission_id"}
# What the runtime alone puts into a payload: an agent's word under such a name would be taken for ours.
_OURS = frozenset({"origin", "checked", "warnings", "targets", "stale_build", "control", "round", "guard", "trust", "claim"})
_NEEDED: Mapping[EventType, tuple[str, ...]] = {
    EventType.DISSENT: ("why", "chosen_tool", "evidence_required"),
    EventType.DEAD_PATH: ("why",),
}
# Where the thing that an event is about may stand in its payload, by the order in which it is looked for.
_ABOUT = ("path", "query", "command", "url", "document", "chosen_tool", "session_id", "text", "why")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One thing an agent says it did."""

    event_type: EventType
    target: str
    label: EvidenceClass | None = None
    outcome: Outcome | None = None
    tool: str | None = None
    told_digest: str | None = None
    failure_class: Class | None = None
    duration_ms: int = 0
    confidence: float | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    event_id: str | None = None
    at: int | None = None  # when it says it happened

    @property
    def texts(self) -> list[str]:
        """All that it says in words."""
        return [self.target, *_words(self.payload)]


def reported(
    event: str | Mapping[str, Any] | None, payload: Mapping[str, Any] | None = None, split: Mapping[str, Any] | None = None
) -> Report:
    """Read a report: a name with a payload, an object, or an object beside single fields, which it overrules."""
    given = {name: value for name, value in (split or {}).items() if value is not None}
    details = dict(payload or {})
    if isinstance(event, Mapping):
        whole = {str(name): value for name, value in event.items() if value is not None}
        details |= _mapping(whole.pop("payload", {}))
        given |= whole
    elif event is not None:
        given["event_type"] = event
    details = _mapping(given.pop("payload", {})) | details
    for name in _LIFTED & set(details):
        value = details.pop(name)
        if value is not None:
            given.setdefault(name, value)
    if unknown := sorted(set(given) - _FIELDS):
        raise _refused(f"an event has no field {unknown[0]!r}", _FIELDS)
    return _read(given, details)


def said_by(told: Mapping[str, Any], whole: Mapping[str, Any] | None) -> Report:
    """The report of a call: its single fields, and the whole event where there is one."""
    # A duration of 0 is the default and says nothing; a confidence of 0 says a lot.
    unsaid = {"event_type", "payload"} | ({"duration_ms"} if not told.get("duration_ms") else set())
    split = {name: value for name, value in told.items() if value is not None and name not in unsaid}
    return reported(whole if whole is not None else told.get("event_type"), told.get("payload"), split)


def _read(given: dict[str, Any], details: dict[str, Any]) -> Report:
    kind = _type(given.get("event_type"))
    _check_form(kind, given)
    for name in _OURS & set(details):
        details.pop(name)
    if lacking := [one for one in _NEEDED.get(kind, ()) if not str(details.get(one) or "").strip()]:
        needed = ", ".join(_NEEDED[kind])
        raise InvalidParams(f"a {kind.value} needs {', '.join(lacking)}", fix=f"say in its payload: {needed}")
    target = _text(given, "target")
    if target is None and kind in TARGETED:
        target = next((str(details[one]) for one in ("path", "url") if details.get(one)), None)
        if target is None:
            raise InvalidParams(f"a {kind.value} needs a target", fix="say what it was about: target")
    if target is None:
        target = next((str(details[one]) for one in _ABOUT if details.get(one)), kind.value)
    outcome = Outcome.RULED_OUT if kind is EventType.DEAD_PATH else given.get("outcome")  # it has no other
    return Report(
        event_type=kind,
        target=told(target, _LONGEST),
        label=class_of(given.get("evidence_class")),
        outcome=_one_of(Outcome, outcome, "outcome") if outcome is not None else None,
        tool=told(tool, 200) if (tool := _text(given, "tool")) is not None else None,
        told_digest=_text(given, "target_digest"),
        failure_class=_failure(given.get("failure_class")),
        duration_ms=_duration(given.get("duration_ms", 0)),
        confidence=_share(given.get("agent_confidence")),
        payload=kept(details),
        event_id=_event_id(given.get("event_id")),
        at=_moment(given.get("timestamp")),
    )


def class_of(value: Any) -> EvidenceClass | None:
    """An evidence class by its exact name; None stays None."""
    return None if value is None else _one_of(EvidenceClass, value, "evidence_class")


def _type(value: Any) -> EventType:
    allowed = sorted(one.value for one, kind in EVENTS.items() if not kind.runtime_only)
    if value is None:
        raise _refused("an event needs its event_type", allowed)
    if value not in EventType.__members__.values():
        raise _refused(f"there is no event_type {str(value)[:80]!r}", allowed)
    kind = EventType(value)
    if EVENTS[kind].runtime_only:
        raise _refused(f"{kind.value} events are written by the runtime itself", allowed)
    return kind


def _check_form(kind: EventType, given: Mapping[str, Any]) -> None:
    schema, family = given.get("schema"), given.get("tool_family")
    if schema is not None and schema not in _SCHEMAS:
        raise _refused(f"{str(schema)[:80]!r} is not the schema of an event", _SCHEMAS)
    if family is not None and family != EVENTS[kind].family.value:
        raise _refused(f"a {kind.value} is not of the family {str(family)[:80]!r}", (EVENTS[kind].family.value,))


def _words(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _words(inner)
        case list() | tuple():
            for inner in value:
                yield from _words(inner)


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidParams("the payload of an event is an object", fix="send an object, or leave it out")
    return dict(value)


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidParams(f"{name} is a text", fix=f"send {name} as a text")
    return value.strip() or None if value is not None else None


def _one_of(kind: Any, value: Any, name: str) -> Any:
    if value not in kind.__members__.values():
        raise _refused(f"there is no {name} {str(value)[:80]!r}", (one.value for one in kind))
    return kind(value)


def _failure(value: Any) -> Any:
    if value is not None and value not in _CLASSES:
        raise _refused(f"there is no failure_class {str(value)[:80]!r}", _CLASSES)
    return value


def _duration(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _DURATION_MOST:
        raise InvalidParams("duration_ms is a number of milliseconds", fix="send a whole number from 0 on")
    return int(value)


def _share(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidParams("agent_confidence is a number from 0 to 1", fix="send a number from 0 to 1, or leave it out")
    return round(float(value), 9)


def _event_id(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and _ID.match(value)):
        raise InvalidParams(f"{str(value)[:80]!r} is no id of an event", fix="leave it out: the runtime makes one")
    return value


def _moment(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    found = milliseconds(value) if isinstance(value, str) else None
    if found is None or found < 0:
        raise InvalidParams("timestamp is no time", fix="send ISO 8601 with its zone, or milliseconds since 1970")
    return found


def _refused(message: str, allowed: Iterable[str]) -> InvalidParams:
    return InvalidParams(message, fix=f"one of: {', '.join(sorted(allowed))}")
