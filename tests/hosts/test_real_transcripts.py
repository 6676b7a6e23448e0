"""Transcripts of the real Claude Code 2.1.197, Codex 0.169.0 and Gemini CLI 0.61.0, recorded by tools/real_hosts.py.

Each had Hindbrain's hooks, server and note in its instructions, and two or three turns on one topic."""

import re
from pathlib import Path

import pytest

from tests.support.hooking import HookScene
from tests.support.world import World

DATA = Path(__file__).with_name("data")
PLACES = {
    "claude-code": ".claude/projects/app/{}.jsonl",
    "codex": ".codex/sessions/2026/11/18/rollout-{}.jsonl",
    "gemini": ".gemini/tmp/app/chats/session-{}.jsonl",
}
ASKED = ["Please make the ferry timetable sortable.", "Now by arrival, please.", "And the night ferries last."]
ANSWERED = "I sort the timetable by departure in src/ferry.py."
OURS = re.compile(r"hindbrain|hook_context|```memory|`north`|read as local time", re.IGNORECASE)


@pytest.mark.parametrize(("host", "turns"), [("claude-code", 2), ("codex", 3), ("gemini", 2)])
def test_a_real_transcript_leaves_what_was_said_and_nothing_of_ours(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, turns: int
) -> None:
    user = tmp_path / "user"
    monkeypatch.setenv("HOME", str(user))
    scene = HookScene.of(world, host=host, agent=host)
    log = user / PLACES[host].format("s")
    log.parent.mkdir(parents=True)
    text = (DATA / f"{host}.jsonl").read_text()
    log.write_text(text.replace("{root}", scene.root).replace("{user}", str(user)).replace("{place}", str(tmp_path)))
    assert "The ferry timetable is read as local time" in text, "the session was given memory"

    saved = scene.tell("PreCompress" if host == "gemini" else "PreCompact", transcript_path=str(log), trigger="manual")

    rows = scene.actor.call("memory.list", newest=False, limit=100)["rows"]
    assert saved["gaps"] == []
    assert [row["content"] for row in rows if OURS.search(row["content"])] == []
    assert [row["content"] for row in rows if row["provenance"] == "human"] == ASKED[:turns]
    assert {(row["content"], row["role"], row["provenance"]) for row in rows if row["provenance"] != "human"} == {
        (ANSWERED, "assistant", "runtime")
    }
