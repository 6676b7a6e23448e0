"""`hindbrain.open`: the same session whether the owner answers or this process does."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import hindbrain
from hindbrain.domain.caller import AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.domain.errors import OwnerRunning
from hindbrain.stores.locks import locked
from hindbrain.surfaces.client import read_owner, remote_session
from tests.cli.program import end_owner, git_repository
from tests.cli.strange import HUMAN_TOKEN, address_file, json_answer, strange_owner


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HINDBRAIN_PORT", "0")
    yield tmp_path / "home"
    end_owner(tmp_path / "home")


def caller(root: Path, channel: Channel = Channel.AGENT) -> Caller:
    return Caller(
        agent=AgentId("codex:maker"),
        root=str(root),
        root_source=RootSource.CALL,
        session=SessionId("s-1"),
        channel=channel,
    )


def test_remote_without_an_owner_there_is_no_remote_session(home: Path, tmp_path: Path) -> None:
    assert remote_session(home, caller(tmp_path), start=False) is None
    assert not home.exists()


def test_remote_a_session_survives_the_end_of_its_owner(home: Path, tmp_path: Path) -> None:
    root = git_repository(tmp_path / "app")
    with hindbrain.open(home, root=root) as embedded:
        assert embedded.call("init")["ok"]

    session = remote_session(home, caller(root), start=True)
    assert session is not None
    with session:
        assert session.call("memorize", node_label="Retry policy", text="three times")["ok"]
        first = read_owner(str(home))
        assert first is not None
        os.kill(first.pid, signal.SIGKILL)
        with locked(home / "owner.lock", wait_s=30):  # held until it is really over
            pass
        rows = session.call("north")["memory"]
        second = read_owner(str(home))

    assert [(row["claim"], row["source_agent"]) for row in rows] == [("Retry policy", "codex:maker")]
    assert second is not None
    assert second.pid != first.pid


@pytest.mark.parametrize(("mode", "asked"), [("embedded", 0), ("auto", 1)])
def test_remote_open_uses_the_owner_unless_the_mode_says_otherwise(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, asked: int
) -> None:
    monkeypatch.setenv("HINDBRAIN_MODE", mode)
    with strange_owner(home, json_answer({"ok": True})) as heard, hindbrain.open(home, root=tmp_path) as session:
        assert session.call("health")["ok"]

    assert len(heard) == asked


def test_remote_an_owner_that_breaks_off_is_an_error_and_not_an_exception(home: Path, tmp_path: Path) -> None:
    with strange_owner(home, b""):
        session = remote_session(home, caller(tmp_path), start=False)
        assert session is not None
        answer = session.call("memorize", node_label="x", text="y")

    assert answer["error"]["code"] == "owner_unreachable"


def test_remote_an_owner_of_another_release_line_is_not_used(home: Path, tmp_path: Path) -> None:
    with strange_owner(home, json_answer({"ok": True})) as heard:
        address = read_owner(str(home))
        assert address is not None
        address_file(home, address.port, version="9.9.9")
        with pytest.raises(OwnerRunning, match=r"9\.9\.9"):
            remote_session(home, caller(tmp_path), start=False)

    assert heard == []


def test_remote_a_person_calls_with_their_own_token(home: Path, tmp_path: Path) -> None:
    with strange_owner(home, json_answer({"ok": True})) as heard:
        (home / "human-token").write_text(HUMAN_TOKEN + "\n")
        session = remote_session(home, caller(tmp_path, Channel.HUMAN), start=False)
        assert session is not None
        session.call("forget", claim="x")

    assert f"Authorization: Bearer {HUMAN_TOKEN}\r\n".encode() in heard[0]
