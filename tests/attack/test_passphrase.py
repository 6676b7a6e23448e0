"""A passphrase for human acts (F6): the human token, a terminal or a visit to the Hall alone do not do what a person does."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from hindbrain.policy.confirmation import MOST_WRONG
from tests.cli.program import Program
from tests.hall.test_hall import quay
from tests.support.browser import chromium, chromium_path
from tests.support.hall import opened
from tests.support.owner import RunningOwner, Starter
from tests.support.visitor import Visitor, enter

WORD = "drei Möwen am Kai"
NEEDED, WRONG, LOCKED = "passphrase_needed", "passphrase_wrong", "passphrase_locked"


def given_passphrase(home: Path, directory: Path, word: str = WORD) -> Program:
    """A home with a passphrase, set by a person at a terminal."""
    program = Program(home=home, directory=directory, environ={})
    ended = program.at_terminal("passphrase", "set", say=[("New passphrase: ", f"{word}\n"), ("once more: ", f"{word}\n")])
    assert ended.code == 0, ended.out
    assert word not in ended.out
    return program


class Place:
    """An owner, a repository with a claim, and a passphrase."""

    def __init__(self, owner: RunningOwner, root: Path, program: Program) -> None:
        self.owner, self.root, self.program = owner, root, program

    def forget(self, word: str | None = None, *, token: str | None = None) -> dict[str, Any]:
        """What a program gets that has the human token."""
        headers = {"hindbrain_caller_root": str(self.root)} | ({"hindbrain_passphrase": word} if word is not None else {})
        token = token or self.owner.human_token
        answer = self.owner.post("forget", {"claim": "Heron", "reason": "x"}, token=token, **headers)
        found: dict[str, Any] = answer.json
        return found

    def is_there(self) -> bool:
        return "Heron" in json.dumps(self.owner.call("claims", root=self.root))


def code_of(answer: dict[str, Any]) -> object:
    error = answer.get("error")
    return error["code"] if isinstance(error, dict) else answer.get("refused")


@pytest.fixture
def place(starter: Starter, tmp_path: Path) -> Place:
    root = tmp_path / "repository"
    root.mkdir()
    owner = starter(tmp_path / "home")
    assert owner.call("init", root=root, path=str(root))["ok"]
    assert owner.call("memorize", root=root, node_label="Heron", text="The heron eats at dawn.")["ok"]
    return Place(owner, root, given_passphrase(owner.home, root))


def test_f6_the_human_token_alone_does_no_human_act(place: Place) -> None:
    assert code_of(place.forget()) == NEEDED
    assert code_of(place.forget("x" * 20)) == WRONG
    assert code_of(place.forget(WORD, token=place.owner.token)) == "human_needed"
    assert place.is_there()

    assert place.forget("drei%20M%C3%B6wen%20am%20Kai")["ok"]
    assert not place.is_there()


@pytest.mark.parametrize("operation", ["memorize", "memory.delete", "reject", "places.add", "record"])
def test_f6_nothing_is_written_as_a_person_without_it(place: Place, operation: str) -> None:
    answer = place.owner.post(operation, {}, token=place.owner.human_token, hindbrain_caller_root=str(place.root))

    assert code_of(answer.json) == NEEDED


def test_f6_a_person_reads_without_it_and_agents_write_as_before(place: Place) -> None:
    owner = place.owner

    assert owner.post("north", {}, token=owner.human_token, hindbrain_caller_root=str(place.root)).json["ok"]
    assert owner.post("doctor.fix", {}, token=owner.human_token, hindbrain_caller_root=str(place.root)).json["ok"]
    assert code_of(owner.post("doctor.fix", {"yes": True}, token=owner.human_token).json) == NEEDED
    assert owner.call("memorize", root=place.root, node_label="Gull", text="The gull eats at noon.")["ok"]


def test_f6_wrong_tries_are_limited_for_all_processes_together(place: Place) -> None:
    said = [code_of(place.forget(f"wrong-guess-{number}")) for number in range(MOST_WRONG)]
    right = place.forget("drei%20M%C3%B6wen%20am%20Kai")
    embedded = place.program.given(HINDBRAIN_MODE="embedded")
    typed = embedded.at_terminal("forget", "Heron", "--reason", "x", say=[("to go on: ", "Heron\n"), ("Passphrase", f"{WORD}\n")])

    assert said == [WRONG] * MOST_WRONG
    assert code_of(right) == LOCKED
    assert LOCKED in typed.out
    assert place.is_there()


@pytest.mark.parametrize("mode", ["auto", "embedded"])
def test_f6_a_terminal_of_a_program_s_own_is_no_person(place: Place, mode: str) -> None:
    program = place.program.given(HINDBRAIN_MODE=mode)
    act = ("forget", "Heron", "--reason", "x")

    guessed = program.at_terminal(*act, say=[("to go on: ", "Heron\n"), ("Passphrase", "no idea at all\n")])
    piped = program.run(*act)
    assert WRONG in guessed.out
    assert piped.code != 0
    assert place.is_there()
    right = program.at_terminal(*act, say=[("to go on: ", "Heron\n"), ("Passphrase", f"{WORD}\n")])

    assert right.code == 0, right.out
    assert WORD not in right.out
    assert not place.is_there()


def _acts(owner: RunningOwner, visitor: Visitor, root: Path, word: str | None) -> object:
    header, _, _ = visitor.signed("POST", "/api/op/memorize")
    told = {"Authorization": header, "Content-Type": "application/json", "Hindbrain-Caller-Root": str(root)}
    told |= {"Hindbrain-Passphrase": word} if word else {}
    body = json.dumps({"node_label": "Tern", "text": "The tern dives."}).encode()
    answer = owner.request("POST", "/api/op/memorize", body=body, token=None, headers=told).json
    return code_of(answer) or answer["ok"]


def test_f6_a_visit_that_a_program_begins_is_not_confirmed_by_the_visit_of_a_person(place: Place) -> None:
    person, program = enter(place.owner), enter(place.owner)

    assert _acts(place.owner, person, place.root, None) == NEEDED
    assert _acts(place.owner, person, place.root, "drei%20M%C3%B6wen%20am%20Kai") is True
    assert _acts(place.owner, person, place.root, None) is True  # for a few minutes
    assert _acts(place.owner, program, place.root, None) == NEEDED


def test_f6_only_a_salted_hash_is_kept_and_nothing_of_it_is_logged(place: Place) -> None:
    place.forget()
    place.forget("drei%20M%C3%B6wen%20am%20Kai")

    found = place.owner.home / "passphrase"
    assert found.stat().st_mode & 0o777 == 0o600
    assert json.loads(found.read_text()).keys() == {"schema", "n", "r", "p", "salt", "hash"}
    for path in place.owner.home.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            assert WORD.encode() not in raw, path
            assert b"M%C3%B6wen" not in raw, path


@pytest.mark.parametrize("content", [b"", b"{}", b'{"schema": "hindbrain-passphrase-v0"}', b"\xff"])
def test_f6_a_damaged_file_lets_nobody_pass_and_is_named(place: Place, content: bytes) -> None:
    (place.owner.home / "passphrase").write_bytes(content)

    assert code_of(place.forget()) == NEEDED
    assert code_of(place.forget("drei%20M%C3%B6wen%20am%20Kai")) == WRONG
    assert "passphrase_damaged" in json.dumps(place.program.answer("doctor"))


def test_f6_only_a_person_who_knows_it_changes_or_removes_it(place: Place) -> None:
    program = place.program
    piped = program.answer("passphrase", "remove")
    guessed = program.at_terminal("passphrase", "remove", say=[("Present passphrase: ", "not the right one\n")])
    other = program.at_terminal("passphrase", "set", say=[("Present passphrase: ", "not the right one\n")])
    still = program.answer("passphrase", "status")["set"]
    short = [("Present passphrase: ", f"{WORD}\n"), ("New passphrase: ", "short\n"), ("once more: ", "short\n")]
    refused = program.at_terminal("passphrase", "set", say=short)
    removed = program.at_terminal("passphrase", "remove", say=[("Present passphrase: ", f"{WORD}\n")])

    assert code_of(piped) == "human_needed"
    assert WRONG in guessed.out
    assert WRONG in other.out
    assert still is True
    assert "8 to 128" in refused.out
    assert removed.code == 0
    assert program.answer("passphrase", "status")["set"] is False
    assert place.forget()["ok"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.mark.skipif(chromium_path() is None and os.environ.get("CI") != "true", reason="no Chromium")
def test_f6_the_hall_asks_for_it_before_a_person_s_act(browser: Browser, tmp_path: Path) -> None:
    world = quay(tmp_path)
    with opened(browser, world) as hall:
        assert hall.call("init", root="quay", path=str(world.roots["quay"]))["ok"]
        given_passphrase(world.home, tmp_path)
        page = hall.open("#/mail")
        hall.watch.expect("status of 403")
        page.get_by_role("button", name="Write a letter").click()
        page.get_by_label("What happened").fill("The gate asks.")
        page.get_by_role("button", name="Write it").click()
        asked = page.get_by_role("dialog", name="Confirm as a person")
        asked.get_by_label("Passphrase of this home").fill("surely not this")
        asked.get_by_role("button", name="Confirm").click()
        expect(page.get_by_role("dialog", name="Confirm as a person").get_by_role("alert")).to_contain_text("wrong")
        page.get_by_label("Passphrase of this home").fill(WORD)
        page.get_by_role("button", name="Confirm").click()

        expect(page.get_by_role("link", name="The gate asks.")).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)
