"""Ingest: files, trees, exports and texts become rows, once, whatever happens on the way (MIND-213 to MIND-229)."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.evidence_sources import CHATGPT, CLAUDE, CODEX, GENERIC, SLACK, child, conversation, jsonl, take
from tests.support.world import Actor, World, git, tree_hash

QUESTION, ANSWER = "Why does the ferry parser fail?", "It reads the timetable as UTC."


@pytest.fixture
def root(world: World) -> str:
    return world.brain("app")


@pytest.fixture
def actor(world: World, root: str) -> Actor:
    return world.at(root)


def put(root: str, name: str, text: str | bytes) -> Path:
    path = Path(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def took(actor: Actor, **arguments: Any) -> dict[str, Any]:
    answer = actor.call("memory.ingest", **arguments)
    assert answer["ok"], answer
    return answer


def rows(actor: Actor, **where: Any) -> list[dict[str, Any]]:
    return list(actor.call("memory.list", newest=False, limit=1000, **where)["rows"])


# -- what a tree gives -----------------------------------------------------------------------------------------------


@pytest.mark.req("MIND-214", "MIND-215", "MIND-063", "MIND-082", "MIND-076")
def test_mind_214_a_tree_is_taken_in_by_its_ignore_rules(root: str, actor: Actor) -> None:
    Path(root, "package.json").unlink()
    put(root, "docs/a.md", "# A\n\nthe ferry\n")
    put(root, "docs/b.log", "a log of the ferry\n")
    put(root, "docs/c.tmp", "a draft of the ferry\n")
    put(root, "docs/node_modules/x.md", "never\n")
    put(root, "docs/env/pyvenv.cfg", "home = /usr\n")
    put(root, "docs/env/x.md", "never\n")
    put(root, ".gitignore", "*.log\n")
    put(root, "docs/.gitignore", "!keep.log\n")
    put(root, "docs/keep.log", "kept after all\n")
    put(root, ".hindbrainignore", "*.tmp\n.gitignore\n.hindbrainignore\n")

    plain = took(actor, path="docs", dry_run=True)
    bare = took(actor, path="docs", dry_run=True, gitignore=False)
    every = took(actor, path="docs", dry_run=True, gitignore=False, ignorefile=False)
    named = took(actor, path="docs/b.log")
    took(actor, path="docs")

    assert (plain["files"], bare["files"]) == (2, 3)
    assert every["files"] == 5
    assert named["chunks"] == 1
    found = rows(actor)
    assert sorted(row["source_file"] for row in found) == ["docs/a.md", "docs/b.log", "docs/keep.log"]
    assert {(row["source_type"], row["provenance"], row["anchor_kind"]) for row in found} == {("project", "research", "worktree")}
    assert {row["parent_anchor_id"] for row in found} == {f"repo://{root}/.git"}


@pytest.mark.req("MIND-214")
def test_mind_214_more_rules_come_from_a_named_file(root: str, actor: Actor) -> None:
    put(root, "docs/a.md", "the ferry\n")
    put(root, "docs/b.md", "the tram\n")
    rules = put(root, "rules.txt", "b.md\n")

    assert took(actor, path="docs", ignore_file=[str(rules)])["files"] == 1


@pytest.mark.req("MIND-215", "MIND-022")
def test_mind_215_a_second_time_changes_nothing(world: World, root: str, actor: Actor) -> None:
    put(root, "a.md", "\n\n".join(f"# Part {i}\n\nThe ferry number {i} leaves." for i in range(7)))

    first = took(actor, path="a.md")
    head = actor.call("ledger.show")["entries"][0]
    again = took(actor, path="a.md")

    assert (first["chunks"], first["skipped"], len(first["created"])) == (7, 0, 7)
    assert (again["chunks"], again["skipped"], again["created"]) == (0, 7, [])
    assert actor.call("ledger.show")["entries"][0] == head
    assert [row["chunk_index"] for row in rows(actor)] == list(range(7))


@pytest.mark.req("MIND-215")
def test_mind_215_a_dry_run_writes_nothing(world: World, root: str, actor: Actor) -> None:
    put(root, "a.md", "the ferry\n")
    before = tree_hash(world.home.path)

    assert took(actor, path="a.md", dry_run=True)["chunks"] == 1

    assert tree_hash(world.home.path) == before
    assert rows(actor) == []
    assert not list(world.home.path.rglob("locks/*"))


def test_a_file_that_changed_replaces_what_it_no_longer_says(root: str, actor: Actor) -> None:
    put(root, "a.md", "# One\n\nthe ferry\n\n# Two\n\nthe tram\n")
    took(actor, path="a.md")
    put(root, "a.md", "# One\n\nthe ferry\n\n# Two\n\nthe bus\n")

    answer = took(actor, path="a.md")

    assert (answer["chunks"], answer["skipped"], answer["retired"]) == (1, 1, 1)
    assert [row["content"] for row in rows(actor)] == ["# One\n\nthe ferry", "# Two\n\nthe bus"]
    put(root, "a.md", "# One\n\nthe ferry\n\n# Two\n\nthe tram\n")
    assert took(actor, path="a.md")["chunks"] == 1, "what was put away comes back with its source"


# -- conversations ---------------------------------------------------------------------------------------------------


@pytest.mark.req("MIND-216", "MIND-217", "MIND-076")
@pytest.mark.parametrize(
    ("name", "text", "form", "thread"),
    [
        ("s.jsonl", CLAUDE, "claude", "s1"),
        ("c.jsonl", CODEX, "codex", "c1"),
        ("g.json", CHATGPT, "chatgpt", "g1"),
        ("slack.json", SLACK, "slack", "slack.json"),
        ("k.jsonl", GENERIC, "jsonl", "k1"),
    ],
)
def test_mind_217_every_export_becomes_turns(root: str, actor: Actor, name: str, text: str, form: str, thread: str) -> None:
    put(root, name, text)

    answer = took(actor, path=name)

    assert answer["formats"] == {form: 1}
    found = rows(actor, thread=thread)
    assert [row["content"] for row in found[:2]] == [QUESTION, ANSWER]
    assert {row["source_type"] for row in found} == {"conversation"}
    machine = form in ("claude", "codex", "chatgpt")  # the others say of no turn that a model said it
    assert [row["provenance"] for row in found[:2]] == ["human", "runtime" if machine else "human"]
    assert ("(runtime, " in actor.call("memory.get", evidence_id=found[1]["id"])["rendered"]) is machine
    assert took(actor, path=name)["chunks"] == 0


@pytest.mark.parametrize("role", ["assistant", "Assistant", "tool", "system", "model", "developer"])
def test_what_a_machine_said_is_not_human_and_reading_it_again_keeps_it_once(root: str, actor: Actor, role: str) -> None:
    said = [{"session": "k", "role": "user", "text": "shall we go"}, {"session": "k", "role": role, "text": "by boat"}]
    put(root, "k.jsonl", jsonl(*said))
    took(actor, path="k.jsonl")
    first = rows(actor)
    assert [row["provenance"] for row in first] == ["human", "runtime"]

    actor.call("memory.reindex", force=True)
    assert [row["id"] for row in rows(actor)] == [row["id"] for row in first]
    put(root, "k.jsonl", jsonl(said[0]))
    actor.call("memory.reindex", force=True)
    assert [row["content"] for row in rows(actor)] == ["shall we go"]


def test_a_conversation_that_grew_gains_its_new_turns_and_their_neighbours(root: str, actor: Actor) -> None:
    said = ["shall we go by boat", "yes", "from which pier", "the old one"]
    put(root, "k.jsonl", jsonl(*({"session": "k", "text": text} for text in said[:3])))
    took(actor, path="k.jsonl")
    put(root, "k.jsonl", jsonl(*({"session": "k", "text": text} for text in said)))

    answer = took(actor, path="k.jsonl")

    assert (answer["chunks"], answer["skipped"], answer["retired"]) == (1, 3, 0)
    found = actor.call("memory.search", query="old", floor=False)["results"]
    assert {row["content"] for row in found} == {"the old one", "from which pier", "yes"}


def test_a_text_comes_in_by_itself(actor: Actor) -> None:
    first = took(actor, text="the ferry left\n", source="notes")
    spoken = took(actor, text="> hi\nhello there\n", source_format="convos", source="chat")

    assert (first["formats"], spoken["formats"]) == ({"text": 1}, {"convos": 1})
    assert [(row["source_file"], row["source_type"], row["role"]) for row in rows(actor)] == [
        ("notes", "manual", None),
        ("chat", "conversation", "user"),
        ("chat", "conversation", "assistant"),
    ]


@pytest.mark.req("MIND-221")
def test_mind_221_noise_is_counted(root: str, actor: Actor) -> None:
    said = "fix it\n<system-reminder>noise</system-reminder>\n"
    put(root, "s.jsonl", jsonl({"type": "user", "sessionId": "s", "message": {"content": said}}))

    assert took(actor, path="s.jsonl", dry_run=True)["noise_bytes_stripped"] > 0
    assert took(actor, path="s.jsonl", strip_noise=False)["noise_bytes_stripped"] == 0
    assert rows(actor)[0]["content"] == said


# -- what may not be kept --------------------------------------------------------------------------------------------


def test_a_chunk_with_a_secret_is_refused_and_the_others_go_in(root: str, actor: Actor) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    put(root, "a.md", f"# One\n\nthe ferry\n\n# Two\n\nuse {secret}\n\n# Three\n\nthe tram\n")

    answer = took(actor, path="a.md")

    assert [row["content"] for row in rows(actor)] == ["# One\n\nthe ferry", "# Three\n\nthe tram"]
    (refused,) = answer["refused"]
    assert (refused["source_file"], refused["line"], refused["code"]) == ("a.md", 7, "hygiene")
    assert secret[8:] not in json.dumps(answer)


@pytest.mark.parametrize("where", ["sibling", "link", "loop"])
def test_an_agent_reads_no_file_outside_of_its_project(world: World, root: str, actor: Actor, where: str) -> None:
    outside = put(world.directory("outside"), "private.md", "the ferry\n")
    path = {"sibling": str(outside), "link": os.path.join(root, "link.md"), "loop": "../outside/private.md"}[where]
    if where == "link":
        os.symlink(outside, path)

    world.home.places_file.unlink()

    answer = actor.call("memory.ingest", path=path)

    assert answer["error"]["code"] == "path_refused"
    assert rows(actor) == []
    assert world.human(root).call("memory.ingest", path=path)["chunks"] == 1


def test_links_inside_a_tree_are_not_followed(world: World, root: str, actor: Actor) -> None:
    put(world.directory("outside"), "private.md", "the ferry\n")
    put(root, "docs/a.md", "the tram\n")
    os.symlink(world.place / "outside", Path(root, "docs", "out"))
    os.symlink(Path(root, "docs"), Path(root, "docs", "round"))
    os.symlink(world.place / "outside" / "private.md", Path(root, "docs", "private.md"))

    took(actor, path="docs")

    assert [row["content"] for row in rows(actor)] == ["the tram\n".strip()]


@pytest.mark.parametrize("kind", ["fifo", "device", "absent", "nul"])
def test_what_is_no_file_is_refused_at_once(world: World, root: str, kind: str) -> None:
    human = world.human(root)
    path = {"fifo": os.path.join(root, "pipe"), "device": "/dev/zero", "absent": "none.md", "nul": "a\x00b"}[kind]
    if kind == "fifo":
        os.mkfifo(path)

    assert human.call("memory.ingest", path=path)["error"]["code"] == "path_refused"


@pytest.mark.parametrize(
    ("name", "data", "kept"),
    [
        ("nul.jsonl", b'{"text": "a\\u0000b ferry"}\n', "a\ufffdb ferry"),
        ("half.jsonl", b'{"text": "ferry \\ud83d"}\n', "ferry \ufffd"),
        ("latin.txt", b"the ferry is \xe9t\xe9\n", "the ferry is \ufffdt\ufffd"),
        ("wide.txt", "the ferry é".encode("utf-16"), "the ferry é"),
        ("bom.md", b"\xef\xbb\xbfthe ferry", "the ferry"),
        ("broken.jsonl", b'{"text": "the ferry"}\n{"text": \n{"text": "x"}\n', "the ferry"),
        ("deep.json", b"[" * 100_000, "[" * 200),
    ],
)
def test_hostile_bytes_are_taken_as_far_as_they_are_text(root: str, actor: Actor, name: str, data: bytes, kept: str) -> None:
    put(root, name, data)

    took(actor, path=name)

    assert rows(actor)[0]["content"].startswith(kept)


def test_a_line_of_megabytes_is_cut_like_any_other(root: str, actor: Actor) -> None:
    put(root, "long.jsonl", jsonl({"text": "x" * 2_000_000}, {"text": "the ferry"}))

    answer = took(actor, path="long.jsonl", dry_run=True)

    assert answer["chunks"] > 2_000
    assert answer["broken_lines"] == 0


def test_binary_files_are_named_and_the_rest_goes_in(root: str, actor: Actor) -> None:
    put(root, "docs/a.md", "the ferry\n")
    put(root, "docs/b.bin", b"\x7fELF\x00\x00")
    put(root, "docs/c.md", b"")

    answer = took(actor, path="docs")

    assert (answer["chunks"], [row["source_file"] for row in answer["refused"]]) == (1, ["docs/b.bin"])


# -- killed, twice at once, full -------------------------------------------------------------------------------------


def test_an_ingest_that_was_killed_goes_on_where_it_stopped(world: World, root: str, actor: Actor) -> None:
    path = put(root, "k.jsonl", conversation(1_600))
    world.close()

    assert take(child(world.home.path, root, str(path), killed_after=600)) is None
    held = actor.call("memory.list", limit=1)["total"]
    answer = took(actor, path=str(path))

    assert 600 <= held < 1_600
    assert (answer["chunks"], answer["skipped"]) == (1_600 - held, held)
    assert actor.call("memory.list", limit=1)["total"] == 1_600
    assert actor.call("ledger.verify")["ok"]
    # The turns at the place of the kill have the neighbours that came after it.
    found = actor.call("memory.search", query=str(held), thread=f"s{held // 100}", floor=False)["results"]
    assert {row["position"] for row in found} >= {held % 100 + step for step in (0, 1, 2)}


@pytest.mark.req("MIND-223")
def test_mind_223_two_processes_take_in_one_file_once(world: World, root: str, actor: Actor) -> None:
    path = put(root, "k.jsonl", conversation(1_200))
    world.close()
    children = [child(world.home.path, root, str(path)) for _ in range(2)]
    for process in children:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()

    answers = [take(process) for process in children]

    assert all(answer is not None and answer["ok"] for answer in answers)
    assert sorted(answer["chunks"] for answer in answers if answer) == [0, 1_200]
    assert sorted(answer["skipped"] for answer in answers if answer) == [0, 1_200]
    assert actor.call("memory.list", limit=1)["total"] == 1_200
    assert not list(world.home.path.rglob("locks/*.lock"))


def test_ctrl_c_leaves_whole_batches(world: World, root: str, actor: Actor) -> None:
    path = put(root, "k.jsonl", conversation(1_600))
    brain = world.app.house.home.project(root)
    assert brain is not None
    with world.app.house.brains.use(brain) as opened:
        told = opened.store.committed
        opened.store.committed = lambda entries, slugs: signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            actor.call("memory.ingest", path=str(path))
        opened.store.committed = told
    held = actor.call("memory.list", limit=1)["total"]

    assert 0 < held < 1_600
    assert took(actor, path=str(path))["chunks"] == 1_600 - held


def test_a_full_disk_is_told_and_what_was_kept_before_stays(world: World, root: str, actor: Actor) -> None:
    path = put(root, "k.jsonl", conversation(6_000))
    world.close()

    answer = take(child(world.home.path, root, str(path), room=3_000_000))
    held = actor.call("memory.list", limit=1)["total"]

    assert answer is not None
    assert answer["error"]["code"] == "store_unavailable"
    assert 0 < answer["error"]["kept_before"] == held < 6_000
    assert took(actor, path=str(path))["chunks"] == 6_000 - held
    assert actor.call("ledger.verify")["ok"]


# -- reindex ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("MIND-226", "MIND-227")
def test_mind_226_sources_of_an_older_version_are_read_again(
    world: World, root: str, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "a.md", "# One\n\nthe ferry\n\n# Two\n\nthe tram\n\n# Three\n\nthe bus\n")
    put(root, "gone.md", "the train\n")
    for module in ("evidence_rows", "evidence_ingest", "evidence_batch"):
        monkeypatch.setattr(f"hindbrain.services.{module}.NORMALIZE_VERSION", 1)
    took(actor, path="a.md")
    took(actor, path="gone.md")
    monkeypatch.undo()
    os.unlink(os.path.join(root, "gone.md"))

    planned = actor.call("memory.reindex", dry_run=True)
    assert (planned["rows"], planned["sources"], planned["missing"]) == (3, 1, 1)
    assert {row["normalize_version"] for row in rows(actor)} == {1}
    ids = {row["id"] for row in rows(actor)}
    assert actor.call("memory.reindex")["sources"] == 1

    assert {row["normalize_version"] for row in rows(actor, source="a.md")} == {3}
    assert {row["id"] for row in rows(actor)} == ids
    assert actor.call("memory.reindex")["sources"] == 0
    assert actor.call("memory.reindex", stale=True, force=True)["error"]["code"] == "invalid_params"


def test_reindex_reads_no_file_that_a_text_only_named(root: str, actor: Actor) -> None:
    took(actor, text="the ferry", source="/etc/hostname")

    assert actor.call("memory.reindex", force=True)["missing"] == 1


# -- the command line ------------------------------------------------------------------------------------------------


def test_the_command_line_takes_standard_input_and_finds_it_again(world: World, root: str) -> None:
    world.close()
    environment = {**os.environ, "HINDBRAIN_HOME": str(world.home.path), "HINDBRAIN_MODE": "embedded"}

    def run(*words: str, said: str = "") -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "hindbrain", *words],
            input=said,
            capture_output=True,
            text=True,
            cwd=root,
            env=environment,
            check=True,
        )
        return dict(json.loads(done.stdout))

    assert run("record", "the disk was full at noon", "--tags", "failure")["created"]
    assert run("memory", "ingest", "-", "--source", "chat", said="We met in Lisbon.\n")["chunks"] == 1
    assert run("memory", "search", "lisbon")["results"][0]["content"] == "We met in Lisbon."
    assert git(root, "status", "--porcelain").strip() == "?? package.json"
