"""Bindings: a child reaches the brain of its packet, checks that in one call, and writes there under its own id."""

import os
from typing import Any

import pytest

import hindbrain
from hindbrain.app import local_caller
from hindbrain.domain.caller import Channel
from hindbrain.domain.claim import parse
from hindbrain.surfaces.client import Who
from tests.support.delegation import CHILD, TASK, cherry
from tests.support.world import World, git, tree_hash


def test_med_204_a_child_verifies_its_binding_in_one_call(world: World) -> None:
    x, mother = cherry(world)
    y, _ = cherry(world, "other")
    binding = mother.call("delegate", task=TASK)["mission"]["binding"]

    home = world.at(x, CHILD).call("session_handshake", expected_binding=binding)
    abroad = world.at(y, CHILD).call("session_handshake", expected_binding=binding)
    nowhere = world.at(world.repository("nobody"), CHILD).call("session_handshake", expected_binding=binding)
    empty = world.at(x, CHILD).call("session_handshake", expected_binding={"other": 1})

    assert (home["binding_match"], home["reception"]) == (True, None)
    assert abroad["binding_match"] is False
    assert abroad["expected_binding"]["workspace_root"] == x
    assert abroad["actual_binding"]["workspace_root"] == y
    assert nowhere["binding_match"] is False
    assert nowhere["actual_binding"]["workspace_root"] is None
    assert empty["binding_match"] is False
    assert not home["next_action"].startswith("Stop")
    assert all(one["next_action"].startswith("Stop") for one in (abroad, nowhere, empty))
    assert "binding_match" not in world.at(x, CHILD).call("session_handshake")


def test_med_211_med_213_med_214_a_child_elsewhere_with_the_packets_environment_is_at_home(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.clock.catch_up()  # the child has a clock of its own
    x, mother = cherry(world, commit=True)
    y, stranger = cherry(world, "other")
    stranger.memorize("Retry abroad", "a fix of the retry path abroad is a secret garden")
    mother.memorize("Law", "ships sail at noon", tier="medulla")
    packet = mother.call("delegate", task=TASK, subagent_hint=CHILD)
    env = packet["mission"]["binding"]["env"]
    assert env == {
        "HINDBRAIN_WORKSPACE_ROOT": x,
        "HINDBRAIN_DELEGATION": packet["delegation_id"],
        "HINDBRAIN_AGENT_ID": CHILD,
    }
    others = tree_hash(world.store(None), world.store(y))
    world.close()
    for name, value in {**env, "HINDBRAIN_MODE": "embedded"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(y)

    with hindbrain.open(home=world.home.path) as child:
        answer = child.call("memorize", node_label="Retry runs twice", text="a fix of the retry path runs twice")
        beat = child.call("north", task=TASK)
        inner = child.call("delegate", task=TASK, scope={"paths": ["."]})

    claim = parse(world.file(x, "retry-runs-twice").read_text(encoding="utf-8"))
    assert (answer["origin_brain"], claim.origin_brain, claim.source_agent) == (x, world.origin(x), CHILD)
    assert [row["slug"] for row in beat["memory"]] == ["retry-runs-twice"]
    assert "garden" not in str(beat)
    assert inner["scope"]["may_touch"] == packet["scope"]["may_touch"]
    assert tree_hash(world.store(None), world.store(y)) == others


def test_med_212_a_child_in_the_mothers_directory_is_served_by_the_same_brain(world: World) -> None:
    x, mother = cherry(world)
    mother.memorize("Retry here", "the retry path waits")

    session = world.at(x, CHILD, session="child")
    first = session.call("session_handshake")
    sticky = world.at(world.directory("elsewhere"), CHILD, session="child").north(TASK)

    assert (first["reception"], first["binding_fingerprint"]["workspace_root"]) == (None, x)
    assert (sticky["reception"], sticky["binding"]["workspace_root"]) == (None, x)


def test_a_mother_in_a_linked_worktree_speaks_of_the_same_paths(world: World) -> None:
    x, _ = cherry(world, commit=True)
    tree = str(world.place / "tree")
    git(x, "worktree", "add", "-q", tree)
    mother = world.at(tree, "claude:orchestrator")

    packet = mother.call("delegate", task=TASK, scope={"paths": [os.path.join(tree, "src", "worker"), "src/ship.py"]})
    answer = mother.call(
        "debrief",
        delegation_id=packet["delegation_id"],
        subagent_id=CHILD,
        outcome="success",
        touched_paths=[os.path.join(tree, "src", "worker", "retry.py"), os.path.join(x, "src", "ship.py"), "/etc/passwd"],
    )

    assert packet["mission"]["binding"]["workspace_root"] == x
    assert packet["scope"]["may_touch"] == ["src/worker", "src/ship.py"]
    assert answer["conformance"]["within"] == ["src/worker/retry.py", "src/ship.py"]
    assert answer["conformance"]["outside"] == ["/etc/passwd"]


@pytest.mark.parametrize(("told", "sent"), [("dlg_1_aaaaaa", "dlg_1_aaaaaa"), ("a b\r\nX: y", "unreadable"), ("", None)])
def test_every_surface_passes_on_the_packet_of_its_process(monkeypatch: pytest.MonkeyPatch, told: str, sent: Any) -> None:
    """A name that no packet can have lifts no limit: it is passed on as one that leads nowhere."""
    monkeypatch.setenv("HINDBRAIN_DELEGATION", told)

    assert Who(None, None).headers().get("Hindbrain-Delegation") == sent
    assert local_caller(root="/", agent=None, channel=Channel.AGENT).delegation == (told or None)
