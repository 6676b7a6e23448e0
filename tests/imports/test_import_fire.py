"""An import that is killed leaves whole batches, goes on when it is repeated, and leaves no copy of what it read."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.imports.test_mempal import opened
from tests.support.palaces import mempal
from tests.support.world import World

ROWS = 1_300  # several batches
CARDS = 250

_CHILD = """
import json, os, signal, sys
from pathlib import Path
from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

home, root, path, stop = sys.argv[1:5]
caller = local_caller(root=root, agent="child:maker", channel=Channel.AGENT, environ={})
session = embedded(Home(Path(home)), Settings({}), caller)
house = session.app.house
brain = house.home.project(os.path.realpath(root))
with house.brains.use(brain) as opened:
    store = type(opened.store)
writing, done = store.writing, [0]

def counted(self):
    done[0] += 1
    if done[0] == int(stop):
        os.kill(os.getpid(), signal.SIGKILL)
    return writing(self)

store.writing = counted  # a power cut just before this very transaction
print(json.dumps(session.call("memory.import", path=path, execute=True)), flush=True)
os._exit(0)
"""


def child(world: World, root: str, path: str, stop: int) -> tuple[int, dict[str, Any] | None]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(world.home.path), root, path, str(stop)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else None


@pytest.fixture
def large(tmp_path: Path) -> str:
    palace = mempal(tmp_path / "palace.db", 9)
    with palace.connection as connection:
        connection.executemany(
            "INSERT INTO drawers (id, content, wing, source_type, added_at) VALUES (?, ?, 'app', 'manual', '1777710000')",
            [(f"drawer_{n}", f"the kettle of house {n} whistled") for n in range(ROWS)],
        )
        connection.executemany(
            "INSERT INTO knowledge_cards VALUES (?, ?, 'why', 'qi', 'candidate', 'project', 'general', 'repo', 'repo://legacy', "
            "NULL, NULL, NULL, '1777710000', '1777710000')",
            [(f"card_{n}", f"Kettle {n} whistles") for n in range(CARDS)],
        )
        connection.executemany(
            "INSERT INTO knowledge_evidence_links VALUES (?, ?, ?, 'supporting', NULL, '1777710000')",
            [(f"link_{n}", f"card_{n}", f"drawer_{n}") for n in range(CARDS)],
        )
        connection.executemany(
            "INSERT INTO runtime_adoption_events (id, track, signal, feature, card_id, created_at) "
            "VALUES (?, 'card_context', 'used', 'f', ?, '1')",
            [(f"adoption_{n}", f"card_{n}") for n in range(CARDS)],
        )
    return palace.close()


@pytest.mark.parametrize("stop", [2, 4, 7])
def test_a_killed_import_goes_on_where_it_was(world: World, tmp_path: Path, large: str, stop: int) -> None:
    root = world.brain("app")
    world.at(root).call("record", text="there before")
    world.close()

    code, told = child(world, root, large, stop)
    assert (code, told) == (-signal.SIGKILL, None)
    with opened(world, root) as brain:
        cards = list(brain.store.each_card())
        links, events = brain.store.links(), brain.store.card_events()
        rows = brain.store.counts().evidence
    assert rows < 1 + ROWS or len(cards) < CARDS or stop == 7
    assert len(links) == len(events) == len(cards), "a card is there whole or not at all"
    assert all(card.backed for card in cards)
    assert not [path for path in world.home.path.rglob("*") if path.is_file() and path.name.startswith("copy.db")]
    assert world.at(root).call("ledger.verify")["ok"]

    again = world.at(root).call("memory.import", path=large, execute=True)
    third = world.at(root).call("memory.import", path=large, execute=True)

    assert again["ok"], again
    with opened(world, root) as brain:
        assert brain.store.counts().evidence == 1 + ROWS
        assert len(list(brain.store.each_card())) == len(brain.store.links()) == len(brain.store.adoptions()) == CARDS
    assert again["counts"]["evidence"] + rows == 1 + ROWS
    assert not third["writes"]


def test_the_control_an_import_that_nobody_kills_ends(world: World, large: str) -> None:
    root = world.brain("app")
    world.close()

    code, told = child(world, root, large, 0)

    assert code == 0
    assert told is not None
    assert (told["counts"]["evidence"], told["counts"]["cards"], told["counts"]["outcomes"]) == (ROWS, CARDS, CARDS)
