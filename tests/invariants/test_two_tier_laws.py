"""TT-INV-1 … TT-INV-12, as far as they concern what exists (MED-342 … MED-353; the hook's own tests show MED-342)."""

import ast
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hindbrain.policy.limits import DAY_MS, SCAN_INLINE_FILES
from tests.support.honesty import gaps_of, wrong_with_gap
from tests.support.world import World, tree_hash

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.req("MED-343", "MED-018", "MED-156", "MED-037")
def test_tt_inv_02_what_is_missing_is_a_labelled_gap_and_unknown_stays_unknown(world: World) -> None:
    x, z = world.brain("x"), world.repository("z")
    world.at(x, "claude:orchestrator").memorize("Doctrine", "lanterns are checked at dusk", tier="medulla")
    world.file(x, "old").parent.mkdir(parents=True, exist_ok=True)
    world.file(x, "old").write_text("Protocol: L1GHT/1.0\nNode: Old\nState: authored\n\nlanterns of old\n")

    rootless, brainless, here = world.at(None).north("lanterns"), world.at(z).north("lanterns"), world.at(x).north("lanterns")

    assert rootless["reception"] is None
    assert "caller_root_unknown" in [gap["kind"] for gap in rootless["honest_gaps"]]
    assert {row["tier"] for row in brainless["memory"]} == {"medulla"}
    (gap,) = [gap for gap in brainless["honest_gaps"] if gap["kind"] == "project_brain_absent"]
    assert gap["fix"] == {"tool": "ingest", "arguments": {"path": z, "project_root": z}}
    (old,) = [row for row in here["memory"] if row["slug"] == "old"]
    assert (old["origin_brain"], old["store_brain"], old["age_ms"]) == ("unknown", x, None)
    assert "stale" not in old


@pytest.mark.req("MED-344")
def test_tt_inv_03_old_data_wears_its_age_and_its_brain(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(y).memorize("Harbour", "the harbour opens at seven")
    world.restart()
    world.clock.forward(3 * DAY_MS)
    world.at(x).north()

    (group,) = world.at(x).seek("harbour", tier="all-brains")["groups"]

    assert (group["dormant"], group["snapshot_age_ms"]) == (True, 3 * DAY_MS)
    assert group["fingerprint"] == world.store(y).parent.name
    assert [(row["tier"], row["age_ms"]) for row in group["rows"]] == [("project", 3 * DAY_MS)]


@pytest.mark.req("MED-345")
def test_tt_inv_04_a_gap_has_at_most_one_fix(world: World) -> None:
    """Every gap of every answer of every test is looked at; here are the kinds that carry a fix, and the look itself."""
    x, z = world.brain("x"), world.repository("z")
    world.at(x).memorize("Harbour", "the harbour opens at six")
    world.file(x, "harbour").write_text("<<<<<<< HEAD\nsix\n=======\nseven\n>>>>>>> theirs\n")
    empty = world.directory("bare")
    world.at(empty).call("ingest", path=empty, project_root=empty)

    gaps = [gap for root in (x, z, empty) for gap in gaps_of(world.at(root).north("harbour"))]

    assert {"conflict_markers", "project_brain_absent"} <= {gap["kind"] for gap in gaps if "fix" in gap}
    assert [wrong_with_gap(gap) for gap in gaps if wrong_with_gap(gap)] == []
    assert wrong_with_gap({"kind": "k", "text": "t", "fix": ["one", "two"]}) is not None
    assert wrong_with_gap({"kind": "k", "text": "t", "fixes": ["one"]}) is not None
    assert wrong_with_gap({"kind": "k", "text": "t", "fix": {"tool": "no_such_verb", "arguments": {}}}) is not None


@pytest.mark.req("MED-347", "GR-148")
def test_tt_inv_06_a_brain_that_is_still_loading_says_so_and_shows_what_it_has(world: World) -> None:
    x = world.brain("x")
    here = world.at(x)
    here.memorize("Harbour", "the harbour opens at six")
    brain = world.home.project(x)
    assert brain is not None
    with world.app.house.brains.use(brain) as opened, opened.store.writing() as writer:
        (live,) = opened.store.live(["harbour"]).values()
        for number in range(SCAN_INLINE_FILES):
            writer.put_claim(replace(live, slug=f"lamp-{number}"), expected=None, ended_act="claim.file", terms=["lamp"])
    world.restart()
    world.resident = True
    world.file(x, "late").write_text(world.file(x, "harbour").read_text().replace("Harbour", "Late"))

    first = here.north("harbour")

    assert "warming" in [gap["kind"] for gap in first["honest_gaps"]]
    assert [row["slug"] for row in first["memory"]] == ["harbour"]
    assert first["memory_exists"] == SCAN_INLINE_FILES + 1


@pytest.mark.req("MED-349", "MED-011")
def test_tt_inv_08_no_brain_is_born_in_silence(world: World) -> None:
    x, z = world.brain("x"), world.repository("z")
    stranger = world.at(z)

    for operation, arguments in (
        ("north", {"task": "anything"}),
        ("seek", {"query": "anything", "tier": "all-brains"}),
        ("memorize", {"node_label": "A", "text": "a"}),
        ("recall", {}),
        ("boot_memory", {}),
        ("boot_memory", {"action": "set", "key": "k", "value": 1}),
        ("learn", {"feedback": "wrong", "node_ids": ["a"]}),
        ("doctor", {"scan": True}),
        ("instances", {}),
    ):
        stranger.call(operation, **arguments)

    assert [one["project_root"] for one in world.at(x).call("instances")["instances"]] == [x]
    assert not Path(z, ".hindbrain").exists()


@pytest.mark.req("MED-349")
def test_tt_inv_08_nothing_in_a_manifest_is_executed(world: World) -> None:
    x = world.brain("x")
    bait = world.place / "executed"
    manifest = world.store(x).parent / "project_brain.json"
    command = f"touch {bait}"
    poison = {"exec": command, "hook": command, "binary": command, "hooks": {"on_open": command}}
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | poison))
    Path(x, ".hindbrain").mkdir()
    Path(x, ".hindbrain", "brain.json").write_text(json.dumps({"schema": "hindbrain-brain-v0", **poison}))
    world.restart()

    assert world.at(x).north("anything")["ok"]
    world.at(x).memorize("A", "a")
    assert world.at(x).call("init", path=x)["ok"]
    assert world.at(x).call("doctor", scan=True)["ok"]

    assert not bait.exists()
    assert not set(json.loads(manifest.read_text())) & set(poison)


