"""Scopes do not mix: CONF-01, CONF-02, CONF-03."""

import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.operations import REGISTRY, Effect
from tests.conformance.house import background, found, texts
from tests.support.world import World, tree_hash

SECRET_OF_B = "the lighthouse of b burns green"
OF_A = "the lighthouse of a burns red"


def two(world: World) -> tuple[str, str]:
    a, b = world.brain("a"), world.brain("b")
    world.at(a).memorize("Lighthouse", OF_A)
    world.at(b).memorize("Lighthouse of b", SECRET_OF_B)
    world.at(b).call("boot_memory", action="set", key="lighthouse", value=SECRET_OF_B)
    return a, b


@pytest.mark.req("MED-332")
def test_conf_01_the_best_match_of_another_scope_is_absent(any_world: World) -> None:
    a, b = two(any_world)

    assert found(any_world, a, SECRET_OF_B) == [OF_A]
    assert SECRET_OF_B in found(any_world, b, SECRET_OF_B)


# -- CONF-02: naming another scope -----------------------------------------------------------------------------------


def scopes(b: str) -> list[Any]:
    """What a caller of A may try to name: B, a part of B, a wildcard, nothing."""
    return [b, Path(b).name, f"{b}/package.json", f"file::{b}", "*", "%", "..", "all", "any", "ALL-BRAINS", "all brains", "", "/"]


def readings(b: str) -> list[tuple[str, dict[str, Any]]]:
    """Every reading operation, with every argument that could name a scope set to every such name."""
    told: dict[str, dict[str, Any]] = {
        "seek": {"query": SECRET_OF_B},
        "north": {"task": SECRET_OF_B},
        "recall": {"query": SECRET_OF_B},
        "history": {"claim": "lighthouse-of-b"},
    }
    reads = [op for op in REGISTRY.values() if op.effect is Effect.READ or op.name == "boot_memory"]
    made = []
    for op in reads:
        named = [
            field
            for field in ("tier", "scope", "caller_root", "agent_id")
            if field in (*op.arguments.__struct_fields__, "caller_root")
        ]
        made += [(op.name, {**told.get(op.name, {}), field: value}) for field in named for value in scopes(b)]
    made += [("boot_memory", {"action": "get", "key": "lighthouse", "tier": value}) for value in scopes(b)]
    return made


@pytest.mark.req("MED-131")
def test_conf_02_a_reader_who_names_another_scope_gets_its_own_or_a_refusal(any_world: World) -> None:
    a, b = two(any_world)
    tried = 0
    served = any_world.store_url  # what is asked decides, not the database: a server is asked every fifth
    for number, (operation, arguments) in enumerate(readings(b)):
        if operation in ("operations", "help") or (served and number % 5):
            continue  # the registry, not memory
        answer = any_world.at(a).call(operation, **arguments)
        told = json.dumps({key: value for key, value in answer.items() if key not in ("query", "task")}, default=str)
        assert "burns green" not in told, (operation, arguments)
        if not tried % 10:  # nothing of it took the reader's own away
            assert OF_A in texts(any_world.at(a).seek("lighthouse")), (operation, arguments)
        tried += 1
    assert tried > (40 if served else 200)


def test_conf_02_a_writer_who_names_another_scope_changes_nothing_there(any_world: World) -> None:
    a, b = two(any_world)
    before = tree_hash(any_world.store(b))
    head = any_world.at(b).call("ledger.verify")["head"]
    for scope in [one for one in scopes(b) if one]:
        writer = any_world.at(a)
        for name, arguments in (
            ("memorize", {"node_label": "Lighthouse of b", "text": "it burns blue", "confidence": 1, "state": "verified"}),
            ("boot_memory", {"action": "set", "key": "lighthouse", "value": "blue"}),
            ("boot_memory", {"action": "delete", "key": "lighthouse"}),
            ("learn", {"feedback": "wrong", "node_ids": ["lighthouse-of-b"]}),
        ):
            writer.call(name, **arguments, caller_root=scope)
            writer.call(name, **arguments, tier=scope)
        any_world.human(a).call("reject", claim="lighthouse-of-b", caller_root=scope)
        any_world.human(a).call("forget", claim="lighthouse-of-b", tier=scope)

    assert tree_hash(any_world.store(b)) == before
    assert any_world.at(b).call("ledger.verify")["head"] == head
    assert SECRET_OF_B in found(any_world, b, "lighthouse")
    assert any_world.at(a).memorize("Lighthouse two", "a second lighthouse of a")["origin_brain"] == a


def test_conf_02_the_wide_pull_is_labelled_and_can_be_switched_off(any_world: World) -> None:
    a, b = two(any_world)
    wide = any_world.at(a).seek("lighthouse", tier="all-brains")
    keys = any_world.at(a).call("boot_memory", tier="all-brains")["entries"]
    assert {group["origin_brain"] for group in wide["groups"]} == {a, b}
    assert [(entry["value"], entry["origin_brain"]) for entry in keys] == [(SECRET_OF_B, b)]

    any_world.restart(all_brains=False)
    reader = any_world.at(a)
    answers = [
        reader.seek("lighthouse", tier="all-brains"),
        reader.north("lighthouse", tier="all-brains"),
        reader.call("recall", query="lighthouse", tier="all-brains"),
        reader.call("boot_memory", tier="all-brains"),
    ]

    assert "burns green" not in json.dumps(answers, default=str)
    assert all(OF_A in texts(answer) for answer in answers[:3])


# -- CONF-03: background passes --------------------------------------------------------------------------------------


def test_conf_03_background_passes_never_mix_scopes(any_world: World) -> None:
    """Equal labels, words and files in both brains; half of them come by hand, so that passes have work to do."""
    roots = {name: any_world.brain(name) for name in ("a", "b", "c")}
    for name, root in roots.items():
        for number in range(5):
            any_world.at(root).memorize(f"Lamp {number}", f"lamp {number} hangs in the wing of {name}")
        file = any_world.file(root, "lamp-0")
        any_world.file(root, "lamp-by-hand").write_text(
            file.read_text().replace("Lamp 0", "Lamp by hand").replace("lamp 0", "lamp h")
        )
        file.write_text(file.read_text().replace("hangs", "swings"))

    for _ in range(3):
        background(any_world)

    for name, root in roots.items():
        told = found(any_world, root, "lamp wing")
        assert {text.rsplit(" ", 1)[1] for text in told} == {name}
        assert f"lamp 0 swings in the wing of {name}" in told
        assert f"lamp h hangs in the wing of {name}" in told
        assert len(told) == 6
