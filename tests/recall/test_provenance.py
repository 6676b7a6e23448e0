"""Provenance: every row says who, where and when, and what is unknown says so."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.surfaces.openapi import document
from tests.support.light import light_file
from tests.support.world import DAY, START_MS, World

LEGACY = light_file("Lantern", "The lantern is lit.")
REQUIRED = {"origin_brain", "tier", "source_agent", "age_ms"}


def key_of(text: str, key: str) -> str:
    return next(line.split(": ", 1)[1] for line in text.splitlines() if line.startswith(f"{key}: "))


@pytest.mark.req("MED-154")
@pytest.mark.parametrize("tier", [None, "medulla"])
def test_med_154_a_write_stamps_the_brain_by_name_and_id_and_answers_with_its_root(world: World, tier: str | None) -> None:
    x = world.brain("x")
    (world.place / "link").symlink_to(x)
    os.makedirs(f"{x}/deep/er")

    assert world.human(None).call("places.add", path=x)["ok"]

    answer = world.at(None).memorize("Lantern", tier=tier, caller_root=f"{world.place}/link/deep/./er/")

    text = world.file(None if tier else x, "lantern").read_text(encoding="utf-8")
    assert answer["origin_brain"] == (tier or x)
    assert key_of(text, "Origin-Brain") == (tier or world.origin(x))
    assert key_of(text, "Created") == str(START_MS)
    assert key_of(text, "Source-Agent") == "codex:maker"


def test_claim_files_that_travel_with_git_hold_no_path_of_a_machine(world: World) -> None:
    x = world.repository("x", src__a_py="RETRIES = 3\n")
    assert world.human(x).call("init", path=x)["ok"]
    world.at(x).memorize("Retries", "Three times.", evidence=["src/a.py:1"])
    world.at(x).memorize("Shared", "Also elsewhere.", evidence=[f"{x}/src/a.py:1"])
    assert world.at(x, "codex:orchestrator").call("promote", claim="shared", reason="seen twice")["ok"]
    y = world.brain("y")

    files = [path for path in (Path(x) / ".hindbrain").rglob("*") if path.is_file() and path.name != ".witness"]
    moved = world.place / "moved"
    os.rename(x, moved)
    assert world.human(str(moved)).call("init", path=str(moved))["ok"]

    assert {path.name for path in files} >= {"retries.light.md", "shared.light.md", "brain.json"}
    assert [path.name for path in (moved / ".hindbrain").rglob("*.light.md") if str(world.place) in path.read_text()] == []
    assert world.at(str(moved)).north("retries")["memory"][0]["origin_brain"] == str(moved)
    assert world.at(y).north("shared elsewhere")["memory"][0]["origin_brain"] == str(moved)


def rows_of(answer: Any) -> Iterator[dict[str, Any]]:
    """Every memory row and boot entry anywhere in an answer."""
    if isinstance(answer, dict):
        if answer.get("kind") == "light" or "updated_by_agent" in answer:
            yield answer
        for value in answer.values():
            yield from rows_of(value)
    elif isinstance(answer, list):
        for value in answer:
            yield from rows_of(value)


@pytest.mark.req("MED-155")
def test_med_155_every_row_on_every_surface_carries_its_provenance(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    for root, tier in ((x, None), (x, "medulla"), (y, None)):
        world.at(root).memorize(f"Lantern {tier} of {root[-1]}", "The lantern is lit.", tier=tier)
        world.at(root).call("boot_memory", action="set", key="lantern", value="lit", tier=tier)
    (world.store(x) / "lantern.light.md").write_text(LEGACY, encoding="utf-8")
    world.at(x).memorize("Lantern None of x", "The lantern is out.")
    actor = world.at(x)

    answers = {
        "north": actor.north("lantern"),
        "recent": actor.north("nothing like it"),
        "wide north": actor.north("lantern", tier="all-brains"),
        "seek": actor.seek("lantern", include_history=True),
        "wide": actor.seek("lantern", tier="all-brains"),
        "list": actor.call("boot_memory", action="list"),
        "get": actor.call("boot_memory", action="get", key="lantern"),
        "recall": actor.call("recall", query="lantern"),
    }

    for name, answer in answers.items():
        rows = list(rows_of(answer))
        assert rows, name
        for row in rows:
            assert set(row) >= REQUIRED, name
            assert row["origin_brain"], name
            assert row["source_agent"], name
            assert row["tier"] in ("project", "medulla")
            assert isinstance(row["age_ms"], int) or row["age_ms"] is None
            assert isinstance(row.get("stale"), bool) or row["age_ms"] is None


@pytest.mark.req("MED-160")
def test_med_160_the_row_schema_demands_brain_and_agent_and_rows_keep_to_it(world: World) -> None:
    cherry, other = promoted(world)
    world.store(other).mkdir(exist_ok=True)
    (world.store(other) / "lantern.light.md").write_text(LEGACY, encoding="utf-8")
    schemas = document(world.app.manifest()["operations"], version="1", url="http://127.0.0.1")["components"]["schemas"]
    row_schema = schemas["MemoryRow"]

    rows = [*world.at(cherry).north("retry jitter")["memory"], *world.at(other).north("lantern retry")["memory"]]

    assert {"origin_brain", "source_agent"} <= set(row_schema["required"])
    assert schemas["Retrieved"]["allOf"][1]["properties"]["memory"]["items"] == {"$ref": "#/components/schemas/MemoryRow"}
    assert len(rows) == 4
    for row in rows:
        assert set(row_schema["required"]) <= set(row)
        for name, rule in row_schema["properties"].items():
            assert name not in row or holds(row[name], rule), name


def holds(value: Any, rule: dict[str, Any]) -> bool:
    """Whether a value keeps to the few words of JSON Schema that the row uses."""
    kinds = {"object": dict, "string": str, "integer": int, "boolean": bool, "number": (int, float), "null": type(None)}
    if "const" in rule or "enum" in rule:
        return value in rule.get("enum", [rule.get("const")])
    named = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    return any(isinstance(value, kinds[one]) for one in named)


@pytest.mark.req("MED-156")
def test_med_156_what_a_legacy_claim_does_not_say_stays_unknown(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Other")
    (world.store(x) / "lantern.light.md").write_text(LEGACY, encoding="utf-8")

    row = world.at(x).seek("lantern")["results"][0]

    assert row["slug"] == "lantern"
    assert (row["origin_brain"], row["source_agent"], row["age_ms"]) == ("unknown", "unknown", None)
    assert "stale" not in row
    assert row["store_brain"] == x
    assert world.file(x, "lantern").read_text(encoding="utf-8") == LEGACY, "and nothing is written into the file"


def promoted(world: World) -> tuple[str, str]:
    """A claim of cherry, promoted four days after it was learned."""
    cherry, other = world.brain("cherry"), world.brain("other")
    world.at(cherry).memorize("Retry with jitter", "Retries without jitter meet at the same lock.")
    world.clock.forward(4 * DAY)
    answer = world.at(cherry, "claude:orchestrator").call(
        "promote", brain=cherry, claim="retry-with-jitter", reason="confirmed in gitrooms too"
    )
    assert answer["ok"], answer
    return cherry, other


@pytest.mark.req("MED-157", "MED-159")
def test_med_157_the_chain_of_a_promoted_row_is_readable(world: World) -> None:
    cherry, other = promoted(world)

    row = world.at(other).north("retry jitter")["memory"][0]

    chain = row["chain"]
    assert {key: chain[key] for key in chain if key != "text"} == {
        "learned_by": "codex:maker",
        "learned_in": cherry,
        "learned_at": START_MS,
        "promoted_by": "claude:orchestrator",
        "promoted_at": START_MS + 4 * DAY,
        "reason": "confirmed in gitrooms too",
    }
    assert chain["text"] == (
        f"learned by codex:maker in {cherry} on 2026-07-04; promoted by claude:orchestrator on 2026-07-08; "
        "reason: confirmed in gitrooms too"
    )
    assert (row["store_brain"], row["origin_brain"]) == ("medulla", cherry)
    assert row["witness"] == {"exists": True, "superseded": False}


@pytest.mark.req("MED-158")
def test_med_158_the_chain_needs_only_the_copy(world: World) -> None:
    cherry, other = promoted(world)
    before = world.at(other).north("retry jitter")["memory"][0]
    world.close()
    shutil.rmtree(world.store(cherry).parent)
    shutil.rmtree(cherry)

    row = world.at(other).north("retry jitter")["memory"][0]

    assert row["chain"] == before["chain"]
    assert row["witness"]["exists"] is False