@pytest.mark.req("MED-350")
def test_tt_inv_09_no_removal_takes_memory_that_git_holds(world: World) -> None:
    x = world.brain("x")
    here = world.at(x)
    here.call("init", path=x)
    here.memorize("Harbour", "the harbour opens at six")
    here.memorize("Harbour", "the harbour opens at seven")
    carried = Path(x, ".hindbrain", "agent-memory")
    live = (carried / "harbour.light.md").read_bytes()
    archived = sorted(path.read_bytes() for path in (carried / ".history").glob("*.light.md"))
    before = tree_hash(carried)

    world.close()
    shutil.rmtree(world.home.brains_dir)  # the owner's side is lost
    assert world.at(x).north("harbour")["ok"]
    assert tree_hash(carried) == before
    world.at(x).call("init", path=x)
    assert "harbour" in [row["slug"] for row in world.at(x).north("harbour")["memory"]]
    world.human(x).call("uninit", path=x)

    assert world.file(x, "harbour").read_bytes() == live
    assert sorted(path.read_bytes() for path in world.history(x)) == archived


@pytest.mark.req("MED-350")
def test_tt_inv_09_a_leaked_secret_is_to_be_rotated(world: World) -> None:
    x = world.brain("x")

    refused = world.at(x).call("memorize", node_label="Token", text="ghp_" + "a1B2c3D4e5F6" * 3)

    assert refused["refused"] == "hygiene"
    assert "rotate" in refused["fix"]


@pytest.mark.req("MED-352")
def test_tt_inv_11_every_count_is_enumerated_when_it_is_told(world: World) -> None:
    x = world.brain("x")
    here = world.at(x)
    for number in range(7):
        here.memorize(f"Lamp {number}", f"lamp number {number}")
    assert world.human(x).call("claim.remove", claim="lamp-3")["ok"]
    world.file(x, "lamp-by-hand").write_text(world.file(x, "lamp-0").read_text().replace("Lamp 0", "Lamp by hand"))
    assert world.human(x).call("claim.remove", claim="lamp-5")["ok"]

    on_disk = len(list(world.store(x).glob("*.light.md")))
    doctor = here.call("doctor")

    assert on_disk == 6
    assert here.north("lamp")["memory_exists"] == on_disk
    assert doctor["memory"]["volume_by_store"][x] == on_disk
    assert [row["claims"] for row in doctor["brains"] if row["root"] == x] == [on_disk]


@pytest.mark.req("MED-352")
def test_tt_inv_11_no_code_holds_a_count_from_a_document() -> None:
    """The document that the two-tier rows come from counted 25 claims and 53 letters of its own day."""
    found = []
    for path in (ROOT / "src").rglob("*.py"):
        if path.name == "confined.py":
            continue  # its numbers are the kernel's: system calls and instructions of a filter
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        exponents = {id(one.right) for one in nodes if isinstance(one, ast.BinOp) and isinstance(one.op, ast.LShift | ast.Pow)}
        counts = [one for one in nodes if isinstance(one, ast.Constant) and type(one.value) is int and id(one) not in exponents]
        found += [f"{path.name}:{one.lineno}" for one in counts if one.value in (25, 53)]

    assert found == []


@pytest.mark.req("MED-353", "MED-019", "MED-022")
def test_tt_inv_12_binding_is_silent_only_on_a_match(world: World) -> None:
    x, z = world.brain("x"), world.repository("z")
    verbs = (("north", {}), ("health", {}), ("session_handshake", {}))

    for verb, arguments in verbs:
        assert world.at(x).call(verb, **arguments)["reception"] is None
        reception = world.at(z).call(verb, **arguments)["reception"]
        assert (reception["match"], reception["caller_root"]) == ("caller_root_mismatch", z)


# -- TT-INV-5: a figure is measured before it is told ----------------------------------------------------------------

_FIGURE = re.compile(r"\b\d[\d.,]*\s?(?:ms|milliseconds?|seconds?|minutes?)\b")
_MEASURED = ("benchmarks", "measurements", "reference")


@pytest.mark.req("MED-346")
def test_tt_inv_05_no_page_promises_a_time_that_no_benchmark_measured() -> None:
    """A latency on a page stands beside the command that reproduces it, or is a setting of ours and not a promise."""
    pages = [*ROOT.glob("README.md"), *(ROOT / "docs").rglob("*.md")]
    loose = []
    for page in pages:
        if any(part in _MEASURED for part in page.relative_to(ROOT).parts) or page.stem in _MEASURED:
            continue
        paragraphs = page.read_text(encoding="utf-8").split("\n\n")
        for paragraph in paragraphs:
            if _FIGURE.search(paragraph) and "benchmark" not in paragraph and "bench" not in paragraph:
                loose += [f"{page.relative_to(ROOT)}: {match[0]}" for match in _FIGURE.finditer(paragraph)]

    assert pages
    assert loose == []
