"""Which brain answers a call: bootstrap, sticky session, caller root, bound brain, in this order."""

import json
import os
import resource
import shutil
from pathlib import Path

import pytest

from hindbrain.domain.brain import fingerprint
from hindbrain.stores.home import Home
from tests.support.world import World, tree_hash


def kinds(answer: dict) -> list[str]:
    return [gap["kind"] for gap in answer["honest_gaps"]]


def origins(answer: dict) -> list[str]:
    return [row["origin_brain"] for row in answer["memory"]]


@pytest.mark.req("MED-001")
def test_med_001_one_home_hosts_the_medulla_and_every_project_each_with_its_own_directory(world: World) -> None:
    x, y = world.brain("repo-x"), world.brain("repo-y")
    world.human(x).memorize("Doctrine", tier="medulla")

    rows = world.at(x).call("instances")["instances"]

    assert {(row["kind"], row["project_root"]) for row in rows} == {("project", x), ("project", y), ("medulla", None)}
    stores = [world.home.medulla_dir, *(world.home.brains_dir / fingerprint(root) for root in (x, y))]
    assert all((store / "brain.db").is_file() for store in stores)
    assert all((store / "project_brain.json").is_file() for store in stores[1:])


@pytest.mark.req("MED-002")
def test_med_002_agents_of_two_hosts_in_two_projects_read_the_same_medulla(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.human(x).memorize("Small commits", "Commit small and often.", tier="medulla")

    seen = [world.at(root, agent).north("commit", tier="medulla")["memory"] for root, agent in ((x, "codex:a"), (y, "claude:b"))]

    assert [[(row["slug"], row["text"]) for row in rows] for rows in seen] == [[("small-commits", "Commit small and often.")]] * 2


@pytest.mark.req("MED-005")
def test_med_005_a_sticky_session_beats_the_header_and_a_bootstrap_beats_the_sticky_session(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Colour", "the colour is blue")
    world.at(y).memorize("Colour", "the colour is green")
    world.at(x, session="s").call("health")
    moved = world.at(y, session="s")

    sticky = moved.seek("colour")
    moved.call("ingest", path=y, project_root=y)
    after = world.at(x, session="s").seek("colour")

    assert [row["origin_brain"] for row in sticky["results"]] == [x]
    assert [row["origin_brain"] for row in after["results"]] == [y]


@pytest.mark.req("MED-005", "MED-044")
def test_med_005_a_caller_without_a_root_is_served_by_the_bound_brain(world: World) -> None:
    world.bound_root = bound = world.repository("m")
    x = world.brain("x")
    world.brain("m")

    written = world.at(None).memorize("Born in the bound brain")

    assert Path(written["path"]).parent == world.store(bound)
    assert origins(world.at(x).north("born bound")) == []
    assert origins(world.at(bound).north("born bound")) == [bound]


@pytest.mark.req("MED-006", "MED-037")
def test_med_006_the_bound_brain_lends_its_code_to_a_stranger_and_never_its_memory(world: World) -> None:
    world.bound_root = x = world.repository("x", src__a_py="print(1)\n")
    world.brain("x")
    z = world.repository("z")
    world.at(x).memorize("Retry rule", "retry with jitter, says x")
    world.human(x).memorize("Retry doctrine", "retry with patience, says everybody", tier="medulla")
    before = tree_hash(world.home.brains_dir)

    north = world.at(z).north("retry")
    seek = world.at(z).seek("retry", scope="light::")
    refused = world.at(z).call("memorize", node_label="Retry", text="from z")

    assert north["binding"]["workspace_root"] == x
    assert north["binding"]["node_count"] > 0
    assert [(row["tier"], row["slug"]) for row in north["memory"]] == [("medulla", "retry-doctrine")]
    assert [row["slug"] for row in seek["results"]] == ["retry-doctrine"]
    assert north["reception"]["match"] == "caller_root_mismatch"
    absent = [gap for gap in north["honest_gaps"] if gap["kind"] == "project_brain_absent"]
    assert len(absent) == 1
    assert absent[0]["fix"] == {"tool": "ingest", "arguments": {"path": z, "project_root": z}}
    assert refused["refused"] == "brainless_root"
    assert tree_hash(world.home.brains_dir) == before


@pytest.mark.req("MED-007")
def test_med_007_a_promotion_from_another_brain_leaves_the_session_where_it_is(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(y).memorize("Shared lesson", "jitter helps")
    session = world.at(x, "human:founder", human=True, session="s")
    session.call("health")
    refused = world.at(x).call("promote", brain=y, claim="Shared lesson", reason="seen twice")

    promoted = session.call("promote", brain=y, claim="Shared lesson", reason="seen twice")
    later = world.at(None, session="s").memorize("Still in x")

    assert refused["error"]["code"] == "path_refused", "only a person shares the claim of another project"
    assert promoted["promoted"] is True
    assert promoted["witness_path"].startswith(str(world.store(y)))
    assert later["origin_brain"] == x


@pytest.mark.req("MED-012")
def test_med_012_the_first_match_holds_for_the_whole_session(world: World) -> None:
    x = world.brain("x")
    world.at(x, session="s").call("health")

    written = world.at(None, session="s").memorize("Without a header")

    assert Path(written["path"]).parent == world.store(x)


@pytest.mark.req("MED-013")
@pytest.mark.parametrize("operation", ["north", "seek", "session_handshake"])
def test_med_013_a_sticky_brain_that_is_gone_is_said_and_replaced_by_no_other(world: World, operation: str) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Secret of x", "shared word")
    world.at(y).memorize("Secret of y", "shared word")
    session = world.at(x, session="s")
    session.call("health")
    shutil.rmtree(world.home.brains_dir / fingerprint(x))

    arguments = {"query": "shared word"} if operation == "seek" else {}
    answers = [session.call(operation, **arguments) for _ in range(2)]

    answer = answers[0]
    assert all("sticky_brain_missing" in kinds(one) for one in answers)
    assert answer.get("memory", answer.get("results", [])) == []
    assert not (world.home.brains_dir / fingerprint(x)).exists()


@pytest.mark.req("MED-013")
def test_med_013_a_fall_through_to_the_brain_of_the_caller_root_is_said_in_every_answer(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x, session="s").call("health")
    shutil.rmtree(world.home.brains_dir / fingerprint(x))

    answers = [world.at(y, session="s").north() for _ in range(2)]

    assert [kinds(answer).count("sticky_brain_missing") for answer in answers] == [1, 1]
    assert {answer["binding"]["workspace_root"] for answer in answers} == {y}


@pytest.mark.req("MED-014")
def test_med_014_a_root_is_covered_by_component_with_links_resolved(world: World) -> None:
    app = world.brain("r/app")
    world.directory("r/app/src")
    world.directory("r/app2")
    os.symlink(app, world.place / "s")

    served = {
        name: world.at(str(world.place / name)).north()["binding"]["workspace_root"] for name in ("r/app", "r/app/src", "s")
    }
    stranger = world.at(str(world.place / "r/app2")).north()

    assert set(served.values()) == {app}
    assert stranger["reception"]["caller_root"].endswith("/r/app2")


@pytest.mark.req("MED-014")
def test_med_014_an_ingest_root_is_covered_too(world: World) -> None:
    x = world.brain("x")
    library = world.repository("library", src__lib_py="y = 1\n")

    answer = world.human(x).call("ingest", path=library, federation_intent=True)

    assert answer["ok"], answer
    assert world.at(os.path.join(library, "src")).memorize("Seen from the library")["origin_brain"] == x
    world.restart()
    assert world.at(library).north()["reception"] is None


@pytest.mark.req("MED-015")
def test_med_015_of_several_covering_brains_the_longest_root_wins(world: World) -> None:
    mono = world.brain("mono", pkg__a__src__m_py="1\n", pkg__b_py="2\n")
    inner = os.path.join(mono, "pkg/a")
    assert world.at(inner).call("ingest", path=inner, project_root=inner)["reused_existing_brain"] is False

    deep = world.at(os.path.join(inner, "src")).memorize("Deep")
    beside = world.at(os.path.join(mono, "pkg")).memorize("Beside")

    assert deep["origin_brain"] == inner
    assert beside["origin_brain"] == mono


@pytest.mark.req("MED-018")
def test_med_018_a_missing_root_is_unknown_not_wrong(world: World) -> None:
    world.brain("x")

    answer = world.at(None).north("anything")

    assert answer["reception"] is None
    assert "caller_root_unknown" in kinds(answer)
    assert answer["memory"] == []


@pytest.mark.req("MED-027")
def test_med_027_the_medulla_is_never_the_fall_through_of_a_write(world: World) -> None:
    world.human(None).memorize("Doctrine", tier="medulla")
    before = tree_hash(world.home.medulla_dir)

    refused = world.at(None).call("memorize", node_label="Lost", text="whose is it?")

    assert refused["refused"] == "caller_root_unknown"
    assert refused["ok"] is False
    assert (refused["bytes_written"], refused["claims_written"], refused["ingested"]) == (0, 0, False)
    assert "caller_root" in refused["fix"]["call"]["arguments"]
    assert refused["fix"]["or"]["arguments"] == {"tier": "medulla"}
    assert tree_hash(world.home.medulla_dir) == before
    assert world.at(None).memorize("On purpose", tier="medulla")["tier"] == "medulla"


@pytest.mark.req("MED-029", "MED-030")
def test_med_030_a_write_changes_the_bytes_and_counts_of_its_own_brain_only(world: World) -> None:
    x, y = world.brain("x", src__a_py="1\n"), world.brain("y", src__b_py="2\n")
    world.human(x).memorize("Doctrine", tier="medulla")
    counts = {root: counted(world, root) for root in (x, y)}
    medulla, others = world.app.house.home.medulla(), (world.store(x), world.store(None))
    before, shared = tree_hash(*others), medulla_counts(world)

    answer = world.at(y).memorize("Fact of y", evidence=["src/b.py"])

    assert answer["light_evidence_resolved"] == 1
    assert tree_hash(*others) == before
    assert counted(world, x) == counts[x]
    assert medulla_counts(world) == shared
    assert all(now > then for now, then in zip(counted(world, y), counts[y], strict=True))
    assert medulla.root is None


def counted(world: World, root: str) -> tuple[int, int]:
    health = world.at(root).call("health")
    return health["node_count"], health["edge_count"]


def medulla_counts(world: World) -> tuple[int, int]:
    with world.app.house.brains.use(world.home.medulla()) as opened:
        counts = opened.store.counts()
    return counts.nodes, counts.edges


@pytest.mark.req("MED-034")
def test_med_034_a_dormant_brain_is_served_after_a_restart_unless_its_manifest_names_another_root(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Kept", "kept over the restart")
    world.restart()
    assert origins(world.at(x).north("kept restart")) == [x]
    world.restart()
    manifest = world.home.manifest_path(x)
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "project_root": "/elsewhere"}))

    assert world.at(x).north("kept restart")["memory"] == []
    assert len(world.at(x).call("doctor")["memory"]["manifest_mismatch"]) == 1


@pytest.mark.req("MED-036")
def test_med_036_the_bound_brain_and_the_medulla_stay_warm_and_do_not_count(world: World) -> None:
    world.bound_root = bound = world.repository("bound")
    world.restart(warm_brain_cap=2)
    world.brain("bound")
    world.human(bound).memorize("Doctrine", tier="medulla")
    roots = [world.brain(f"r{number}") for number in range(5)]
    for root in roots:
        world.at(root).memorize(f"Claim of {Path(root).name}")
        warm = world.app.house.brains.warm()
        assert {bound, "medulla"} <= warm
        assert len(warm - {bound, "medulla"}) <= 2

    assert [origins(world.at(root).north("claim")) for root in roots] == [[root] for root in roots]


def test_a_manifest_that_cannot_be_read_for_a_moment_is_read_again(world: World) -> None:
    """Its file does not change meanwhile, so that nothing would tell it from one that was read and belongs to nobody."""
    root = world.repository("x")
    world.at(root).call("ingest", path=root, project_root=root)
    home = Home(world.home.path)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # no file can be opened, and each can be looked at
    try:
        unread = home.project(root)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    brain = home.project(root)

    assert unread is None
    assert brain is not None
    assert home.project(root) is brain  # and is then remembered,
    world.home.save(brain, nodes=7, edges=0)
    world.home.manifest_path(root).unlink()
    assert home.project(root) is None  # until it goes
