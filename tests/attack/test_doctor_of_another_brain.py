"""A brain with problems: the doctor of another project counts them, and names no label, file, agent or id of it (MED-143)."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.world import Actor, World, tree_hash

WORD = "zqx"  # begins every name in B
CONFLICT = "\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> x\n"


@pytest.fixture
def sick(world: World) -> tuple[World, str, str]:
    """Projects A and B. B has every problem whose report names something of it."""
    a, b = world.brain("a"), world.brain("b")
    agent = world.at(b, f"{WORD}:agent")
    assert world.human(b).call("init", path=b)["ok"]
    agent.memorize(f"{WORD} one", "The ferry waits.")
    assert agent.call("mission.start", task=f"{WORD} task", criteria=["it holds"])["ok"]
    for name in (f"{WORD}-bus", "other"):
        assert agent.call("cowork.register", agent_id=name, tool="codex", transport="inbox")["ok"]
    sent = {"from": "other", "to": f"{WORD}-bus", "message": "hello", "agent_id": "other"}
    assert agent.call("cowork.send", **sent)["ok"]
    claims = Path(b, ".hindbrain", "agent-memory")
    text = (claims / f"{WORD}-one.light.md").read_text(encoding="utf-8")
    made = {"conflict": text + CONFLICT, "huge": "x" * 100_000, "secret": text + '\npassword: "kX9#vLq2!mZp8"\n'}
    made["future"] = re.sub(r"Created: \d+", "Created: 4783209431408", text).replace(f"{WORD} one", f"{WORD} future")
    for name, content in made.items():
        (claims / f"{WORD}-{name}.light.md").write_text(content, encoding="utf-8")
    for pattern in ("brains/*/missions/*/state.json", "runtime/*/inbox/*.jsonl"):
        for path in world.home.path.glob(pattern):
            path.write_text('{"cut', encoding="utf-8")
    return world, a, b


def _names(answer: object) -> set[str]:
    return set(re.findall(rf"{WORD}\S*|msn_\w+", json.dumps(answer)))


def _without_shell(actor: Actor, world: World) -> Actor:
    return Actor(world, replace(actor.caller, reads_files=False))


@pytest.mark.parametrize("wide", [True, False])
def test_med_143_doctor_names_nothing_of_another_brain(sick: tuple[World, str, str], wide: bool) -> None:
    world, a, b = sick
    world.restart(all_brains=wide)
    stranger = _without_shell(world.at(a), world) if wide else world.at(a)

    answer = stranger.call("doctor", scan=True)

    assert _names(answer) == set(), "labels, files, agents and missions of another brain"
    kinds = {one["kind"] for one in answer["warnings"] if one["brain"] == b}
    assert {"conflict_markers", "future_created", "file_refused", "hygiene", "mirror_damaged", "file_damaged"} <= kinds
    own = _without_shell(world.at(b), world).call("doctor", scan=True)
    for name in ("conflict", "huge", "future", "secret", "bus"):
        assert f"{WORD}-{name}" in json.dumps(own), "an agent of the project itself sees what is wrong"
    assert f"{WORD}-conflict" in json.dumps(world.human(a).call("doctor")), "so does a person"


def test_an_agent_repairs_no_files_of_another_brain_where_all_brains_is_off(sick: tuple[World, str, str]) -> None:
    world, a, b = sick
    world.restart(all_brains=False)
    world.at(b).call("doctor")
    places = [Path(b), *world.home.path.glob("brains/*/missions"), *world.home.path.glob("runtime/*/inbox")]
    before = tree_hash(*places)

    answer = world.at(a).call("doctor.fix", yes=True)

    assert _names(answer) == set()
    assert tree_hash(*places) == before
    assert world.human(a).call("doctor.fix", yes=True)["writes"]
    assert tree_hash(*places) != before
