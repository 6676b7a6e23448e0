"""The doctor's look at program, databases and cards before anything is opened (MIND-497 to MIND-502)."""

import os
import shlex
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from hindbrain import __version__
from hindbrain.services.environment import Environment
from hindbrain.stores.schema_look import SUPPORTED, schema_of
from tests.support.still import bytes_of, still
from tests.support.world import Actor, World


def database(world: World, root: str) -> Path:
    return world.store(root).parent / "brain.db"


def at_version(world: World, root: str, version: int) -> None:
    """The database of a brain, as a release with another schema would have left it."""
    world.close()
    connection = apsw.Connection(str(database(world, root)))
    connection.pragma("user_version", version)
    connection.close()


@pytest.mark.req("MIND-497", "MIND-500")
def test_mind_497_a_newer_database_is_told_and_left_alone(world: World) -> None:
    root = world.brain("app")
    at_version(world, root, SUPPORTED + 1)

    with still(world.home.path):
        answer = world.at(root).call("doctor")

    assert answer["db"] == {
        "path": str(database(world, root)),
        "exists": True,
        "schema_version": SUPPORTED + 1,
        "compatible": False,
        "error": None,
    }
    assert (answer["current_version"], answer["supported_schema_version"]) == (__version__, SUPPORTED)
    assert "schema_newer" in [one["kind"] for one in answer["warnings"]]
    (advice,) = answer["recommendations"]
    assert "restart long-running MCP clients" in advice


@pytest.mark.req("MIND-497", "MIND-498")
def test_mind_498_an_older_database_is_not_migrated_by_a_look(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    at_version(world, root, SUPPORTED - 1)

    with still(world.home.path):
        answer = world.at(root).call("doctor", observed_query="kettle")

    assert answer["db"]["compatible"]
    assert schema_of(database(world, root)).version == SUPPORTED - 1
    assert "schema_behind" in [one["kind"] for one in answer["notes"]]


@pytest.mark.req("MIND-498", "MIND-499")
def test_mind_498_an_empty_home_stays_empty_and_no_network_is_needed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*words: Any, **more: Any) -> None:
        raise AssertionError("the doctor asked the network")

    monkeypatch.setattr(socket.socket, "connect", refused)

    answer = world.at(world.directory("nowhere")).call("doctor")

    assert (answer["db"]["exists"], answer["db"]["compatible"], answer["exit_code"]) == (False, True, 0)
    assert not world.home.path.exists()


@pytest.mark.req("MIND-499")
@pytest.mark.parametrize(("version", "compatible"), [(SUPPORTED, True), (SUPPORTED + 1, False), (None, False)])
def test_mind_499_what_is_compatible(world: World, version: int | None, compatible: bool) -> None:
    root = world.brain("app")
    if version is not None:
        at_version(world, root, version)
    else:
        world.close()
        database(world, root).write_text("this is a text, not a database\n" * 100)

    answer = world.at(root).call("doctor")

    assert answer["db"]["compatible"] is compatible
    assert (answer["db"]["error"] is not None) == (version is None)
    assert bool({"schema_newer", "database_unreadable"} & {one["kind"] for one in answer["warnings"]}) is not compatible


@pytest.mark.req("MIND-497", "MIND-499")
def test_mind_499_the_program_on_the_search_path_is_compared(world: World, tmp_path: Path) -> None:
    other = tmp_path / "bin" / "hindbrain"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    beside = Path(sys.executable).parent
    house = world.app.house

    def install(path: str) -> dict[str, Any]:
        looked = Environment(world.home, house.brains, house.router, {"PATH": path}, served=False)
        found: dict[str, Any] = looked.report(world.at(None).caller)["install"]
        return found

    elsewhere, none = install(str(other.parent)), install(str(tmp_path))
    assert (elsewhere["path_hindbrain"], elsewhere["path_matches_current_exe"]) == (str(other), False)
    assert (none["path_hindbrain"], none["path_matches_current_exe"]) == (None, None)
    assert [len(one["warnings"]) for one in (elsewhere, none)] == [1, 1]
    if shutil.which("hindbrain", path=str(beside)):
        same = install(f"{beside}{os.pathsep}{other.parent}")
        assert (same["path_matches_current_exe"], same["warnings"]) == (True, [])


