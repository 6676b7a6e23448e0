"""A caller that leaves: what was begun for it stops at a whole batch, and the next one finds nobody in its way."""

import json
import time
from pathlib import Path

from tests.support.owner import LIMIT_S, Starter

ROWS = 8_000


def test_gr_174_a_caller_that_leaves_stops_what_was_begun_for_it(starter: Starter, tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "app"
    home.mkdir(mode=0o700)
    root.mkdir()
    said = ({"role": "user", "content": f"turn {number} about harbour {number % 97}"} for number in range(ROWS))
    (root / "chat.jsonl").write_text("".join(json.dumps(one) + "\n" for one in said))
    running = starter(home)
    assert running.call("init", root=root, path=str(root))["ok"]
    told = {"path": str(root / "chat.jsonl")}

    body = json.dumps(told).encode()
    headers = {"content_type": "application/json", "hindbrain_caller_root": str(root)}
    with running.stream("/api/op/memory.ingest", method="POST", body=body, **headers) as stream:
        first = stream.next()
    assert first is not None
    assert first["event"] == "progress"

    deadline = time.monotonic() + LIMIT_S
    while not (again := running.call("memory.ingest", root=root, **told))["ok"]:
        assert again["error"]["code"] == "busy"  # it is just leaving
        assert time.monotonic() < deadline

    assert 0 < len(again["created"]) < ROWS  # what was kept before stays, and it had not gone on to the end
    assert "its caller left" in (home / "owner.log").read_text()
    assert "Task" not in (home / "owner.log").read_text()  # destroyed while it was pending, or an exception nobody retrieved
