"""Anchors: which scope evidence belongs to, as git really has it (MIND-050 to MIND-067)."""

import os
from pathlib import Path
from typing import Any

import pytest

from hindbrain.stores.evidence_checkout import checkout_by_files, checkout_of
from tests.support.world import World, git


def seen(world: World, root: str, text: str = "the ferry left", **more: Any) -> dict[str, Any]:
    answer = world.at(root).call("record", text=text, **more)
    assert answer["ok"], answer
    return answer


def anchor(answer: dict[str, Any]) -> tuple[str, str, str | None]:
    return answer["anchor_kind"], answer["anchor_id"], answer["parent_anchor_id"]


@pytest.fixture
def worktrees(world: World) -> tuple[str, str]:
    """A repository with its brain, and a linked worktree of it."""
    main = world.brain("main")
    git(main, "add", "-A")
    git(main, "commit", "-q", "-m", "first")
    git(main, "worktree", "add", "-q", str(world.place / "side"))
    return main, str(world.place / "side")


@pytest.mark.req("MIND-050")
def test_mind_050_a_wing_says_nothing_about_the_checkout(world: World) -> None:
    root = world.brain("app")

    assert anchor(seen(world, root, wing="a")) == anchor(seen(world, root, wing="b"))


@pytest.mark.req("MIND-051", "MIND-057")
@pytest.mark.parametrize(
    ("kind", "id_", "told"),
    [
        ("branch", "branch://b", "anchor_kind"),
        ("repo", "worktree://wrong", "repo://"),
        ("repo", "repo://", "repo://"),
        ("repo", "repo://  ", "repo://"),
        ("repo", None, "go together"),
        (None, "repo://x", "go together"),
    ],
)
def test_mind_057_a_wrong_anchor_is_refused_before_an_id_is_made(
    world: World, kind: str | None, id_: str | None, told: str
) -> None:
    actor = world.at(world.brain("app"))

    answer = actor.call("record", text="x", anchor_kind=kind, anchor_id=id_)

    assert not answer["ok"]
    assert told in str(answer["error"])
    assert "evidence_id" not in answer
    assert actor.call("memory.list")["total"] == 0


@pytest.mark.req("MIND-053", "MIND-059", "MIND-060", "MIND-066")
def test_mind_059_worktrees_are_anchors_of_their_own_with_one_repository(world: World, worktrees: tuple[str, str]) -> None:
    main, side = worktrees
    inner = Path(main, "docs")
    inner.mkdir()
    os.symlink(main, world.place / "link")

    here, there = seen(world, main), seen(world, side)
    below, linked = seen(world, str(inner)), seen(world, str(world.place / "link"))

    assert anchor(here) == ("worktree", f"worktree://{main}", f"repo://{main}/.git")
    assert anchor(there) == ("worktree", f"worktree://{side}", f"repo://{main}/.git")
    assert anchor(below) == anchor(linked) == anchor(here)
    assert here["brain"] == there["brain"]


@pytest.mark.req("MIND-054")
def test_mind_054_a_repository_lists_what_its_checkouts_hold(world: World, worktrees: tuple[str, str]) -> None:
    main, side = worktrees
    seen(world, main, "one")
    seen(world, side, "two")

    by_checkout = world.at(main).call("memory.list", anchor_id=f"worktree://{side}")
    by_repository = world.at(main).call("memory.list", anchor_id=f"repo://{main}/.git")

    assert [row["content"] for row in by_checkout["rows"]] == ["two"]
    assert by_repository["total"] == 2


@pytest.mark.req("MIND-059", "MIND-060")
def test_mind_060_a_submodule_is_a_checkout_of_its_own_repository(world: World) -> None:
    library, main = world.repository("library"), world.repository("main")
    git(library, "add", "-A")
    git(library, "commit", "-q", "-m", "first")
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "inner")

    found = checkout_of(os.path.join(main, "inner"))

    assert (found.root, found.common) == (f"{main}/inner", f"{main}/.git/modules/inner")


def test_mind_060_a_bare_repository_has_no_checkout(world: World) -> None:
    bare = world.directory("bare.git")
    git(bare, "init", "-q", "--bare")

    found = checkout_of(bare)

    assert (found.root, found.common) == (bare, bare)


