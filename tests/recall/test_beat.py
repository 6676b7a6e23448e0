"""The default beat: this brain and the medulla, composed in one call, labelled, and never wider than asked."""

import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.operations import REGISTRY
from hindbrain.settings import SETTINGS
from tests.support.opens import watching
from tests.support.world import World, block

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is how opens are seen")

TIERS = {None: "project+medulla", "project": "project", "medulla": "medulla", "all-brains": "all-brains"}


def three_brains(world: World) -> tuple[str, str]:
    """X, Y and the medulla with one claim each about the same words."""
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Kettle of x", "The kettle boils in x.")
    world.at(y).memorize("Kettle of y", "The kettle boils in y.")
    world.at(x).memorize("Kettle doctrine", "The kettle boils everywhere.", tier="medulla")
    return x, y


def claims(answer: dict[str, Any], key: str = "memory") -> list[tuple[str, str]]:
    return [(row["claim"], row["tier"]) for row in answer[key]]


def store_of(world: World, root: str) -> Path:
    return world.store(root).parent


@linux
@pytest.mark.req("MED-116")
def test_med_116_the_default_beat_opens_no_third_store(world: World) -> None:
    x, y = three_brains(world)
    world.restart()

    with watching(store_of(world, y)) as opened:
        answer = world.at(x).north("boil the kettle")
        touched = opened.paths()
        world.at(x).north("boil the kettle", tier="all-brains")
        control = opened.paths()

    assert {tier for _, tier in claims(answer)} == {"project", "medulla"}
    assert touched == set()
    assert any(path.endswith("brain.db") for path in control), "the watch sees a store that is read"


def settings_and_values() -> list[tuple[str, Any]]:
    """Every setting at each value it may take (a few for numbers); addresses have tests of their own."""
    found: list[tuple[str, Any]] = []
    for setting in SETTINGS:
        if setting.name in ("store_url", "otel_export"):
            continue
        if setting.choices:
            values: tuple[Any, ...] = tuple(setting.choices)
        elif isinstance(setting.default, bool):
            values = (True, False)
        elif isinstance(setting.default, int):
            values = (1, setting.default, 100_000)
        else:
            values = (setting.default, "all-brains")
        found += [(setting.name, value) for value in values]
    return found


