"""The release check: a tree holds together, or it is said what is missing (MIND-390 to 397, 503 to 505, 511 to 513)."""

import shutil
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.caller import Caller
from hindbrain.engines.inventory import problems
from hindbrain.policy.inventory import ABILITIES, FILE, SUBSTRATE
from hindbrain.stores.schema_look import SUPPORTED
from tests.architecture.source import ROOT
from tests.support.still import bytes_of, still
from tests.support.world import Actor, World

INVENTORY: dict[str, Any] = tomllib.loads((ROOT / FILE).read_text(encoding="utf-8"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files of this project that the check looks at."""
    place = tmp_path / "tree"
    place.mkdir()
    for name in ("README.md", "CHANGELOG.md", "pyproject.toml", "LICENSE", "Makefile"):
        shutil.copy(ROOT / name, place / name)
    shutil.copytree(ROOT / "docs", place / "docs")
    for directory in ("tests", "benchmarks", "src"):
        for path in (ROOT / directory).rglob("*"):
            if (
                path.suffix in (".py", ".md", ".svg", ".toml")
                and "__pycache__" not in path.parts
                and "node_modules" not in path.parts
            ):
                (place / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
                (place / path.relative_to(ROOT)).write_bytes(b"")
    return place


def checked(world: World, tree: Path) -> dict[str, Any]:
    return world.at(str(tree)).call("release.check", path=str(tree))


def failing(answer: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["detail"] for one in answer["checks"] if not one["passed"]}


def changed(tree: Path, old: str, new: str, name: str = FILE) -> None:
    text = (tree / name).read_text(encoding="utf-8")
    assert old in text
    (tree / name).write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.req("MIND-503", "MIND-504")
def test_mind_503_the_project_itself_is_ready_and_nothing_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **more: started.append(words))
    docs = bytes_of(ROOT / "docs")

    answer = checked(world, ROOT)

    assert failing(answer) == {}
    told = ("writes", "ready", "supported_schema_version", "warnings")
    assert [answer[key] for key in told] == [False, True, SUPPORTED, []]
    names = ["package-metadata", "readme-docs", "spec-plan-inventory", "runbooks", "doctor", "schema-support"]
    assert [one["name"] for one in answer["checks"]] == names
    assert (started, bytes_of(ROOT / "docs"), world.home.path.exists()) == ([], docs, False)


def test_mind_503_the_check_changes_nothing_in_a_home(world: World, tree: Path) -> None:
    world.brain("app")
    actor = world.at(str(tree))

    with still(world.place / "home"):
        assert actor.call("release.check", path=str(tree))["ready"]


def test_mind_503_over_mcp_only_the_caller_s_directory_is_looked_at(world: World, tree: Path) -> None:
    caller: Caller = world.at(str(tree)).caller
    mcp = Actor(world, replace(caller, reads_files=False))

    assert mcp.call("release.check", path="/etc")["error"]["code"] == "path_refused"
    assert mcp.call("release.check")["ready"]


@pytest.mark.req("MIND-504")
@pytest.mark.parametrize(
    ("name", "old", "new", "fails", "said"),
    [
        ("pyproject.toml", 'readme = "README.md"', "", "package-metadata", "readme"),
        ("pyproject.toml", 'name = "hindbrain"', "", "package-metadata", "name"),
        ("pyproject.toml", 'dynamic = ["version"]', "", "package-metadata", "version"),
        ("pyproject.toml", 'hindbrain = "hindbrain.__main__:main"', "", "package-metadata", "entry point"),
        ("pyproject.toml", "[project]", "[project", "package-metadata", "cannot be read"),
        ("README.md", "# ", "[gone](docs/gone.md)\n# ", "readme-docs", "docs/gone.md"),
        (FILE, "[[item]]", "[[item", "spec-plan-inventory", "cannot be read"),
    ],
)
def test_mind_504_one_fault_fails_its_check_and_warns_once(
    world: World, tree: Path, name: str, old: str, new: str, fails: str, said: str
) -> None:
    assert checked(world, tree)["ready"]
    changed(tree, old, new, name)

    answer = checked(world, tree)

    assert list(failing(answer)) == [fails]
    assert said in failing(answer)[fails]
    assert (answer["ready"], len(answer["warnings"])) == (False, 1)


@pytest.mark.req("MIND-505")
def test_mind_505_four_commands_are_recommended(world: World, tree: Path) -> None:
    commands = checked(world, tree)["recommended_commands"]

    assert len(commands) == 4
    assert commands[0].startswith("hindbrain doctor")


@pytest.mark.req("MIND-511", "MIND-504")
def test_mind_511_an_item_without_its_plan_is_named(world: World, tree: Path) -> None:
    (tree / "docs" / "plan.md").rename(tree / "docs" / "away.md")
    without = failing(checked(world, tree))
    (tree / "docs" / "away.md").rename(tree / "docs" / "plan.md")

    assert "G24: has no plan (docs/plan.md)" in without["spec-plan-inventory"]
    assert checked(world, tree)["ready"]


@pytest.mark.req("MIND-511")
def test_mind_511_a_decision_that_no_item_names_is_told(world: World, tree: Path) -> None:
    (tree / "docs" / "decisions" / "0099-unlisted.md").write_text("# 99. Unlisted\n")

    assert failing(checked(world, tree)) == {
        "spec-plan-inventory": "docs/decisions/0099-unlisted.md: no item of the inventory names it"
    }


def test_mind_513_an_entry_without_a_plan_file_fails_by_its_id(world: World, tree: Path) -> None:
    entry = (
        '[[item]]\nid = "X-7"\ncontract = "docs/plan.md"\nplan = "docs/x7.md"\ntests = ["tests/research"]\nacceptance = "a"\n\n'
    )
    changed(tree, "[[item]]", entry + "[[item]]")
    assert failing(checked(world, tree)) == {"spec-plan-inventory": "X-7: has no plan (docs/x7.md)"}

    (tree / "docs" / "x7.md").write_text("# X-7\n")
    assert checked(world, tree)["ready"]


@pytest.mark.req("MIND-512")
def test_mind_512_the_rule_is_an_item_of_its_own(world: World) -> None:
    (rule,) = [one for one in INVENTORY["item"] if one["id"] == "inventory"]

    assert (ROOT / rule["contract"]).read_text(encoding="utf-8").startswith("# 16. One inventory of work")
    assert (ROOT / rule["plan"]).is_file()
    assert problems({**INVENTORY, "item": [one | {"contract": "gone"} for one in [rule]]}, set(), [])


def verdict(**item: str | list[str]) -> list[str]:
    """What is wrong with one item beside what every other tree lacks."""
    full = {"id": "X-1", "contract": "c", "plan": "p", "tests": ["t"], "acceptance": "a"} | item
    kept = {key: value for key, value in full.items() if value}
    return problems(
        {"item": [kept], "abilities": {key: ["t"] for key in ABILITIES}, "substrate": {key: ["t"] for key in SUBSTRATE}},
        "cpt",
        [],
    )


@pytest.mark.req("MIND-390")
def test_mind_390_autonomy_needs_evidence_rollback_safety_and_acceptance() -> None:
    sections = dict.fromkeys(("evidence", "rollback", "safety", "acceptance"), "said")

    assert verdict(tags=["autonomy"], **sections) == []
    for name in sections:
        assert verdict(tags=["autonomy"], **(sections | {name: ""})) == [f"X-1: lacks its section {name}"]


@pytest.mark.req("MIND-395")
def test_mind_395_new_behaviour_states_evidence_rollback_and_acceptance() -> None:
    assert verdict(acceptance="") == ["X-1: lacks its section acceptance"]
    assert verdict(tags=["behaviour"]) == ["X-1: lacks its section evidence", "X-1: lacks its section rollback"]
    assert verdict(tags=["behaviour"], evidence="e", rollback="r") == []
    tagged = {one["id"] for one in INVENTORY["item"] if "behaviour" in one.get("tags", ())}
    assert tagged >= {"G14", "G22", "G24", "G25", "G26", "G28"}, "evaluator, card retrieval, research and adoption"


@pytest.mark.req("MIND-394", "MIND-397")
@pytest.mark.parametrize(("table", "wanted"), [("abilities", ABILITIES), ("substrate", SUBSTRATE)])
def test_mind_394_every_ability_and_every_part_has_a_suite_with_tests(world: World, table: str, wanted: dict[str, str]) -> None:
    assert len(wanted) == {"abilities": 8, "substrate": 6}[table]
    assert list(INVENTORY[table]) == list(wanted)
    for name, paths in INVENTORY[table].items():
        for path in paths:
            place = ROOT / path
            files = [place] if place.is_file() else sorted(place.glob("test_*.py"))
            assert any("def test_" in file.read_text(encoding="utf-8") for file in files), f"{name}: {path}"


@pytest.mark.req("MIND-394", "MIND-397")
@pytest.mark.parametrize("name", ["abilities.intent", "substrate.hardening"])
def test_mind_397_a_part_without_a_suite_fails(name: str) -> None:
    table, key = name.split(".")
    without = INVENTORY | {table: {one: paths for one, paths in INVENTORY[table].items() if one != key}}
    there = _named(INVENTORY)

    assert problems(INVENTORY, there, []) == []
    assert problems(without, there, []) == [f"{name}: no suite shows it"]


def _named(inventory: dict[str, Any]) -> set[str]:
    found = {one[key] for one in [*inventory["item"], *inventory["later"]] for key in ("contract", "plan") if key in one}
    found |= {path for one in inventory["item"] for path in [*one["tests"], *one.get("decisions", ())]}
    return found | {path for table in ("abilities", "substrate") for paths in inventory[table].values() for path in paths}


@pytest.mark.req("MIND-390")
def test_mind_390_nothing_here_is_autonomous() -> None:
    assert not [one["id"] for one in INVENTORY["item"] if "autonomy" in one.get("tags", ())]
