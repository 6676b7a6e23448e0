"""What is told of models and their cost, through the operations that every surface offers."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from hindbrain.providers.port import Usage
from hindbrain.services.control.costs import Asked, Costs
from hindbrain.services.control.journal import Journal
from hindbrain.services.control.model_plan import ModelPlan, Price
from tests.support.model_server import raw, serving, status
from tests.support.world import DAY, World

KEY = "sk-planted-report-90871a"


def test_ctl_311_without_a_provider_the_report_says_so(world: World) -> None:
    answer = world.at(None).call("control.models", check=True)

    assert answer["providers"] == []
    assert set(answer["tiers"].values()) == {0}
    assert "nothing leaves this machine" in answer["rendered"]


def test_ctl_308_the_report_names_where_a_key_is_and_shows_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    with serving(raw(b"{}")) as good, serving(status(401, {"error": f"bad key {KEY}"})) as bad:
        world.restart(
            model_provider="openai, openai, anthropic, command",
            model_base_url=f"{good.url}/v1, {bad.url}/v1, {good.url}",
            model_name="big, big, big",
            model_key_env="SOME_KEY, SOME_KEY, NOT_SET",
            model_command="no-such-program --token hidden-word",
        )
        answer = world.at(None).call("control.models", check=True)
        without = world.at(None).call("control.models")

    assert [one["reachable"] for one in answer["providers"]] == [True, False, False, False]
    assert [one["key"] for one in answer["providers"]] == [
        {"from": "variable SOME_KEY", "found": True},
        {"from": "variable SOME_KEY", "found": True},
        {"from": "variable NOT_SET", "found": False},
        None,
    ]
    assert "NOT_SET" in answer["providers"][2]["reason"]
    assert answer["tiers"]["R4b"] == 2
    told = json.dumps([answer, without])
    assert KEY not in told
    assert "hidden-word" not in told
    assert not any("reachable" in one for one in without["providers"])
    assert len(good.asked) == len(bad.asked) == 1


def test_ctl_308_a_key_file_that_others_read_is_told_and_not_used(world: World, tmp_path: Path) -> None:
    held = tmp_path / "key"
    held.write_text(KEY)
    held.chmod(0o644)
    with serving(raw(b"{}")) as server:
        world.restart(model_provider="openai", model_base_url=server.url, model_name="m", model_key_file=str(held))
        (one,) = world.at(None).call("control.models", check=True)["providers"]
        assert server.asked == []
    assert one["reachable"] is False
    assert "others" in one["reason"]


def test_ctl_135_no_task_starts_with_a_weaker_judge_and_memory_goes_on(world: World) -> None:
    root = world.brain("repo")
    world.restart(model_provider="command", model_command="answer", model_tiers="R4b=tool")
    here = world.at(root)

    for refused in (here.call("run", goal="Count the files"), here.call("control.models")):
        assert refused["error"]["code"] == "config_invalid"
        assert "R4b" in refused["error"]["message"]
    assert here.memorize("Kettle", "it whistles")["ok"]
    world.restart(model_tiers="")
    assert world.at(root).call("control.models")["ok"]


def test_ctl_310_what_was_spent_is_told_by_role_model_day_and_task_with_what_is_left(world: World) -> None:
    root = world.brain("repo")
    world.restart(model_cap_per_day="1.00", model_tokens_per_day=5000)
    house = world.app.house
    brain = house.router.named(world.at(root).caller, None)
    with house.brains.use(brain) as opened:
        journal = Journal(opened.store)
        costs = Costs(opened.store, journal, caps=ModelPlan.read(house.settings).caps, clock=world.clock, salt="s")
        price = Price(given=Decimal(100), written=Decimal(500))
        for days, task, role in ((9, "t0", "R2"), (1, "t1", "R2"), (0, "t1", "R3"), (0, "t2", "R3")):
            world.clock.forward(-days * DAY)
            asked = Asked(
                task_id=task, role=role, provider="p", model=f"m-{role}", price=price, system="", user="u", max_tokens=9
            )
            call = costs.begin(asked)
            costs.settle(
                call,  # type: ignore[arg-type]
                asked,
                outcome="answered",
                reply="r",
                usage=Usage(prompt_tokens=100, completion_tokens=10),
                elapsed_ms=50,
            )
            world.clock.forward(days * DAY)
        journal.close()

    week = world.at(root).call("control.cost")
    one = world.at(root).call("control.cost", task_id="t1")

    assert week["total"] == {
        "calls": 3,
        "prompt_tokens": 300,
        "completion_tokens": 30,
        "elapsed_ms": 150,
        "cost_micros": 45_000,
    }
    assert {row["name"]: row["calls"] for row in week["by_role"]} == {"R2": 1, "R3": 2}
    assert {row["name"]: row["calls"] for row in week["by_task"]} == {"t1": 2, "t2": 1}
    assert {row["name"]: row["calls"] for row in week["by_model"]} == {"p/m-R2": 1, "p/m-R3": 2}
    assert [row["calls"] for row in week["by_day"]] == [1, 2]
    assert week["left"] == {"day_micros": 970_000, "day_tokens": 4_780}
    assert world.at(root).call("control.cost", days=30)["total"]["calls"] == 4
    assert one["total"]["calls"] == 2
    assert one["left"]["task_calls"] == 58
    assert world.at(root).call("control.cost", task_id="t9")["error"]["code"] == "unknown_task"
    assert "0.9700 money today" in week["rendered"]
    assert world.at(root).call("control.cost", tier="medulla")["rendered"].startswith("No model was asked.")
