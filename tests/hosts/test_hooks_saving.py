"""A conversation is kept before its context is cut and told again afterwards: the log of each host, through the gateway, once."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.delegation import MOTHER, TASK, cherry
from tests.support.hooking import HookScene, claude_log, codex_log, cursor_log, gemini_lines_log, gemini_log, gemini_message
from tests.support.world import World

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
SAID = (
    ("user", "Please make the ferry timetable sortable."),
    ("assistant", "I sort the timetable by departure in src/ferry.py."),
    ("user", "Keep the night ferries at the end."),
    ("assistant", "Night ferries now come last; the tests are still red."),
)


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home directory of the person, where hosts keep their logs."""
    place = tmp_path / "user"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    return place


def log_of(scene: HookScene, user: Path, *said: tuple[str, str]) -> str:
    """The log of the session, where its host keeps it."""
    name = scene.session
    if scene.host == "claude-code":
        return claude_log(user / f".claude/projects/app/{name}.jsonl", scene.root, name, *said)
    if scene.host == "codex":
        return codex_log(user / f".codex/sessions/2026/07/05/rollout-{name}.jsonl", scene.root, name, *said)
    if scene.host == "cursor":
        return cursor_log(user / f".cursor/projects/app/agent-transcripts/{name}.jsonl", *said)
    return gemini_log(user / f".gemini/tmp/app/chats/session-{name}.json", name, *said)


def found(scene: HookScene, words: str) -> list[str]:
    return [row["content"] for row in scene.actor.call("memory.search", query=words)["results"]]


EVENTS = {  # before the cut, and where the host can be told of it again
    "claude-code": ("PreCompact", "SessionStart", {"source": "compact"}),
    "codex": ("PreCompact", "SessionStart", {"source": "compact"}),
    "cursor": ("PreCompact", "PostToolUse", {}),
    "gemini": ("PreCompress", "BeforeAgent", {"prompt": "go on"}),
}


@pytest.mark.parametrize("host", list(EVENTS))
def test_hook_what_was_said_is_kept_once_and_told_after_the_cut(world: World, user: Path, host: str) -> None:
    scene = HookScene.of(world, host=host, agent=host)
    before, after, more = EVENTS[host]
    log = log_of(scene, user, *SAID[:2])

    first = scene.tell(before, transcript_path=log)
    again = scene.tell(before, transcript_path=log)
    grown = scene.tell(before, transcript_path=log_of(scene, user, *SAID))
    told = scene.clean(after, **more)

    assert [one["gaps"] for one in (first, again, grown)] == [[], [], []]
    assert [one["saved"]["chunks"] for one in (first, again, grown)] == [2, 0, 2]
    assert [one["rendered"] for one in (first, again, grown)] == ["", "", ""]
    assert found(scene, "ferry timetable sortable")[0] == SAID[0][1]
    assert told.index(SAID[2][1]) < told.index(SAID[3][1])
    assert "no instructions" in told
    if after != "SessionStart":
        assert scene.clean(after, **more) == ""


def test_hook_a_note_tells_nothing_that_was_forgotten_and_nothing_of_another_session(world: World, user: Path) -> None:
    scene = HookScene.of(world)
    scene.tell("PreCompact", transcript_path=log_of(scene, user, *SAID))
    (row,) = [
        one for one in scene.actor.call("memory.search", query="night ferries last")["results"] if one["content"] == SAID[3][1]
    ]
    assert scene.actor.call("memory.delete", evidence_id=row["evidence_id"])["ok"]

    told = scene.clean("SessionStart", source="compact")
    scene.session = "another"
    other = scene.clean("SessionStart", source="compact")

    assert SAID[2][1] in told.split("Hindbrain memory for")[0]
    assert SAID[3][1] not in told
    assert "context of this session was cut" not in other


