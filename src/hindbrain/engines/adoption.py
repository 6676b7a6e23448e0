"""Records of outcomes: read, rated and planned before one is written. Pure; whether one is written is decided elsewhere."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.adoption import Signal, Track
from hindbrain.domain.errors import InvalidParams
from hindbrain.policy.adoption import (
    ALLOWED_MODES,
    DEFAULT_MODE,
    FORBIDDEN_MODES,
    ID_PREFIX,
    METADATA_MAX,
    MODE_REQUIREMENTS,
    NEEDS_ID,
    OPTIONAL_FIELDS,
    RECORDING_RULE,
    REQUIRED_FIELDS,
    ROLLBACK_REQUIREMENTS,
    SHORT_SURFACES,
    SIGNALS,
    SURFACES,
    TELLING,
    TRACKS,
    VERSION,
)

__all__ = [
    "Quality",
    "Record",
    "captured",
    "checked",
    "guidance",
    "instrumentation",
    "planned",
    "signal_of",
    "surface_of",
    "track_of",
]

_ID = re.compile(rf"{ID_PREFIX}[A-Za-z0-9._-]{{1,55}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One outcome as somebody tells it, before it is kept. A blank feature is possible: a check has to be able to say so."""

    track: Track
    signal: Signal
    feature: str
    id: str | None = None
    query: str | None = None
    context_hash: str | None = None
    card_id: str | None = None
    evaluator_id: str | None = None
    research_report_id: str | None = None
    note: str | None = None
    metadata: str = "{}"  # JSON text

    @classmethod
    def of(
        cls,
        track: str | Track,
        signal: str | Signal,
        feature: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        **more: str | None,
    ) -> "Record":
        """A record as a caller wrote it: names are looked up, blank words are none."""
        told = {name: value.strip() or None for name, value in more.items() if value is not None}
        id_ = told.get("id")
        if id_ is not None and _ID.fullmatch(id_) is None:
            raise InvalidParams(
                f"{id_[:80]!r} is no id of an outcome",
                fix=f"leave the id out, or write {ID_PREFIX} and up to 55 plain characters",
            )
        return cls(track=track_of(track), signal=signal_of(signal), feature=feature.strip(), metadata=_json(metadata), **told)

    def told(self) -> dict[str, Any]:
        """Only what was said, as an operation takes it."""
        named = {name: getattr(self, name) for name in OPTIONAL_FIELDS if name != "metadata"}
        held = {"track": self.track.value, "signal": self.signal.value, "feature": self.feature}
        held |= {name: value for name, value in named.items() if value is not None}
        found: dict[str, Any] = json.loads(self.metadata)
        return held | ({"metadata": found} if found else {})


def _json(metadata: Mapping[str, Any] | None) -> str:
    text = json.dumps(dict(metadata or {}), sort_keys=True, ensure_ascii=False)
    if len(text.encode("utf-8", "surrogatepass")) > METADATA_MAX:
        raise InvalidParams(f"metadata has more than {METADATA_MAX} bytes", fix="keep the outcome, and the material in evidence")
    return text


def track_of(name: str) -> Track:
    """A track by its name."""
    if name not in tuple(Track):
        raise InvalidParams(f"there is no track {name[:80]!r}", fix=f"give one of: {', '.join(Track)}")
    return Track(name)


def signal_of(name: str, what: str = "signal") -> Signal:
    """A signal by its name."""
    if name not in tuple(Signal):
        raise InvalidParams(f"there is no {what} {name[:80]!r}", fix=f"give one of: {', '.join(Signal)}")
    return Signal(name)


def surface_of(name: str) -> str:
    """A surface by its name, in either spelling."""
    found = name.replace("_", "-")
    if (found := SHORT_SURFACES.get(found, found)) not in SURFACES:
        raise InvalidParams(f"there is no surface {name[:80]!r}", fix=f"give one of: {', '.join(SURFACES)}")
    return found


