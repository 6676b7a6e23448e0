"""The four modes: which one holds, what it tells to do, and that all surfaces agree on it."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from hindbrain.engines.contract import MODES
from tests.contract.envelopes import checked
from tests.support.world import World, git


@pytest.fixture
def place(world: World) -> tuple[World, str, str]:
    """A brain with a claim, and another repository that has none."""
    x, other = world.brain("app", src__a_py="a\n"), world.repository("other", src__b_py="b\n")
    world.at(x).memorize("Kettle", "The kettle boils.")
    return world, x, other


def empty_brain(world: World) -> str:
    """A brain whose graph has no nodes: registered, never ingested."""
    root = world.directory("empty")
    world.home.ensure()
    world.home.register(root, brain_id=None, now=world.clock())
    return root


def asked(world: World, root: str, scope: str | None = None, query: str = "kettle") -> dict[str, Any]:
    return checked(world.at(root).seek(query, scope=scope), "seek")


def situation(mode: str, place: tuple[World, str, str]) -> tuple[str, dict[str, Any]]:
    """From where and with what to call seek so that its envelope has this mode."""
    world, x, other = place
    return {
        "full_trust": (x, {"query": "kettle"}),
        "retrieval_needs_recovery": (x, {"query": "harbour crane", "scope": "light::"}),
        "wrong_workspace_binding": (x, {"query": "kettle", "scope": other}),
        "needs_ingest": (empty_brain(world), {"query": "kettle"}),
    }[mode]


@pytest.mark.req("RC-005", "RC-013", "RC-016")
@pytest.mark.parametrize("mode", MODES)
def test_rc_005_each_mode_can_be_reached_and_says_what_is_next(place: tuple[World, str, str], mode: str) -> None:
    world = place[0]
    root, arguments = situation(mode, place)

    envelope = checked(world.at(root).seek(**arguments), "seek")

    assert envelope["trust_mode"] == mode
    assert envelope["next_step_hint"] == (None if mode == "full_trust" else MODES[mode][1])


@pytest.mark.req("RC-014", "RC-015")
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "full_trust"])
def test_rc_014_the_recovery_can_be_handed_on_as_it_is(place: tuple[World, str, str], mode: str) -> None:
    world = place[0]
    root, arguments = situation(mode, place)
    recovery = world.at(root).seek(**arguments)["agent_runtime_contract"]["recovery"]

    playbook = world.at(root).call(recovery["suggested_tool"], **json.loads(json.dumps(recovery["arguments"])))

    assert playbook["ok"] is True
    assert playbook["schema"] == "m1nd-recovery-playbook-v0"
    assert playbook["steps"]
    given = recovery["arguments"]
    assert (given["agent_id"], given["observed_tool"], given["observed_candidates"]) == (
        "codex:maker",
        "seek",
        1 if mode == "wrong_workspace_binding" else 0,
    )
    assert given.get("scope") == arguments.get("scope")
    assert ("workspace_binding_mismatch" in given) == (mode == "wrong_workspace_binding")


@pytest.mark.req("RC-015")
def test_rc_015_an_error_is_passed_on_in_the_arguments(place: tuple[World, str, str]) -> None:
    world, x, _ = place
    recovery = world.at(x).seek(" ")["agent_runtime_contract"]["recovery"]
    assert recovery["arguments"]["error_text"] == "query is empty"
    assert world.at(x).call("recovery_playbook", **recovery["arguments"])["ok"] is True


@pytest.mark.req("RC-017")
def test_rc_017_four_things_are_not_claimed(place: tuple[World, str, str]) -> None:
    world, x, _ = place
    said = asked(world, x)["non_claims"]
    subjects = ("bindings", "graph", "semantic retrieval", "runtime truth")
    assert [subject in sentence for subject, sentence in zip(subjects, said, strict=True)] == [True] * 4
    denied = re.compile(r"^(Does not|Repairs no|Ingests nothing)\b.{10,}\.$")
    assert all(denied.match(sentence) for sentence in said), "sentences that deny something, not nouns"


@pytest.mark.req("RC-018")
def test_rc_018_a_scope_elsewhere_wins_over_an_empty_graph(place: tuple[World, str, str]) -> None:
    world, _, other = place
    empty = empty_brain(world)

    assert asked(world, empty, scope=other)["trust_mode"] == "wrong_workspace_binding"
    assert asked(world, empty)["trust_mode"] == "needs_ingest"


@pytest.mark.req("RC-019", "RC-020")
def test_rc_019_only_an_absolute_scope_outside_is_a_mismatch(place: tuple[World, str, str]) -> None:
    world, x, other = place
    Path(f"{x}2").mkdir()
    os.symlink(x, f"{world.place}/link")
    os.symlink(other, f"{x}/out")
    inside = ["", "src", "light::", "light::light", "file::src/a.py", x, f"{x}/src", f"{x}/nothing/there", f"file::{x}/src/a.py"]
    inside += [f"{world.place}/link/src", f"{x}/src/../src/a.py"]
    outside = [f"file::{other}/a.py", other, f"{x}2", f"{x}/../other", str(world.place), f"{x}/out/src"]

    found = {scope: asked(world, x, scope=scope)["workspace_binding"]["workspace_match"] for scope in (*inside, *outside)}

    assert found == {**dict.fromkeys(inside, True), **dict.fromkeys(outside, False)}


@pytest.mark.req("RC-021", "RC-022", "RC-011")
def test_rc_021_the_mismatch_names_the_workspace_it_lies_in(place: tuple[World, str, str]) -> None:
    world, x, other = place
    for marker in ("package.json", "Cargo.toml", "pyproject.toml"):
        Path(world.directory(f"with-{marker}/deep"), "..", marker).write_text("{}", encoding="utf-8")
    bare = world.directory("bare/deep")
    hints = {f"{other}/src/b.py": other, bare: bare}
    hints |= {f"{world.place}/with-{m}/deep": f"{world.place}/with-{m}" for m in ("package.json", "Cargo.toml", "pyproject.toml")}

    for scope, hint in hints.items():
        mismatch = asked(world, x, scope=scope)["workspace_binding"]["mismatch"]
        assert mismatch["requested_workspace_hint"] == hint
        assert mismatch["suggested_fix"]["env"] == {"HINDBRAIN_WORKSPACE_ROOT": hint}
        assert "known_brain" not in mismatch

    world.brain("other")
    known = world.at(x).seek("kettle", scope=f"{other}/src/b.py")["agent_runtime_contract"]
    assert known["workspace_binding"]["mismatch"]["known_brain"] == other
    playbook = world.at(x).call("recovery_playbook", **known["recovery"]["arguments"])
    assert other in json.dumps(playbook["steps"])


@pytest.mark.req("RC-023", "RC-024", "RC-025", "RC-026")
def test_rc_023_the_hint_of_each_mode_says_its_rule() -> None:
    words = {
        "full_trust": ("graph first", "compiler", "tests", "logs"),
        "wrong_workspace_binding": ("not to blame", "HINDBRAIN_WORKSPACE_ROOT", "ingest", "federate"),
        "needs_ingest": ("Ingest the wanted workspace", "this same binding", "then retrieve"),
        "retrieval_needs_recovery": ("recovery.arguments", "recovery_playbook first", "shell search only after"),
    }
    for mode, expected in words.items():
        places = [MODES[mode][1].index(word) for word in expected]
        assert places == sorted(places), mode


@pytest.mark.req("RC-023")
def test_rc_023_an_answer_in_full_trust_sends_to_the_graph_and_to_compiler_tests_and_logs(world: World) -> None:
    root = world.brain("x", src__a_py="KETTLE = 1\n")
    world.at(root).memorize("Kettle", "The kettle is one.", evidence=["src/a.py:1"])

    answer = world.at(root).call("session_handshake")
    contract = world.at(root).seek("kettle")["agent_runtime_contract"]

    assert (answer["trust_mode"], contract["trust_mode"]) == ("full_trust", "full_trust")
    for word in ("graph first", "compiler", "tests", "logs"):
        assert word in str(answer), word


def steps(world: World, root: str, **arguments: Any) -> list[dict[str, Any]]:
    recovery = world.at(root).seek(**arguments)["agent_runtime_contract"]["recovery"]
    found: list[dict[str, Any]] = world.at(root).call("recovery_playbook", **recovery["arguments"])["steps"]
    return found


@pytest.mark.req("RC-024")
def test_rc_024_the_ways_out_of_a_wrong_binding_are_three_and_none_is_taken(place: tuple[World, str, str]) -> None:
    world, x, other = place
    brains = set(os.listdir(world.home.brains_dir))

    found = [step["id"] for step in steps(world, x, query="kettle", scope=other)]

    assert [one for one in found if one in ("rebind", "ingest", "federate")] == ["rebind", "ingest", "federate"]
    assert set(os.listdir(world.home.brains_dir)) == brains
    assert world.at(x).call("health")["binding_fingerprint"]["workspace_root"] == x


@pytest.mark.req("RC-025")
def test_rc_025_an_empty_graph_is_filled_first_through_this_binding(world: World) -> None:
    empty = empty_brain(world)
    Path(empty, "a.py").write_text("a\n", encoding="utf-8")

    first = steps(world, empty, query="kettle")[0]

    assert (first["tool"], first["arguments"]["path"]) == ("ingest", empty)
    assert world.at(empty).call(first["tool"], **first["arguments"])["ok"]
    assert asked(world, empty)["trust_mode"] != "needs_ingest"


@pytest.mark.req("RC-025", "GR-104")
@pytest.mark.parametrize("start", ["ingested while empty", "emptied", "without a brain"])
@pytest.mark.parametrize("shared", [False, True])
def test_rc_025_a_graph_without_nodes_needs_ingest_whatever_the_medulla_holds(world: World, start: str, shared: bool) -> None:
    root = world.directory("start")
    git(root, "init", "-q", "-b", "main")
    if start == "emptied":
        Path(root, "a.py").write_text("a = 1\n", encoding="utf-8")
        assert world.at(root).call("ingest", path=root, project_root=root)["ok"]
        Path(root, "a.py").unlink()
    if start != "without a brain":
        assert world.at(root).call("ingest", path=root, project_root=root)["ok"]
    if shared:
        world.at(world.brain("other")).memorize("Kettle", "The kettle boils.", tier="medulla")

    answers = {tool: world.at(root).call(tool, **given) for tool, given in (("seek", {"query": "kettle"}), ("panoramic", {}))}

    for tool, answer in answers.items():
        envelope = checked(answer, tool)
        assert (envelope["trust_mode"], envelope["status"]) == ("needs_ingest", "blocked"), tool
        first = world.at(root).call("recovery_playbook", **envelope["recovery"]["arguments"])["steps"][0]
        assert (first["tool"], first["arguments"]["path"]) == ("ingest", root)
    assert bool(answers["seek"]["results"]) is shared, "what the medulla has is shown all the same"
    Path(root, "b.py").write_text("kettle = 1\n", encoding="utf-8")
    assert world.at(root).call(first["tool"], **first["arguments"])["ok"]
    assert asked(world, root)["trust_mode"] == "full_trust"


@pytest.mark.req("RC-032")
def test_rc_032_absence_is_concluded_last_and_with_its_number(place: tuple[World, str, str]) -> None:
    world, x, _ = place
    nowhere = "qzjxkvw" * 5 + "abcde"

    answer = world.at(x).seek(nowhere)

    assert checked(answer, "seek")["status"] == "triaging"
    last = steps(world, x, query=nowhere)[-1]
    assert last["id"] == "conclude_absence"
    assert str(world.at(x).call("health")["node_count"]) in last["reason"]


def modes_everywhere(world: World, root: str, scope: str | None, envelope: dict[str, Any]) -> dict[str, str]:
    observed = {"observed_tool": "seek", "observed_candidates": envelope["observed"]["candidates"]}
    actor = world.at(root)
    return {
        "handshake": actor.call("session_handshake", scope=scope)["trust_mode"],
        "selftest": actor.call("trust_selftest", scope=scope, **observed)["verdict"],
        "playbook": actor.call("recovery_playbook", scope=scope, **observed)["trust_mode"],
        "doctor": actor.call("doctor", scope=scope, **observed)["diagnostics"]["trust_mode"],
    }


@pytest.mark.req("RC-035")
@pytest.mark.parametrize("mode", MODES)
def test_rc_035_all_surfaces_agree_on_the_mode(place: tuple[World, str, str], mode: str) -> None:
    world = place[0]
    root, arguments = situation(mode, place)
    envelope = checked(world.at(root).seek(**arguments), "seek")

    found = modes_everywhere(world, root, arguments.get("scope"), envelope)

    # A session tool that was asked nothing of the result may still trust the binding; it never names another fault.
    allowed = {mode, "full_trust"} if mode == "retrieval_needs_recovery" else {mode}
    assert set(found.values()) <= allowed, found
    assert found["playbook"] == mode
