"""Slice M5a: a mixed medulla is sorted without losing or doubling a claim (MED-354, MED-357, MED-358)."""

import json
from pathlib import Path

import pytest

from hindbrain.domain.claim import outdated, parse
from tests.migration.mixed import applied, mixed, plan, table
from tests.support.world import World, tree_hash


@pytest.mark.req("MED-354", "MED-321", "MED-322", "MED-323", "MED-324")
def test_med_354_triage_count_conservation(any_world: World) -> None:
    world = any_world
    x = mixed(world, facts=16, laws=7, notes=2, born_here=2)
    originals = {row["slug"]: Path(row["file"]).read_text() for row in plan(world)["rows"]}
    assert plan(world)["counts"] == {"project": 16, "stay": 7, "ambiguous": 2}
    short, before = table(world, "short.jsonl", without=("project-7",)), tree_hash(world.home.medulla_dir, world.home.brains_dir)

    refused = world.human(None).call("migrate.apply", table=short)

    assert refused["error"]["code"] == "table_refused"
    assert "project-7" in refused["error"]["message"]
    assert tree_hash(world.home.medulla_dir, world.home.brains_dir) == before

    answer = applied(world, table(world))

    assert (answer["gates"]["active_before"], answer["gates"]["active_in_projects"], answer["gates"]["active_in_medulla"]) == (
        25,
        16,
        9,
    )
    live = {
        root: {p.name.split(".")[0] for p in world.store(root).glob("*.light.md") if parse(p.read_text()).active}
        for root in (x, None)
    }
    assert (len(live[x]), len(live[None])) == (16, 9)
    assert live[x] | live[None] == set(originals)
    assert not live[x] & live[None]
    history = {path.name.split(".")[0]: path.read_text() for path in world.history(None)}
    assert len(world.history(None)) == 21
    assert history == {slug: outdated(originals[slug]) for slug in history}
    for slug, text in originals.items():
        groups = world.at(x).seek(parse(text).label, tier="all-brains", top_k=50)["groups"]
        assert len([row for group in groups for row in group["rows"] if row["slug"] == slug]) == 1, slug


@pytest.mark.req("MED-357", "MED-325")
def test_med_357_ghost_root_sweep(world: World) -> None:
    mixed(world, facts=0, laws=17, notes=0)
    store = world.store(None)
    entries = [str(store / "tokenvalidator.light.md"), *(str(store / f"stay-{number}.light.md") for number in range(17))]
    listed = world.home.medulla_dir / "ingest_roots.json"
    listed.write_text(json.dumps(entries))

    (swept,) = applied(world)["roots"]

    assert json.loads(listed.read_text()) == [str(store)]
    assert {one["entry"]: one["reason"] for one in swept["removed"]} == {
        entries[0]: "the file does not exist",
        **dict.fromkeys(entries[1:], f"folded into {store}"),
    }


@pytest.mark.req("MED-358")
def test_med_358_every_live_claim_has_tier_and_origin(any_world: World) -> None:
    world = any_world
    x = mixed(world, facts=4, laws=3, notes=2, born_here=1)
    world.at(x).memorize("Own", "A claim of x itself.")

    applied(world)

    listed = set(world.at(x).call("doctor")["memory"]["ambiguous_slugs"])
    unknown = set()
    for query in ("importer number", "doctrine number", "green on Tuesdays", "claim of x itself"):
        for group in world.at(x).seek(query, tier="all-brains", top_k=50)["groups"]:
            for row in group["rows"]:
                assert row["tier"] == ("medulla" if row["store_brain"] == "medulla" else "project")
                unknown |= {row["slug"]} if row["origin_brain"] == "unknown" else set()
    assert unknown == listed == {"ambiguous-0", "ambiguous-1"}
