"""A brain belongs to a repository: worktrees share it, clones and submodules have their own, links change nothing."""

import hashlib
import os
from pathlib import Path

import pytest

from hindbrain.domain.brain import Brain, BrainId, fingerprint
from hindbrain.stores.repository import canonical_root
from tests.support.world import World, git


def committed(world: World, name: str, **files: str) -> str:
    root = world.repository(name, **files)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    return root


@pytest.mark.req("MED-045")
def test_med_045_the_directory_of_a_brain_is_named_by_its_canonical_root(world: World) -> None:
    root = world.repository("app")
    os.symlink(root, world.place / "link")
    expected = hashlib.sha256(root.encode()).hexdigest()[:16]

    for spelling in (root, root + "/", str(world.place / "link"), f"{root}/../app"):
        answer = world.at(root).call("ingest", path=spelling, project_root=spelling)
        assert (answer["ok"], answer["project_root"]) == (True, root)

    assert os.listdir(world.home.brains_dir) == [expected]
    assert fingerprint("/r/app") == hashlib.sha256(b"/r/app").hexdigest()[:16]
    assert {canonical_root(one) for one in (root, root + "/", str(world.place / "link"))} == {root}


@pytest.mark.req("MED-014")
def test_med_014_covering_is_by_component(world: World) -> None:
    brain = Brain(id=BrainId("b"), root="/r/app", created_ms=0, ingest_roots=("/lib",))

    covered = {path: brain.covers(path) for path in ("/r/app", "/r/app/src", "/lib/x", "/r/app2", "/r", "/lib2", "/")}

    assert [path for path, yes in covered.items() if yes] == ["/r/app", "/r/app/src", "/lib/x"]


@pytest.mark.req("MED-014", "MED-016")
def test_med_016_every_worktree_of_a_repository_is_served_by_its_one_brain(world: World) -> None:
    main = committed(world, "main", src__a_py="1\n")
    linked = str(world.place / "linked")
    git(main, "worktree", "add", "-q", linked, "-b", "feature")
    world.brain("main")
    world.at(main).memorize("Known", "known in the repository")

    north = world.at(os.path.join(linked, "src")).north("known repository")
    written = world.at(linked).memorize("From the worktree")

    assert north["reception"] is None
    assert [row["slug"] for row in north["memory"]] == ["known"]
    assert (written["origin_brain"], Path(written["path"]).parent) == (main, world.store(main))


@pytest.mark.req("MED-008", "MED-020")
def test_med_020_a_bootstrap_from_a_worktree_gives_the_repository_its_brain(world: World) -> None:
    main = committed(world, "main", src__a_py="1\n")
    linked = str(world.place / "linked")
    git(main, "worktree", "add", "-q", linked, "-b", "feature")
    actor = world.at(linked)
    call = actor.call("health")["reception"]["options"][1]["call"]

    answer = actor.call(call["tool"], **call["arguments"])
    again = world.at(linked).call("ingest", path=linked, project_root=linked)

    assert (answer["ok"], answer["project_root"]) == (True, main)
    assert (again["reused_existing_brain"], again["project_root"]) == (True, main)
    assert len(os.listdir(world.home.brains_dir)) == 1
    assert world.at(main).north()["reception"] is None
    for cited in ("src/a.py", f"{linked}/src/a.py:1", f"{main}/src/a.py"):
        assert actor.memorize("Cited", evidence=[cited])["light_evidence_resolved"] == 1


@pytest.mark.req("MED-014", "MED-015")
def test_med_015_a_worktree_inside_another_project_belongs_to_its_repository(world: World) -> None:
    main, other = committed(world, "main"), world.brain("other")
    world.brain("main")
    linked = os.path.join(other, "checkouts/main")
    git(main, "worktree", "add", "-q", linked, "-b", "feature")

    assert world.at(linked).memorize("Whose")["origin_brain"] == main
    assert world.at(os.path.join(other, "checkouts")).memorize("Whose else")["origin_brain"] == other


@pytest.mark.req("MED-014", "MED-015")
def test_med_015_a_nested_brain_of_a_repository_is_found_from_a_worktree_too(world: World) -> None:
    main = committed(world, "main", pkg__a__m_py="1\n")
    inner = os.path.join(main, "pkg/a")
    world.brain("main")
    world.at(inner).call("ingest", path=inner, project_root=inner)
    linked = str(world.place / "linked")
    git(main, "worktree", "add", "-q", linked, "-b", "feature")

    assert world.at(os.path.join(linked, "pkg/a")).memorize("Inner")["origin_brain"] == inner
    assert world.at(linked).memorize("Outer")["origin_brain"] == main


