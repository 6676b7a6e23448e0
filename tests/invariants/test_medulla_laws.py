"""MED-INV-1 … MED-INV-8: what holds of the two tiers whatever is done to them (MED-332 … MED-339)."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from hindbrain.policy.limits import DAY_MS
from hindbrain.policy.texts import INSTRUCTIONS, RULES
from hindbrain.settings import SETTINGS, Setting
from tests.support.honesty import rows_of, wrong_with_row
from tests.support.tracing import open_files, touched
from tests.support.world import World

ROOT = Path(__file__).resolve().parents[2]
MAKER, ORCHESTRATOR = "codex:maker", "claude:orchestrator"
DOCTRINE = {"tier": "medulla"}


def claims(rows: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(row["tier"], row["slug"]) for row in rows}


# -- MED-INV-1: no leak ----------------------------------------------------------------------------------------------


def three_stores(world: World) -> tuple[str, str]:
    """Brains X and Y and the medulla, each with a claim that matches "harbour"."""
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Harbour of x", "the harbour opens at six")
    world.at(y).memorize("Harbour of y", "the harbour opens at seven")
    world.at(x, ORCHESTRATOR).memorize("Harbour doctrine", "harbours are asked, not guessed", **DOCTRINE)
    return x, y


@pytest.mark.req("MED-332", "MED-116")
def test_med_inv_01_a_default_beat_opens_two_stores_and_no_third(world: World) -> None:
    x, y = three_stores(world)
    theirs = str(world.store(y).parent)
    world.restart()

    with touched() as paths:
        beat = world.at(x).north("when does the harbour open")
        found = world.at(x).seek("harbour")

    assert claims(beat["memory"]) == claims(found["results"]) == {("project", "harbour-of-x"), ("medulla", "harbour-doctrine")}
    assert any(path.startswith(str(world.store(x))) for path in paths)
    assert [path for path in paths | open_files() if path.startswith(theirs)] == []


@pytest.mark.req("MED-332")
def test_med_inv_01_the_wide_read_is_asked_for_and_labelled(world: World) -> None:
    x, y = three_stores(world)

    wide = world.at(x).seek("harbour", tier="all-brains")

    assert {group["origin_brain"] for group in wide["groups"]} == {x, y, "medulla"}
    assert all(row["origin_brain"] == group["origin_brain"] for group in wide["groups"] for row in group["rows"])


def allowed_values(setting: Setting) -> list[Any]:
    if setting.choices:
        return list(setting.choices)
    if isinstance(setting.default, bool):
        return [True, False]
    return [0, 1, setting.default, 10_000] if isinstance(setting.default, int) else []


@pytest.mark.req("MED-332", "MED-131", "MED-395")
def test_med_inv_01_no_setting_makes_the_wide_read_a_default(world: World) -> None:
    x, _ = three_stores(world)
    tried = 0
    for setting in SETTINGS:
        for value in allowed_values(setting):
            world.restart(**{setting.name: value})
            for answer in (world.at(x).north("when does the harbour open"), world.at(x).seek("harbour")):
                rows = list(rows_of(answer))
                assert {row["store_brain"] for row in rows} <= {x, "medulla"}, (setting.name, value)
                assert "groups" not in answer, (setting.name, value)
            tried += 1
        world.restart(**{setting.name: setting.default})

    assert tried > len(SETTINGS)
    assert claims(world.at(x).seek("harbour")["results"]) == {("project", "harbour-of-x"), ("medulla", "harbour-doctrine")}


# -- MED-INV-2: explicit acts ----------------------------------------------------------------------------------------


CHANGES = (
    "claim.memorize",
    "claim.birth",
    "claim.promote",
    "claim.witness",
    "claim.demote",
    "claim.merge",
    "claim.file",
    "claim.remove",
)


def live_files(world: World, roots: list[str | None]) -> dict[tuple[str | None, str], bytes]:
    return {(root, path.name): path.read_bytes() for root in roots for path in world.store(root).glob("*.light.md")}


def recorded(world: World, root: str | None, after: int, at: str) -> list[dict[str, Any]]:
    tier = DOCTRINE if root is None else {}
    return list(world.at(root or at).call("ledger.show", after=after, limit=5000, **tier)["entries"])


def random_act(world: World, chance: random.Random, roots: list[str], step: int) -> None:
    root, label = chance.choice(roots), f"Belief {chance.randrange(6)}"
    here = world.at(root, chance.choice([MAKER, ORCHESTRATOR]))
    words = {"text": f"belief of step {step}", "confidence": chance.choice([0.3, 0.6, 0.9])}
    kind = chance.randrange(9)
    if kind <= 2:
        here.call("memorize", node_label=label, **words)
    elif kind == 3:
        here.call("memorize", node_label=label, **words, **DOCTRINE)
    elif kind == 4:
        here.call("promote", claim=label, reason="seen twice")
    elif kind == 5:
        here.call("learn", feedback=chance.choice(["wrong", "correct"]), node_ids=[label])
    elif kind == 6:
        here.call("consolidate", apply=True)
    elif kind == 7:
        world.clock.forward(chance.randrange(40) * DAY_MS)
        here.north(label), here.seek(label, **chance.choice([{}, DOCTRINE, {"tier": "all-brains"}]))
    else:
        world.restart()


@pytest.mark.req("MED-333")
def test_med_inv_02_every_change_of_a_claim_is_one_recorded_act(world: World) -> None:
    """500 random operations: a file changes if and only if the record says so, once, and growing old changes nothing."""
    x, y = world.brain("x"), world.brain("y")
    stores: list[str | None] = [x, y, None]
    world.at(x, ORCHESTRATOR).memorize("Belief 0", "doctrine", **DOCTRINE)
    heads = {root: len(recorded(world, root, 0, x)) for root in stores}
    before, chance, changes = live_files(world, stores), random.Random(20_260_706), 0
    for step in range(500):
        world.clock.forward(1)

        random_act(world, chance, [x, y], step)

        after, told = live_files(world, stores), []
        moved = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        for root in stores:
            entries = recorded(world, root, heads[root], x)
            heads[root] += len(entries)
            told += [(root, f"{one['slug']}.light.md") for one in entries if one["act"] in CHANGES]
        assert sorted(told, key=str) == sorted(moved, key=str), f"step {step}"
        before, changes = after, changes + len(moved)
    assert changes > 100


# -- MED-INV-3: elevate and un-share ---------------------------------------------------------------------------------


@pytest.mark.req("MED-334")
@pytest.mark.parametrize("seed", range(4))
def test_med_inv_03_the_witness_stays_whatever_is_decided_about_the_copy(world: World, seed: int) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Retry with jitter", "wait a random while", confidence=0.5)
    witness, chance, promoted = world.file(x, "retry-with-jitter"), random.Random(seed), 0
    for step in range(25):
        world.clock.forward(1000)
        before = witness.read_text().splitlines()
        act = chance.choice(["promote", "wrong", "consolidate", "supersede"])
        other = world.at(chance.choice([x, y]), ORCHESTRATOR)
        if act == "promote":
            promoted += other.call("promote", brain=x, claim="retry-with-jitter", reason="holds elsewhere")["ok"]
        elif act == "wrong":
            other.call("learn", feedback="wrong", node_ids=["retry-with-jitter"], tier="medulla")
        elif act == "consolidate":
            other.call("consolidate", apply=True)
        else:
            other.call("memorize", node_label="Retry with jitter", text=f"moved_to: {x}", confidence=0.5, **DOCTRINE)

        moved = [line for line in witness.read_text().splitlines() if line not in before]
        assert [line.split(":")[0] for line in moved] in ([], ["Promoted-To"]), f"step {step}: {act}"
        assert not moved or act == "promote"
        assert ("project", "retry-with-jitter") in claims(world.at(x).seek("jitter", tier="project")["results"])
    assert promoted >= 2


@pytest.mark.req("MED-334")
def test_med_inv_03_neither_tier_writes_into_the_others_files(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Port", "the port is 1337")
    world.at(x, ORCHESTRATOR).memorize("Port", "ports are configured", **DOCTRINE)
    mine, shared = world.file(x, "port").read_bytes(), world.file(None, "port").read_bytes()

    world.at(x).memorize("Port", "the port is 1338")
    assert world.file(None, "port").read_bytes() == shared
    mine = world.file(x, "port").read_bytes()
    world.at(x, ORCHESTRATOR).memorize("Port", "ports come from the settings", **DOCTRINE)

    assert world.file(x, "port").read_bytes() == mine


# -- MED-INV-4: provenance or honest absence -------------------------------------------------------------------------


@pytest.mark.req("MED-335", "MED-155")
def test_med_inv_04_every_row_says_who_where_and_when_or_that_it_is_unknown(world: World) -> None:
    """Every answer that any test gets through `tests.support.world` is looked at; here the rows are of every kind."""
    x, _ = three_stores(world)
    world.file(x, "legacy").write_text("Protocol: L1GHT/1.0\nNode: Legacy\nState: authored\n\nthe old harbour\n")
    world.at(x).call("boot_memory", action="set", key="harbour", value="six")
    here = world.at(x)
    seen = here.call("record", text="the harbour was shut by noon")["evidence_id"]
    Path(x, "harbour.md").write_text("# Harbours\n\nThe harbour is old.\n", encoding="utf-8")
    taken = here.call("memory.ingest", path=f"{x}/harbour.md")
    assert taken["ok"], taken
    answers = [
        here.north("harbour"),
        here.seek("harbour"),
        here.seek("harbour", tier="all-brains"),
        here.north("harbour", tier="all-brains"),
        here.call("recall", query="harbour"),
        here.call("memory.search", query="harbour", floor=False),
        here.call("boot_memory"),
        here.call("boot_memory", action="get", key="harbour"),
    ]
    rows = [list(rows_of(answer)) for answer in answers]

    assert all(rows)
    assert [wrong_with_row(row) for found in rows for row in found if wrong_with_row(row)] == []
    (legacy,) = [row for row in rows[1] if row.get("slug") == "legacy"]
    assert (legacy["origin_brain"], legacy["source_agent"], legacy["age_ms"]) == ("unknown", "unknown", None)
    assert seen in [row.get("evidence_id") for row in rows[0]], "observations of a beat are rows too"
    packet = here.call("delegate", task="paint the harbour")["context"]["memory"]
    told = {row["slug"]: (row["origin_brain"], row["source_agent"], row["age_days"]) for row in packet}
    assert told["harbour-of-x"] == (x, MAKER, 0)
    items = {one["text"]: (one["origin_brain"], one["source_agent"]) for one in here.call("wake")["items"]}
    assert items["the harbour was shut by noon"] == (x, MAKER)
    assert {who for text, who in items.items() if "old" in text} == {(x, "unknown")}


@pytest.mark.req("MED-335")
@pytest.mark.parametrize("field", ["tier", "origin_brain", "source_agent", "age_ms"])
def test_med_inv_04_the_look_finds_a_row_that_lost_a_field(world: World, field: str) -> None:
    x, _ = three_stores(world)
    row = dict(world.at(x).seek("harbour")["results"][0])

    assert wrong_with_row(row) is None
    del row[field]
    assert wrong_with_row(row) is not None


# -- MED-INV-5: etiquette, not security ------------------------------------------------------------------------------


@pytest.mark.req("MED-336", "MED-348")
def test_med_inv_05_a_promotion_out_of_turn_lands_and_is_visible(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Retry with jitter", "wait a random while")

    answer = world.at(x, MAKER).call("promote", claim="retry-with-jitter", reason="I like it")

    assert answer["ok"]
    assert answer["warnings"] == ["etiquette: makers propose, orchestrators promote"]
    assert f"Promoted-By: {MAKER}" in world.file(None, "retry-with-jitter").read_text()
    (row,) = world.at(x).call("audit_promotions")["claims"]
    assert row["promoted_by"] == MAKER
    assert any("etiquette" in flag for flag in row["flags"])


@pytest.mark.req("MED-336", "MED-348")
def test_med_inv_05_no_text_calls_the_gate_a_security_boundary() -> None:
    texts = {"INSTRUCTIONS": INSTRUCTIONS, "RULES": RULES}
    texts |= {str(path): path.read_text(encoding="utf-8") for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]}
    told = 0
    for name, text in texts.items():
        for sentence in " ".join(text.split()).replace(";", ".").split("."):
            if "security boundary" in sentence:
                assert "not a security boundary" in sentence, f"{name}: {sentence.strip()}"
                told += 1
    assert told, "at least the rule text says what the gate is not"


# -- MED-INV-6: false absence ----------------------------------------------------------------------------------------

ABSENCE = ("no durable memory", "no memory", "nothing was memorized", "no claims")


@pytest.mark.req("MED-337", "MED-145")
@pytest.mark.parametrize("count", [1, 25, 500])
def test_med_inv_06_a_store_that_holds_something_shows_it_or_says_why_not(world: World, count: int) -> None:
    x = world.brain("x")
    here = world.at(x)
    for number in range(count):
        here.memorize(f"Lantern {number}", f"lantern number {number} hangs in the {'east' if number % 2 else 'west'} wing")

    for task, matches in (("paint the fence", 0), ("lantern 0", 1), ("lanterns", count)):
        beat = here.north(task)
        told = " ".join([beat["rendered"], *(gap["text"] for gap in beat["honest_gaps"])]).lower()
        assert beat["memory_exists"] == count
        assert beat["memory"], task
        assert not any(absence in told for absence in ABSENCE), task
        assert {row["match"] for row in beat["memory"]} == ({"task"} if matches else {"recent"}), task


@pytest.mark.req("MED-337")
def test_med_inv_06_stale_claims_and_an_empty_store_say_why_there_is_no_row(world: World) -> None:
    x, z = world.brain("x"), world.brain("z")
    world.at(x).memorize("Lantern", "a lantern hangs in the east wing")
    world.clock.forward(31 * DAY_MS)

    old, empty = world.at(x).north("paint the fence"), world.at(z).north("paint the fence")

    assert (old["memory"], old["memory_exists"]) == ([], 1)
    assert [gap["kind"] for gap in old["honest_gaps"]] == ["no_meaning", "no_task_match"]  # no model here: by words only
    assert (empty["memory"], empty["memory_exists"]) == ([], 0)
    assert "no_memory" in [gap["kind"] for gap in empty["honest_gaps"]]


# -- MED-INV-7: whose number it is -----------------------------------------------------------------------------------

PARTITIONED = {"active_sessions", "queries_processed", "memory_beats_served", "mailbox_open_count", "active_claims"}
OF_THE_STORE = {"node_count", "edge_count", "last_ingest_ms"}


@pytest.mark.req("MED-338", "MED-310", "MED-312")
def test_med_inv_07_a_brain_shows_its_own_numbers_and_a_total_wears_its_caption(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    one, two, other = world.at(x, session="one"), world.at(x, session="two"), world.at(y, session="other")
    for actor, times in ((one, 3), (two, 2), (other, 1)):
        for _ in range(times):
            actor.north("harbour")

    answer = one.call("instances")
    rows = {row["project_root"]: row for row in answer["instances"]}

    assert (rows[x]["queries_processed"], rows[y]["queries_processed"]) == (5, 1)
    # The bootstrap of each brain served a beat of its own, to the session it came from.
    assert (rows[x]["memory_beats_served"], rows[y]["memory_beats_served"]) == (6, 2)
    assert rows[x]["active_sessions"] - rows[y]["active_sessions"] == 1
    for row in rows.values():
        assert {key for key, value in row.items() if type(value) is int} <= PARTITIONED | OF_THE_STORE
    assert answer["self"]["scope"] == "across all brains"
    assert answer["self"]["queries_processed"] == 6
    assert "scope" not in rows[x]
    health = other.call("health")
    assert (health["queries_processed"], health["memory_beats_served"]) == (1, 2)


# -- MED-INV-8: the medulla stays small ------------------------------------------------------------------------------


@pytest.mark.req("MED-339", "MED-107", "MED-170", "MED-171", "MED-192")
def test_med_inv_08_every_write_reports_the_count_and_doctor_warns_at_300(world: World) -> None:
    x = world.brain("x")
    chief = world.at(x, ORCHESTRATOR)
    counts = [chief.memorize(f"Doctrine {n}", f"doctrine number {n}", **DOCTRINE) for n in range(299)]
    chief.memorize("Shared", "seen everywhere")

    promoted = chief.call("promote", claim="shared", reason="seen everywhere")

    assert [answer["medulla_claim_count"] for answer in counts] == list(range(1, 300))
    assert [answer["over_soft_cap"] for answer in counts] == [False] * 200 + [True] * 99
    assert (promoted["medulla_claim_count"], promoted["soft_cap"], promoted["warn_at"]) == (300, 200, 300)
    assert "medulla_over_300" in promoted["warnings"]
    doctor = chief.call("doctor")
    assert "medulla_over_300" in [warning["kind"] for warning in doctor["warnings"]]
    assert (doctor["memory"]["medulla"]["active"], doctor["memory"]["medulla"]["warn"]) == (300, True)


@pytest.mark.req("MED-339", "MED-189")
def test_med_inv_08_a_claim_that_restates_a_rules_file_is_to_become_a_pointer(world: World) -> None:
    text = "Always write the failing test before the fix, and name the requirement in it."
    x = world.brain("x")
    Path(x, "AGENTS.md").write_text(f"# Rules\n\n{text}\n")
    world.at(x, ORCHESTRATOR).memorize("Tests first", text, **DOCTRINE)
    world.at(x, ORCHESTRATOR).memorize("Something else", "a belief that no rules file holds in these words", **DOCTRINE)

    plan = world.at(x).call("consolidate")["plan"]

    assert plan == [{"act": "prune_to_pointer", "slug": "tests-first", "why": f"restates {os.path.join(x, 'AGENTS.md')}"}]
