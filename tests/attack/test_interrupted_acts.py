"""A process that dies between its commit and its files: what ended stays ended, and what is half forgotten is named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.stores.files import ClaimDirectory
from tests.support.world import World

SAID = "the tide table lists quokka hours"


class Died(BaseException):
    """The process ends here; nothing after it runs."""


def dying(monkeypatch: pytest.MonkeyPatch, method: str, act: Callable[[], Any], *, where: Path) -> None:
    """Run an act in a process that dies when it comes to this step in this directory."""
    real = getattr(ClaimDirectory, method)

    def step(place: ClaimDirectory, *given: Any, **named: Any) -> Any:
        if place.path == where:
            raise Died
        return real(place, *given, **named)

    with monkeypatch.context() as until_then:
        until_then.setattr(ClaimDirectory, method, step)
        with pytest.raises(Died):
            act()


def files_with(world: World, text: str) -> list[str]:
    return sorted(path.name for path in world.place.rglob("*.light.md") if text in path.read_text(encoding="utf-8"))


def shared(world: World) -> tuple[str, str]:
    """A claim with a past, a shared copy, and a second project."""
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("tide table", SAID + ", once")
    world.at(x).memorize("tide table", SAID)
    assert world.at(x).call("promote", claim="tide table", reason="holds everywhere")["ok"]
    return x, y


@pytest.mark.parametrize("tier", ["project", "medulla"])
@pytest.mark.parametrize("step", ["erase_history", "erase"])
@pytest.mark.req("CONF-14", "CONF-17")
def test_forgetting_that_was_interrupted_can_be_asked_for_again(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str, tier: str
) -> None:
    x, y = shared(world)
    where = world.store(x if tier == "project" else None)
    dying(monkeypatch, step, lambda: world.human(x).call("forget", claim="tide table"), where=where)
    world.restart()

    assert step == "erase_history" or "quokka" not in str(world.at(x if tier == "project" else y).north("tide table"))
    named = [one["kind"] for one in world.at(x).call("doctor")["warnings"]]
    assert step == "erase_history" or "file_refused" in named
    assert world.human(x).call("forget", claim="tide table")["ok"]

    assert files_with(world, "quokka") == []
    assert "quokka" not in str([world.at(root).north("tide table") for root in (x, y)])


@pytest.mark.parametrize("step", ["archive", "remove"])
@pytest.mark.req("CONF-10")
def test_a_claim_that_ended_is_not_left_lying_as_a_live_file(world: World, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    x, y = shared(world)
    assert world.at(y).call("learn", feedback="wrong", node_ids=["tide table"], tier="medulla")["ok"]
    dying(monkeypatch, step, lambda: world.at(y).call("consolidate", apply=True), where=world.store(None))
    world.restart()

    assert "quokka" not in str(world.at(y).north("tide table"))

    assert not world.file(None, "tide-table").exists()
    assert len(world.history(None, "tide-table")) == 1
    assert "quokka" in str(world.at(x).north("tide table"))
