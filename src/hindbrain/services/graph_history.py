"""Graph history: what usually changes together, what was confirmed broken, what a trace points at, and what use has changed."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.graph import Node
from hindbrain.engines.activation import temporal
from hindbrain.engines.fence import fenced
from hindbrain.engines.impact import blast
from hindbrain.engines.traces import Frame, frames, located, third_party
from hindbrain.engines.trust import Record, record
from hindbrain.policy.activation import LEARNING, PREDICTION, TRACE
from hindbrain.services.call import Retrieved
from hindbrain.services.graph_access import GraphAccess, Held, blocked, following
from hindbrain.stores.file_log import commits_of

__all__ = ["GraphHistory"]

_SPAN = re.compile(r"^(\d{1,5})\s*([hdwmy])$")
_UNIT_MS = {"h": 3_600_000, "d": 86_400_000, "w": 604_800_000, "m": 30 * 86_400_000, "y": 365 * 86_400_000}
_TOP_DRIFTS = 20


class GraphHistory:
    """What a graph knows of the past."""

    def __init__(self, access: GraphAccess, clock: Callable[[], int]) -> None:
        self._access = access
        self._clock = clock

    # -- predict -----------------------------------------------------------------------------------------------------

    def predict(self, caller: Caller, *, changed_node: str, top_k: int, velocity: bool, brain: str | None) -> Retrieved:
        """What usually changes together with a node."""
        schema = "m1nd-predict-v0"
        with self._access.held(caller, brain) as held:
            row = self._access.resolve(held, changed_node)
            if row is None:
                return Retrieved(answer=self._access.unknown(held, schema, changed_node, predictions=[]), candidates=0)
            net = held.graph.net
            source, found = "co_change", self._together(held, row)
            if not found:
                source, found = "structure", self._structure(held, row)
            top = max(found.values(), default=1.0)
            scored = {
                other: value / top + (PREDICTION.velocity * float(net.change_frequency[other]) if velocity else 0.0)
                for other, value in found.items()
            }
            order = sorted(scored, key=lambda other: (-scored[other], other))
            told = [
                brief
                | {"confidence": round(min(scored[other], 1.0), 6), "source": source}
                | ({"times": int(found[other])} if source == "co_change" else {})
                | ({"velocity": round(float(net.change_frequency[other]), 6)} if velocity else {})
                for other, brief in zip(order[:top_k], held.briefs(order[:top_k]), strict=True)
            ]
        if not told:
            nothing = f"{net.ids[row]} has changed with nothing and is bound to nothing"
            return Retrieved(answer=blocked(schema, nothing, changed_node=net.ids[row], predictions=[]), candidates=0)
        self._access.seen(caller, [one["node_id"] for one in told])
        answer = {"schema": schema, "changed_node": net.ids[row], "source": source, "predictions": told, **following("proving")}
        answer["rendered"] = "\n".join(f"{one['confidence']:.2f}  {one['node_id']}  ({source})" for one in told)
        return Retrieved(answer=answer, candidates=len(order))

    @staticmethod
    def _together(held: Held, row: int) -> dict[int, float]:
        """Files that were committed with the file of a node, and nodes that were taught together with it."""
        net, store = held.graph.net, held.opened.graph
        path = net.paths[row]
        found: dict[int, float] = defaultdict(float)
        for other, times in store.changes([path]).get(path, ()) if store is not None and path else ():
            if (at := net.index.get(f"file::{other}")) is not None:
                found[at] += times
        for name in {net.ids[row], f"file::{path}"}:
            for node, times in held.graph.learned.together(name).items():
                if (at := net.index.get(node)) is not None:
                    found[at] += times * PREDICTION.learned
        found.pop(row, None)
        return dict(found)

    @staticmethod
    def _structure(held: Held, row: int) -> dict[int, float]:
        with held.graph.lock:
            found = blast(held.graph.net, np.array([row]), "both", held.graph.claims, held.graph.directories)
        code = ~found.citation
        return dict(zip(found.nodes[code].tolist(), found.signal[code].tolist(), strict=True))

    # -- timeline ----------------------------------------------------------------------------------------------------

    def timeline(self, caller: Caller, *, node: str, depth: str, brain: str | None) -> Retrieved:
        """The commits of a file."""
        schema = "m1nd-timeline-v0"
        since = self._clock() - _span(depth)
        with self._access.held(caller, brain) as held:
            row = self._access.resolve(held, node)
            if row is None or not held.graph.net.paths[row]:
                return Retrieved(answer=self._access.unknown(held, schema, node, entries=[]), candidates=0)
            net, root = held.graph.net, held.opened.brain.root or ""
            path = net.paths[row]
        commits = commits_of(root, path, since=since // 1000)
        told: dict[str, Any] = {"node": net.ids[row], "file_path": path, "depth": depth}
        if not commits:
            nothing = f"git knows no commit of {path} within {depth}"
            return Retrieved(answer=blocked(schema, nothing, **told, commits=[]), candidates=0)
        counted: dict[str, int] = defaultdict(int)
        for commit in commits:
            for other in commit.with_paths:
                counted[other] += 1
        self._access.seen(caller, [net.ids[row]])
        answer = {
            "schema": schema,
            **told,
            "commits": [
                {
                    "commit": one.commit,
                    "at": one.at * 1000,
                    "author": one.author,
                    "subject": one.subject,
                    "lines_added": one.added,
                    "lines_removed": one.removed,
                    "with_paths": list(one.with_paths[:20]),
                }
                for one in commits
            ],
            "total_churn": sum(one.added + one.removed for one in commits),
            "co_changed": [
                {"path": other, "times": times} for other, times in sorted(counted.items(), key=lambda p: (-p[1], p[0]))[:20]
            ],
            **following("proving"),
        }
        # What commits say was written by anybody: it is quoted.
        answer["rendered"] = fenced(
            "\n".join(f"{one.commit[:10]}  +{one.added} -{one.removed}  {one.subject}" for one in commits)
        )
        return Retrieved(answer=answer, candidates=len(commits))

    # -- trust -------------------------------------------------------------------------------------------------------

    def trust(
        self, caller: Caller, *, scope: str, min_history: int, half_life_days: float, risk_cap: float, node: str | None
    ) -> dict[str, Any]:
        """Code by its defect history."""
        with self._access.held(caller) as held:
            verdicts: dict[str, list[tuple[str, int]]] = defaultdict(list)
            for defect in held.graph.learned.defects():
                verdicts[defect.node].append((defect.kind, defect.at))
            net = held.graph.net
            wanted = [node] if node is not None else sorted(verdicts)
            rows = []
            for name in wanted:
                row = self._access.resolve(held, name)
                if row is None or (node is None and scope != "all" and net.kinds[row] != scope):
                    continue
                made = record(
                    verdicts.get(net.ids[row], ()),
                    now=self._clock(),
                    min_history=min_history,
                    half_life_days=half_life_days,
                    risk_cap=risk_cap,
                )
                rows.append(held.briefs([row])[0] | _trust_row(made))
        rows.sort(key=lambda one: (one["trust_score"] is None, one["trust_score"] or 0.0, one["node_id"]))
        summary = {tier: sum(one["tier"] == tier for one in rows) for tier in ("high_risk", "medium_risk", "low_risk", "unknown")}
        if not rows:
            text = "no verdict on code is known here: learn records them"
            return {
                "schema": "m1nd-trust-v0",
                "nodes": [],
                "tier": "unknown",
                "trust_score": None,
                "summary": summary,
                "rendered": text,
            }
        answer = {"schema": "m1nd-trust-v0", "nodes": rows, "summary": summary}
        answer["rendered"] = "\n".join(
            f"{'?' if one['trust_score'] is None else format(one['trust_score'], '.2f')}  {one['tier']:<11}  {one['node_id']}"
            for one in rows
        )
        return answer

    # -- trace -------------------------------------------------------------------------------------------------------

    def trace(self, caller: Caller, *, text: str, top_k: int, brain: str | None) -> Retrieved:
        """The suspects of a stack trace, in the project's own code."""
        schema = "m1nd-trace-v0"
        found = frames(text)
        if not found:
            return Retrieved(
                answer=blocked(
                    schema, "no stack frame in this text: paste a trace as the program printed it", frames=[], suspects=[]
                ),
                candidates=0,
            )
        with self._access.held(caller, brain) as held:
            named = self._located(held, found)
            scored = self._suspects(held, named)
            told = [
                {
                    "path": frame.path,
                    "line": frame.line,
                    "function": frame.function,
                    "depth": frame.depth,
                    "language": frame.language,
                    "node_id": node.id if node is not None else None,
                    "third_party": third_party(frame) or node is None,
                }
                for frame, node in named
            ]
        if not scored:
            nothing = "none of these frames lies in a file of this graph"
            return Retrieved(answer=blocked(schema, nothing, frames=told, suspects=[]), candidates=0)
        self._access.seen(caller, [one["node_id"] for one in scored])
        answer = {"schema": schema, "frames": told, "suspects": scored[:top_k], **following("proving")}
        answer["rendered"] = "\n".join(
            f"{one['suspicion']:.2f}  {one['node_id']}  ({one['file_path']}:{one['line']})" for one in scored[:top_k]
        )
        return Retrieved(answer=answer, candidates=len(scored))

    @staticmethod
    def _located(held: Held, found: Sequence[Frame]) -> list[tuple[Frame, Node | None]]:
        """Each frame with the innermost symbol that holds its line, else with its file."""
        net = held.graph.net
        by_name: dict[str, list[str]] = defaultdict(list)
        for row in held.graph.files.tolist():
            by_name[os.path.basename(net.paths[row])].append(net.paths[row])
        named: list[tuple[Frame, Node | None]] = []
        for frame in found:
            path = located(frame, by_name) if not third_party(frame) else None
            nodes = held.nodes(held.graph.by_path[path]) if path is not None else []
            around = [n for n in nodes if n.kind != "file" and n.line_start <= frame.line <= n.line_end]
            called = [n for n in around if n.label == frame.function] or around
            inner = min(called, key=lambda n: (n.line_end - n.line_start, n.id), default=None)
            named.append((frame, inner or next((n for n in nodes if n.kind == "file"), None)))
        return named

    def _suspects(self, held: Held, named: Sequence[tuple[Frame, Node | None]]) -> list[dict[str, Any]]:
        net = held.graph.net
        defects = {one.node for one in held.graph.learned.defects() if one.kind == "correct"}
        best: dict[str, dict[str, Any]] = {}
        place = 0
        for frame, node in named:
            if node is None or node.id not in net.index:
                continue
            fresh = float(temporal(net, np.array([net.index[node.id]]), self._clock() / 1000)[0])
            bad = node.id in defects or f"file::{node.path}" in defects
            place += 1
            score = TRACE.depth / place + TRACE.recency * fresh + TRACE.defects * bad
            if node.id not in best:
                best[node.id] = {
                    "node_id": node.id,
                    "label": node.label,
                    "type": node.kind,
                    "file_path": node.path,
                    "line": frame.line,
                    "suspicion": round(score, 6),
                    "signals": {"depth": frame.depth, "recency": round(fresh, 6), "defect_history": bad},
                }
        return sorted(best.values(), key=lambda one: (-one["suspicion"], one["node_id"]))

    # -- warmup and drift --------------------------------------------------------------------------------------------

    def warmup(self, caller: Caller, *, task: str, boost: float, brain: str | None) -> Retrieved:
        """Where a task starts, and what earlier questions that started there woke."""
        schema = "m1nd-warmup-v0"
        with self._access.held(caller, brain) as held:
            net = held.graph.net
            seeds = held.graph.names.seeds(task, LEARNING.primed)
            started = {net.ids[node] for node in seeds.nodes.tolist()}
            primed: dict[str, float] = defaultdict(float)
            alike = 0
            for query in held.graph.learned.remembered():
                shared = len(started.intersection(query.seeds))
                if not shared:
                    continue
                alike += 1
                for node, value in query.nodes:
                    primed[node] = max(primed[node], boost * value * shared / max(len(query.seeds), 1))
            rows = [(node, value) for node, value in primed.items() if value > LEARNING.priming and node in net.index]
            rows.sort(key=lambda pair: (-pair[1], pair[0]))
            priming = [
                brief | {"priming_strength": round(value, 6)}
                for (_, value), brief in zip(
                    rows[: LEARNING.primed], held.briefs([net.index[node] for node, _ in rows[: LEARNING.primed]]), strict=True
                )
            ]
            begun = [
                brief | {"strength": round(float(strength), 6)}
                for brief, strength in zip(held.briefs(seeds.nodes.tolist()), seeds.strengths, strict=True)
            ]
        if not begun:
            nothing = f"nothing in this graph is named like {task[:100]!r}"
            return Retrieved(answer=blocked(schema, nothing, seeds=[], priming=[]), candidates=0)
        answer = {
            "schema": schema,
            "task_description": task,
            "seeds": begun,
            "priming": priming,
            "queries_alike": alike,
            **following("triaging"),
        }
        answer["rendered"] = "\n".join(
            [*(f"seed   {one['node_id']}" for one in begun[:10]), *(f"primed {one['node_id']}" for one in priming[:10])]
        )
        return Retrieved(answer=answer, candidates=len(begun) + len(priming))

    def drift(self, caller: Caller, *, since: str) -> dict[str, Any]:
        """What changed in weights and size since the caller's last session began."""
        with self._access.held(caller) as held:
            marks = [mark for mark in held.graph.learned.sessions(caller.agent) if mark.session != caller.session]
            base = marks[0] if marks and since == "last_session" else None
            start = (base.at if base else 0) if since == "last_session" else self._clock() - _span(since)
            moved: dict[tuple[str, str, str], list[float]] = {}
            for one in held.graph.learned.drifts(start):
                key = (one.source, one.target, one.relation)
                moved.setdefault(key, [one.before, one.after])[1] = one.after
            net, generation = held.graph.net, held.graph.learned.generation
        top = sorted(moved.items(), key=lambda item: (-abs(item[1][1] - item[1][0]), item[0]))
        drifts = [
            {
                "source": source,
                "target": target,
                "relation": relation,
                "before": round(was, 6),
                "after": round(now, 6),
                "change": round(now - was, 6),
            }
            for (source, target, relation), (was, now) in top[:_TOP_DRIFTS]
        ]
        answer = {
            "schema": "m1nd-drift-v0",
            "since": since,
            "since_ms": start,
            "edges_changed": len(moved),
            "top_weight_drifts": drifts,
            "node_count": net.nodes,
            "edge_count": net.edges,
            "node_delta": net.nodes - base.nodes if base else None,
            "edge_delta": net.edges - base.edges if base else None,
            "plasticity_generation": generation,
        }
        lines = [f"{one['change']:+.3f}  {one['source']} -{one['relation']}-> {one['target']}" for one in drifts]
        answer["rendered"] = "\n".join(lines) or "no weight has changed since then"
        return answer

    def coverage(self, caller: Caller) -> dict[str, Any]:
        """What of the graph this session was shown."""
        with self._access.held(caller) as held:
            net = held.graph.net
            rows = sorted({net.index[one] for one in self._access.visited(caller) if one in net.index})
            files = {net.paths[row] for row in held.graph.files.tolist()}
            seen = {net.paths[row] for row in rows} & files
        return {
            "schema": "m1nd-coverage-session-v0",
            "visited": len(rows),
            "visited_files": sorted(seen),
            "total_nodes": net.nodes,
            "total_files": len(files),
            "node_coverage": round(len(rows) / net.nodes, 6) if net.nodes else 0.0,
            "file_coverage": round(len(seen) / len(files), 6) if files else 0.0,
            "rendered": f"{len(seen)} of {len(files)} files and {len(rows)} of {net.nodes} nodes were shown to this session.",
        }

    def persist(self, caller: Caller, *, action: str) -> dict[str, Any]:
        """Save what was learned as one file, take it back, or tell how it stands. The graph itself is derived from the disk."""
        with self._access.held(caller) as held:
            store, target = held.graph.learned, held.opened.directory / "learned.saved.db"
            if action == "save":
                store.save(target)
            elif action == "load":
                if not target.exists():
                    raise InvalidParams("nothing was saved here", fix="persist with action save comes first")
                store.load(target)
                with held.graph.lock:
                    held.graph.settle()
            told = {
                "plasticity_generation": store.generation,
                "learning_queries": store.queries,
                "learned_edges": len(store.edges()),
                "saved": target.exists(),
                "node_count": held.graph.net.nodes,
                "edge_count": held.graph.net.edges,
            }
        return {"schema": "m1nd-persist-v0", "action": action, **told}


def _trust_row(made: Record) -> dict[str, Any]:
    return {
        "defect_count": made.defects,
        "false_alarm_count": made.false_alarms,
        "partial_count": made.partials,
        "trust_score": None if made.score is None else round(made.score, 6),
        "tier": made.tier,
        "risk_multiplier": None if made.risk is None else round(made.risk, 6),
    }


def _span(text: str) -> int:
    """A length of time in milliseconds: 12h, 30d, 8w, 6m, 1y."""
    found = _SPAN.match(text.strip())
    if found is None:
        raise InvalidParams(f"{text[:40]!r} is no length of time", fix="say 12h, 30d, 8w, 6m or 1y")
    return int(found[1]) * _UNIT_MS[found[2]]
