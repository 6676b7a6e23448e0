"""A claim ends by an act, or by a commit on the default branch that deletes its file; never because a checkout lacks the file."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.dying import DIED
from tests.support.world import World, git

DIRECTORY = Path(".hindbrain", "agent-memory")


class Clone:
    """One person with a home of their own and a clone of the repository."""

    def __init__(self, world: World, root: str) -> None:
        self.world = world
        self.root = root
        self.agent = world.at(root)
        self.person = world.human(root)

    def git(self, *words: str) -> str:
        return git(self.root, *words)

    def git_stops(self, *words: str) -> str:
        """A git command that must end with a conflict, not with a refusal to touch the files."""
        with pytest.raises(subprocess.CalledProcessError) as stopped:
            self.git(*words)
        return str(stopped.value.stdout) + str(stopped.value.stderr)

    def commit(self, message: str = "work") -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD").strip()

    def push(self, message: str = "work") -> str:
        commit = self.commit(message)
        self.git("push", "-q", "origin", "HEAD:main")
        return commit

    def pull(self, *words: str) -> None:
        self.git("pull", "-q", *(words or ("--ff-only",)), "origin", "main")

    def file(self, slug: str) -> Path:
        return Path(self.root, DIRECTORY, f"{slug}.light.md")

    def edit(self, slug: str, old: str, new: str) -> None:
        text = self.file(slug).read_text(encoding="utf-8")
        assert old in text
        self.file(slug).write_text(text.replace(old, new), encoding="utf-8")

    def known(self) -> dict[str, str]:
        """What this person's memory has: label -> text."""
        return {row["slug"]: row["text"] for row in self.agent.call("claims", limit=200)["claims"]}

    def found(self, query: str) -> list[str]:
        return [row["text"] for row in self.agent.seek(query)["results"]]

    def ends(self, slug: str) -> list[str | None]:
        return [one["ended_by"] for one in self.agent.call("history", claim=slug)["versions"]]

    def notes(self) -> list[str]:
        return [one["kind"] for one in self.agent.call("doctor")["notes"] if one["kind"].startswith("file_")]

    def status(self) -> str:
        return self.git("status", "--short")


def clone_of(origin: str, place: Path, **settings: Any) -> Clone:
    world = World(place, **settings)
    world.place.mkdir(parents=True, exist_ok=True)
    root = str(world.place / "app")
    git(str(world.place), "clone", "-q", origin, root)
    return Clone(world, root)


@pytest.fixture
def origin(tmp_path: Path) -> str:
    """A bare repository with one commit, and a brain in it."""
    bare = str(tmp_path / "origin.git")
    os.makedirs(bare)
    git(bare, "init", "-q", "--bare", "-b", "main")
    first = World(tmp_path / "first")
    root = first.repository("app")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    assert first.at(root).call("init", path=root)["ok"]
    git(root, "add", "-A")
    git(root, "commit", "-qm", "a brain")
    git(root, "push", "-q", bare, "main")
    first.close()
    return bare


@pytest.fixture
def team(tmp_path: Path, origin: str, postgres_schema_url: str) -> Iterator[tuple[Clone, Clone]]:
    """Alice and Bob: two homes and two clones on one database."""
    made = [clone_of(origin, tmp_path / name, store_url=postgres_schema_url) for name in ("alice", "bob")]
    for one in made:
        assert one.agent.call("init", path=one.root)["ok"]
    yield made[0], made[1]
    for one in made:
        one.world.close()


@pytest.fixture
def alone(tmp_path: Path, origin: str) -> Iterator[Clone]:
    """One person with one clone on SQLite."""
    made = clone_of(origin, tmp_path / "alone")
    assert made.agent.call("init", path=made.root)["ok"]
    yield made
    made.world.close()


# -- two clones on one database ------------------------------------------------------------------------------------------


