"""Evidence in pages: of the project and the medulla together, without a gap and without a row twice."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World


def texts(answer: dict[str, Any]) -> list[str]:
    assert answer["ok"], answer
    return [row["content"] for row in answer["rows"]]


@pytest.mark.parametrize("newest", [True, False])
def test_list_goes_on_where_the_page_before_ended(tmp_path: Path, newest: bool) -> None:
    world = World(tmp_path)
    agent = world.at(world.brain("ferry"), "claude:orchestrator")
    for number in range(7):
        scope = {"domain": "global"} if number % 3 == 0 else {}
        assert agent.call("record", text=f"observation {number}", **scope)["ok"]
        world.clock.forward(1_000)
    whole = agent.call("memory.list", newest=newest)
    pages, cursor = [], None
    while True:
        page = agent.call("memory.list", newest=newest, limit=2, cursor=cursor)
        pages += texts(page)
        assert page["total"] == 7
        if (cursor := page["next_cursor"]) is None:
            break

    assert pages == texts(whole) == [f"observation {n}" for n in (reversed(range(7)) if newest else range(7))]
    other = agent.call("memory.list", newest=newest, limit=1)["next_cursor"]
    assert agent.call("memory.list", newest=not newest, cursor=other)["error"]["code"] == "invalid_params"
    world.close()