@linux
@pytest.mark.req("MED-131")
def test_med_131_no_setting_makes_the_wide_read_a_default(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = three_brains(world)
    for name in ("HINDBRAIN_TIER", "HINDBRAIN_ALL_BRAINS", "HINDBRAIN_DEFAULT_TIER"):
        monkeypatch.setenv(name, "all-brains")

    for name, value in settings_and_values():
        default = next(setting.default for setting in SETTINGS if setting.name == name)
        world.restart(**{name: value})
        with watching(store_of(world, y)) as opened:
            answer = world.at(x).north("boil the kettle")
            assert opened.paths() == set(), f"{name}={value}"
        assert answer["tier"] == "project+medulla"
        assert not any("kettle of y" in str(row).lower() for row in answer["memory"])
        world.restart(**{name: default})


@pytest.mark.req("MED-117", "MED-121")
def test_med_117_one_call_gives_both_feeds_labelled(world: World) -> None:
    x, _ = three_brains(world)

    rows = world.at(x).north("boil the kettle")["memory"]

    assert [(row["tier"], row["origin_brain"]) for row in rows] == [("project", x), ("medulla", "medulla")]


@pytest.mark.req("MED-118")
@pytest.mark.parametrize("operation", ["seek", "boot_memory", "north"])
def test_med_118_tier_is_an_argument_of_the_retrieval_operations(world: World, operation: str) -> None:
    x, y = three_brains(world)
    for root, tier in ((x, None), (y, None), (x, "medulla")):
        world.at(root).call("boot_memory", action="set", key="kettle", value=f"{root} {tier}", tier=tier)
    words = {"seek": {"query": "kettle"}, "north": {"task": "kettle"}, "boot_memory": {"action": "list"}}[operation]

    seen = {}
    for tier, said in TIERS.items():
        answer = world.at(x).call(operation, **words, **({"tier": tier} if tier else {}))
        assert answer["ok"], answer
        assert answer["tier"] == said
        seen[tier] = f"{y}" in str({k: v for k, v in answer.items() if k != "agent_runtime_contract"})

    assert "tier" in REGISTRY[operation].arguments.__struct_fields__
    assert seen == {None: False, "project": False, "medulla": False, "all-brains": True}


@pytest.mark.req("MED-120")
def test_med_120_own_results_come_first_and_unchanged(world: World) -> None:
    x, _ = three_brains(world)
    world.at(x).memorize("Kettle two", "Another kettle of x, which is never boiled.")

    alone = world.at(x).seek("boil the kettle", tier="project")["results"]
    both = world.at(x).seek("boil the kettle")["results"]

    assert len(alone) == 2
    assert both[:2] == alone
    assert [row["tier"] for row in both] == ["project", "project", "medulla"]


@pytest.mark.req("MED-120")
@pytest.mark.parametrize("top_k", [1, 3, 5, 20])
def test_med_120_own_claims_evidence_and_code_come_before_the_medulla(world: World, top_k: int) -> None:
    x = world.brain("x", src__worker_py="def retry_worker() -> None:  # retry the worker\n    return None\n")
    world.at(x).memorize("Worker retry note", f"The worker retry is short. {'It waits. ' * 600}")
    world.at(x).call("record", text="the worker retry was seen twice")
    for number in range(3):
        world.at(x).memorize(f"Worker retry law {number}", f"Retry a worker once. {'Never more. ' * 600}", tier="medulla")

    alone = world.at(x).seek("worker retry", tier="project", top_k=top_k)["results"]
    answer = world.at(x).seek("worker retry", top_k=top_k)

    both = answer["results"]
    own = [row for row in both if row.get("tier") != "medulla"]
    assert both[: len(own)] == own, "the medulla comes last"
    assert own == alone[: len(own)], "unchanged in order and content"
    assert len(both) <= top_k
    assert len(own) >= min(len(alone), top_k - top_k // 4)
    if top_k == 20:
        assert own == alone
        assert any(row["file_path"] == "src/worker.py" for row in own)
        assert [row["tier"] for row in both[len(own) :]] == ["medulla"] * 3
        text = answer["rendered"]
        assert text.index("Worker retry note") < text.index("src/worker.py") < text.index("Worker retry law")


@pytest.mark.req("MED-120", "MED-195")
def test_med_120_a_conflict_does_not_reorder_what_seek_finds(world: World) -> None:
    x = world.brain("x")
    for label, text in (("Kettle", "The kettle boils at 90."), ("Kettle rest", "The kettle rests at 20 in the cupboard.")):
        world.at(x).memorize(label, text)
    world.human(x).memorize("Kettle", "The kettle boils at 100.", tier="medulla", absolute=True)

    alone = [row["slug"] for row in world.at(x).seek("kettle", tier="project")["results"]]
    answer = world.at(x).seek("kettle")

    assert [row["slug"] for row in answer["results"][:2]] == alone
    assert [row["tier"] for row in answer["results"]] == ["project", "project", "medulla"]
    assert [pair["slug"] for pair in answer["conflicts"]] == ["kettle"]


@pytest.mark.req("MED-122", "MED-123")
@pytest.mark.parametrize("operation", ["seek", "north"])
def test_med_122_a_named_tier_gives_only_its_rows(world: World, operation: str) -> None:
    x, _ = three_brains(world)
    word, key = {"seek": ("query", "results"), "north": ("task", "memory")}[operation]

    def asked(root: str | None, tier: str) -> list[tuple[str, str]]:
        return claims(world.at(root).call(operation, **{word: "kettle"}, tier=tier), key)

    assert asked(x, "project") == [("Kettle of x", "project")]
    assert asked(x, "medulla") == [("Kettle doctrine", "medulla")]
    assert asked(None, "medulla") == [("Kettle doctrine", "medulla")]


@pytest.mark.req("MED-132")
@pytest.mark.parametrize("value", ["everything", "ALL BRAINS", "all", "*", "project,medulla", "../y"])
@pytest.mark.parametrize("operation", ["seek", "north"])
def test_med_132_an_unknown_tier_never_widens_the_read(world: World, operation: str, value: str) -> None:
    x, _ = three_brains(world)
    word, key = {"seek": ("query", "results"), "north": ("task", "memory")}[operation]
    actor = world.at(x)

    default = actor.call(operation, **{word: "kettle"})
    answer = actor.call(operation, **{word: "kettle"}, tier=value)

    assert answer[key] == default[key]
    assert value in answer["tier_warning"]
    assert "tier_warning" not in default
    assert "groups" not in answer


@pytest.mark.req("MED-133")
@pytest.mark.parametrize(("tier", "said"), TIERS.items())
@pytest.mark.parametrize("operation", ["seek", "north"])
def test_med_133_the_answer_says_how_wide_the_beat_was(world: World, operation: str, tier: str | None, said: str) -> None:
    x, _ = three_brains(world)
    word = {"seek": "query", "north": "task"}[operation]

    assert world.at(x).call(operation, **{word: "kettle"}, tier=tier)["tier"] == said


@pytest.mark.req("MED-124", "MED-133")
def test_med_124_the_wide_tier_has_one_alias(world: World) -> None:
    x, y = three_brains(world)

    answer = world.at(x).seek("kettle", tier="all_brains")

    assert answer["tier"] == "all-brains"
    assert {group["origin_brain"] for group in answer["groups"]} == {x, y, "medulla"}


@pytest.mark.req("MED-137")
def test_med_137_a_claim_is_one_row_however_many_markers_it_has(world: World) -> None:
    x = world.brain("x", src__a_py="a\n")
    world.at(x).call(
        "memorize",
        node_label="Kettle",
        claims=[
            block("Kettle one", "The kettle boils.", confidence=0.9, ambiguity=0.1, evidence=["src/a.py"], depends_on=["Cup"]),
            block("Kettle two", "The kettle whistles.", kind="event"),
        ],
    )

    rows = world.at(x).seek("kettle", scope="light::")["results"]

    assert len(rows) == 1
    assert "boils" in rows[0]["text"]
    assert "whistles" in rows[0]["text"]
    assert "[" not in rows[0]["text"]


@pytest.mark.req("MED-138")
def test_med_138_five_rows_of_each_feed(world: World) -> None:
    x = world.brain("x")
    for number in range(10):
        world.at(x).memorize(f"Kettle {number}", f"Kettle number {number} boils.")
        world.at(x).memorize(f"Shared kettle {number}", f"Shared kettle number {number} boils.", tier="medulla")

    answer = world.at(x).north("kettle")

    assert [row["tier"] for row in answer["memory"]] == ["project"] * 5 + ["medulla"] * 5
    assert all(row["score"] >= 0.1 for row in answer["memory"])
    assert answer["memory_exists"] == 20


@pytest.mark.req("MED-153")
@pytest.mark.parametrize("filled", [False, True])
def test_med_153_north_always_has_its_keys(world: World, filled: bool) -> None:
    x = world.brain("x")
    if filled:
        three_brains(world)
    wanted = {
        *("schema", "binding", "reception", "memory", "memory_exists", "memory_exists_by_tier"),
        *("conflicts", "honest_gaps", "tier", "anchors"),
    }

    answer = world.at(x).north("kettle")

    assert wanted <= set(answer)
    assert all(isinstance(answer[key], list) for key in ("memory", "conflicts", "honest_gaps", "anchors"))
    assert answer["reception"] is None


@pytest.mark.req("MED-138")
def test_med_138_rows_and_their_cost_follow_their_settings(world: World) -> None:
    x = world.brain("x")
    for number in range(3):
        world.at(x).memorize(f"Kettle {number}", f"Kettle number {number} boils. " + "It is a long story. " * 200)
    world.restart(beat_rows_per_feed=2, beat_tokens=300)

    rows = world.at(x).north("kettle")["memory"]

    assert len(rows) == 2
    assert sum(len(row["text"]) for row in rows) <= 300 * 4
    assert all(row["truncated"] and row["text"].endswith("…") for row in rows), "a cut is named"
    world.restart(beat_rows_per_feed=5, beat_tokens=20_000)
    assert [row.get("truncated") for row in world.at(x).north("kettle")["memory"]] == [None] * 3


@pytest.mark.req("MED-124", "MED-132")
def test_med_124_a_machine_may_switch_the_wide_read_off(world: World) -> None:
    x, y = three_brains(world)
    world.restart(all_brains=False)

    found, beat = world.at(x).seek("kettle", tier="all-brains"), world.at(x).north("kettle", tier="all-brains")

    assert "groups" not in found
    assert "groups" not in beat
    assert y not in str([found, beat])
    assert found["tier_warning"]
    assert "all_brains_off" in [gap["kind"] for gap in beat["honest_gaps"]]
