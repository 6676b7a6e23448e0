"""Conflicts: two claims of one label that disagree are both shown, ranked by the table, and repaired by nobody."""

from pathlib import Path
from typing import Any

import pytest

from tests.promotion.test_promote import promoted
from tests.support.light import light_file
from tests.support.world import DAY, World, tree_hash

PROVENANCE = {"origin_brain", "store_brain", "source_agent", "age_ms", "text", "state"}


def beat(world: World, root: str) -> dict[str, Any]:
    return world.at(root).north("default port")


def order(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row["slug"], row["tier"]) for row in answer["memory"]]


def repository_fact(world: World) -> str:
    """The shared copy came from X, and X knows better since."""
    x = world.brain("x")
    world.at(x).memorize("Default port", "The default port is 1337.")
    promoted(world, x, "default-port")
    world.clock.forward(DAY)
    world.at(x).memorize("Default port", "The default port is 1338.")
    return x


def cross_project(world: World) -> str:
    """The shared copy came from another brain."""
    x, y = world.brain("x"), world.brain("y")
    world.at(y).memorize("Default port", "The default port is 1337.")
    promoted(world, y, "default-port")
    world.at(x).memorize("Default port", "The default port is 1338.")
    return x


def doctrine(world: World) -> str:
    x = world.brain("x")
    world.human(x).memorize("Default port", "The default port is 1337.", tier="medulla")
    world.at(x).memorize("Default port", "The default port is 1338.")
    return x


def absolute_doctrine(world: World) -> str:
    x = world.brain("x")
    world.human(x).memorize("Default port", "The default port is 1337.", tier="medulla", absolute=True)
    world.at(x).memorize("Default port", "The default port is 1338.")
    return x


def against_live_code(world: World) -> str:
    """The project claim cites code that changed since."""
    x = world.brain("x", src__a_py="PORT = 1338\n")
    world.at(x).memorize("Default port", "The default port is 1337.", tier="medulla")
    world.at(x).memorize("Default port", "The default port is 1338.", evidence=["src/a.py"])
    Path(x, "src", "a.py").write_text("PORT = 1400\n", encoding="utf-8")
    return x


# situation, class, winner of the table, the tier that is shown first
TABLE = [
    (repository_fact, "fact_about_repository", "project", "project"),
    (cross_project, "cross_project", "medulla", "medulla"),
    (doctrine, "doctrine", "project", "project"),
    (absolute_doctrine, "doctrine", "medulla", "medulla"),
    (against_live_code, "against_live_code", "reality", "medulla"),
]


