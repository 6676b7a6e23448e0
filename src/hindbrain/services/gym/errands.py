"""Errands: scripted work of the families that ask for something else than findings: host states, the right repository, a bounded
change, verdicts on claims."""

import fnmatch
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hindbrain.domain.gym_fixture import FixtureInfo
from hindbrain.domain.mission import EventType, Outcome
from hindbrain.domain.typed import converted
from hindbrain.engines.claim_content import quoted
from hindbrain.engines.diagnosis import NON_CLAIMS, Signals, diagnose
from hindbrain.services.gym.ports import LaneSession
from hindbrain.services.gym.probing import Probe, Probed
from hindbrain.services.gym.repository import listed
from hindbrain.services.gym.stream import MissionStream, PaperStream
from hindbrain.services.gym.toolbox import Told

__all__ = ["Errand", "diagnosed", "oriented", "refactored", "verdicts_on_claims"]

_WORD = re.compile(r"\w{4,}")


class Errand:
    """One errand: an answer in the form of its family, and the events. With a session it is a mission."""

    def __init__(self, info: FixtureInfo, lane: str, agent: str, clock: Callable[[], int], session: LaneSession | None) -> None:
        self.info, self.lane = info, lane
        self._paper = PaperStream(lane, agent, clock)
        self._session = session
        self._mission: MissionStream | None = None
        self._read = ""
        self.shown = ""  # words of the file that was read last: what can be proven by it
        self.answer: dict[str, Any] = {}
        self.tests_passed: bool | None = None
        self.steps: set[str] = set()
        self.closed = session is None
        self.note = ""

    def begin(self) -> None:
        """Start the mission, if there is one to be."""
        if self._session is None:
            return
        begun = self._session.call("mission.start", task=self.info.task, mode=self.info.mode.value, budget=self.info.budget)
        if not begun.get("ok"):
            self.note = f"the mission did not start: {begun.get('error')}"[:300]
            return
        self._mission = MissionStream(self._session, str(begun["mission_id"]))
        self.steps.add("start")
        if self._session.call("mission.next", mission_id=self._mission.mission_id).get("ok"):
            self.steps.add("next")

    def did(
        self, kind: EventType, target: str, outcome: Outcome = Outcome.FOUND, ran: Probed | None = None, **payload: Any
    ) -> None:
        """Put one use of a tool on record."""
        told = Told(event_type=kind, tool=kind.value, target=target, outcome=outcome, duration_ms=0, payload=payload, ran=ran)
        if kind is EventType.FILE_READ:
            self._read = target
        if self._mission is not None:
            self._mission.told(told)
            self.steps.add("event")
        else:
            self._paper.told(told)

    def ask(self, operation: str, **arguments: Any) -> None:
        """Ask Hindbrain within the mission, which records it by itself."""
        if self._session is not None:
            self._session.call(operation, **arguments)

    def verdict(self, claim: str, cites: str) -> str | None:
        """What the mission says of a claim by the lines that it cites; None without a mission."""
        if self._mission is None or self._session is None:
            return None
        proof = {"evidence_class": "direct_source", "evidence_refs": [f"direct_source:{cites}"]}
        answer = self._session.call("mission.verify", claim=claim, mission_id=self._mission.mission_id, **proof)
        self.steps.add("verify")
        return str(answer.get("verdict") or answer.get("error", {}).get("code"))

    def end(self, summary: str) -> None:
        """Prove what the file says that was read last, and close."""
        if self._mission is None or self._session is None:
            return
        words = {"mission_id": self._mission.mission_id}
        claim = f"{self._read} holds {quoted(self.shown)}"
        proof = {"evidence_class": "direct_source", "evidence_refs": [f"direct_source:{self._read}"], "targets": [self._read]}
        if self._session.call("mission.verify", claim=claim, **proof, **words).get("ok"):
            self.steps.add("verify")
        answer = self._session.call("mission.close", summary=summary, **words)
        if not answer.get("ok"):
            self.note = f"closed by force: {answer.get('error', {}).get('message', '')}"[:300]
            answer = self._session.call(
                "mission.close", summary=summary, force=True, reason="nothing more can be seen here", **words
            )
        self.closed = bool(answer.get("ok"))
        if self.closed:
            self.steps.add("close")

    def told(self) -> dict[str, Any]:
        """As fields of a run."""
        mission = self._mission
        return {
            "events": mission.events() if mission is not None else tuple(self._paper.events),
            "answer": self.answer,
            "tests_passed": self.tests_passed,
            "completed": self.closed,
            "closed": self.closed,
            "mission_id": mission.mission_id if mission is not None else None,
            "steps": tuple(sorted(self.steps)),
            "note": self.note,
        }