# -- rating ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How good a record is, with every reason."""

    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "invalid" if self.errors else "warning" if self.warnings else "ready"

    def blocks(self, *, allow_warnings: bool) -> bool:
        """Whether a checked write stops here. What is invalid stops always."""
        return bool(self.errors) or (bool(self.warnings) and not allow_warnings)

    def told(self) -> dict[str, Any]:
        return {
            "writes": False,
            "valid": not self.errors,
            "quality": self.name,
            "errors": list(self.errors),
            "warnings": list(self.warnings),
        }


def checked(record: Record) -> Quality:
    """What is wrong with a record, and what it lacks."""
    errors = () if record.feature else ("feature is blank: nobody can tell what the outcome is about",)
    warnings = []
    if record.signal in TELLING and record.note is None and record.query is None:
        warnings.append(f"{record.signal.value} without a note or a query: nobody can tell later what happened")
    needed = NEEDS_ID.get(record.track)
    if needed is not None and getattr(record, needed) is None:
        warnings.append(f"{record.track.value} without {needed}: the outcome cannot be tied to its cause")
    return Quality(errors=errors, warnings=tuple(warnings))


# -- planning --------------------------------------------------------------------------------------------------------


def planned(record: Record) -> dict[str, Any]:
    """How a record would be written: as a command, as a payload and as a call. Nothing is written and no id is made."""
    arguments = record.told()
    command = ["hindbrain", "adoption", "record"]
    for name, value in arguments.items():
        command += [f"--{name.replace('_', '-')}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]
    return {
        "writes": False,
        "record_command": command,
        "record_payload": {"action": "record", **arguments},
        "record_call": {"operation": "adoption.record", "arguments": arguments},
    }


def captured(surface: str, outcome: str, *, metadata: Mapping[str, Any] | None = None, **more: str | None) -> Record:
    """The record of an outcome seen at a surface; both are kept with it as they were told."""
    place, signal = surface_of(surface), signal_of(outcome, "outcome")
    seen = {**(metadata or {}), "surface": place, "outcome": signal.value}
    return Record.of(SURFACES[place].track, signal, SURFACES[place].feature, metadata=seen, **more)


# -- what is told about recording ------------------------------------------------------------------------------------


def guidance() -> dict[str, Any]:
    """When to record what."""
    signals = [{"signal": signal.value, "when": when} for signal, when in SIGNALS.items()]
    tracks = [
        {"track": track.value, "when": guide.when, "feature_examples": list(guide.examples)} for track, guide in TRACKS.items()
    ]
    lines = [
        f"version={VERSION}",
        RECORDING_RULE,
        f"needed: {', '.join(REQUIRED_FIELDS)}; if known: {', '.join(OPTIONAL_FIELDS)}",
    ]
    lines += [f"signal={one['signal']}: {one['when']}" for one in signals]
    lines += [f"track={track.value}: {guide.when} (feature {', '.join(guide.examples)})" for track, guide in TRACKS.items()]
    return {
        "version": VERSION,
        "recording_rule": RECORDING_RULE,
        "required_fields": list(REQUIRED_FIELDS),
        "optional_fields": list(OPTIONAL_FIELDS),
        "signals": signals,
        "tracks": tracks,
        "rendered": "\n".join(lines),
    }


def instrumentation() -> dict[str, Any]:
    """How outcomes may be observed at all."""
    allowed = [
        {
            "mode": name,
            "description": mode.description,
            "requires_execute": mode.execute,
            "requires_checked_capture": mode.checked,
        }
        for name, mode in ALLOWED_MODES.items()
    ]
    lines = [f"version={VERSION} default_mode={DEFAULT_MODE}"]
    lines += [f"allowed {name}: {mode.description}" for name, mode in ALLOWED_MODES.items()]
    lines += [f"forbidden {name}" for name in FORBIDDEN_MODES]
    lines += [f"- {rule}" for rule in (*MODE_REQUIREMENTS, *ROLLBACK_REQUIREMENTS)]
    return {
        "version": VERSION,
        "writes": False,
        "default_mode": DEFAULT_MODE,
        "allowed_modes": allowed,
        "forbidden_modes": list(FORBIDDEN_MODES),
        "requirements": list(MODE_REQUIREMENTS),
        "rollback_requirements": list(ROLLBACK_REQUIREMENTS),
        "rendered": "\n".join(lines),
    }
