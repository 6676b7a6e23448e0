"""The rule of identity, as a table: which traits of a directory prove that it holds the repository of a brain."""

import os
import sys
from pathlib import Path

import pytest

from hindbrain.domain.repository_identity import Evidence, Traits, evidence_of_adoption, evidence_of_same
from hindbrain.stores.births import birth_of
from hindbrain.stores.identity import signature_of, traits_of
from hindbrain.stores.repository import repository_of
from tests.support.world import World, git

ROOT = Traits(place=(1, 10), git=(2, 20), first=frozenset({"f1"}), remote="host/app", brain_id="id", witness="w")
BARE = Traits(place=(1, 10), git=(2, 20), first=frozenset({"f1"}), remote="host/app", brain_id="id")  # `init` never ran
PLAIN = Traits(place=(1, 10), brain_id="id")
WEAK = Traits(place=(1, 0), git=(2, 0), first=frozenset({"f1"}), remote="host/app", brain_id="id")
FILES = frozenset({("a.py", "1"), ("b.py", "2"), ("c.py", "3"), ("d.py", "4")})
PACKAGE = Traits(  # a directory inside a repository
    place=(1, 10), git=(2, 20), first=frozenset({"f1"}), remote="host/app", brain_id="id", within="packages/a", files=FILES
)
SCRATCH = Traits(place=(1, 10), git=(2, 20), first=frozenset({"f1"}), remote="host/app", brain_id="id", within="scratch")
OTHER = Traits(place=(7, 70), git=(8, 80), first=frozenset({"x1"}), remote="host/other")


def but(traits: Traits, **changes: object) -> Traits:
    return Traits(**{name: changes.get(name, getattr(traits, name)) for name in Traits.__dataclass_fields__})  # type: ignore[arg-type]


