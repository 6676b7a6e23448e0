"""The toolbox of a scripted agent: tools with a budget, one event for each use, and what the agent sees in what it looks at."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.domain.gym_fixture import Finding, FixtureInfo
from hindbrain.domain.mission import Budget, EventType, MissionMode, Outcome
from hindbrain.engines.claim_content import quoted
from hindbrain.engines.gym_agents import Action, View
from hindbrain.engines.gym_crossing import crossed
from hindbrain.engines.gym_detectors import Suspicion, suspicions
from hindbrain.engines.gym_examples import failures, has_examples, reproduction_of
from hindbrain.services.gym.ports import LaneSession
from hindbrain.services.gym.probing import Probe, Probed
from hindbrain.services.gym.repository import listed

__all__ = ["Told", "Toolbox"]

_HITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One use of a tool, as it is put on record."""

    event_type: EventType
    tool: str
    target: str
    outcome: Outcome
    duration_ms: int
    payload: Mapping[str, Any]
    ran: Probed | None = None  # the command behind it, if there was one


class Toolbox:
    """Tools over one repository. `tell` puts a use on record and gives the id of its event."""

    def __init__(
        self,
        root: Path,
        info: FixtureInfo,
        budget: Budget,
        *,
        clock: Callable[[], int],
        tell: Callable[[Told], str],
        session: LaneSession | None = None,
        repository: str = "",
    ) -> None:
        self._root, self._info, self._budget = root, info, budget
        self._clock, self._tell, self._session = clock, tell, session
        self._repository = repository
        self._probe = Probe(root)
        self.files: tuple[str, ...] | None = None
        self.texts: dict[str, str] = {}
        self.events: dict[str, str] = {}  # what was looked at -> the event of it
        self.calls = 0
        self.findings: list[Finding] = []
        self.tests_passed: bool | None = None
        self._ran: Probed | None = None
        self._asked: list[str] = []
        self._hits: list[str] = []
        self._probed: set[str] = set()
        self._known: set[tuple[str, str, str]] = set()

    def view(self) -> View:
        """What the agent knows now."""
        return View(
            task=self._info.task,
            queries=self._info.queries if self._session is not None else (),
            files=self.files,
            read=tuple(self.texts),
            asked=tuple(self._asked),
            hits=tuple(self._hits),
            probed=frozenset(self._probed),
            examples=tuple(path for path, text in self.texts.items() if has_examples(path, text)),
            suspected=frozenset(one.path for one in self.findings),
            tested=self.tests_passed is not None,
            calls_left=self._budget.tool_calls_max - self.calls,
            files_left=self._budget.files_read_max - len(self.texts),
        )

    def do(self, action: Action) -> str:
        """Use a tool; the id of the event that tells of it."""
        self.calls += 1
        begun = time.monotonic()
        self._ran = None
        kind, outcome, payload = {
            "list": self._list,
            "read": self._read,
            "search": self._search,
            "ask": self._ask,
            "impact": self._impact,
            "probe": self._examples,
            "test": self._test,
        }[action.kind](action.target)
        spent = int((time.monotonic() - begun) * 1000)
        tool = {"ask": "seek", "impact": "impact"}.get(action.kind, action.kind)
        told = Told(
            event_type=kind, tool=tool, target=action.target, outcome=outcome, duration_ms=spent, payload=payload, ran=self._ran
        )
        event = self.events[f"{action.kind}:{action.target}"] = self._tell(told)
        self._look()
        return event

    # -- tools -------------------------------------------------------------------------------------------------------

    def _list(self, target: str) -> tuple[EventType, Outcome, dict[str, Any]]:
        self.files = tuple(listed(self._root))
        return EventType.DIR_LIST, Outcome.FOUND, {"files": len(self.files)}

    def _read(self, target: str) -> tuple[EventType, Outcome, dict[str, Any]]:
        path = self._root / target
        if not path.is_file():
            return EventType.FILE_READ, Outcome.EMPTY, {}
        self.texts[target] = path.read_text(encoding="utf-8")
        return EventType.FILE_READ, Outcome.FOUND, {}

    def _search(self, target: str) -> tuple[EventType, Outcome, dict[str, Any]]:
        hits = [path for path in listed(self._root) if target in (self._root / path).read_text(encoding="utf-8")]
        self._hits += [path for path in hits if path not in self._hits]
        return EventType.LITERAL_SEARCH, Outcome.FOUND if hits else Outcome.EMPTY, {"query": target, "hits": hits[:_HITS]}

    def _ask(self, target: str) -> tuple[EventType, Outcome, dict[str, Any]]:
        self._asked.append(target)
        rows = self._called("seek", query=target, top_k=20).get("results", [])
        return EventType.SEMANTIC_SEARCH, *self._named([str(row.get("file_path") or "") for row in rows], target)

    def _impact(self, target: str) -> tuple[EventType, Outcome, dict[str, Any]]:
        self._asked.append(target)
        answer = self._called("impact", node_id=f"file::{target}")
        rows = [row for name in ("results", "impacted", "blast_radius", "nodes") for row in answer.get(name) or []]
        paths = [str(row.get("file_path") or row.get("node_id") or "") for row in rows if isinstance(row, dict)]
        return EventType.IMPACT, *self._named(paths, target)

    def _examples(self, target: str) -> tuple[EventType, Outcome, dict[str, Any]]:
        self._probed.add(target)
        self._ran = probed = self._probe.examples(target)
        for one in probed.failed:
            self._found(
                Suspicion(
                    path=one["path"] or target,
                    line=one["def_line"] or one["line"],
                    symbol=one["symbol"],
                    kind="documented_example",
                    statement=f"{one['source']} gives {one['got'][:80]!r} where {target} says {one['want'][:80]!r}",
                    reproduction=reproduction_of(one),
                ),
                document=(target, one["line"]),
            )
        outcome = Outcome.FAILED if probed.failed else Outcome.PASSED
        return EventType.RUNTIME_PROBE, outcome, {"failed": len(probed.failed)}

    def _test(self, target: str) -> tuple[EventType, Outcome, dict[str, Any]]:
        self._ran = probed = self._probe.tests()
        ran = probed.ran
        self.tests_passed = ran.status == 0
        for path, line, name in failures(ran.output):
            self._found(Suspicion(path=path, line=int(line), symbol=name, kind="failing_test", statement=f"{name} fails"))
        return EventType.TEST_RUN, Outcome.PASSED if self.tests_passed else Outcome.FAILED, {"exit_status": ran.status}

    # -- within ------------------------------------------------------------------------------------------------------

    def _called(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return {} if self._session is None else self._session.call(operation, **arguments)

    def _named(self, paths: list[str], query: str) -> tuple[Outcome, dict[str, Any]]:
        """Files that an answer of the graph names, in its order."""
        own = [path.removeprefix("file::").split("::")[0] for path in paths]
        files = [path for path in dict.fromkeys(own) if path and (self._root / path).is_file()]
        self._hits += [path for path in files if path not in self._hits]
        return Outcome.FOUND if files else Outcome.EMPTY, {"query": query, "candidates": files[:_HITS]}

    def _look(self) -> None:
        """What the agent sees in all that it has read."""
        for path, text in self.texts.items():
            for one in suspicions(path, text):
                self._found(one)
        for one in crossed(self.texts, self.files):
            self._found(one)

    def _found(self, one: Suspicion, document: tuple[str, int] | None = None) -> None:
        place = (one.path, one.symbol or str(one.line), one.kind)
        if place in self._known:
            return
        self._known.add(place)
        drift = self._info.mode is MissionMode.DOCS_DRIFT and document is not None
        path, line = document if drift and document else (one.path, one.line)
        self.findings.append(
            Finding(
                finding_id=f"f{len(self.findings) + 1}",
                repository=self._repository,
                path=path,
                line=line,
                symbol=one.symbol or None,
                kind=one.kind,
                statement=one.statement,
                reproduction=one.reproduction,
                at_ms=self._clock(),
                document=document[0] if document else "",
                claim=self._claimed(path, line),
            )
        )

    def _claimed(self, path: str, line: int) -> str:
        """What stands at a place, as a claim."""
        lines = (self._root / path).read_text(encoding="utf-8").split("\n") if (self._root / path).is_file() else []
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        return f"{path} holds {quoted(text)}" if text else ""