@pytest.mark.req("MIND-061")
def test_mind_061_outside_git_the_directory_is_the_checkout(world: World) -> None:
    plain = world.directory("plain")
    assert world.at(plain).call("ingest", path=plain, project_root=plain)["ok"]

    assert anchor(seen(world, plain)) == ("worktree", f"worktree://{plain}", None)


@pytest.mark.req("MIND-061")
def test_mind_061_any_other_failure_of_git_is_an_error(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    root = world.brain("app")
    programs = Path(world.directory("bin"))
    (programs / "git").write_text("#!/bin/sh\necho 'fatal: detected dubious ownership in repository' >&2\nexit 128\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    answer = world.at(root).call("record", text="x")

    assert answer["error"]["code"] == "store_unavailable"
    assert "dubious ownership" in answer["error"]["message"]


def test_mind_061_without_git_installed_the_files_tell_the_same(world: World, worktrees: tuple[str, str]) -> None:
    for directory in (*worktrees, world.directory("plain")):
        assert checkout_by_files(directory) == checkout_of(directory)


@pytest.mark.req("MIND-062", "MIND-063")
def test_mind_062_given_both_none_a_directory_or_nothing(world: World) -> None:
    root = world.brain("app")
    inner = Path(root, "docs")
    inner.mkdir()

    given = seen(world, root, "a", anchor_kind="repo", anchor_id="repo://x")
    named = seen(world, root, "b", cwd=str(inner))
    world.restart()
    world.bound_root = root
    unknown = world.at(None).call("record", text="c")

    assert anchor(given) == ("repo", "repo://x", None)
    assert anchor(named)[1] == f"worktree://{root}"
    assert anchor(unknown) == ("repo", "repo://legacy", None)


@pytest.mark.req("MIND-062")
def test_mind_062_a_directory_of_another_project_is_no_place_for_this_one(world: World) -> None:
    ours, theirs = world.brain("ours"), world.brain("theirs")

    answer = world.at(ours).call("record", text="x", cwd=theirs)

    assert answer["error"]["code"] == "path_refused"


@pytest.mark.req("MIND-058", "MIND-064")
def test_mind_058_what_belongs_to_no_project_is_in_the_medulla(world: World) -> None:
    one, two = world.brain("one"), world.brain("two")

    first, second = seen(world, one, domain="global"), seen(world, two, domain="global")
    wrong = world.at(one).call("record", text="y", anchor_kind="global", anchor_id="global://default")

    assert anchor(first) == anchor(second) == ("global", "global://default", None)
    assert first["evidence_id"] == second["evidence_id"]
    assert first["brain"] == "medulla"
    assert "domain global" in wrong["error"]["message"]
    assert [row["tier"] for row in world.at(two).call("memory.search", query="ferry")["results"]] == ["medulla"]


@pytest.mark.req("MIND-056")
def test_mind_056_scope_and_audience_are_two_questions(world: World) -> None:
    root = world.brain("app")
    seen(world, root, "ferry one", domain="global")
    seen(world, root, "ferry two", anchor_kind="repo", anchor_id="repo://r")
    seen(world, root, "ferry three")

    by_domain = world.at(root).call("memory.search", query="ferry", domain="project", floor=False)["results"]
    by_anchor = world.at(root).call("memory.search", query="ferry", anchor_kind="repo", floor=False)["results"]

    assert sorted(row["content"] for row in by_domain) == ["ferry three", "ferry two"]
    assert [row["content"] for row in by_anchor] == ["ferry two"]


@pytest.mark.req("MIND-067")
def test_mind_067_research_is_shared_by_the_checkouts_unless_it_is_local(world: World) -> None:
    root = world.brain("app")

    shared = seen(world, root, "a", provenance="research")
    local = seen(world, root, "b", provenance="research", branch_local=True)

    assert anchor(shared) == ("repo", f"repo://{root}/.git", None)
    assert anchor(local)[0] == "worktree"


def test_a_caller_without_a_brain_is_refused_as_for_claims(world: World) -> None:
    stranger = world.at(world.repository("strange"))

    answers = [stranger.call("record", text="x"), stranger.call("memory.ingest", text="x")]

    assert [answer["error"]["code"] for answer in answers] == ["brainless_root"] * 2
    assert not world.home.medulla_dir.exists()
