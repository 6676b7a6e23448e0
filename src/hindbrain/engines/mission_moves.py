"""Moves: what an agent can be told to do, ready to be done. Makes moves from facts; which of them is given is the router's."""

import re
from collections.abc import Iterator
from typing import Any

from hindbrain.domain.mission import Family, MissionClaim, Move, MoveType, RecoveryPayload
from hindbrain.engines.mission_facts import Facts
from hindbrain.engines.shell_words import taken_apart
from hindbrain.policy.mission_routes import FOCUS, TOOLS

__all__ = ["Moves", "argv_of", "words_of_task"]

_NAME = re.compile(r"[A-Za-z_][\w.]*\w")
_PATH = re.compile(r"[/.]")
_WORDS = 6  # of a task that are searched for, one after the other
_SHORT = 3
_REFS = 5
_TYPE_OF_FAMILY: dict[Family, MoveType] = {
    Family.DIRECT_READ: "read_file",
    Family.LITERAL_SEARCH: "literal_search",
    Family.GRAPH: "graph_query",
    Family.TEST: "run_test",
    Family.RECOVERY: "recover",
    Family.HOST: "rebind",
}


class Moves:
    """The moves of one moment."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._course = facts.course
        self._spec = facts.course.spec

    # -- looking -----------------------------------------------------------------------------------------------------

    def read(self, path: str, why: str) -> Move:
        return Move(
            type="read_file",
            tool="read",
            target=path,
            why=why,
            evidence_required="direct_source",
            arguments={"path": path},
        )

    def look_at(self, target: str, why: str) -> Move:
        """Read a file, run what is a test, search for what is only a name."""
        rerun = target in self._course.inherited.reruns
        if rerun:
            return self.test(target, why, argv_of(target))
        if _is_test(target) and self._facts.test_command:
            return self.test(target, why, (*self._facts.test_command, target))
        return self.read(target, why) if _PATH.search(target) else self.literal(target, why)

    def test(self, target: str, why: str, command: tuple[str, ...]) -> Move:
        arguments: dict[str, Any] = {"command": list(command), "mission_id": self._spec.mission_id} if command else {}
        return Move(
            type="run_test",
            tool="mission.run",
            target=target,
            why=why,
            evidence_required="direct_test",
            arguments=arguments,
        )

    def literal(self, query: str, why: str) -> Move:
        """By our own search where it can be trusted, else by the host's."""
        own = self._facts.graph and not self._facts.wrong_workspace and "search" not in self._facts.missing_tools
        arguments = {"query": query} | ({"scope": self._spec.scope} if self._spec.scope else {})
        return Move(
            type="literal_search",
            tool="search" if own else "grep",
            target=query,
            why=why,
            evidence_required="direct_search",
            arguments=arguments if own else {"pattern": query, "path": self._spec.scope or "."},
        )

    def reads(self, why: str) -> Iterator[Move]:
        """Every named or likely place that nobody looked at."""
        for target in dict.fromkeys((*self._facts.targets(), *self._facts.candidates)):
            yield self.look_at(target, why)

    def literals(self, why: str) -> Iterator[Move]:
        """Searches for the words of the task that were not made yet."""
        for word in words_of_task(self._spec.task):
            if not self._course.loops.asked(Family.LITERAL_SEARCH, word, self._spec.scope or ""):
                yield self.literal(word, why)

    def beside(self, target: str, why: str) -> Move:
        """A search in the folder of a file, for its name."""
        name = target.rpartition("/")[2].partition(".")[0] or target
        return self.literal(name, why)

    # -- the graph -----------------------------------------------------------------------------------------------------

    def ingest(self, why: str) -> Move:
        return self._graph(
            "ingest", self._spec.repo, why, {"path": self._spec.repo}, type_="ingest", evidence="graph_orientation"
        )

    def audit(self, why: str) -> Move:
        """One look over the whole repository: its files by risk."""
        scope = {"scope": self._spec.scope} if self._spec.scope else {}
        return self._graph("panoramic", self._spec.scope or ".", why, scope)

    def seek(self, query: str, why: str) -> Move:
        scope = {"scope": self._spec.scope} if self._spec.scope else {}
        return self._graph("seek", query, why, {"query": query, **scope})

    def impact(self, target: str, why: str) -> Move:
        return self._graph("impact", target, why, {"node_id": target}, evidence="graph_structural")

    def _graph(
        self,
        tool: str,
        target: str,
        why: str,
        arguments: dict[str, Any],
        *,
        type_: MoveType = "graph_query",
        evidence: str = "graph_orientation",
    ) -> Move:
        return Move(type=type_, tool=tool, target=target, why=why, evidence_required=evidence, arguments=arguments)

    # -- recovery --------------------------------------------------------------------------------------------------------

    def recover(self, tool: str, why: str, arguments: dict[str, Any] | None = None, *, type_: MoveType = "recover") -> Move:
        return Move(
            type=type_, tool=tool, target=self._spec.repo, why=why, evidence_required="host_handshake", arguments=arguments or {}
        )

    def way_out(self, payload: RecoveryPayload) -> Move:
        """The first step of the guard's own way out."""
        kinds: dict[str, MoveType] = {"host_rebind": "rebind", "same_binding_ingest": "ingest"}
        step = payload.steps[0] if payload.steps else None
        return Move(
            type=kinds.get(payload.kind, "recover"),
            tool=step.call if step is not None else "recovery_playbook",
            target=self._spec.repo,
            why=payload.why,
            evidence_required=payload.proof_required[0] if payload.proof_required else "context_guard",
            arguments=dict(step.arguments if step is not None and step.arguments else payload.arguments),
            suggested_focus=tuple(f"{one.order}. {one.surface}: {one.call}" for one in payload.steps),
        )

    # -- concluding --------------------------------------------------------------------------------------------------------

    def claim(self, why: str) -> Move:
        """Say what the evidence shows. The sentence is the agent's; what it rests on is filled in."""
        targets = list(self._course.directs_by_target)[-_REFS:]
        return self._mission("claim", "mission.claim", why, evidence="evidence_refs", targets=targets, evidence_refs=self._refs())

    def verify(self, claim: MissionClaim, why: str) -> Move:
        refs = [self._course.files[one].last_event_id for one in claim.targets if one in self._course.files]
        given = list(dict.fromkeys((*claim.evidence_refs, *refs))) or self._refs()
        return self._mission(
            "claim",
            "mission.verify",
            why,
            evidence="evidence_refs",
            target=claim.claim_id,
            claim=claim.claim_id,
            evidence_class="direct_source",
            evidence_refs=given,
        )

    def sweep(self, why: str) -> Move:
        """Look once more around what was found. It counts with a direct event inside it."""
        course = self._course
        shown = self._direct_seqs()
        inside = [one.seq for one in course.recent if one.seq > course.last_verified and one.seq in shown]
        return self._mission(
            "direct_sweep",
            "mission.event",
            why,
            evidence="direct_coverage_sweep",
            focus=FOCUS,
            event_type="coverage_sweep",
            target=self._spec.scope or ".",
            payload={"linked_seqs": inside},
        )

    def handoff(self, why: str) -> Move:
        return self._mission("handoff", "mission.handoff", why)

    def close(self, why: str) -> Move:
        return self._mission("close", "mission.close", why)

    def ask_human(self, why: str) -> Move:
        return Move(type="ask_human", tool="ask_human", target=self._spec.task, why=why, evidence_required="direct_human")

    def chosen(self, dissent: dict[str, Any]) -> Move:
        """What the agent chose instead, with the proof it promised."""
        tool = str(dissent["chosen_tool"])
        return Move(
            type=_TYPE_OF_FAMILY.get(TOOLS.get(tool, Family.OTHER), "ask_human" if tool == "ask_human" else "read_file"),
            tool=tool,
            target=str(dissent.get("target") or dissent.get("item") or self._spec.scope or "."),
            why=f"you chose it: {dissent.get('why')}",
            evidence_required=str(dissent.get("evidence_required") or "direct_source"),
        )

    def _mission(
        self,
        type_: MoveType,
        tool: str,
        why: str,
        *,
        evidence: str = "none",
        focus: tuple[str, ...] = (),
        target: str | None = None,
        **arguments: Any,
    ) -> Move:
        told = {"mission_id": self._spec.mission_id, **arguments}
        if tool == "mission.event":
            told["target"] = target
        return Move(
            type=type_,
            tool=tool,
            target=target or self._spec.mission_id,
            why=why,
            evidence_required=evidence,
            suggested_focus=focus,
            arguments=told,
        )

    def _direct_seqs(self) -> set[int]:
        return set(self._course.directs_by_target.values())

    def _refs(self) -> list[str]:
        """The newest direct events."""
        seqs = self._direct_seqs()
        return [one.event_id for one in self._course.recent if one.seq in seqs][-_REFS:]


def argv_of(line: str) -> tuple[str, ...]:
    """A command as its words; one that only a shell understands is given to a shell."""
    read = taken_apart(line)
    plain = len(read.fragments) == 1 and not read.odd and not read.fragments[0].redirects
    if plain and not read.fragments[0].nested and all(word.plain and not word.assigns for word in read.fragments[0].words):
        return tuple(word.text for word in read.fragments[0].words)
    return ("sh", "-c", line)


def words_of_task(task: str) -> tuple[str, ...]:
    """Words worth a literal search: names of code first, then the longest."""
    found = dict.fromkeys(one for one in _NAME.findall(task) if len(one) > _SHORT)
    return tuple(sorted(found, key=lambda word: (not _is_name(word), -len(word), word)))[:_WORDS]


def _is_name(word: str) -> bool:
    return "_" in word or "." in word or any(one.isupper() for one in word[1:])


def _is_test(target: str) -> bool:
    name = target.rpartition("/")[2]
    return name.startswith("test_") or "_test." in name or ".test." in name or ".spec." in name
