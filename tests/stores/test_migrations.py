"""Steps of the schema: what a database was made by once stays as it was, whatever the steps are built from."""

import hashlib

import pytest

from hindbrain.stores.migrations import MIGRATIONS, Migration

# Digests of the statements for SQLite and for PostgreSQL. A step that is out does not change: homes were made by it.
RELEASED = {
    1: ("521462238b624f60", "528c3839d0c0fa45"),
    2: ("477f82d6a6a6399e", "542ff16c5392be97"),
    3: ("3d3dce6ec7f88b0c", "a27090e91e19b276"),
    4: ("1157ca538e6d71bf", "3ddd41f58d209c4b"),
    5: ("afd4835d07c9da2a", "8dd4c4939b5a417d"),
    6: ("ece49ab6d119d3e1", "150dc563bd393245"),
    7: ("463da2a7c49f4f9e", "389edde342581c1a"),
}


def digest(statements: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(statements).encode()).hexdigest()[:16]


@pytest.mark.parametrize("step", MIGRATIONS, ids=lambda step: step.name)
def test_a_step_of_the_schema_says_what_it_said_when_it_came_out(step: Migration) -> None:
    assert (digest(step.sqlite), digest(step.postgres)) == RELEASED[step.number]


def test_steps_are_numbered_from_one_without_a_gap() -> None:
    assert [step.number for step in MIGRATIONS] == list(range(1, len(RELEASED) + 1))
