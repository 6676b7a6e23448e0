"""Registered places: a person names directories for a home; an agent cannot."""

import os
from pathlib import Path

import pytest

from hindbrain.services.registered_places import RegisteredPlaces
from tests.support.world import World


def test_a_person_registers_a_place_and_takes_it_back(world: World) -> None:
    work, other = world.directory("work"), world.directory("work2")
    places = world.app.house.registered_places

    added = world.human(None).call("places.add", path=work + "/")

    assert (added["ok"], added["places"]) == (True, [work])
    assert [places.covers(path) for path in (work, f"{work}/a/b", other, str(world.place), "/")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert RegisteredPlaces(world.home).covers(work), "another process sees it"
    assert os.stat(world.home.places_file).st_mode & 0o777 == 0o600

    assert world.at(work).call("places.list")["places"] == [work]
    assert world.human(None).call("places.remove", path=work)["removed"] is True
    assert not places.covers(work)


def test_an_agent_registers_nothing(world: World) -> None:
    work = world.directory("work")

    for name in ("places.add", "places.remove"):
        assert world.at(work).call(name, path=work)["error"]["code"] == "human_needed"
    assert not world.home.places_file.exists()


@pytest.mark.parametrize("path", ["/", "~", "relative", "/no/such/directory", "a\x00b"])
def test_a_place_that_holds_everything_or_nothing_is_refused(world: World, path: str) -> None:
    assert world.human(None).call("places.add", path=path)["error"]["code"] in ("path_refused", "invalid_params")
    assert world.app.house.registered_places.all() == ()


def test_the_home_is_never_inside_a_registered_place(world: World) -> None:
    world.home.ensure()

    for path in (world.home.path, world.place):
        assert world.human(None).call("places.add", path=str(path))["error"]["code"] == "path_refused"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema":"hindbrain-places-v0","places":["relative", 7]}', "[" * 100_000])
def test_a_broken_list_registers_nothing(world: World, text: str) -> None:
    world.home.ensure()
    Path(world.home.places_file).write_text(text)

    assert world.app.house.registered_places.all() == ()