def test_med_014_a_bare_repository_with_worktrees_has_one_brain(world: World) -> None:
    source = committed(world, "source", src__a_py="1\n")
    bare = str(world.place / "app.git")
    git(source, "clone", "-q", "--bare", source, bare)
    one, two = str(world.place / "one"), str(world.place / "two")
    git(bare, "worktree", "add", "-q", one, "main")
    git(bare, "worktree", "add", "-q", two, "-b", "other")
    actor = world.at(one)
    call = actor.call("health")["reception"]["options"][1]["call"]

    made = actor.call(call["tool"], **call["arguments"])
    written = actor.memorize("From one", "seen from one")

    assert made["ingest"]["files"] == 2
    assert [row["slug"] for row in world.at(two).north("seen one")["memory"]] == ["from-one"]
    assert world.at(two).memorize("From two")["origin_brain"] == written["origin_brain"]
    assert len(os.listdir(world.home.brains_dir)) == 1


def test_med_014_a_clone_has_a_brain_of_its_own(world: World) -> None:
    source = committed(world, "source")
    world.brain("source")
    world.at(source).memorize("Of the source")
    clone = str(world.place / "clone")
    git(source, "clone", "-q", source, clone)

    assert world.at(clone).north()["reception"]["caller_root"] == clone
    assert world.at(clone).call("ingest", path=clone, project_root=clone)["reused_existing_brain"] is False
    assert world.at(clone).north("source")["memory"] == []


def test_a_submodule_is_served_by_the_nearest_brain_around_it(world: World) -> None:
    app, library = world.brain("app", src__a_py="A = 1\n"), world.repository("library", lib_py="B = 1\n")
    git(library, "add", "."), git(library, "commit", "-qm", "first")
    git(app, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "packages/core/vendor")
    package = f"{app}/packages/core"
    made = world.at(package).call("ingest", path=package, project_root=package)
    assert (made["ok"], made["project_root"]) == (True, package), made
    world.at(app).memorize("Outer rule", "The outer notes speak of lanterns.")
    world.at(package).memorize("Inner rule", "The inner notes speak of lanterns.")

    found = world.at(f"{package}/vendor").north("lanterns")["memory"]

    assert [row["slug"] for row in found] == ["inner-rule"]


@pytest.mark.req("MED-012")
def test_med_012_a_session_in_a_submodule_keeps_its_brain_and_a_new_one_gets_the_nearest(world: World) -> None:
    app, library = world.brain("app", src__a_py="A = 1\n"), committed(world, "library", lib_py="B = 1\n")
    git(app, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "packages/core/vendor")
    package = f"{app}/packages/core"
    older, newer = world.at(f"{package}/vendor", session="older"), world.at(f"{package}/vendor", session="newer")
    before = older.memorize("Before", "The older notes speak of lanterns.")

    world.at(package).call("ingest", path=package, project_root=package)
    world.at(package).memorize("Inner rule", "The inner notes speak of lanterns.")

    assert before["origin_brain"] == app
    assert [row["slug"] for row in older.north("lanterns")["memory"]] == ["before"]
    assert [row["slug"] for row in newer.north("lanterns")["memory"]] == ["inner-rule"]


@pytest.mark.req("MED-014", "MED-015")
def test_med_015_a_submodule_is_covered_by_its_superproject_until_it_has_a_brain(world: World) -> None:
    library = committed(world, "library", lib_py="1\n")
    app = committed(world, "app")
    git(app, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "vendor/library")
    inner = os.path.join(app, "vendor/library")
    world.brain("app")
    before = world.at(inner).memorize("Before")

    made = world.at(inner).call("ingest", path=inner, project_root=inner)
    after = world.at(inner).memorize("After")

    assert before["origin_brain"] == app
    assert (made["project_root"], made["reused_existing_brain"]) == (inner, False)
    assert after["origin_brain"] == inner
    assert world.at(library).north()["reception"]["match"] == "caller_root_mismatch"


@pytest.mark.parametrize("broken", ["gitdir: /nowhere/at/all\n", "not a pointer\n", ""], ids=["dangling", "garbage", "empty"])
def test_med_014_a_broken_git_pointer_makes_the_directory_its_own_repository(world: World, broken: str) -> None:
    root = world.directory("odd")
    Path(root, ".git").write_text(broken)

    answer = world.at(root).call("ingest", path=root, project_root=root)

    assert (answer["ok"], answer["project_root"]) == (True, root)


def test_med_014_a_directory_without_git_is_its_own_repository(world: World) -> None:
    root = world.directory("plain")
    Path(root, "notes.txt").write_text("n\n")

    assert world.at(root).call("ingest", path=root, project_root=root)["ingest"]["files"] == 1
    assert world.at(world.directory("plain/deep")).memorize("Deep")["origin_brain"] == root