def test_hook_secrets_are_not_kept_and_the_rest_is(world: World, user: Path) -> None:
    scene = HookScene.of(world)
    saved = scene.tell("PreCompact", transcript_path=log_of(scene, user, ("user", f"deploy with {TOKEN}"), SAID[1]))

    assert [row["code"] for row in saved["refused"]] == ["hygiene"]
    assert saved["saved"]["chunks"] == 1
    assert TOKEN not in scene.clean("SessionStart", source="compact")
    kept = [path for path in world.home.path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert kept == []


def test_conf_01_the_log_of_another_project_is_not_kept_here(world: World, user: Path) -> None:
    scene = HookScene.of(world)
    other = HookScene.of(world, name="other", session="of-another")
    theirs = log_of(other, user, *SAID)
    brainless = claude_log(user / "x.jsonl", world.repository("bare"), "s", *SAID)
    unsaid = cursor_log(user / "elsewhere.jsonl", *SAID)
    link = user / ".claude/projects/link.jsonl"
    link.symlink_to(log_of(scene, user, *SAID))
    text = user / ".claude/notes.txt"
    text.write_text("a plain text\nof two lines\n")
    fifo = user / ".claude/pipe.jsonl"
    os.mkfifo(fifo)

    for path in (theirs, brainless, unsaid, str(link), str(text), str(fifo), str(user), "relative.jsonl", "/nowhere.jsonl"):
        answer = scene.tell("PreCompact", transcript_path=path)
        assert answer["saved"] is None, path
        assert [one["kind"] for one in answer["gaps"]] == ["save_failed"], path
    assert found(scene, "ferry timetable") == []


def test_hook_a_worktree_saves_into_the_brain_of_its_repository(world: World, user: Path) -> None:
    from tests.support.world import git

    scene = HookScene.of(world)
    git(scene.root, "add", "-A")
    git(scene.root, "commit", "-qm", "first")
    tree = str(world.place / "tree")
    git(scene.root, "worktree", "add", "-q", tree)
    inside = HookScene(world=world, root=tree, session="in-tree")

    assert inside.tell("PreCompact", transcript_path=log_of(inside, user, *SAID))["saved"]["chunks"] == 4
    assert SAID[3][1] in inside.clean("SessionStart", source="compact")


@pytest.mark.parametrize(("saves", "kept"), [("never", [None, None]), ("compaction", [None, 4]), ("stop", [4, 0])])
def test_hook_a_setting_says_when_a_conversation_is_kept(tmp_path: Path, user: Path, saves: str, kept: list[Any]) -> None:
    world = World(tmp_path, **{"hooks.save": saves})
    try:
        scene = HookScene.of(world)
        log = log_of(scene, user, *SAID)
        told = [scene.tell(event, transcript_path=log) for event in ("Stop", "PreCompact")]
    finally:
        world.close()

    assert [one["saved"] and one["saved"]["chunks"] for one in told] == kept
    assert [one["gaps"] for one in told] == [[], []]


def test_hook_a_session_that_is_kept_at_every_stop_is_not_told_its_own_words(tmp_path: Path, user: Path) -> None:
    world = World(tmp_path, **{"hooks.save": "stop"})
    try:
        scene = HookScene.of(world)
        scene.tell("Stop", transcript_path=log_of(scene, user, *SAID))
        own = scene.clean("UserPromptSubmit", prompt="make the ferry timetable sortable")
        scene.session = "another"
        other = scene.clean("UserPromptSubmit", prompt="make the ferry timetable sortable")
    finally:
        world.close()

    assert own == ""
    assert SAID[0][1] in other


def test_hook_odd_logs_do_no_harm(world: World, user: Path) -> None:
    scene = HookScene.of(world)
    place = user / ".gemini/tmp/app"
    place.mkdir(parents=True)
    good = json.dumps({"type": "user", "cwd": scene.root, "sessionId": "s", "message": {"content": "a word"}}).encode()
    bodies = [
        b"",
        b"\x00" * 1000,
        b"[" * 50_000,
        b'{"messages": ' * 20_000,
        b'{"messages": [1, null, {"type": "user"}, {"type": "gemini", "content": {"text": 7}}, {"type": ["user"]}]}',
        b'{"messages": [{"type": "user", "id": {"a": 1}, "timestamp": 3, "content": [{"text": "\\ud800 a \\u0000"}, "b", 3]}]}',
        b"\xff\xfe{}\n" + good,
        good + b"\n" + b"x" * 3_000_000 + b"\n" + good,
    ]
    for number, body in enumerate(bodies):
        path = place / f"{number}.jsonl"
        path.write_bytes(body)
        for scene.host in ("claude-code", "gemini", "generic"):
            scene.tell("PreCompact", transcript_path=str(path))
            scene.tell("SubagentStop", agent_transcript_path=str(path))
            scene.text("SessionStart", source="compact")


def test_hook_the_report_of_a_child_is_found_at_the_end_of_its_log(world: World, user: Path) -> None:
    root, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)["delegation_id"]
    scene = HookScene(world=world, root=root, agent=MOTHER)
    long = [("user" if number % 2 else "assistant", f"turn {number} " + "word " * 200) for number in range(400)]
    log = claude_log(user / "agent.jsonl", root, "child", *long, ("assistant", f"[m1nd {packet}]\nFINDINGS: none"))
    assert os.path.getsize(log) > 256 * 1024

    assert scene.tell("SubagentStop", agent_transcript_path=log)["debrief_due"] == packet


# -- Gemini CLI announces a cut before every request ---------------------------------------------------------------------