def test_nothing_that_git_does_in_one_clone_ends_or_changes_a_claim_of_the_team(team: tuple[Clone, Clone]) -> None:
    alice, bob = team
    bob.agent.memorize("Ferry", "The ferry leaves at six.")
    assert alice.known() == {"ferry": "The ferry leaves at six."}
    assert not alice.file("ferry").exists()  # the row came by the database; the file comes by git
    assert alice.status() == ""
    bob.push("the ferry")
    alice.pull()  # a claim that the database brought before
    assert alice.known() == {"ferry": "The ferry leaves at six."}
    bob.agent.memorize("Harbour", "The harbour opens at five.")
    bob.push("the harbour")
    bob.agent.memorize("Lamp", "The lamp burns at night.")  # not committed
    everything = {
        "ferry": "The ferry leaves at six.",
        "harbour": "The harbour opens at five.",
        "lamp": "The lamp burns at night.",
    }
    files = {path: path.read_bytes() for path in Path(bob.root, DIRECTORY).glob("*.light.md")}

    def unchanged() -> None:
        assert alice.known() == bob.known() == everything
        assert {path: path.read_bytes() for path in Path(bob.root, DIRECTORY).glob("*.light.md")} == files
        assert [bob.ends(slug)[0] for slug in everything] == [None, None, None]

    alice.pull()
    # A stamp on a claim that her clone lacks leaves nothing there that a pull could stumble over.
    assert alice.world.at(alice.root, "alice:orchestrator").call("promote", claim="lamp", reason="holds everywhere")["ok"]
    assert not alice.file("lamp").exists()
    alice.git("checkout", "-q", "HEAD~1")  # an old commit: no harbour
    unchanged()
    alice.git("checkout", "-q", "HEAD~1")  # older: no ferry
    unchanged()
    assert alice.notes() == ["file_absent"]
    alice.git("checkout", "-q", "main")
    unchanged()
    alice.file("ferry").unlink()  # a tracked file away, then a stash with everything untracked
    Path(alice.root, "note.txt").write_text("note\n", encoding="utf-8")
    unchanged()
    alice.git("stash", "-q", "-u")
    unchanged()
    alice.git("stash", "pop", "-q")
    unchanged()
    alice.git("checkout", "-q", "--", ".")
    alice.git("checkout", "-q", "-b", "side", "HEAD~2")  # a branch from before all claims
    alice.commit("a note on the side")
    unchanged()
    alice.git("rebase", "-q", "main")
    unchanged()
    alice.git("checkout", "-q", "main")
    alice.git("merge", "-q", "--no-ff", "-m", "merge the side", "side")
    alice.git("branch", "-q", "-D", "side")
    unchanged()
    assert bob.status() == f"?? {DIRECTORY}/lamp.light.md\n"
    assert alice.status() == ""


def test_an_older_text_in_one_clone_replaces_no_newer_one_of_the_team(team: tuple[Clone, Clone]) -> None:
    alice, bob = team
    bob.agent.memorize("Ferry", "The ferry leaves at six.")
    bob.push()
    alice.pull()
    bob.edit("ferry", "at six", "at seven")
    assert bob.known() == {"ferry": "The ferry leaves at seven."}  # an edit is a new version
    bob.push()

    assert alice.known() == {"ferry": "The ferry leaves at seven."}
    assert "at six" in alice.file("ferry").read_text()  # nobody but git writes her file
    assert alice.notes() == ["file_of_other_version"]
    alice.pull()
    assert alice.notes() == []
    alice.git("checkout", "-q", "HEAD~1")
    assert alice.known() == bob.known() == {"ferry": "The ferry leaves at seven."}
    alice.git("checkout", "-q", "main")
    alice.edit("ferry", "at seven", "at eight")
    assert alice.known() == bob.known() == {"ferry": "The ferry leaves at eight."}
    alice.git("stash", "-q")
    assert alice.known() == {"ferry": "The ferry leaves at eight."}
    bob.agent.memorize("Ferry", "The ferry leaves at nine.")
    alice.git("stash", "pop", "-q")

    assert alice.known() == bob.known() == {"ferry": "The ferry leaves at nine."}
    assert bob.ends("ferry").count(None) == 1
    assert alice.agent.call("ledger.verify")["intact"]


def test_a_conflict_in_one_clone_hides_the_claim_there_and_nowhere_else(team: tuple[Clone, Clone]) -> None:
    alice, bob = team
    bob.agent.memorize("Ferry", "The ferry leaves at six.")
    bob.push()
    alice.pull()
    alice.edit("ferry", "at six", "at seven")
    alice.commit()
    bob.edit("ferry", "at six", "at eight")
    assert bob.known() == {"ferry": "The ferry leaves at eight."}
    bob.push()

    assert "CONFLICT" in alice.git_stops("pull", "-q", "--no-rebase", "origin", "main")

    assert alice.found("when does the ferry leave") == []
    assert alice.person.call("claim.restore", claim="ferry")["error"]["code"] == "path_refused"
    assert [one["kind"] for one in alice.agent.north("ferry")["honest_gaps"] if "conflict" in one["kind"]] == ["conflict_markers"]
    assert bob.found("when does the ferry leave") == ["The ferry leaves at eight."]
    assert not [one for one in bob.agent.north("ferry")["honest_gaps"] if one["kind"] == "conflict_markers"]
    alice.git("checkout", "--theirs", ".")
    alice.commit("merge")
    assert alice.found("when does the ferry leave") == ["The ferry leaves at eight."]
    assert bob.ends("ferry") == [None, "claim.file"]


