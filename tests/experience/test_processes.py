"""Processes that share one memory: each writes and reads, none damages what another wrote."""

import subprocess
import sys

from hindbrain.domain.ledger import breaks
from hindbrain.domain.message import Role
from hindbrain.stores.port import MegramFilter
from tests.support.experience import PAIR, Lab, open_sqlite

WRITING = """
import sys
from pathlib import Path
from hindbrain.domain.message import Role
from hindbrain.services.control.journal import Journal
from tests.support.experience import Lab, open_sqlite

lab = Lab(open_sqlite(Path(sys.argv[1])), deposits=Journal)
tickets = [lab.experience.write(lab.draft(content=f"{sys.argv[2]} {turn}"), by=Role.SOLVER) for turn in range(40)]
assert all(ticket.wait(60) for ticket in tickets)
assert lab.experience.close()
lab.store.close()
"""


def test_exp_049_109_processes_that_write_one_memory_lose_and_damage_nothing(tmp_path):
    store = open_sqlite(tmp_path)
    lab = Lab(store)
    running = [subprocess.Popen([sys.executable, "-c", WRITING, str(tmp_path), name]) for name in ("one", "two")]
    while any(process.poll() is None for process in running):
        assert lab.experience.query_mk(PAIR.space, PAIR.entity, by=Role.PLANNER).attention >= 0
    assert [process.returncode for process in running] == [0, 0]
    said = {one.megram.content for one in store.effective(MegramFilter(pair=PAIR))}
    assert said == {f"{name} {turn}" for name in ("one", "two") for turn in range(40)}
    entries = store.entries(limit=5000)
    assert sum(entry.act == "megram.written" for entry in entries) == 80
    assert breaks(entries, head=store.head()) == []
    store.close()
