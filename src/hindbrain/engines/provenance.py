"""Provenance: who did what with which file, and what a claim was made from, in the terms of W3C PROV. Follows from the events."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hindbrain.domain.handover import ProvEdge, Relation
from hindbrain.domain.mission import EventType, MissionEvent, MissionSpec
from hindbrain.engines.moments import milliseconds, stamped

__all__ = ["claim_edges_first", "prov_edges", "prov_json"]

_E = EventType
_RUNTIME = "runtime"
_PREFIX = "hb"
_SPACE = "urn:hindbrain:"
_UNNAMED = re.compile(r"[^A-Za-z0-9/@_.~-]")  # what may not stand in a qualified name

# relation -> what PROV-JSON calls its two ends
_ENDS: Mapping[Relation, tuple[str, str]] = {
    "used": ("prov:activity", "prov:entity"),
    "wasGeneratedBy": ("prov:entity", "prov:activity"),
    "wasDerivedFrom": ("prov:generatedEntity", "prov:usedEntity"),
    "wasAssociatedWith": ("prov:activity", "prov:agent"),
    "wasAttributedTo": ("prov:entity", "prov:agent"),
    "wasInformedBy": ("prov:informed", "prov:informant"),
    "actedOnBehalfOf": ("prov:delegate", "prov:responsible"),
}
_KINDS = {"event": "activity", "agent": "agent", "file": "entity", "claim": "entity", "handoff": "entity", "packet": "entity"}


def prov_edges(spec: MissionSpec, events: Iterable[MissionEvent]) -> tuple[ProvEdge, ...]:
    """The evidence graph of a mission, in the order in which things happened."""
    graph = _Graph(spec)
    return tuple(dict.fromkeys(edge for event in events for edge in graph.of(event)))


class _Graph:
    """Reads events once; knows the files of those that went before."""

    def __init__(self, spec: MissionSpec) -> None:
        self._spec = spec
        self._owner = f"agent:{spec.agent_id}"
        self._files: dict[str, tuple[str, ...]] = {}  # event -> files that it used
        self._verified: dict[str, None] = {}
        self._bound = False

    def of(self, event: MissionEvent) -> Iterator[ProvEdge]:
        who = self._owner if event.actor == f"agent:{self._spec.agent_id}" else f"agent:{event.actor.removeprefix('agent:')}"
        yield self._edge(event, _event(event.event_id), "wasAssociatedWith", who)
        if event.actor == _RUNTIME and not self._bound:
            self._bound = True
            yield self._edge(event, f"agent:{_RUNTIME}", "actedOnBehalfOf", self._owner)
        files = _files(event)
        if files:
            self._files[event.event_id] = files
        for name in files:
            yield self._edge(event, _event(event.event_id), "used", name)
        if event.event_type in (_E.CLAIM, _E.VERIFY):
            yield from self._claimed(event)
        elif event.event_type is _E.HANDOFF and (handed := event.payload.get("handoff_id")):
            yield self._edge(event, f"handoff:{handed}", "wasGeneratedBy", _event(event.event_id))
            yield self._edge(event, f"handoff:{handed}", "wasAttributedTo", self._owner)
        elif event.event_type is _E.RESUME and (taken := event.payload.get("handoff_id")):
            yield self._edge(event, _event(event.event_id), "used", f"handoff:{taken}")
        elif event.event_type is _E.CLOSE:
            packet = f"packet:{self._spec.mission_id}"
            yield self._edge(event, packet, "wasGeneratedBy", _event(event.event_id))
            for claim in self._verified:
                yield self._edge(event, packet, "wasDerivedFrom", claim)

    def _claimed(self, event: MissionEvent) -> Iterator[ProvEdge]:
        told = event.payload.get("claim")
        if not isinstance(told, Mapping) or "claim_id" not in told:
            return
        claim = f"claim:{told['claim_id']}"
        if event.event_type is _E.CLAIM:
            yield self._edge(event, claim, "wasAttributedTo", self._owner)
            return
        if told.get("verdict") == "verified_for_mission":
            self._verified[claim] = None
        yield self._edge(event, claim, "wasGeneratedBy", _event(event.event_id))
        yield self._edge(event, claim, "wasAttributedTo", self._owner)
        for name in told.get("evidence_refs") or ():
            yield self._edge(event, _event(event.event_id), "wasInformedBy", _event(str(name)))
            for file in self._files.get(str(name), ()):
                yield self._edge(event, claim, "wasDerivedFrom", file)

    @staticmethod
    def _edge(event: MissionEvent, subject: str, relation: Relation, other: str) -> ProvEdge:
        return ProvEdge(subject=subject, relation=relation, object=other, event_id=event.event_id)


def _event(event_id: str) -> str:
    return f"event:{event_id}"


def _files(event: MissionEvent) -> tuple[str, ...]:
    """Files at the bytes that the runtime read itself: of a reading, and of the hits of a search."""
    found = []
    if event.event_type is _E.FILE_READ and event.target and event.target_digest:
        found.append(f"file:{event.target}@{event.target_digest}")
    digests = event.payload.get("digests")
    if isinstance(digests, Mapping):
        found += [f"file:{path}@{digest}" for path, digest in sorted(digests.items())]
    return tuple(found)


def claim_edges_first(edges: Iterable[ProvEdge], claims: Iterable[str]) -> tuple[ProvEdge, ...]:
    """The same edges, those first that lead from the given claims to what they rest on: they stay when a graph is cut."""
    every = tuple(edges)
    wanted = {f"claim:{one}" for one in claims}
    near = set(wanted)
    for edge in every:
        if edge.subject in wanted:
            near.add(edge.object)
    informed = {edge.object for edge in every if edge.subject in near and edge.relation == "wasInformedBy"}
    ranked = sorted(every, key=lambda edge: (edge.subject not in wanted, edge.subject not in informed, edge.subject not in near))
    return tuple(ranked)


def prov_json(spec: MissionSpec, events: Iterable[MissionEvent]) -> dict[str, Any]:
    """The whole graph as PROV-JSON, the standard's own form."""
    told = tuple(events)
    edges = prov_edges(spec, told)
    acts = {_name(_event(one.event_id)): _activity(one) for one in told}
    document: dict[str, Any] = {"prefix": {_PREFIX: _SPACE}, "activity": acts}
    for edge in edges:
        for thing in (edge.subject, edge.object):
            section = _KINDS[thing.partition(":")[0]]
            document.setdefault(section, {}).setdefault(_name(thing), _described(thing, section))
    for number, edge in enumerate(edges, 1):
        first, second = _ENDS[edge.relation]
        document.setdefault(edge.relation, {})[f"_:r{number}"] = {first: _name(edge.subject), second: _name(edge.object)}
    return document