def test_a_deletion_ends_a_claim_when_it_is_on_the_default_branch_of_the_remote(team: tuple[Clone, Clone]) -> None:
    alice, bob = team
    for label in ("Ferry", "Harbour", "Lamp"):
        bob.agent.memorize(label, f"The {label.lower()} is old.")
    bob.push()
    alice.pull()
    bob.agent.memorize("Lamp", "The lamp is new.")  # a version that no commit has
    alice.git("checkout", "-q", "-b", "clean-up")
    for slug in ("ferry", "harbour", "lamp"):
        alice.git("rm", "-q", str(alice.file(slug)))
    alice.git("mv", "package.json", "package.old.json")
    commit = alice.commit("remove what is old")
    known = {"ferry": "The ferry is old.", "harbour": "The harbour is old.", "lamp": "The lamp is new."}
    assert alice.known() == bob.known() == known  # a branch is not the default branch
    alice.git("checkout", "-q", "main")
    alice.git("merge", "-q", "--squash", "clean-up")
    squashed = alice.commit("clean up")
    assert squashed != commit
    assert alice.known() == known  # not published yet

    alice.git("push", "-q", "origin", "main")

    assert alice.known() == bob.known() == {"lamp": "The lamp is new."}
    assert bob.file("ferry").exists()  # his checkout has not pulled
    assert bob.status() == f" M {DIRECTORY}/lamp.light.md\n"
    assert alice.ends("ferry") == ["claim.deleted"]
    (entry,) = [one for one in alice.agent.call("ledger.show", limit=50)["entries"] if one["act"] == "claim.deleted"][:1]
    assert entry["payload"] == {"branch": "main", "commit": squashed}

    # Back by an act: the same commit does not end it again, neither here nor in a clone that sees it later.
    assert bob.person.call("claim.restore", claim="ferry")["restored"]
    bob.git("fetch", "-q")
    assert alice.known() == bob.known() == {"ferry": "The ferry is old.", "lamp": "The lamp is new."}
    # Back by a commit on the default branch.
    alice.git("revert", "--no-edit", "HEAD")
    alice.git("push", "-q", "origin", "main")
    assert (
        alice.known()
        == bob.known()
        == {"ferry": "The ferry is old.", "harbour": "The harbour is old.", "lamp": "The lamp is new."}
    )


def test_a_person_removes_a_claim_for_the_team_and_brings_it_back(team: tuple[Clone, Clone]) -> None:
    alice, bob = team
    bob.agent.memorize("Ferry", "The ferry leaves at six.")
    bob.push()
    alice.pull()
    assert alice.agent.call("claim.remove", claim="Ferry")["error"]["code"] == "human_needed"

    assert alice.person.call("claim.remove", claim="Ferry")["ok"]

    assert alice.known() == bob.known() == {}
    assert not alice.file("ferry").exists()
    assert bob.file("ferry").exists()
    assert bob.notes() == ["file_of_ended_claim"]
    assert bob.status() == ""
    bob.git("checkout", "-q", "HEAD~1")
    bob.git("checkout", "-q", "main")
    assert bob.known() == {}  # a file that comes back in a checkout brings no ended claim back
    assert alice.person.call("claim.restore", claim="Ferry")["restored"]
    assert alice.known() == bob.known() == {"ferry": "The ferry leaves at six."}
    assert alice.status() == ""


def test_a_writer_that_dies_before_its_file_is_completed_in_its_own_clone_only(team: tuple[Clone, Clone]) -> None:
    alice, bob = team
    alice.agent.memorize("Lamp", "The lamp burns at night.")
    words = [sys.executable, "-m", "tests.support.dying", str(alice.world.home.path), alice.root, ".light.md"]
    for act, label in (("first", "Ferry"), ("second", "Lamp")):
        given = json.dumps({"node_label": label, "text": f"The {act} text."})
        environment = {**os.environ, "DYING_STORE_URL": alice.world.store_url}
        died = subprocess.run([*words, "memorize", given], env=environment, check=False, capture_output=True)
        assert died.returncode == DIED, died.stderr
    assert not alice.file("ferry").exists()
    assert "at night" in alice.file("lamp").read_text(encoding="utf-8")

    assert bob.known() == alice.known() == {"ferry": "The first text.", "lamp": "The second text."}

    assert "The first text." in alice.file("ferry").read_text(encoding="utf-8")
    assert "The second text." in alice.file("lamp").read_text(encoding="utf-8")
    assert list(Path(bob.root, DIRECTORY).glob("*.light.md")) == []
    assert alice.notes() == []