@pytest.mark.req("MED-194", "MED-195", "MED-196", "MED-199")
@pytest.mark.parametrize(("situation", "name", "winner", "first"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_med_196_both_rows_are_shown_and_the_winner_stands_above_the_loser(
    world: World, situation: Any, name: str, winner: str, first: str
) -> None:
    x = situation(world)
    for number in range(4):  # others compete for the beat and must not come between the two
        world.at(x).memorize(f"Default port {number}", "The default port, once more.")
        world.at(x).memorize(f"Default port doctrine {number}", "The default port, for all.", tier="medulla")

    answer = beat(world, x)

    rows = order(answer)
    at = rows.index(("default-port", first))
    other = "medulla" if first == "project" else "project"
    assert rows[at + 1] == ("default-port", other)
    pair = [row for row in answer["memory"] if row["slug"] == "default-port"]
    assert {row["text"] for row in pair} == {"The default port is 1337.", "The default port is 1338."}
    (listed,) = answer["conflicts"]
    assert (listed["slug"], listed["class"], listed["winner"]) == ("default-port", name, winner)
    for row in pair:
        assert row["conflict"] == {key: listed[key] for key in ("pair_id", "class", "winner", "rule")}
    for tier in ("project", "medulla"):
        assert set(listed[tier]) >= PROVENANCE
    assert (listed["project"]["store_brain"], listed["medulla"]["store_brain"]) == (x, "medulla")
    assert world.at(x).call("doctor")["memory"]["conflicts"] == 1


@pytest.mark.req("MED-196", "MED-199")
@pytest.mark.parametrize(("situation", "winner"), [(row[0], row[2]) for row in TABLE], ids=[row[0].__name__ for row in TABLE])
def test_med_196_the_text_names_the_winner_and_marks_both_rows(world: World, situation: Any, winner: str) -> None:
    x = situation(world)

    texts = [beat(world, x)["rendered"], world.at(x).call("seek", query="default port")["rendered"]]

    rule = beat(world, x)["conflicts"][0]["rule"]
    if winner == "reality":
        assert f"conflict default-port: neither claim wins, read the code ({rule})" in texts[0]
        assert [text.count("in conflict, the code decides") for text in texts] == [2, 2]
        return
    loser = {"project": "medulla", "medulla": "project"}[winner]
    assert f"conflict default-port: the {winner} claim wins over the {loser} claim ({rule})" in texts[0]
    for text in texts:
        heads = [line for line in text.splitlines() if line.startswith("Default port (")]
        (won,) = [line for line in heads if f", wins over the {loser} claim)" in line]
        (lost,) = [line for line in heads if f", the {winner} claim wins over this)" in line]
        assert (won.split(" (")[1].split(",")[0], lost.split(" (")[1].split(",")[0]) == (winner, loser)


@pytest.mark.req("MED-194")
@pytest.mark.parametrize("text", ["The default port is 1338.", "  the DEFAULT port\n is   1338."])
def test_med_194_case_and_white_space_are_no_conflict(world: World, text: str) -> None:
    x = world.brain("x")
    world.at(x).memorize("Default port", "The default port is 1338.", tier="medulla")
    world.at(x).memorize("Default port", text)

    answer = beat(world, x)

    assert len(answer["memory"]) == 2
    assert answer["conflicts"] == []


@pytest.mark.req("MED-194")
def test_med_194_a_witness_and_its_unchanged_copy_are_no_conflict(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Default port", "The default port is 1338.")
    promoted(world, x, "default-port")

    answer = beat(world, x)

    assert order(answer) == [("default-port", "project"), ("default-port", "medulla")]
    assert answer["conflicts"] == []
    assert world.at(x).call("doctor")["memory"]["conflicts"] == 0


@pytest.mark.req("MED-195")
def test_med_195_the_partner_of_a_row_comes_along_even_when_it_does_not_match(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Default port", "Everything listens on thirteen thirty-eight.", tier="medulla")
    for number in range(8):
        world.at(x).memorize(f"Doctrine {number}", "Listens on thirteen: a gateway.", tier="medulla")
    world.at(x).memorize("Default port", "The gateway speaks on 1400.")

    answer = world.at(x).north("gateway")

    assert ("default-port", "project") in order(answer)
    assert ("default-port", "medulla") in order(answer)
    assert [pair["slug"] for pair in answer["conflicts"]] == ["default-port"]


@pytest.mark.req("MED-197")
def test_med_197_absolute_means_nothing_in_a_project_store(world: World) -> None:
    x = world.brain("x")
    y = world.brain("y")
    world.at(y).memorize("Default port", "The default port is 1337.")
    promoted(world, y, "default-port")
    world.at(x).memorize("Other")
    text = light_file("Default port", "The default port is 1338.", Absolute="true", Created=str(world.clock()))
    (world.store(x) / "default-port.light.md").write_text(text, encoding="utf-8")

    (pair,) = beat(world, x)["conflicts"]
    refused = world.at(x).call("memorize", node_label="Mine", text="mine", absolute=True)

    assert (pair["class"], pair["winner"]) == ("cross_project", "medulla")
    assert refused["refused"] == "human_needed"


@pytest.mark.req("MED-198")
def test_med_198_changed_evidence_is_labelled_and_nothing_is_repaired(world: World) -> None:
    x = against_live_code(world)
    before = tree_hash(world.store(x), world.store(None))

    answer = beat(world, x)

    row = next(row for row in answer["memory"] if row["tier"] == "project")
    assert row["contradicted_by_code"] is True
    assert row["evidence_changed"] == {"src/a.py": "evidence_changed"}
    assert answer["conflicts"][0]["project"]["contradicted_by_code"] is True
    assert "contradicted_by_code" not in answer["conflicts"][0]["medulla"]
    assert answer["next_move"]["move"] == "settle_conflict"
    assert "learn" in answer["conflicts"][0]["suggested"]
    assert tree_hash(world.store(x), world.store(None)) == before


@pytest.mark.req("MED-200")
@pytest.mark.parametrize("how", ["memorized", "edited"])
def test_med_200_a_replaced_witness_is_said_on_the_copy_and_on_the_pair(world: World, how: str) -> None:
    x = world.brain("x")
    world.at(x).memorize("Default port", "The default port is 1337.")
    promoted(world, x, "default-port")
    if how == "memorized":
        world.at(x).memorize("Default port", "The default port is 1338.")
    else:
        file = world.file(x, "default-port")
        file.write_text(file.read_text(encoding="utf-8").replace("1337", "1338"), encoding="utf-8")

    answer = beat(world, x)

    assert order(answer) == [("default-port", "project"), ("default-port", "medulla")]
    assert [row["text"][-5:] for row in answer["memory"]] == ["1338.", "1337."]
    copy = answer["memory"][1]
    assert copy["witness_superseded"] is True
    assert copy["witness"] == {"exists": True, "superseded": True}
    (pair,) = answer["conflicts"]
    assert (pair["class"], pair["winner"], pair["witness_superseded"]) == ("fact_about_repository", "project", True)


@pytest.mark.req("MED-200")
def test_med_200_other_brains_see_it_too(world: World) -> None:
    x, y = repository_fact(world), world.brain("y")

    for row in (world.at(y).north("default port")["memory"][0], world.at(x).seek("default port", tier="medulla")["results"][0]):
        assert row["witness_superseded"] is True


@pytest.mark.req("MED-201")
@pytest.mark.parametrize("situation", [row[0] for row in TABLE], ids=[row[0].__name__ for row in TABLE])
def test_med_201_nothing_repairs_a_conflict_by_itself(world: World, situation: Any) -> None:
    x = situation(world)
    before = tree_hash(world.store(x), world.store(None))

    for _ in range(14):
        world.clock.forward(DAY // 2)
        world.app.house.tick()
        beat(world, x)
        world.at(x).call("doctor", scan=True)
        world.at(x).call("consolidate")
    world.restart()

    assert [pair["slug"] for pair in beat(world, x)["conflicts"]] == ["default-port"]
    assert tree_hash(world.store(x), world.store(None)) == before
