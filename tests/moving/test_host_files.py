"""Import of what agent hosts keep: transcripts of this project, memory files, instructions; all of it evidence."""

import os
import re
from pathlib import Path

import pytest

from tests.imports.test_mempal import opened, rows, state, taken
from tests.support.moving_sources import claude_code_home, codex_home, secret, session_lines, tree
from tests.support.world import World, git


def spelled(root: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", root)


@pytest.fixture
def claude(world: World) -> Path:
    """`~/.claude` with sessions of `app`, of a worktree of it, of another project, and one that says nothing of where it was."""
    app, web = world.directory("app"), world.directory("web")
    key = secret()
    return claude_code_home(
        world.place / ".claude",
        **{
            spelled(app): {
                "one.jsonl": session_lines(
                    "claude", app, "why does the ferry wait?", "It waits for the tide.", f"the key is {key}"
                ),
                "quiet.jsonl": session_lines("claude", None, "a session that does not say where it was"),
                "one/subagents/agent-1.jsonl": session_lines("claude", app, "a child looked at the harbour"),
                "memory/MEMORY.md": "- The harbour master is called Ines.\n",
                "memory/style.md": "Answers are short here.\n",
            },
            spelled(web): {
                "two.jsonl": session_lines("claude", web, "the vault opens at nine"),
                "memory/MEMORY.md": "- The vault has two doors.\n",
            },
            spelled(f"{app}-hall"): {"three.jsonl": session_lines("claude", f"{app}-hall", "seen in the worktree")},
        },
    )


def test_sessions_and_notes_of_this_project_come_from_claude_code_once(world: World, claude: Path) -> None:
    root = world.brain("app", CLAUDE_md="Run the tests before you say done.\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "a")
    git(root, "worktree", "add", "-q", f"{root}-hall")
    (claude / "CLAUDE.md").write_text("Everywhere: be brief.\n")
    before, files = state(world, root), tree(claude)

    plan = world.at(root).call("memory.import", path=str(claude))
    assert state(world, root) == before
    first = taken(world.at(root), str(claude))
    second = taken(world.at(root), str(claude / "projects"), kind="claude-code")

    assert (plan["kind"], plan["counts"]) == ("claude-code", first["counts"])
    assert (first["counts"]["files"], first["counts"]["other_projects"]) == (7, 2)
    assert first["refused_by_code"] == {"hygiene": 1, "human_needed": 1}
    assert (second["writes"], second["counts"]["file_rows"]) == (False, 0)
    assert tree(claude) == files
    kept = "\n".join(row["content"] for row in rows(world.at(root)))
    for said in (
        "It waits for the tide.",
        "a session that does not",
        "a child looked at",
        "called Ines",
        "Run the tests",
        "the worktree",
    ):
        assert said in kept
    for other in ("vault", secret(), "Everywhere: be brief."):
        assert other not in kept
    with opened(world, root) as brain:
        channels = {entry.channel for entry in brain.store.entries(after=0, limit=1_000) if entry.act == "evidence.ingest"}
        assert not list(brain.store.each_live()), "instructions are evidence of what was said, and no claims"
    assert channels == {"import"}

    person = taken(world.human(root), str(claude))
    assert person["counts"]["evidence"] == 1
    with opened(world, None) as medulla:
        assert [row.content for row in medulla.store.each_evidence()] == ["Everywhere: be brief.\n"]


def test_a_note_that_changed_replaces_what_it_said_and_memory_ingest_takes_nothing_twice(world: World, claude: Path) -> None:
    root = world.brain("app")
    own = claude / "projects" / spelled(root)
    taken(world.at(root), str(own))
    (own / "memory" / "style.md").write_text("Answers are long here.\n")

    changed = taken(world.at(root), str(own))
    by_ingest = world.at(root).call("memory.ingest", path=str(own / "one.jsonl"))

    assert (changed["counts"]["file_rows"], changed["counts"]["retired"]) == (1, 1)
    assert "Answers are short" not in str(rows(world.at(root)))
    assert (by_ingest["chunks"], by_ingest["skipped"] > 0) == (0, True)


def test_a_name_that_two_directories_share_opens_neither_to_the_other(world: World) -> None:
    # /x/my-app and /x/my/app have one spelling; what a session says decides.
    dashed, nested = world.brain("my-app"), world.brain("my/app")
    assert spelled(dashed) == spelled(nested)
    told = session_lines("claude", nested, "only the nested one said this")
    home = claude_code_home(
        world.place / ".claude", **{spelled(dashed): {"a.jsonl": told, "memory/MEMORY.md": "A note of the nested one.\n"}}
    )

    answer = taken(world.at(dashed), str(home))

    assert (answer["writes"], answer["counts"]["other_projects"]) == (False, 2)
    assert rows(world.at(dashed)) == []


def test_links_out_of_the_source_and_broken_lines_are_told_and_stay_out(world: World, claude: Path, tmp_path: Path) -> None:
    root = world.brain("app")
    own = claude / "projects" / spelled(root)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.jsonl").write_text(session_lines("claude", root, "read by accident"))
    (outside / "private.md").write_text("noted by accident\n")
    (own / "link.jsonl").symlink_to(outside / "private.jsonl")
    (own / "memory" / "link.md").symlink_to(outside / "private.md")
    (claude / "projects" / "-linked").symlink_to(outside, target_is_directory=True)
    os.mkfifo(own / "pipe.jsonl")
    (own / "torn.jsonl").write_bytes(
        session_lines("claude", root, "before the tear", "yes", "and more").encode()
        + b'{"type": "user", \xff\n'
        + b"[" * 5_000
        + b"\n"
    )

    answer = taken(world.at(root), str(claude))

    assert {one["name"].partition("/")[2] for one in answer["refused"] if one["code"] == "path_refused"} == {
        "link.jsonl",
        "memory/link.md",
    }
    assert answer["counts"]["broken_lines"] == 2
    kept = str(rows(world.at(root)))
    assert "before the tear" in kept
    assert "by accident" not in kept


def test_sessions_of_this_project_come_from_codex_and_memories_by_a_person(world: World) -> None:
    root = world.brain("app", AGENTS_md="Ask before you push.\n")
    home = codex_home(
        world.place / ".codex",
        own=session_lines("codex", root, "how deep is the harbour?", "Nine metres at low water."),
        other=session_lines("codex", "/elsewhere/web", "the vault opens at nine"),
        nowhere=session_lines("codex", None, "said nowhere"),
    )
    (home / "AGENTS.md").write_text("Everywhere: be brief.\n")
    (home / "memories").mkdir()
    (home / "memories" / "raw.md").write_text("The person likes tables.\n")
    (home / "sessions" / "2026" / "notes.jsonl").write_text("{}\n")
    (home / "sessions" / "2026" / "old.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")

    agent, person = taken(world.at(root), str(home)), taken(world.human(root), str(home))

    assert agent["kind"] == "codex"
    assert (agent["counts"]["files"], agent["counts"]["other_projects"]) == (2, 2)
    assert agent["refused_by_code"] == {"human_needed": 2}
    assert agent["left_out"] == {"compressed sessions": 1}
    assert (person["counts"]["file_rows"], person["counts"]["evidence"]) == (0, 2)
    kept = str(rows(world.at(root)))
    assert "Nine metres at low water." in kept
    assert "Ask before you push." in kept
    assert "vault" not in kept
    assert "said nowhere" not in kept
