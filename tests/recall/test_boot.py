"""Boot memory: small keyed values, listed for this brain and the medulla, labelled."""

import json
from typing import Any

import pytest

from tests.support.world import World


def put(world: World, root: str, key: str, value: Any, **more: Any) -> dict[str, Any]:
    answer = world.at(root).call("boot_memory", action="set", key=key, value=value, **more)
    assert answer["ok"], answer
    return answer


@pytest.mark.req("MED-150")
def test_med_150_equal_keys_are_both_listed_and_the_projects_comes_first(world: World) -> None:
    x = world.brain("x")
    put(world, x, "k", "of all", tier="medulla")
    put(world, x, "k", {"of": "x"}, tags=["a"], source_refs=["src/a.py"])

    entries = world.at(x).call("boot_memory", action="list")["entries"]
    got = world.at(x).call("boot_memory", action="get", key="k")

    assert [(one["key"], one["tier"], one["origin_brain"], one["value"]) for one in entries] == [
        ("k", "project", x, {"of": "x"}),
        ("k", "medulla", "medulla", "of all"),
    ]
    fields = {key: entries[0][key] for key in ("tags", "source_refs", "updated_at_ms", "updated_by_agent")}
    assert fields == {
        "tags": ["a"],
        "source_refs": ["src/a.py"],
        "updated_at_ms": world.clock(),
        "updated_by_agent": "codex:maker",
    }
    assert got["entry"] == entries[0]
    assert got["also"] == entries[1:]


@pytest.mark.req("MED-150", "MED-122", "MED-123")
@pytest.mark.parametrize(("tier", "tiers"), [("project", ["project"]), ("medulla", ["medulla"])])
def test_med_150_a_named_tier_lists_only_its_entries(world: World, tier: str, tiers: list[str]) -> None:
    x = world.brain("x")
    put(world, x, "k", 1, tier="medulla")
    put(world, x, "k", 2)

    answer = world.at(x).call("boot_memory", action="list", tier=tier)
    got = world.at(x).call("boot_memory", action="get", key="k", tier=tier)

    assert [entry["tier"] for entry in answer["entries"]] == tiers
    assert got["entry"]["tier"] == tier
    assert got["also"] == []


@pytest.mark.req("MED-151")
def test_med_151_set_writes_the_routed_brain_and_doctrine_only_when_named(world: World) -> None:
    x = world.brain("x")
    mine, shared = world.store(x).parent / "boot_memory_state.json", world.home.medulla_dir / "boot_memory_state.json"

    plain = put(world, x, "own", 1)
    assert not shared.exists()
    warned = put(world, x, "doctrine", 2, tier="medulla")
    meant = world.at(x, "claude:orchestrator").call("boot_memory", action="set", key="d2", value=3, tier="medulla")

    assert list(json.loads(mine.read_text(encoding="utf-8"))["entries"]) == ["own"]
    assert sorted(json.loads(shared.read_text(encoding="utf-8"))["entries"]) == ["d2", "doctrine"]
    assert "etiquette" not in plain
    assert "orchestrator" in warned["etiquette"]
    assert "etiquette" not in meant


@pytest.mark.req("MED-151", "MED-150")
def test_med_151_a_deleted_key_is_gone_and_the_other_tier_keeps_its_own(world: World) -> None:
    x = world.brain("x")
    put(world, x, "k", 1, tier="medulla")
    put(world, x, "k", 2)

    world.at(x).call("boot_memory", action="delete", key="k")

    assert [one["tier"] for one in world.at(x).call("boot_memory", action="list")["entries"]] == ["medulla"]
    again = world.at(x).call("boot_memory", action="delete", key="k")
    assert again["error"]["code"] == "unknown_claim"
