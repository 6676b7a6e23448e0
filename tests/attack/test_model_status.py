"""A look at the model touches no brain but the caller's."""

from tests.support.world import World


def test_an_agent_sees_and_touches_only_its_own_brain(world: World) -> None:
    a, b = world.brain("a"), world.brain("b")
    world.at(b).memorize("Of b")
    world.at(a).memorize("Of a")

    by_agent = world.at(a).call("model.status")
    touched = list(world.store(b).parent.glob("vectors.db*"))
    by_person = world.human(a).call("model.status")

    assert [row["brain"] for row in by_agent["embedded"]] == [a]
    assert touched == []
    assert {row["brain"] for row in by_person["embedded"]} >= {a, b}