# -- one clone on SQLite --------------------------------------------------------------------------------------------------


def test_one_clone_keeps_its_claims_whatever_is_checked_out(alone: Clone) -> None:
    alone.agent.memorize("Ferry", "The ferry leaves at six.")
    alone.commit()
    alone.edit("ferry", "at six", "at seven")
    alone.commit()
    assert alone.known() == {"ferry": "The ferry leaves at seven."}
    alone.agent.memorize("Lamp", "The lamp burns at night.")
    everything = {"ferry": "The ferry leaves at seven.", "lamp": "The lamp burns at night."}

    for words in (
        ("stash", "-q", "-u"),
        ("checkout", "-q", "HEAD~1"),
        ("checkout", "-q", "HEAD~1"),
        ("checkout", "-q", "HEAD~1"),  # before there was a brain at all
        ("checkout", "-q", "main"),
        ("stash", "pop", "-q"),
        ("clean", "-fdq"),
    ):
        alone.git(*words)
        assert alone.known() == everything, words
        alone.world.restart()  # another process, with what the home has
        assert alone.known() == everything, words
    assert alone.status() == ""
    assert alone.notes() == ["file_absent"]
    assert alone.person.call("claim.restore", claim="lamp") == {
        "ok": True,
        "schema": "hindbrain-claim-v0",
        "slug": "lamp",
        "brain": alone.root,
        "restored": False,
        "path": str(alone.file("lamp")),
        "rendered": f"'lamp' is live; its file is {alone.file('lamp')}.",
    }
    assert alone.status() == f"?? {DIRECTORY}/lamp.light.md\n"
    # The note of what this checkout has may be lost: what git has is not written beside it.
    alone.git("checkout", "-q", "HEAD~2")
    alone.world.close()
    next(alone.world.home.path.rglob("files.db")).unlink()
    assert alone.known() == everything
    assert [path.name for path in Path(alone.root, DIRECTORY).glob("*.light.md")] == ["lamp.light.md"]
    alone.git("checkout", "-q", "main")
    # A linked worktree shares the brain, and what is checked out in it changes nothing.
    linked = str(alone.world.place / "linked")
    alone.git("worktree", "add", "-q", linked, "HEAD~2")
    there = alone.world.at(linked)
    assert {row["slug"]: row["text"] for row in there.call("claims")["claims"]} == everything
    there.memorize("Harbour", "The harbour opens at five.")
    assert alone.known() == everything | {"harbour": "The harbour opens at five."}
    assert alone.file("harbour").is_file()
    alone.git("worktree", "remove", "--force", linked)
    assert alone.known() == everything | {"harbour": "The harbour opens at five."}


def test_a_text_of_an_old_commit_that_memory_never_saw_is_not_newer(tmp_path: Path, origin: str, alone: Clone) -> None:
    alone.agent.memorize("Ferry", "The ferry leaves at six.")
    alone.push()
    alone.edit("ferry", "at six", "at seven")
    alone.push()
    late = clone_of(origin, tmp_path / "late")  # a brain that begins with the second text
    assert late.agent.call("init", path=late.root)["ok"]
    assert late.known() == {"ferry": "The ferry leaves at seven."}

    late.git("checkout", "-q", "HEAD~1")
    assert late.known() == {"ferry": "The ferry leaves at seven."}
    late.git("checkout", "-q", "main")
    alone.edit("ferry", "at seven", "at eight")
    alone.push()
    late.pull()
    assert late.known() == {"ferry": "The ferry leaves at eight."}  # a pull brings an edit as before
    alone.git("revert", "--no-edit", "HEAD")
    alone.git("push", "-q", "origin", "main")
    late.pull()
    assert late.known() == {"ferry": "The ferry leaves at seven."}  # and a revert on the default branch
    late.world.close()


