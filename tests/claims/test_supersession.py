"""Strength, supersession, history and locks: no weaker belief wins, no version is lost, no dead writer blocks."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from hindbrain.domain.claim import parse
from hindbrain.domain.errors import WouldDowngrade
from hindbrain.stores.files import ClaimDirectory
from tests.support import forking
from tests.support.world import World, block, tree_hash


@pytest.mark.req("MED-093", "MED-094")
@pytest.mark.parametrize(
    ("live", "new", "supersedes"),
    [
        (("authored", 0.6), ("authored", 0.6), True),
        (("authored", 0.9), ("authored", 0.6), False),
        (("verified", 0.5), ("authored", 0.9), False),
        (("authored", None), ("authored", None), True),
        (("authored", None), ("authored", 0.1), True),
        (("authored", 0.1), ("authored", None), False),
        (("authored", 0.9), ("verified", 0.9), True),
        (("authored", "high"), ("authored", 0.9), True),
        (("authored", 0.6), ("authored", "low"), False),
        (("authored", "medium"), ("authored", "no idea"), False),
    ],
)
def test_med_093_a_version_replaces_another_that_is_stronger_on_no_axis(
    world: World, live: tuple[str, Any], new: tuple[str, Any], supersedes: bool
) -> None:
    x = world.brain("x")
    world.at(x).memorize("Label", "the live one", state=live[0], confidence=live[1])
    before = world.file(x, "label").read_bytes()

    answer = world.at(x).call("memorize", node_label="Label", text="the new one", state=new[0], confidence=new[1])

    assert answer["ok"] is True
    assert answer.get("superseded") is supersedes
    assert (world.file(x, "label").read_bytes() != before) is supersedes
    assert len(world.history(x, "label")) == int(supersedes)


@pytest.mark.req("MED-093")
def test_med_093_the_strongest_block_speaks_for_the_claim(world: World) -> None:
    x = world.brain("x")
    world.at(x).call("memorize", node_label="Label", claims=[block("a", confidence=0.2), block("b", confidence=0.8)])

    weaker = world.at(x).call("memorize", node_label="Label", claims=[block("a", confidence=0.7), block("b", confidence=0.7)])
    equal = world.at(x).call("memorize", node_label="Label", claims=[block("a"), block("b", confidence=0.8)])

    assert (weaker["reason"], equal["superseded"]) == ("would_downgrade", True)


@pytest.mark.req("MED-094")
def test_med_094_a_weaker_write_is_told_what_it_met_and_changes_nothing(world: World) -> None:
    x = world.brain("x")
    world.at(x, "codex:first").memorize("Label", "checked", state="verified", confidence=0.9)
    born = world.clock.now
    world.clock.forward(1_000)
    before = tree_hash(world.home.brains_dir)

    answer = world.at(x).call("memorize", node_label="Label", text="only a guess", state="authored", confidence=0.9)

    assert (answer["ok"], answer["reason"]) == (True, "would_downgrade")
    assert (answer["bytes_written"], answer["claims_written"]) == (0, 0)
    assert (answer["ingested"], answer["superseded"]) == (False, False)
    assert answer["live"] == {"state": "verified", "confidence": 0.9, "source_agent": "codex:first", "created": born}
    assert tree_hash(world.home.brains_dir) == before
    assert WouldDowngrade.code == "would_downgrade"


@pytest.mark.req("MED-095", "MED-096", "MED-066")
def test_med_095_an_equal_write_archives_the_live_file_with_one_changed_line(world: World) -> None:
    x = world.brain("x")
    world.at(x, "codex:first").memorize("Label", "the first text", confidence=0.5)
    first = world.file(x, "label").read_text().split("\n")
    world.clock.forward(1_000)

    world.at(x, "codex:second").memorize("Label", "the second text", confidence=0.5)

    live = parse(world.file(x, "label").read_text())
    assert (live.created, live.supersedes, live.source_agent) == (world.clock.now, "label", "codex:second")
    (archived,) = world.history(x, "label")
    assert archived.name == f"label.{world.clock.now}.light.md"
    kept = archived.read_text().split("\n")
    assert [(old, new) for old, new in zip(first, kept, strict=True) if old != new] == [("State: authored", "State: outdated")]


@pytest.mark.req("MED-097")
def test_med_097_two_archives_of_one_millisecond_have_two_names(world: World) -> None:
    x = world.brain("x")
    for number in range(3):
        world.at(x).memorize("Label", f"version {number}")

    texts = {parse(path.read_text()).blocks[0].text for path in world.history(x, "label")}

    assert texts == {"version 0", "version 1"}


@pytest.mark.req("MED-098")
def test_med_098_twenty_processes_at_one_label_lose_nothing(world: World) -> None:
    x = world.brain("x")
    world.close()
    texts = [f"the text of writer {number} " + "x" * 500 for number in range(20)]
    words = ("tests.support.writer", str(world.home.path), x, "Contended")
    writers = [forking.start(*words, text, environ=os.environ) for text in texts]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
    answers = [json.loads(writer.communicate(timeout=120)[0]) for writer in writers]

    assert all(answer["ok"] for answer in answers)
    assert sum(bool(answer.get("superseded")) for answer in answers) == 19
    archived = [parse(path.read_text()).blocks[0].text for path in world.history(x, "contended")]
    live = parse(world.file(x, "contended").read_text()).blocks[0].text
    assert len(archived) == 19
    assert sorted([live, *archived]) == sorted(texts)
    assert not list(world.store(x).rglob("*.tmp"))
    assert len(world.at(x).call("history", claim="Contended")["versions"]) == 20
    assert world.at(x).call("ledger.verify")["ok"] is True


@pytest.mark.req("MED-099", "MED-100")
def test_med_099_a_writer_waits_for_its_own_slug_only(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("A", "first")
    place = ClaimDirectory(world.store(x))

    with place.lock("a", wait_s=0):
        beside = world.at(x).memorize("B", "beside")

    assert beside["ok"] is True
    assert place.locks_path.joinpath("a.lock").exists()
    assert world.at(x).memorize("A", "second")["superseded"] is True


@pytest.mark.req("MED-100")
def test_med_100_a_lock_file_without_a_holder_blocks_nobody(world: World) -> None:
    x = world.brain("x")
    locks = ClaimDirectory(world.store(x)).locks_path
    locks.mkdir(parents=True)
    holder = "import fcntl, os, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", holder, str(locks / "a.lock")], check=False, timeout=30)
    assert (locks / "a.lock").exists()

    with ClaimDirectory(world.store(x)).lock("a", wait_s=0):
        pass

    assert world.at(x).memorize("A")["ok"] is True