TABLE = {
    # name: (recorded, seen, claimed elsewhere, what proves it)
    "nothing changed": (ROOT, ROOT, False, Evidence.WITNESS),
    "witness removed by git clean": (ROOT, but(ROOT, witness=None), False, Evidence.GIT_DIRECTORY),
    "branch without brain.json": (ROOT, but(ROOT, witness=None, brain_id=None), False, Evidence.GIT_DIRECTORY),
    "history rewritten": (BARE, but(BARE, first=frozenset({"f2"})), False, Evidence.GIT_DIRECTORY),
    "another remote set": (BARE, but(BARE, remote="host/renamed"), False, Evidence.GIT_DIRECTORY),
    "a foreign brain.json was pulled": (BARE, but(BARE, brain_id="theirs"), False, Evidence.GIT_DIRECTORY),
    "removed, another one cloned": (ROOT, OTHER, False, None),
    "emptied, another one cloned into it": (ROOT, but(OTHER, place=(1, 10)), False, None),
    "another one with a forged id": (ROOT, but(OTHER, brain_id="id"), False, None),
    "another one with a forged id and history": (ROOT, but(OTHER, brain_id="id", first=frozenset({"f1"})), False, None),
    "restored from a copy, with its witness": (ROOT, but(ROOT, place=(3, 30), git=(4, 40)), False, Evidence.WITNESS),
    "cloned again from the same remote": (ROOT, but(BARE, place=(3, 30), git=(4, 40)), False, Evidence.LINEAGE),
    "cloned again, shallow": (ROOT, but(BARE, place=(3, 30), git=(4, 40), first=frozenset()), False, None),
    "swapped with another clone of the same project": (BARE, but(BARE, place=(3, 30), git=(4, 40)), True, None),
    "swapped with another clone that was initialised": (ROOT, but(ROOT, place=(3, 30), git=(4, 40), witness="v"), False, None),
    "`.git` removed": (BARE, but(BARE, git=None, first=frozenset(), remote=""), False, Evidence.DIRECTORY),
    "`git init` again": (BARE, but(BARE, git=(5, 50), first=frozenset(), remote=""), False, Evidence.DIRECTORY),
    "`git init` again, with a witness": (ROOT, but(ROOT, git=(5, 50), first=frozenset({"n"})), False, Evidence.WITNESS),
    "its witness copied into another repository": (ROOT, but(OTHER, witness="w"), False, None),
    "its witness copied, and another brain has that one": (ROOT, but(ROOT, place=(3, 30), git=(4, 40)), True, None),
    "a plain directory restored with its witness": (
        but(PLAIN, witness="w"),
        but(PLAIN, place=(3, 30), witness="w"),
        False,
        None,
    ),
    "the witness of a plain directory in a repository": (but(PLAIN, witness="w"), but(OTHER, witness="w"), False, None),
    "a plain directory": (PLAIN, PLAIN, False, Evidence.DIRECTORY),
    "a plain directory that became a repository": (PLAIN, but(PLAIN, git=(5, 50)), False, Evidence.DIRECTORY),
    "a clone put into a plain directory": (PLAIN, but(OTHER, place=(1, 10)), False, None),
    "another plain directory": (PLAIN, but(PLAIN, place=(3, 30)), False, None),
    "no birth times, nothing changed": (WEAK, WEAK, False, Evidence.GIT_DIRECTORY),
    "no birth times, rewritten, same id": (WEAK, but(WEAK, first=frozenset({"f2"})), False, Evidence.GIT_DIRECTORY),
    "no birth times, inode used again": (WEAK, but(OTHER, place=(1, 0), git=(2, 0)), False, None),
    "a checkout moved inside its repository": (BARE, but(BARE, place=(3, 30)), False, Evidence.GIT_DIRECTORY),
    "two worktrees swapped": (BARE, but(BARE, place=(3, 30)), True, None),
    "a package, nothing changed": (PACKAGE, but(PACKAGE, brain_id=None), False, Evidence.DIRECTORY),
    "a package, all files changed": (PACKAGE, but(PACKAGE, files=frozenset()), False, Evidence.DIRECTORY),
    "a package that a switch of branches made again": (PACKAGE, but(PACKAGE, place=(3, 30)), False, Evidence.PACKAGE),
    "the same, some files changed": (
        PACKAGE,
        but(PACKAGE, place=(3, 30), files=frozenset({("a.py", "1"), ("b.py", "2")})),
        False,
        Evidence.PACKAGE,
    ),
    "a package in another clone of the same remote": (
        PACKAGE,
        but(PACKAGE, place=(3, 30), git=(4, 40)),
        False,
        Evidence.PACKAGE,
    ),
    "a package in another repository": (PACKAGE, but(PACKAGE, place=(3, 30), git=(4, 40), remote="host/b"), False, None),
    "another directory in a package's place": (
        PACKAGE,
        but(PACKAGE, place=(3, 30), files=frozenset({("a.py", "1")})),
        False,
        None,
    ),
    "the same, with the id of the package": (PACKAGE, but(PACKAGE, place=(3, 30), files=frozenset()), False, None),
    "two packages swapped": (PACKAGE, but(PACKAGE, place=(3, 30)), True, None),
    "a package elsewhere in its repository": (PACKAGE, but(PACKAGE, place=(3, 30), within="packages/b"), False, None),
    "a directory without tracked files, made again": (SCRATCH, but(SCRATCH, place=(3, 30)), False, None),
    "its witness copied into a sibling": (
        but(SCRATCH, witness="w"),
        but(SCRATCH, place=(3, 30), witness="w", within="sibling"),
        False,
        None,
    ),
    "the witness of a repository in a directory of it": (ROOT, but(ROOT, place=(3, 30), within="packages/a"), False, None),
    "a clone put into an emptied package": (PACKAGE, but(OTHER, place=(1, 10)), False, None),
    "a repository made around a plain directory": (PLAIN, but(SCRATCH, brain_id=None), False, Evidence.DIRECTORY),
    "no birth times, a package's inode used again": (
        but(SCRATCH, place=(1, 0)),
        but(SCRATCH, place=(1, 0), brain_id=None),
        False,
        None,
    ),
    "no birth times, a package with its files": (
        but(PACKAGE, place=(1, 0)),
        but(PACKAGE, place=(1, 0), brain_id=None),
        False,
        Evidence.DIRECTORY,
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_the_rule_of_identity(case: str) -> None:
    recorded, seen, claimed, proof = TABLE[case]

    assert evidence_of_same(recorded, seen, claimed_elsewhere=claimed) is proof


KNOWN = Traits(brain_id="id", witness="w")
UNSEEN = Traits(brain_id="id")

ADOPTION = {
    "initialised, witness there": (KNOWN, ROOT, False, Evidence.WITNESS),
    "initialised, witness removed": (KNOWN, but(ROOT, witness=None), False, Evidence.FIRST_SIGHT),
    "initialised, neither file there": (KNOWN, OTHER, False, None),
    "initialised, another id there": (KNOWN, but(OTHER, brain_id="theirs"), False, None),
    "never initialised": (UNSEEN, but(OTHER), False, Evidence.FIRST_SIGHT),
    "never initialised, another id there": (UNSEEN, but(OTHER, brain_id="theirs"), False, None),
    "this very directory belongs to another brain": (UNSEEN, but(OTHER), True, None),
}


@pytest.mark.parametrize("case", ADOPTION)
def test_the_rule_for_a_brain_that_an_older_release_made(case: str) -> None:
    known, seen, claimed, proof = ADOPTION[case]

    assert evidence_of_adoption(known, seen, claimed_elsewhere=claimed) is proof


def committed(world: World, name: str) -> str:
    root = world.repository(name)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def test_a_brain_without_a_record_is_adopted_once(world: World) -> None:
    root = world.brain("app")
    world.at(root).memorize("Lantern", "the lantern is lit")
    record = world.home.brains_dir.glob("*/repository.json")
    (path,) = record
    path.unlink()
    world.restart()

    assert world.at(root).north("lantern")["memory"]
    assert path.exists()


def test_an_opening_starts_no_program_when_nothing_changed(world: World) -> None:
    root = committed(world, "app")
    assert world.at(root).call("init", path=root)["ok"]
    git(root, "commit", "-q", "--allow-empty", "-m", "second")
    world.restart()
    house = world.app.house
    started: list[object] = []
    watched = True
    sys.addaudithook(lambda event, given: started.append(given) if watched and event == "subprocess.Popen" else None)

    brain = house.brains.covering(root)
    assert brain is not None
    with house.brains.use(brain):
        watched = False

    assert started == []


def test_a_home_that_cannot_be_written_still_answers(world: World) -> None:
    root = world.brain("app")
    world.at(root).memorize("Lantern", "the lantern is lit")
    (path,) = world.home.brains_dir.glob("*/repository.json")
    path.unlink()
    path.mkdir()  # no file can be put there

    world.restart()

    assert world.at(root).north("lantern")["memory"]


def test_births_tell_a_directory_from_its_successor(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.mkdir()
    before = birth_of(str(place))
    os.rename(place, tmp_path / "b")
    place.mkdir()

    assert before is not None
    assert birth_of(str(tmp_path / "b")) == before
    assert birth_of(str(place)) != before
    assert birth_of(str(tmp_path / "none")) is None


def test_traits_of_shallow_bare_and_broken_repositories(world: World) -> None:
    root = committed(world, "app")
    shallow, bare = str(world.place / "shallow"), str(world.place / "bare.git")
    git(root, "clone", "-q", "--depth", "1", f"file://{root}", shallow)
    git(root, "clone", "-q", "--bare", root, bare)
    broken = world.directory("broken")
    Path(broken, ".git").write_text("gitdir: /nowhere\n")

    assert traits_of(shallow).first == frozenset()
    assert traits_of(bare).first == traits_of(root).first != frozenset()
    assert traits_of(bare).git == birth_of(bare)
    assert (traits_of(broken).git, signature_of(broken) is not None) == (None, True)
    assert signature_of(str(world.place / "none")) is None


def test_only_a_submodule_has_a_superproject(world: World) -> None:
    library, app = committed(world, "library"), committed(world, "app")
    git(app, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "vendor/library")
    git(app, "clone", "-q", library, f"{app}/cloned")
    forged = world.directory("app/forged")
    Path(forged, ".git").write_text("gitdir: ../.git/modules/vendor/library\n")

    assert repository_of(f"{app}/vendor/library").superproject == f"{app}/vendor"
    assert repository_of(f"{app}/cloned").superproject is None
    assert repository_of(forged).superproject is None
    assert repository_of(app).superproject is None