def diagnosed(root: Path, errand: Errand) -> None:
    """Every simulated host state gets a diagnosis and a plan. With Hindbrain they come from its own engine; without it, from
    what the error text says."""
    states: dict[str, Any] = {}
    for path in sorted((root / "states").glob("*.json")):
        state = json.loads(path.read_text(encoding="utf-8"))
        errand.did(EventType.FILE_READ, path.relative_to(root).as_posix())
        errand.shown = f'"{next(iter(state), "")}":'
        if errand.lane == "direct":
            states[path.stem] = _guessed(state)
            continue
        found = diagnose(converted(state, Signals))
        errand.did(EventType.RECOVERY, path.stem, Outcome.NOT_RECOVERED, diagnosis=found[0].diagnosis if found else "none")
        states[path.stem] = {
            "diagnosis": found[0].diagnosis if found else "none",
            "plan": [step.command or step.action for step in found[0].plan] if found else [],
            "proof_required": list(found[0].proof_required) if found else [],
            "claims": [],
            "non_claims": list(NON_CLAIMS),
        }
    errand.answer = {"states": states}


def _guessed(state: Mapping[str, Any]) -> dict[str, Any]:
    """What an agent makes of a state that has only its words to go by: start everything again."""
    text = str(state.get("error_text") or "")
    plan = ["hindbrain stop", "start a new session of the host"] if text else []
    return {"diagnosis": "dead_mcp_transport" if text else "none", "plan": plan, "claims": []}


def oriented(repositories: Mapping[str, Path], errand: Errand, session_at: Callable[[Path], LaneSession] | None) -> None:
    """Name the repository that is meant, and the file in it. The name comes before anything is retrieved from one of them."""
    info = errand.info
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
    if session_at is not None:
        session = session_at(repositories[best])
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


def refactored(root: Path, errand: Errand) -> None:
    """Rename what the request names, within its bound, and run the tests."""
    info = errand.info
    old, new = str(info.request["rename"]), str(info.request["to"])
    errand.shown = new
    bound = [str(one) for one in info.request["bound"]]
    hits = [path for path in listed(root) if old in (root / path).read_text(encoding="utf-8")]
    errand.did(EventType.LITERAL_SEARCH, old, query=old, hits=hits)
    home = next((path for path in hits if f"def {old}(" in (root / path).read_text(encoding="utf-8")), "")
    errand.ask("impact", node_id=f"file::{home}")  # what a change of it reaches, before the first edit
    for path in hits:
        if any(fnmatch.fnmatch(path, one) for one in bound):
            text = (root / path).read_text(encoding="utf-8")
            errand.did(EventType.FILE_READ, path)
            (root / path).write_text(text.replace(old, new), encoding="utf-8")
            errand.did(EventType.FILE_EDIT, path, Outcome.NOTED)
    probed = Probe(root).tests()
    errand.tests_passed = probed.ran.status == 0
    errand.did(EventType.TEST_RUN, "tests", Outcome.PASSED if errand.tests_passed else Outcome.FAILED, ran=probed)
    left = [path for path in hits if old in (root / path).read_text(encoding="utf-8")]
    errand.answer = {"renamed": len(hits) - len(left), "left": left}


def verdicts_on_claims(root: Path, errand: Errand) -> None:
    """Judge every claim by the line that it cites: with a mission by its verification, without one by whether the line has a word
    of the claim."""
    verdicts: dict[str, str] = {}
    for one in json.loads((root / "claims.json").read_text(encoding="utf-8")):
        claim, cites = str(one["claim"]), str(one["cites"])
        path, _, line = cites.rpartition(":") if cites.rsplit(":", 1)[-1].isdigit() else (cites, "", "")
        said = errand.verdict(claim, cites)
        if said is None:
            errand.did(EventType.FILE_READ, path)
            lines = (root / path).read_text(encoding="utf-8").split("\n")
            words = set(_WORD.findall((lines[int(line) - 1] if line else "\n".join(lines)).lower()))
            said = "verified_for_mission" if words & set(_WORD.findall(claim.lower())) else "insufficient_evidence"
        verdicts[str(one["id"])] = said
    errand.did(EventType.FILE_READ, "claims.json")
    errand.shown = '"claim":'
    errand.answer = {"verdicts": verdicts}
