"""Errands: scripted work of the families that ask for something else than findings: host states, the right repository, a bounded
change."""

import fnmatch
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.gym_fixture import FixtureInfo
from hindbrain.domain.mission import EventType, MissionEvent, Outcome
from hindbrain.engines.diagnosis import NON_CLAIMS, Signals, diagnose
from hindbrain.services.gym.ports import LaneSession
from hindbrain.services.gym.probing import Probe
from hindbrain.services.gym.repository import listed
from hindbrain.services.gym.stream import PaperStream
from hindbrain.services.gym.toolbox import Told

__all__ = ["Errand", "diagnosed", "oriented", "refactored"]


class Errand:
    """What came of it: an answer in the form of its family, and the events."""

    def __init__(self, stream: PaperStream) -> None:
        self._stream = stream
        self.answer: dict[str, Any] = {}
        self.tests_passed: bool | None = None

    @property
    def events(self) -> tuple[MissionEvent, ...]:
        return tuple(self._stream.events)

    def did(self, kind: EventType, target: str, outcome: Outcome = Outcome.FOUND, **payload: Any) -> None:
        """Put one use of a tool on record."""
        self._stream.told(Told(event_type=kind, tool=kind.value, target=target, outcome=outcome, duration_ms=0, payload=payload))


def diagnosed(root: Path, lane: str, agent: str, clock: Callable[[], int]) -> Errand:
    """Every simulated host state gets a diagnosis and a plan. With Hindbrain they come from its own engine; without it, from
    what the error text says."""
    errand = Errand(PaperStream(lane, agent, clock))
    states: dict[str, Any] = {}
    for path in sorted((root / "states").glob("*.json")):
        state = json.loads(path.read_text(encoding="utf-8"))
        errand.did(EventType.FILE_READ, path.relative_to(root).as_posix())
        if lane == "direct":
            states[path.stem] = _guessed(state)
            continue
        found = diagnose(msgspec.convert(state, Signals))
        errand.did(EventType.RECOVERY, path.stem, Outcome.NOT_RECOVERED, diagnosis=found[0].diagnosis if found else "none")
        states[path.stem] = {
            "diagnosis": found[0].diagnosis if found else "none",
            "plan": [step.command or step.action for step in found[0].plan] if found else [],
            "proof_required": list(found[0].proof_required) if found else [],
            "claims": [],
            "non_claims": list(NON_CLAIMS),
        }
    errand.answer = {"states": states}
    return errand


def _guessed(state: Mapping[str, Any]) -> dict[str, Any]:
    """What an agent makes of a state that has only its words to go by: start everything again."""
    text = str(state.get("error_text") or "")
    plan = ["hindbrain stop", "start a new session of the host"] if text else []
    return {"diagnosis": "dead_mcp_transport" if text else "none", "plan": plan, "claims": []}


def oriented(
    repositories: Mapping[str, Path],
    info: FixtureInfo,
    lane: str,
    agent: str,
    clock: Callable[[], int],
    open_session: Callable[[Path], LaneSession] | None,
) -> Errand:
    """Name the repository that is meant, and the file in it. The name comes before anything is retrieved from one of them."""
    errand = Errand(PaperStream(lane, agent, clock))
    word = str(info.request.get("word", ""))
    found: dict[str, list[str]] = {}
    for name, root in repositories.items():
        hits = [path for path in listed(root) if word in (root / path).read_text(encoding="utf-8")]
        errand.did(EventType.LITERAL_SEARCH, word, Outcome.FOUND if hits else Outcome.EMPTY, query=word, scope=name)
        found[name] = hits
    best = max(found, key=lambda name: (sum(path.endswith(".py") for path in found[name]), -len(name)))
    errand.did(EventType.HYPOTHESIS, best, Outcome.NOTED, repository=best)
    errand.answer = {"repository": best, "path": "", "guarded": False}
    candidates = [path for path in found[best] if path.endswith(".py") and not path.startswith("tests/")]
    if open_session is not None:
        session = open_session(repositories[best])
        try:
            looked = session.call("guard", repo=str(repositories[best]))
            guard = looked.get("guard") or looked.get("context_guard") or {}
            errand.answer["guarded"] = guard.get("classification") == "single_repo"
            rows = session.call("seek", query=info.queries[0], top_k=20).get("results", [])
        finally:
            session.close()
        errand.did(EventType.SEMANTIC_SEARCH, info.queries[0], query=info.queries[0], scope=best)
        named = [str(row.get("file_path") or "") for row in rows]
        candidates = [one for one in dict.fromkeys(named) if one in candidates] or candidates
    errand.answer["path"] = candidates[0] if candidates else ""
    if candidates:
        errand.did(EventType.FILE_READ, candidates[0], repository=best)
    return errand


def refactored(root: Path, info: FixtureInfo, lane: str, agent: str, clock: Callable[[], int]) -> Errand:
    """Rename what the request names, within its bound, and run the tests."""
    errand = Errand(PaperStream(lane, agent, clock))
    old, new = str(info.request["rename"]), str(info.request["to"])
    bound = [str(one) for one in info.request["bound"]]
    hits = [path for path in listed(root) if old in (root / path).read_text(encoding="utf-8")]
    errand.did(EventType.LITERAL_SEARCH, old, query=old, hits=hits)
    for path in hits:
        if any(fnmatch.fnmatch(path, one) for one in bound):
            text = (root / path).read_text(encoding="utf-8")
            errand.did(EventType.FILE_READ, path)
            (root / path).write_text(text.replace(old, new), encoding="utf-8")
            errand.did(EventType.FILE_EDIT, path, Outcome.NOTED)
    ran = Probe(root).tests().ran
    errand.tests_passed = ran.status == 0
    errand.did(EventType.TEST_RUN, "tests", Outcome.PASSED if errand.tests_passed else Outcome.FAILED, exit_status=ran.status)
    left = [path for path in hits if old in (root / path).read_text(encoding="utf-8")]
    errand.answer = {"renamed": len(hits) - len(left), "left": left}
    return errand
