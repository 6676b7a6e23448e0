"""No leak: what Y knows arrives in X only when X asks for it by name."""

import json
from typing import Any

import pytest

from hindbrain.operations import REGISTRY
from hindbrain.operations.registry import Effect
from tests.support.world import World

WORD = "zyxomatic"
SAID = f"The {WORD} valve sticks below five degrees."

# What a person or an agent could type into each argument when they look for that word.
_FILL = {
    "query": WORD, "task": WORD, "claim": WORD, "key": WORD, "tool_name": WORD, "intent": WORD, "error_text": WORD,
    "value": WORD, "reason": WORD, "scope": WORD, "as_of": WORD, "observed_tool": WORD, "observed_proof_state": WORD,
    "feedback": WORD, "node_ids": [WORD], "available_tools": [WORD], "missing_tools": [WORD], "check": [WORD], "act": WORD,
}  # fmt: skip


@pytest.fixture
def pair(world: World) -> tuple[World, str, str]:
    """X, and Y with one claim and one boot entry that hold a word nobody else has."""
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Pump", "The pump runs at noon.")
    world.at(y).memorize("Valve", SAID)
    world.at(y).call("boot_memory", action="set", key=f"{WORD}-key", value=SAID)
    return world, x, y


def text_of(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)


@pytest.mark.req("MED-141")
def test_med_141_a_claim_of_y_is_not_in_the_north_of_x(pair: tuple[World, str, str]) -> None:
    world, x, y = pair

    answer = world.at(x).north(WORD)

    assert SAID not in text_of(answer)
    assert all(row["store_brain"] != y for row in answer["memory"])
    assert SAID in text_of(world.at(y).north(WORD)), "in Y it is there"


@pytest.mark.req("MED-142")
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("seek", {"query": WORD}),
        ("seek", {"query": WORD, "scope": "light::"}),
        ("boot_memory", {"action": "list"}),
        ("boot_memory", {"action": "get", "key": f"{WORD}-key"}),
    ],
)
def test_med_142_nor_in_any_other_request_without_tier(
    pair: tuple[World, str, str], operation: str, arguments: dict[str, Any]
) -> None:
    world, x, y = pair

    assert SAID not in text_of(world.at(x).call(operation, **arguments))

    wide = world.at(x).seek(WORD, tier="all-brains")
    assert [group["origin_brain"] for group in wide["groups"] if SAID in text_of(group)] == [y]


def read_calls() -> list[tuple[str, dict[str, Any]]]:
    """Every reading operation, once bare and once with the word in every argument that takes text."""
    calls: list[tuple[str, dict[str, Any]]] = []
    for name, op in sorted(REGISTRY.items()):
        if op.effect is Effect.READ or name == "boot_memory":
            fields = op.arguments.__struct_fields__
            calls += [(name, {}), (name, {key: value for key, value in _FILL.items() if key in fields})]
            calls += [(name, {key: value}) for key, value in _FILL.items() if key in fields]
    return calls


@pytest.mark.req("MED-143")
def test_med_143_no_reading_operation_tells_x_what_y_wrote(pair: tuple[World, str, str]) -> None:
    world, x, _ = pair
    actor = world.at(x)

    for name, arguments in read_calls():
        answer = actor.call(name, **arguments)
        assert SAID not in text_of(answer), f"{name} {arguments}"
        assert "valve" not in text_of(answer).lower(), f"{name} {arguments}"


@pytest.mark.req("MED-143")
@pytest.mark.parametrize("operation", ["learn", "promote", "memorize", "ingest"])
def test_med_143_writes_and_their_errors_do_not_tell_either(pair: tuple[World, str, str], operation: str) -> None:
    world, x, _ = pair
    arguments: dict[str, dict[str, Any]] = {
        "learn": {"feedback": "wrong", "node_ids": ["valve", WORD]},
        "promote": {"claim": "valve", "reason": "guess"},
        "memorize": {"node_label": "Valve", "text": WORD},
        "ingest": {"path": x, "project_root": x},
    }

    assert SAID not in text_of(world.at(x).call(operation, **arguments[operation]))