def turn(scene: HookScene, user: Path, *records: Any) -> tuple[list[Any], str]:
    """One turn of Gemini CLI: what each of its events kept, and what the prompt was told."""
    log = gemini_lines_log(user / f".gemini/tmp/app/chats/session-{scene.session}.jsonl", scene.session, *records)
    told = scene.clean("BeforeAgent", transcript_path=log, prompt="go on")
    kept = []
    for event, more in (("PreCompress", {"trigger": "auto"}), ("PreCompress", {"trigger": "auto"}), ("AfterAgent", {})):
        kept.append(scene.tell(event, transcript_path=log, **more)["saved"])
    return [one and one["chunks"] for one in kept], told


def list_of(*names: int) -> dict[str, Any]:
    """The line that makes these messages all there are, after a summary of the rest."""
    summary = gemini_message("sum", "user", "<state_snapshot>ferries</state_snapshot>")
    return {"$set": {"messages": [summary, *(gemini_message(f"n{one}", *SAID[one]) for one in names)]}}


def test_gemini_a_turn_that_cuts_nothing_is_not_kept(world: World, user: Path) -> None:
    scene = HookScene.of(world, host="gemini", agent="gemini")
    same = {"$set": {"messages": [gemini_message(f"m{one}", *SAID[one]) for one in range(4)]}}

    turns = [
        turn(scene, user, *SAID[:2]),
        turn(scene, user, *SAID),
        turn(scene, user, *SAID, same),
        turn(scene, user, *SAID, {"$rewindTo": "m2"}, {"$set": {"messages": [gemini_message("m1", *SAID[1])]}}),
    ]

    assert turns == [([None] * 3, "")] * 4
    assert found(scene, "ferry timetable") == []


def test_gemini_what_was_cut_is_kept_once_whole_and_told_once(world: World, user: Path) -> None:
    scene = HookScene.of(world, host="gemini", agent="gemini")
    more = ("user", "And sort the trams.")

    turns = [
        turn(scene, user, *SAID),
        turn(scene, user, *SAID, list_of(3)),
        turn(scene, user, *SAID, list_of(3), more),
        turn(scene, user, *SAID, list_of(3), more, list_of()),
    ]

    assert [kept for kept, _ in turns] == [[None] * 3, [4, None, None], [None] * 3, [1, None, None]]
    assert [SAID[3][1] in told for _, told in turns] == [False, False, True, False]
    assert found(scene, "ferry timetable sortable")[0] == SAID[0][1]


def test_gemini_a_cut_in_the_middle_of_a_turn_is_kept_at_its_end(world: World, user: Path) -> None:
    scene = HookScene.of(world, host="gemini", agent="gemini")
    place = user / f".gemini/tmp/app/chats/session-{scene.session}.jsonl"
    before = scene.tell("PreCompress", trigger="auto", transcript_path=gemini_lines_log(place, scene.session, *SAID))
    log = gemini_lines_log(place, scene.session, *SAID, list_of(3))

    assert before["saved"] is None
    assert scene.tell("AfterAgent", transcript_path=log)["saved"]["chunks"] == 4
    assert scene.tell("PreCompress", trigger="auto", transcript_path=log)["saved"] is None


def test_gemini_a_person_who_compresses_has_it_kept_and_told_once(world: World, user: Path) -> None:
    scene = HookScene.of(world, host="gemini", agent="gemini")
    place = user / f".gemini/tmp/app/chats/session-{scene.session}.jsonl"
    asked = scene.tell("PreCompress", trigger="manual", transcript_path=gemini_lines_log(place, scene.session, *SAID))
    after = [turn(scene, user, *SAID, list_of(3)), turn(scene, user, *SAID, list_of(3))]

    assert asked["saved"]["chunks"] == 4
    assert [kept for kept, _ in after] == [[None] * 3] * 2
    assert [SAID[3][1] in told for _, told in after] == [True, False]

    scene.session = "refused"  # the host did not cut after all; the next cut is seen
    place = user / f".gemini/tmp/app/chats/session-{scene.session}.jsonl"
    scene.tell("PreCompress", trigger="manual", transcript_path=gemini_lines_log(place, scene.session, *SAID))
    assert turn(scene, user, *SAID)[0] == [None] * 3
    assert turn(scene, user, *SAID, list_of(3))[0] == [0, None, None]


def test_gemini_in_its_older_log_a_cut_shows_by_the_tokens_of_a_prompt(world: World, user: Path) -> None:
    scene = HookScene.of(world, host="gemini", agent="gemini")
    log = Path(gemini_log(user / ".gemini/tmp/app/chats/session-old.json", scene.session, *SAID))
    kept = []
    for later in (900, 300):
        document = json.loads(log.read_text())
        for message, count in zip(document["messages"][1::2], (800, later), strict=True):
            message["tokens"] = {"input": count, "output": 5}
        log.write_text(json.dumps(document))
        kept.append(scene.tell("PreCompress", trigger="auto", transcript_path=str(log))["saved"])

    assert kept[0] is None
    assert kept[1]["chunks"] == 4
