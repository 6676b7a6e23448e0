"""Telemetry: missions and memory operations as OpenTelemetry spans, for an operator who asked for them. Nothing imports this
while the setting is off. Spans carry ids, kinds and counts, never a text of a caller."""

import secrets
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hindbrain import __version__
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import ConfigInvalid
from hindbrain.domain.mission import MissionEvent
from hindbrain.engines.course import Course
from hindbrain.engines.flight import span_of
from hindbrain.engines.otlp import event_spans, operation_span, request
from hindbrain.policy.telemetry import MEMORY_OPERATIONS, RECORD_LISTS
from hindbrain.providers.telemetry import EndpointSink, FileSink, Sink
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.stores.mission_port import StoredPaper

__all__ = ["Telemetry", "sink_of"]

_TRACES = "/v1/traces"
_ROOTS = 256


def sink_of(where: str) -> Sink:
    """The file or the endpoint that a setting names. Only loopback is spoken to without TLS."""
    shape = partial(request, version=__version__)
    if "://" not in where:
        if not Path(where).expanduser().is_absolute():
            raise ConfigInvalid(
                f"otel_export is {where[:80]!r}: neither off, nor an absolute path, nor an address",
                fix="give otel_export the whole path of a file, or http://127.0.0.1:4318",
            )
        return FileSink(Path(where).expanduser(), shape)
    parts = urlsplit(where)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ConfigInvalid(
            "otel_export names no endpoint that spans can be sent to", fix="use an address such as http://127.0.0.1:4318"
        )
    if parts.scheme == "http" and not _loopback(parts.hostname):
        raise ConfigInvalid(
            "otel_export would send spans over the network in the clear", fix="use https, or a collector on this machine"
        )
    return EndpointSink(where if parts.path.strip("/") else where.rstrip("/") + _TRACES, shape)


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _code(error: object) -> str:
    return str(error.get("code")) if isinstance(error, dict) else "error"


class Telemetry:
    """Makes spans and hands them on. Put `mirror` among the mirrors of the log of missions."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._roots: dict[str, str] = {}  # mission -> its root span

    def mirror(
        self, opened: OpenBrain, course: Course, events: tuple[MissionEvent, ...], papers: tuple[StoredPaper, ...]
    ) -> None:
        """Follow one turn of a mission."""
        if events:
            root = self._root(opened, course, events)
            store_id = str(opened.brain.id)
            warned = course.loop_warnings
            self._sink.send(event_spans(course.spec, events, root_span=root, loop_warnings=warned, store_id=store_id))

    def operation(
        self, brains: Brains, caller: Caller, operation: str, answer: dict[str, Any], *, started_ns: int, ended_ns: int
    ) -> None:
        """Tell a memory operation; what is none is not told."""
        name = MEMORY_OPERATIONS.get(operation)
        if name is None:
            return
        root = caller.told_root or caller.root
        brain = brains.covering(root) if root else None
        found = next((len(held) for key in RECORD_LISTS if isinstance(held := answer.get(key), list)), None)
        span = operation_span(
            name,
            operation=operation,
            trace=secrets.token_hex(16),
            span=secrets.token_hex(8),
            started_ns=started_ns,
            ended_ns=ended_ns,
            agent=caller.agent,
            store_id=str(brain.id) if brain is not None else None,
            records=found if name == "search_memory" else None,
            error=None if answer.get("ok") else _code(answer.get("error")),
        )
        self._sink.send([span])

    def close(self) -> None:
        """Deliver what waits."""
        self._sink.close()

    def _root(self, opened: OpenBrain, course: Course, events: tuple[MissionEvent, ...]) -> str:
        name = course.spec.mission_id
        found = self._roots.get(name)
        if found is None:
            first = events[0].event_id if events[0].seq == 1 else opened.store.mission_events(name, limit=1)[0].event_id
            if len(self._roots) >= _ROOTS:
                self._roots.clear()  # they are looked up again
            found = self._roots[name] = span_of(first)
        return found