def test_deletions_of_all_kinds_are_found_or_left_alone(alone: Clone) -> None:
    labels = ("Ferry one", "Ferry two", "Ferry three", "Ferry four", "Ferry five")
    for label in labels:
        alone.agent.memorize(label, f"{label} is old.")
    alone.push()
    left = {"ferry-one", "ferry-two", "ferry-three", "ferry-four", "ferry-five"}
    assert set(alone.known()) == left

    alone.git("checkout", "-q", "--detach")
    alone.git("rm", "-q", str(alone.file("ferry-one")))
    alone.commit("on no branch")
    assert set(alone.known()) == left
    alone.git("checkout", "-q", "main")

    alone.git("checkout", "-q", "-b", "side")
    alone.git("rm", "-q", str(alone.file("ferry-two")))
    alone.commit()
    alone.git("checkout", "-q", "main")
    Path(alone.root, "main.txt").write_text("main\n", encoding="utf-8")
    alone.commit()
    alone.git("merge", "-q", "--no-ff", "--no-commit", "side")
    alone.git("rm", "-q", str(alone.file("ferry-three")))  # the merge itself deletes one more
    alone.commit("merge")
    left -= {"ferry-two", "ferry-three"}
    assert set(alone.known()) == left

    os.makedirs(Path(alone.root, "attic"))
    alone.git("mv", str(alone.file("ferry-four")), "attic/ferry-four.md")
    alone.commit("moved out of the directory")
    assert set(alone.known()) == left
    alone.git("mv", str(alone.file("ferry-five")), str(alone.file("ferry-six")))
    alone.commit("a new name")
    left = (left - {"ferry-five"}) | {"ferry-six"}
    assert set(alone.known()) == left

    alone.git("reset", "-q", "--hard", "HEAD~3")  # the branch goes back: nobody deleted anything
    assert set(alone.known()) == left
    alone.git("branch", "-q", "-m", "main", "trunk")
    alone.git("rm", "-q", str(alone.file("ferry-one")))
    alone.commit("on a branch with another name than the remote's default")
    assert "ferry-one" in alone.known()


def test_a_shallow_clone_ends_nothing_that_it_cannot_see(tmp_path: Path, origin: str, alone: Clone) -> None:
    alone.agent.memorize("Ferry", "The ferry leaves at six.")
    alone.push()
    world = World(tmp_path / "shallow")
    world.place.mkdir(parents=True)
    root = str(world.place / "app")
    git(str(world.place), "clone", "-q", "--depth", "1", f"file://{origin}", root)
    shallow = Clone(world, root)
    assert shallow.agent.call("init", path=root)["ok"]
    assert set(shallow.known()) == {"ferry"}
    alone.git("rm", "-q", str(alone.file("ferry")))
    alone.push("gone")
    alone.git("commit", "-q", "--allow-empty", "-m", "later")
    alone.git("push", "-q", "origin", "main")
    git(root, "fetch", "-q", "--depth", "1")
    git(root, "reset", "-q", "--hard", "origin/main")

    assert not shallow.file("ferry").exists()
    assert set(shallow.known()) == {"ferry"}
    git(root, "fetch", "-q", "--unshallow")
    shallow.git("commit", "-q", "--allow-empty", "-m", "so that the branch moves")
    assert set(shallow.known()) == set()
    world.close()


def test_without_git_a_deleted_file_is_named_and_the_claim_is_removed_by_an_act(tmp_path: Path) -> None:
    world = World(tmp_path / "w")
    root = world.directory("plain")
    agent, person = world.at(root), world.human(root)
    assert agent.call("init", path=root)["ok"]
    agent.memorize("Ferry", "The ferry leaves at six.")
    agent.memorize("Lamp", "The lamp burns at night.")
    Path(root, DIRECTORY, "ferry.light.md").unlink()

    assert {row["slug"] for row in agent.seek("ferry lamp")["results"]} == {"ferry", "lamp"}
    (note,) = [one for one in agent.call("doctor")["notes"] if one["kind"] == "file_absent"]
    assert "ferry" in note["text"]
    assert "hindbrain claim remove ferry" in note["fix"]
    assert person.call("claim.remove", claim="ferry")["ok"]
    assert {row["slug"] for row in agent.seek("ferry lamp")["results"]} == {"lamp"}
    assert [one["kind"] for one in agent.call("doctor")["notes"] if one["kind"] == "file_absent"] == []
    assert person.call("claim.restore", claim="ferry")["restored"]
    assert Path(root, DIRECTORY, "ferry.light.md").is_file()
    # By hand, back to an earlier text: only a hand changes a file where there is no git.
    file = Path(root, DIRECTORY, "lamp.light.md")
    first = file.read_text(encoding="utf-8")
    for text in (first.replace("night", "dusk"), first):
        file.write_text(text, encoding="utf-8")
        (row,) = agent.seek("lamp burns")["results"]
        assert row["text"] in text
    world.close()
