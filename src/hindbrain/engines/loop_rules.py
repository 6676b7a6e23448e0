"""Loop rules: the eight ways in which work goes in circles, each with just the memory it needs. `note` takes the next act and
gives what it completes, once; `held` is what holds now."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from hindbrain.domain.handover import DeadPath
from hindbrain.domain.mission import EventType, Family
from hindbrain.engines.loop_act import SEARCHES, Found, LoopAct, Span, overlapping
from hindbrain.engines.mission_query import normal_query
from hindbrain.engines.query_index import Asked, QueryIndex
from hindbrain.engines.scope_changes import ScopeChanges
from hindbrain.policy.mission_routes import DO_NOT_MOST, IDLE, LOOPS, REREAD, REREAD_KEPT, THRASH

__all__ = ["DeadEnds", "GraphStreak", "Idling", "PingPong", "Rereads", "Runs", "Searches", "Verifications"]

_LINKED = 6  # events that a warning names at most


@dataclass(slots=True, kw_only=True)
class Runs:
    """LW1: the same call in a row."""

    call: str = ""
    events: tuple[str, ...] = ()
    held: Found | None = None

    def note(self, act: LoopAct) -> Found | None:
        if act.call != self.call:
            self.call, self.events, self.held = act.call, (act.event_id,), None
            return None
        before = len(self.events)
        self.events = (*self.events, act.event_id)[-3:]
        if before == 3:
            return None
        times = before + 1
        self.held = Found(
            rule="LW1",
            action="warn" if times == 2 else "block",
            item=act.place,
            kind=act.kind,
            message=f"{act.tool} was called {times} times in a row with the same arguments: {LOOPS['LW1'].why}",
            event_ids=self.events,
            repeated=times > 2,
        )
        return self.held


@dataclass(slots=True, kw_only=True)
class Searches:
    """LW2: a question that was asked before, here or in a mission before this one. A question to the graph and one to the files
    are two: the second proves what the first only points at."""

    changes: ScopeChanges
    repeats: int = 0
    held: Found | None = None
    shelves: dict[tuple[str, str], QueryIndex] = field(default_factory=dict)
    forbidden: dict[int, tuple[Asked, Found]] = field(default_factory=dict)

    def note(self, act: LoopAct) -> Found | None:
        self.held = None
        if act.event_type not in SEARCHES or not act.query.strip():
            return None
        shelf, words = self._shelf(act.family.value, act.scope), _words(act.query)
        asked = shelf.find(words)
        if asked is None or self.changes.since(asked.scope, asked.seq):
            asked = Asked(text=act.query, family=act.family.value, scope=act.scope, seq=act.seq, event_ids=(act.event_id,))
            shelf.keep(words, asked)
            return None
        asked.again(act.seq, act.event_id)
        shelf.keep(words, asked)
        self.repeats += 1
        self.held = Found(
            rule="LW2",
            action="warn" if asked.repeats == 1 else "do_not",
            item=asked.text,
            kind="target",
            message=f"this search was made before: {LOOPS['LW2'].why}",
            event_ids=asked.event_ids,
            repeated=asked.repeats > 1,
        )
        if asked.repeats == 2:
            self.forbidden[id(asked)] = (asked, self.held)
        return self.held if asked.repeats <= 2 else None

    def inherit(self, family: Family, scope: str, query: str) -> None:
        """A question that a mission before this one asked."""
        asked = Asked(text=query, family=family.value, scope=scope, seq=0)
        self._shelf(family.value, scope).keep(_words(query), asked)

    def known(self, family: Family, query: str, scope: str) -> bool:
        """Whether asking this would be a repeat."""
        shelf = self.shelves.get((family.value, scope))
        asked = shelf.find(_words(query)) if shelf is not None else None
        return asked is not None and not self.changes.since(asked.scope, asked.seq)

    def closed(self) -> tuple[Found, ...]:
        """Questions that are not to be asked again while nothing in their scope changes, the newest first."""
        newest = list(islice(reversed(self.forbidden.items()), DO_NOT_MOST))
        over = {key for key, (asked, _) in newest if self.changes.since(asked.scope, asked.seq)}
        for key in over:
            del self.forbidden[key]
        return tuple(found for key, (_, found) in newest if key not in over)

    def _shelf(self, family: str, scope: str) -> QueryIndex:
        return self.shelves.setdefault((family, scope), QueryIndex())


@dataclass(slots=True, kw_only=True)
class GraphStreak:
    """LW3: graph calls since the last direct event. Ingest answers nothing and is none."""

    limit: int
    calls: int = 0
    events: tuple[str, ...] = ()

    @property
    def held(self) -> Found | None:
        if self.calls < self.limit:
            return None
        return Found(
            rule="LW3",
            action="do_not",
            item=Family.GRAPH.value,
            kind="tool_family",
            message=f"{self.calls} graph calls since the last direct event, and this route allows {self.limit}: "
            f"{LOOPS['LW3'].why}",
            event_ids=self.events,
        )

    def note(self, act: LoopAct) -> Found | None:
        if act.family is not Family.GRAPH or act.event_type is EventType.GRAPH_INGEST:
            return None
        self.calls += 1
        self.events = (*self.events, act.event_id)[-_LINKED:]
        return self.held if self.calls == max(1, self.limit) else None

    def proven(self) -> None:
        """A direct event opens the graph again."""
        self.calls, self.events = 0, ()


@dataclass(slots=True, kw_only=True)
class PingPong:
    """LW4: two places in turn, twice. An edit is not one of them: what is looked at after it is another text."""

    pairs: deque[tuple[str, str, str]] = field(default_factory=lambda: deque(maxlen=4))
    held: Found | None = None

    def note(self, act: LoopAct) -> Found | None:
        if act.family is Family.EDIT:
            self.pairs.clear()
            self.held = None
            return None
        self.pairs.append((act.tool, act.item, act.event_id))
        last = [pair[:2] for pair in self.pairs]
        if len(last) < 4 or last[:2] != last[2:] or last[0] == last[1]:
            self.held = None
            return None
        before, self.held = (
            self.held,
            Found(
                rule="LW4",
                action="warn",
                item=act.item,
                kind="target" if act.target or act.query else "tool",
                message=f"{last[0][1]} and {last[1][1]} take turns: {LOOPS['LW4'].why}; look at a third place",
                event_ids=tuple(pair[2] for pair in self.pairs),
            ),
        )
        return self.held if before is None else None


@dataclass(slots=True, kw_only=True)
class Idling:
    """LW5: uses of tools that brought nothing new."""

    events: tuple[str, ...] = ()
    times: int = 0
    held: Found | None = None

    def note(self, act: LoopAct) -> Found | None:
        if act.new_target or act.new_direct:
            self.moved()
            return None
        self.times += 1
        self.events = (*self.events, act.event_id)[-IDLE:]
        if self.times != IDLE:
            return None
        self.held = Found(
            rule="LW5",
            action="warn",
            item=act.item,
            kind=act.kind,
            message=f"{IDLE} calls in a row: {LOOPS['LW5'].why}",
            event_ids=self.events,
        )
        return self.held

    def moved(self) -> None:
        """Something new came, or a claim changed."""
        self.events, self.times, self.held = (), 0, None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    digest: str | None
    span: Span
    seq: int
    event_id: str


@dataclass(slots=True, kw_only=True)
class Rereads:
    """LW6: the same lines of the same text."""

    changes: ScopeChanges
    held: Found | None = None
    reads: dict[str, deque[_Read]] = field(default_factory=dict)
    told: dict[str, list[tuple[_Read, Found]]] = field(default_factory=dict)

    def note(self, act: LoopAct) -> Found | None:
        self.held = None
        if act.event_type is not EventType.FILE_READ or not act.target:
            return None
        read = _Read(digest=act.digest, span=act.span, seq=act.seq, event_id=act.event_id)
        seen = self.reads.setdefault(act.target, deque(maxlen=REREAD_KEPT))
        if seen and self.changes.since(act.target, seen[-1].seq):
            seen.clear()
        seen.append(read)
        same = [one for one in seen if one.digest == read.digest and overlapping(one.span, read.span)]
        if len(same) < REREAD:
            return None
        told = [one for one in self.told.get(act.target, ()) if not self.changes.since(act.target, one[0].seq)]
        self.held = Found(
            rule="LW6",
            action="warn",
            item=act.place,
            kind="target",
            message=f"{act.target} was read {len(same)} times: {LOOPS['LW6'].why}",
            event_ids=tuple(one.event_id for one in same[-REREAD:]),
        )
        known = any(one.digest == read.digest and overlapping(one.span, read.span) for one, _ in told)
        if not known:
            told.append((read, self.held))
        self.told.pop(act.target, None)
        self.told[act.target] = told
        return None if known else self.held

    def closed(self) -> tuple[Found, ...]:
        """Lines that are not to be read again while their file is the same, of the files that came last."""
        return tuple(
            found
            for path, told in islice(reversed(self.told.items()), DO_NOT_MOST)
            for read, found in told
            if not self.changes.since(path, read.seq) and self.reads[path][-1].digest == read.digest
        )


@dataclass(slots=True, kw_only=True)
class DeadEnds:
    """LW7: what was ruled out, here or before."""

    paths: dict[str, DeadPath] = field(default_factory=dict)
    lifted: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    held: Found | None = None

    def ruled_out(self, path: DeadPath) -> None:
        for key in _keys(path.target, path.target):
            self.paths[key] = path

    def find(self, target: str | None, query: str = "") -> DeadPath | None:
        """The dead path that a target or a question leads into, unless a dissent lifted it."""
        found = next((self.paths[key] for key in _keys(target, query) if key in self.paths), None)
        return found if found is not None and not self.lifted.intersection(_keys(found.target, found.target)) else None

    def lift(self, items: Iterable[str]) -> None:
        for item in items:
            self.lifted.update(_keys(item, item))

    def note(self, act: LoopAct) -> Found | None:
        path = self.find(act.target, act.query)
        if path is None:
            self.held = None
            return None
        self.held = Found(
            rule="LW7",
            action="block",
            item=path.target,
            kind="target",
            message=f"{path.target} was ruled out: {path.why_ruled_out}",
            event_ids=(*path.event_ids[-(_LINKED - 1) :], act.event_id),
        )
        if path.target in self.told:
            return None
        self.told.add(path.target)
        return self.held


@dataclass(slots=True, kw_only=True)
class _Judged:
    """Verifications of one claim since something new was seen."""

    known: set[str] = field(default_factory=set)
    seq: int = 0
    events: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Verifications:
    """LW8: one claim, the same evidence, again."""

    proven_at: int = 0
    claims: dict[str, _Judged] = field(default_factory=dict)
    stuck: dict[str, Found] = field(default_factory=dict)

    def proven(self, seq: int) -> None:
        """New direct evidence opens every claim again."""
        self.proven_at = seq
        self.stuck.clear()

    def note(self, claim_id: str, references: Iterable[str], seq: int, event_id: str) -> Found | None:
        judged = self.claims.setdefault(claim_id, _Judged())
        told = set(references)
        fresh = judged.seq < self.proven_at or not told <= judged.known
        judged.known |= told
        judged.seq = seq
        judged.events = (event_id,) if fresh or not judged.events else (*judged.events, event_id)[-THRASH:]
        if len(judged.events) < THRASH:
            self.stuck.pop(claim_id, None)
            return None
        known = claim_id in self.stuck
        self.stuck[claim_id] = Found(
            rule="LW8",
            action="block",
            item=claim_id,
            kind="target",
            message=f"claim {claim_id} was verified {THRASH} times without new evidence: {LOOPS['LW8'].why}",
            event_ids=judged.events,
        )
        return None if known else self.stuck[claim_id]


def _words(text: str) -> frozenset[str]:
    return frozenset(normal_query(text).split())


def _keys(target: str | None, query: str) -> tuple[str, ...]:
    """The forms in which a dead path is recognised: as it was written, and as a question."""
    plain = (target or "").strip().rstrip("/").removeprefix("./")
    asked = normal_query(query) if query.strip() else ""
    return tuple(key for key in (plain, f"? {asked}" if asked else "") if key)