def test_mind_501_interpreter_package_and_library_are_shown(world: World) -> None:
    shown = world.at(None).call("doctor")["python"]

    assert shown["version"] == ".".join(map(str, sys.version_info[:3]))
    assert Path(shown["package"], "app.py").is_file()
    assert (shown["sqlite_version"], shown["fts5"]) == (apsw.sqlite_lib_version(), True)
    assert "vector_extension" in shown


@pytest.mark.req("MIND-502")
def test_mind_502_a_disabled_tool_is_not_advertised_and_nothing_is_made(world: World) -> None:
    plain = world.at(world.directory("nowhere"))
    lists = replace(plain.caller, listed_tools=("context", "adoption_record", "cowork_send"))

    required = Actor(world, lists).call("doctor")["mcp"]["required_tools"]

    assert [one["name"] for one in required] == ["context", "brief", "adoption", "bus"]
    assert [one["advertised"] for one in required] == [True, False, True, True]
    assert "mcp" not in plain.call("doctor")
    assert not world.home.path.exists()


def promoted(actor: Actor) -> tuple[str, list[str]]:
    """A card that passed its gate, and what it cites."""
    refs = [str(actor.call("record", text=f"retries hid the fault, seen {number} times")["evidence_id"]) for number in (1, 2)]
    made = actor.call(
        "knowledge.distill",
        statement="Bound every retry.",
        content="An endless retry hides the fault; short jobs may differ.",
        tier="qi",
        supporting_refs=refs[:1],
    )
    assert made["ok"], made
    done = actor.call(
        "knowledge.promote", card_id=made["card_id"], status="promoted", verification_refs=refs[1:], reason="seen again"
    )
    assert done["ok"], done
    return str(made["card_id"]), refs


def kinds(answer: dict[str, Any]) -> dict[str, str]:
    return {one["kind"]: one["text"] for one in answer["warnings"] if one["kind"].startswith("card_")}


def test_the_doctor_tells_a_status_that_no_entry_gave(world: World) -> None:
    root = world.brain("app")
    card, _ = promoted(world.at(root))
    assert kinds(world.at(root).call("doctor")) == {}
    world.close()
    connection = apsw.Connection(str(database(world, root)))
    connection.execute("update card set status = 'demoted' where id = ?", (card,))
    connection.close()

    answer = world.at(root).call("doctor")

    assert card in kinds(answer)["card_unbacked"]
    (section,) = [one for one in answer["sections"] if one["section"] == "knowledge"]
    assert (section["status"], section["kinds"]) == ("warn", ["card_unbacked"])


def test_the_doctor_tells_a_card_whose_evidence_is_gone(any_world: World) -> None:
    actor = any_world.at(any_world.brain("app"))
    card, refs = promoted(actor)
    actor.call("memory.delete", evidence_id=refs[0])

    gone = kinds(actor.call("doctor"))
    actor.call("memory.restore", evidence_id=refs[0])

    assert card in gone["card_evidence_gone"]
    assert kinds(actor.call("doctor")) == {}


def test_mind_497_the_look_itself_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "brain.db").write_bytes(b"")
    before = bytes_of(tmp_path)

    found = [schema_of(tmp_path / "brain.db"), schema_of(tmp_path / "none.db")]

    assert [(one.exists, one.version, one.compatible) for one in found] == [(True, 0, True), (False, None, True)]
    assert bytes_of(tmp_path) == before


def test_a_fix_can_be_pasted_as_it_stands_wherever_the_home_is(tmp_path: Path) -> None:
    world = World(tmp_path / "my $(home)")
    root = world.repository("shop")
    actor = world.at(root)
    assert actor.call("ingest", path=root, project_root=root)["ok"]
    token = world.home.path / "human-token"
    token.write_text("secret")
    token.chmod(0o644)

    found = [one for one in actor.call("doctor")["warnings"] if one["kind"] == "token_readable"]
    world.close()

    assert [shlex.split(one["command"]) for one in found] == [["chmod", "600", str(token)]]
