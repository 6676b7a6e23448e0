"""Two stores, one act: promotion writes both files or neither, and two promotions never wait for each other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.promotion.test_promote import keys, promote, promoted
from tests.support.world import DAY, World, tree_hash

REPOSITORY = Path(__file__).parents[2]


def medulla_state(world: World) -> tuple[str, list[str], int]:
    """The medulla's files, and what its rows say is live."""
    answer = world.at(None).call("seek", query="port doctrine", tier="medulla")
    return tree_hash(world.store(None)), sorted(row["text"] for row in answer["results"]), answer["memory_exists"]


@pytest.mark.req("MED-172")
@pytest.mark.parametrize("earlier_copy", [False, True])
def test_med_172_a_failing_stamp_takes_the_copy_back(world: World, earlier_copy: bool) -> None:
    x = world.brain("x")
    world.at(x).memorize("Doctrine", "The doctrine of ports.", tier="medulla")
    world.at(x).memorize("Port", "The port is 1338.")
    if earlier_copy:
        promoted(world, x, "port")
        world.clock.forward(DAY)
        world.at(x).memorize("Port", "The port is 1339.")
    before, witness = medulla_state(world), tree_hash(world.store(x))
    history = world.store(x) / ".history"
    kept = history.with_name("kept")
    history.rename(kept)
    history.write_text("where the archive should be, there is a file: the witness cannot be stamped", encoding="utf-8")

    failed = promote(world, x, "port")

    history.unlink()
    kept.rename(history)
    assert failed["ok"] is False, failed
    assert medulla_state(world) == before
    assert tree_hash(world.store(x)) == witness
    world.restart()
    assert medulla_state(world) == before, "and a restart finds nothing to finish"
    assert not world.at(x).call("doctor")["memory"]["conflicts"] or earlier_copy
    assert promoted(world, x, "port")["promoted"], "the next attempt succeeds"


_PROMOTER = """
import sys
from pathlib import Path
from tests.support.world import World
world = World(Path(sys.argv[1]))
failed = []
for turn in range(int(sys.argv[2])):
    for root in sys.argv[3:]:
        answer = world.at(root, "claude:orchestrator").call("promote", brain=root, claim="port", reason=f"turn {turn}")
        if not answer["ok"]:
            failed.append(answer)
world.close()
print(failed)
sys.exit(bool(failed))
"""


@pytest.mark.req("MED-173")
def test_med_173_two_processes_in_opposite_order_do_not_lock_each_other_out(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    for root in (x, y):
        world.at(root).memorize("Port", f"The port of {Path(root).name}.")
    promoted(world, x, "port")
    turns = 25  # two promotions each in two processes: 100 in all
    world.close()

    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _PROMOTER, str(world.place), str(turns), *order],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for order in ((x, y), (y, x))
    ]
    outputs = [process.communicate(timeout=240)[0] for process in running]

    assert [process.returncode for process in running] == [0, 0], outputs
    assert [path.name for path in world.store(None).glob("*.light.md")] == ["port.light.md"]
    assert len(world.history(None)) == 4 * turns, "every copy that was replaced is in the history"
    for root in (x, y):
        assert keys(world.file(root, "port").read_text(encoding="utf-8"))["Promoted-To"].startswith("medulla@port@")
        assert world.at(root).call("ledger.verify")["ok"]
    assert world.at(x).call("ledger.verify", tier="medulla")["ok"]


@pytest.mark.req("MED-171", "MED-192", "MED-170")
def test_med_171_the_cap_is_soft_and_named_from_300_on(world: World) -> None:
    x = world.brain("x")
    for number in range(1, 4):
        world.at(x).memorize(f"Port {number}", f"Port number {number}.")

    def doctrines(upto: int) -> None:
        known = len(list(world.store(None).glob("*.light.md"))) if world.store(None).exists() else 0
        for number in range(known, upto):
            world.at(x).memorize(f"Doctrine {number}", tier="medulla")

    doctrines(199)
    full = promoted(world, x, "port-1")
    over = promoted(world, x, "port-2")
    doctrines(299)
    assert not any(w["kind"] == "medulla_over_300" for w in world.at(x).call("doctor")["warnings"])
    warned = promoted(world, x, "port-3")

    assert (full["medulla_claim_count"], full["over_soft_cap"], full["warnings"]) == (200, False, [])
    assert (over["medulla_claim_count"], over["over_soft_cap"], over["warnings"]) == (201, True, [])
    assert (warned["medulla_claim_count"], warned["warnings"]) == (300, ["medulla_over_300"])
    world.at(x).memorize("One more", tier="medulla")
    doctor, plan = world.at(x).call("doctor"), world.at(x).call("consolidate")
    assert "301" in next(w["text"] for w in doctor["warnings"] if w["kind"] == "medulla_over_300")
    assert doctor["memory"]["medulla"] == {"active": 301, "soft_cap": 200, "warn_at": 300, "warn": True}
    assert (plan["medulla_claim_count"], plan["warnings"]) == (301, ["medulla_over_300"])