def _activity(event: MissionEvent) -> dict[str, Any]:
    ended = milliseconds(event.timestamp) or 0
    made = {
        "prov:startTime": stamped(max(0, ended - event.duration_ms)),
        "prov:endTime": stamped(ended),
        "prov:label": f"{event.event_type.value} {event.target or ''}".strip(),
        f"{_PREFIX}:seq": event.seq,
        f"{_PREFIX}:evidenceClass": event.evidence_class.value,
        f"{_PREFIX}:outcome": event.outcome.value,
    }
    return made | ({f"{_PREFIX}:hash": event.hash} if event.hash else {})


def _described(thing: str, section: str) -> dict[str, Any]:
    kind, _, name = thing.partition(":")
    made: dict[str, Any] = {"prov:label": name}
    if section == "agent":
        person = name == "operator"
        made["prov:type"] = {"$": "prov:Person" if person else "prov:SoftwareAgent", "type": "prov:QUALIFIED_NAME"}
    elif section == "entity":
        made["prov:type"] = {"$": f"{_PREFIX}:{kind}", "type": "prov:QUALIFIED_NAME"}
        if kind == "file":
            path, _, digest = name.rpartition("@")
            made |= {f"{_PREFIX}:path": path, f"{_PREFIX}:digest": digest}
    return made


def _name(thing: str) -> str:
    """A qualified name: what may not stand in one is written by its code."""
    return f"{_PREFIX}:{_UNNAMED.sub(_coded, thing.replace(':', '/', 1))}"


def _coded(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))
