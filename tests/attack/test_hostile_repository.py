"""A repository nobody trusts: what lies in it may narrow what is allowed, never widen it (design 13)."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from tests.support.world import World

SAID = "zanzibar cache evicts by quokka order"


def with_memory(world: World, name: str = "x") -> str:
    """An initialised repository whose claim only its own callers may see."""
    root = world.repository(name)
    assert world.at(root).call("init", path=root)["ok"]
    world.at(root).memorize("zanzibar cache", SAID)
    return root


def sees(world: World, root: str) -> bool:
    return "quokka" in str(world.at(root).north("zanzibar cache")) + str(world.at(root).seek("zanzibar cache"))


def in_time(work: Callable[[], Any]) -> Any:
    """The result of work that must not wait for anybody."""
    done: Queue[Any] = Queue()
    Thread(target=lambda: done.put(work()), daemon=True).start()  # a hung one must not keep the test run from ending
    return done.get(timeout=20)


@pytest.mark.parametrize("what", [".hindbrain", ".hindbrain/agent-memory"])
@pytest.mark.req("CONF-01", "MED-029")
def test_memory_that_is_a_link_into_another_repository_is_not_read(world: World, what: str) -> None:
    x, y = with_memory(world), world.repository("y")
    target = Path(y, what)
    target.parent.mkdir(exist_ok=True)
    target.symlink_to(Path(x, what))

    init = world.at(y).call("init", path=y)
    assert init["error"]["code"] == "path_refused"

    world.at(y).call("ingest", path=y, project_root=y)
    world.at(y).memorize("of y", "mine alone")
    assert not sees(world, y)
    assert "of-y.light.md" not in os.listdir(Path(x, ".hindbrain/agent-memory"))
    assert sees(world, x)


@pytest.mark.req("MED-029")
def test_memory_that_is_a_link_to_the_medulla_does_not_write_it(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("doctrine", "shared", tier="medulla")
    Path(y, ".hindbrain").mkdir()
    Path(y, ".hindbrain/agent-memory").symlink_to(world.store(None))

    world.at(y).memorize("zanzibar cache", SAID)
    world.restart()

    assert not world.file(None, "zanzibar-cache").exists()
    assert not sees(world, x)
    assert sees(world, y)


def test_init_and_uninit_write_and_remove_nothing_behind_a_link(world: World) -> None:
    y, elsewhere = with_memory(world, "y"), Path(world.directory("elsewhere"))
    (elsewhere / "kept.1.light.md").write_text("mine\n", encoding="utf-8")
    history = Path(y, ".hindbrain/agent-memory/.history")
    history.rmdir()
    history.symlink_to(elsewhere)

    answers = [world.human(y).call(act, path=y) for act in ("init", "uninit")]

    assert [one["error"]["code"] for one in answers] == ["path_refused", "path_refused"]
    assert os.listdir(elsewhere) == ["kept.1.light.md"]


def test_a_claim_file_that_is_a_link_is_never_read(world: World) -> None:
    y, private = world.brain("y"), world.place / "private.txt"
    private.write_text(SAID, encoding="utf-8")
    world.at(y).memorize("first", "there is a directory now")
    world.file(y, "zanzibar-cache").symlink_to(private)

    assert not sees(world, y)
    world.at(y).memorize("zanzibar cache", "a claim of our own")

    assert "quokka" not in str(world.at(y).call("history", claim="zanzibar cache"))
    assert private.read_text(encoding="utf-8") == SAID


def test_a_pipe_among_claims_or_citations_holds_nobody_up(world: World) -> None:
    y = world.brain("y")
    world.at(y).memorize("first", "there is a directory now")
    os.mkfifo(world.file(y, "pipe"))
    os.mkfifo(Path(y, "pipe"))

    assert in_time(lambda: world.at(y).north("first"))["ok"]
    assert in_time(lambda: world.at(y).memorize("pipe", "is a claim", evidence=["pipe"]))["light_evidence_unresolved"] == 1


def test_a_directory_in_a_claims_place_is_refused_before_anything_is_written(world: World) -> None:
    y = world.brain("y")
    world.at(y).memorize("first", "there is a directory now")
    world.file(y, "taken").mkdir()
    before = world.at(y).call("ledger.verify")["entries"]

    assert world.at(y).call("memorize", node_label="taken", text="t")["error"]["code"] == "path_refused"

    assert world.at(y).call("ledger.verify")["entries"] == before
    assert world.at(y).call("history", claim="taken")["error"]["code"] == "unknown_claim"


@pytest.mark.parametrize("existing_worktree", [False, True])
@pytest.mark.req("CONF-01", "MED-033")
def test_a_git_file_that_names_a_strangers_repository_opens_no_brain(world: World, existing_worktree: bool) -> None:
    x, y = with_memory(world), world.directory("y")
    git_dir = Path(x, ".git/worktrees/one") if existing_worktree else Path(y, "forged")
    git_dir.mkdir(parents=True)
    (git_dir / "commondir").write_text(f"{x}/.git\n", encoding="utf-8")
    (git_dir / "gitdir").write_text(f"{world.place}/one/.git\n" if existing_worktree else f"{y}/.git\n", encoding="utf-8")
    Path(y, ".git").write_text(f"gitdir: {git_dir}\n", encoding="utf-8")

    assert not sees(world, y)
    assert world.at(y).call("memorize", node_label="n", text="t")["refused"] == "brainless_root"


def test_a_repositorys_git_settings_start_no_program(world: World) -> None:
    y = world.repository("y")
    program = f"touch {world.place}/started; false"
    subprocess.run(["git", "-C", y, "config", "core.fsmonitor", program], check=True)

    assert world.at(y).call("ingest", path=y, project_root=y)["ok"]

    assert not (world.place / "started").exists()


def test_the_inventory_is_of_this_repository_whatever_git_started_us(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = world.repository("x", a_py="", b_py="", c_py=""), world.repository("y")
    monkeypatch.setenv("GIT_DIR", f"{x}/.git")
    monkeypatch.setenv("GIT_WORK_TREE", x)

    answer = world.at(y).call("ingest", path=y, project_root=y)

    assert answer["ingest"]["files"] == 1


@pytest.mark.req("CONF-01")
def test_no_brain_takes_in_the_directory_that_holds_all_projects(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    x, z = with_memory(world), world.directory("people/me/z")
    monkeypatch.setenv("HOME", str(world.place / "people/me"))

    for path in ("/", str(world.place / "people"), str(world.place / "people/me")):
        assert world.at(x).call("ingest", path=path)["error"]["code"] == "path_refused"

    assert not sees(world, z)


def test_a_directory_whose_name_is_no_text_is_refused_by_code(world: World) -> None:
    root = os.fsdecode(os.fsencode(world.place) + b"/r\xff")
    os.mkdir(root)

    assert world.at(root).call("ingest")["error"]["code"] == "path_refused"
    assert world.at(root).call("ingest", path=root, project_root=root)["error"]["code"] == "invalid_params"
    assert world.at(root).call("memorize", node_label="n", text="t")["refused"] == "brainless_root"


def test_a_caller_root_that_holds_a_secret_is_not_recorded(world: World) -> None:
    token = "ghp_" + "A1b2C3d4E5f6" * 3
    root = world.directory(token)

    assert world.at(root).call("memorize", node_label="n", text="t")["refused"] == "brainless_root"

    assert token not in world.home.refusals_file.read_text(encoding="utf-8")


def test_a_huge_claim_file_is_refused_without_being_read_whole(world: World) -> None:
    y = world.brain("y")
    world.at(y).memorize("first", "there is a directory now")
    with open(world.file(y, "huge"), "wb") as file:
        file.truncate(1 << 40)  # a hole: takes no room on the disk, and no memory holds it

    assert world.at(y).north("first")["memory"]

    assert any("huge" in one["text"] for one in world.at(y).call("doctor")["warnings"])
