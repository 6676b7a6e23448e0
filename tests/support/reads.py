"""Every operation that reads, with arguments that reach something in a rich brain; and what each answer must be."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hindbrain.operations import REGISTRY, Effect
from tests.support.world import Actor

__all__ = ["READS", "arguments", "check_answer", "fault_of"]

WORDS = "worker retries while the samovar hums"
NODE = "file::src/worker.py"

# Operations whose arguments say what to look at. All others are called without arguments.
_GIVEN: dict[str, dict[str, Any]] = {
    "activate": {"query": WORDS},
    "adoption.check": {"track": "card_context", "signal": "accepted"},
    "adoption.gate": {"candidate": "include_cards"},
    "adoption.prepare": {"track": "card_context", "signal": "accepted", "feature": "include_cards"},
    "adoption.readiness": {"candidate": "include_cards"},
    "ask": {"topic": WORDS},
    "boot_memory": {"action": "list"},
    "brief": {"query": WORDS},
    "claims": {"query": "worker"},
    "context": {"query": WORDS, "include_evidence": True, "include_cards": True},
    "control.watch": {"task_id": "tsk_unknown"},
    "counterfactual": {"node_ids": [NODE]},
    "cowork.peek": {"agent_id": "codex:maker"},
    "cowork.wait": {"agent_id": "codex:maker", "timeout_s": 0},
    "defaults.propose": {"candidate": "include_cards"},
    "experience.explain": {"megram": "unknown"},
    "experience.query": {"space": "tool:kettle"},
    "glob": {"pattern": "src/*.py"},
    "graph.columns": {"node": NODE},
    "graph.show": {"node": NODE},
    "gym.candidates": {"baseline": "none", "rounds": ["none"]},
    "gym.compare": {"a": "none", "b": "none"},
    "gym.report": {"round": "none"},
    "history": {"claim": "retry-policy"},
    "impact": {"node_id": NODE},
    "knowledge.advise": {
        "evaluator_id": "codex:judge",
        "subject_kind": "knowledge_card",
        "subject_id": "unknown",
        "proposed_action": "hold",
    },
    "knowledge.events": {"card_id": "unknown"},
    "knowledge.gate": {"card_id": "unknown"},
    "knowledge.get": {"card_id": "unknown"},
    "knowledge.retrieve": {"query": WORDS},
    "memory.get": {"evidence_id": "unknown"},
    "memory.search": {"query": WORDS, "with_neighbors": True},
    "missing": {"query": WORDS},
    "mission.verify_packet": {"file": "none.json"},
    "north": {"task": WORDS, "explain": True},
    "predict": {"changed_node": NODE},
    "recall": {"query": WORDS},
    "search": {"query": "retry"},
    "seek": {"query": WORDS, "include_history": True, "top_k": 100},
    "task.show": {"task_id": "tsk_unknown"},
    "timeline": {"node": NODE},
    "trace": {"text": 'File "src/worker.py", line 1, in retry'},
    "warmup": {"task_description": WORDS},
    "why": {"source": NODE, "target": "file::src/user.py"},
}
# These ask a server for the newest release; a test reaches no network.
_REMOTE = frozenset({"update.check"})

READS = tuple(sorted(name for name, op in REGISTRY.items() if (op.effect is Effect.READ or op.retrieval) and name not in _REMOTE))


def arguments(name: str) -> dict[str, Any]:
    """Arguments of one call; an operation that requires some must be in the table above."""
    given = _GIVEN.get(name, {})
    required = {one.name for one in msgspec.structs.fields(REGISTRY[name].arguments) if one.required}
    assert required <= set(given), f"give {name} its arguments {sorted(required)} in tests/support/reads.py"
    return given


def fault_of(name: str, answer: Mapping[str, Any]) -> str | None:
    """What is wrong with the shape of an answer, if anything."""
    json.dumps(answer)
    if not isinstance(answer.get("ok"), bool):
        return "no ok"
    if REGISTRY[name].retrieval and not isinstance(answer.get("agent_runtime_contract"), Mapping):
        return "no envelope"
    error = answer.get("error")
    if answer["ok"] or error is None:
        return None
    if not isinstance(error, Mapping) or not {"code", "message", "fix"} <= set(error):
        return f"error {error!r}"
    return f"error {error!r}" if error["code"] in ("internal", "internal_error") else None


def check_answer(actor: Actor, names: tuple[str, ...] = READS) -> Iterator[tuple[str, dict[str, Any]]]:
    """Call each operation; an answer of a wrong shape fails the test, and so does an exception."""
    for name in names:
        answer = actor.call(name, **arguments(name))
        assert (fault := fault_of(name, answer)) is None, f"{name}: {fault}"
        yield name, answer
