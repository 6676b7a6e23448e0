"""Fields: a recommended list, and a hint when a name is another spelling of one that is known (MIND-209 to MIND-212)."""

import json
import shutil
from pathlib import Path

import pytest

from hindbrain.policy.fields import FIELDS, hint
from hindbrain.surfaces.output import present
from tests.support.still import still
from tests.support.world import World

EXPECTED = {
    "general": ["project", "agent", "skill", "global"],
    "epistemics": ["global"],
    "software-engineering": ["project", "skill"],
    "debugging": ["project", "skill"],
    "tooling": ["project", "agent", "skill"],
    "research": ["project", "agent", "global"],
    "writing": ["project", "skill"],
    "diary": ["agent"],
}


@pytest.mark.req("MIND-210")
def test_mind_210_eight_fields_with_their_domains(world: World) -> None:
    entries = world.at(None).call("scope.fields")["entries"]

    assert {one["field"]: one["domains"] for one in entries} == EXPECTED
    assert [one["field"] for one in entries] == list(EXPECTED)
    assert all(one["description"] and len(one["examples"]) == 2 for one in entries)


@pytest.mark.req("MIND-209", "MIND-211")
def test_mind_209_the_list_is_guidance_and_touches_nothing(world: World) -> None:
    shutil.rmtree(world.home.path)
    assert world.at(None).call("scope.fields")["ok"]
    assert not world.home.path.exists()
    actor = world.at(world.brain("app"))
    actor.call("record", text="the parser recovers at semicolons", field="compiler-design")

    with still(world.home.path):
        shown = actor.call("scope.fields")

    assert "compiler-design" not in str(shown)
    found = actor.call("memory.search", query="parser semicolons", field="compiler-design")["results"]
    assert [row["field"] for row in found] == ["compiler-design"]


@pytest.mark.parametrize(
    ("field", "near"),
    [
        ("Debugging", "debugging"),
        ("software engineering", "software-engineering"),
        ("Diarys", "diary"),
        ("Compiler Designs", "compiler-design"),
        ("debugging", None),
        ("compiler-design", None),
        ("databases", None),
    ],
)
def test_mind_212_another_spelling_is_told(field: str, near: str | None) -> None:
    found = hint(field, ["compiler-design"])

    assert (found is None) == (near is None)
    assert near is None or repr(near) in str(found)
    assert len({one.field for one in FIELDS}) == len(FIELDS)


def test_mind_212_the_field_is_kept_as_it_was_given(any_world: World, tmp_path: Path) -> None:
    actor = any_world.at(any_world.brain("app"))

    first = actor.call("record", text="x", field="Debugging")
    again = actor.call("record", text="y", field="Debugging")
    own = actor.call("record", text="z", field="parsers")
    other = actor.call("memory.ingest", text="w", field="Parser")

    assert "'debugging'" in first["hint"]
    assert "'parsers'" in other["hint"]
    assert "hint" not in again
    assert "hint" not in own
    kept = {row["content"]: row["field"] for row in actor.call("memory.list")["rows"]}
    assert kept == {"x": "Debugging", "y": "Debugging", "z": "parsers", "w": "Parser"}


def test_mind_212_the_hint_is_told_beside_the_answer(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    answer = world.at(world.brain("app")).call("record", text="x", field="Debugging")

    code = present(answer, {"json": True})

    shown = capfd.readouterr()
    assert (code, json.loads(shown.out)) == (0, answer)
    assert shown.err == f"hint: {answer['hint']}\n"
