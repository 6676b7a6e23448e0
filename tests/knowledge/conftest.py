"""A project with a brain, and somebody who works there."""

import pytest

from tests.support.scholar import Scholar
from tests.support.world import World


@pytest.fixture
def scholar(any_world: World) -> Scholar:
    """Somebody in a repository with a brain, on both databases."""
    return Scholar(any_world, any_world.brain("app"))


@pytest.fixture
def here(world: World) -> Scholar:
    """The same on SQLite alone, for rules in which no database has a part."""
    return Scholar(world, world.brain("app"))


@pytest.fixture
def person(here: Scholar) -> Scholar:
    """A person at the same place."""
    return Scholar(here.world, here.root, human=True)
