"""Loop acts: an event as the loop rules see it, and what they find. Knows no rule."""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from hindbrain.domain.mission import AGENT_STARTED, EventType, Family, LoopWarning, MissionEvent
from hindbrain.engines.mission_chain import canonical
from hindbrain.engines.mission_query import query_of, scope_of
from hindbrain.policy.mission_routes import PROCESS_RULES
from hindbrain.policy.missions import COUNTED_OUT, GRADES

__all__ = ["SEARCHES", "Found", "LoopAct", "Span", "act_of", "by_agent", "overlapping", "proof_of", "span_of"]

SEARCHES = frozenset({EventType.LITERAL_SEARCH, EventType.SEMANTIC_SEARCH, EventType.GRAPH_QUERY})
Span = tuple[int, int] | None  # lines; None for the whole file

_LINKS = ("linked_events", "linked_seqs")  # a sweep over other events is another sweep


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A circle: which rule, what about, and the events that show it."""

    rule: Literal["LW1", "LW2", "LW3", "LW4", "LW5", "LW6", "LW7", "LW8"]
    action: Literal["warn", "do_not", "block"]
    item: str
    kind: Literal["tool", "tool_family", "target"]
    message: str
    event_ids: tuple[str, ...]
    repeated: bool = False  # it was warned of before, and is now forbidden

    @property
    def payload(self) -> dict[str, Any]:
        """What the event of this warning holds."""
        return {
            "rule": self.rule,
            "action": self.action,
            "item": self.item,
            "kind": self.kind,
            "message": self.message,
            "event_ids": list(self.event_ids),
        }

    @property
    def warning(self) -> LoopWarning:
        return LoopWarning(rule=self.rule, event_ids=self.event_ids, message=self.message, action=self.action)

    @property
    def failure_class(self) -> Literal["logical"] | None:
        """What the controller counts it as, once for each condition."""
        return "logical" if self.rule in PROCESS_RULES and not self.repeated else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopAct:
    """One use of a tool by the agent."""

    seq: int
    event_id: str
    event_type: EventType
    family: Family
    tool: str
    target: str | None
    query: str
    scope: str
    span: Span
    digest: str | None  # of the target
    call: str  # digest of the tool and all it was given
    new_target: bool
    new_direct: bool

    @property
    def item(self) -> str:
        """What it was about."""
        return self.target or self.query or self.tool

    @property
    def place(self) -> str:
        """The same, down to the lines that were read."""
        return self.item if self.span is None or not self.target else f"{self.target}:{self.span[0]}-{self.span[1]}"

    @property
    def kind(self) -> Literal["tool", "target"]:
        return "target" if self.target or self.query else "tool"


def by_agent(event: MissionEvent) -> bool:
    """Whether it was a use of a tool by the agent itself; what the runtime reads to check a claim is not."""
    return event.event_type not in COUNTED_OUT and event.actor.startswith(AGENT_STARTED)


def act_of(event: MissionEvent, *, new_target: bool, new_direct: bool) -> LoopAct:
    payload = event.payload
    tool = event.tool or event.event_type.value
    query = query_of(event) if event.event_type in SEARCHES else str(payload.get("query") or "")
    scope, span = scope_of(event), span_of(payload.get("range"))
    told = payload.get("arguments_digest")
    given = [tool, event.target, query, scope, span, payload.get("command"), *(payload.get(one) for one in _LINKS)]
    return LoopAct(
        seq=event.seq,
        event_id=event.event_id,
        event_type=event.event_type,
        family=event.tool_family,
        tool=tool,
        target=event.target,
        query=query,
        scope=scope,
        span=span,
        digest=event.target_digest,
        call=f"{tool} {told}" if isinstance(told, str) else hashlib.sha256(canonical(given)).hexdigest(),
        new_target=new_target,
        new_direct=new_direct,
    )


def proof_of(event: MissionEvent, edits: int) -> str | None:
    """What a direct event shows, so that seeing it again is nothing new. A run shows more after an edit; a text does not."""
    if GRADES[event.evidence_class] != "direct":
        return None
    payload = event.payload
    shown = [
        event.evidence_class.value,
        event.target,
        event.target_digest,
        event.outcome.value,
        payload.get("query"),
        payload.get("command"),
        payload.get("exit_status"),
        payload.get("range"),
        None if event.target_digest else edits,
    ]
    return hashlib.sha256(canonical(shown)).hexdigest()


def span_of(told: Any) -> Span:
    """A range of lines as events give it."""
    if isinstance(told, list | tuple) and len(told) == 2 and all(isinstance(one, int) for one in told):
        return (min(told), max(told))
    return None


def overlapping(one: Span, other: Span) -> bool:
    return one is None or other is None or (one[0] <= other[1] and other[0] <= one[1])
