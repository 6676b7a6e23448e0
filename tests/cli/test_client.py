"""The thin client: finds the owner, speaks just enough HTTP, and is never held up by a stale address."""

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain import __version__
from hindbrain.stores.home import Home, default_home
from hindbrain.stores.owner_file import announce
from hindbrain.stores.repository import canonical_root
from hindbrain.surfaces import client
from hindbrain.surfaces.client import (
    OwnerAddress,
    OwnerGone,
    Who,
    call,
    caller_root,
    find_owner,
    home_path,
    read_owner,
    read_token,
)
from hindbrain.surfaces.exchange import header_value, request
from tests.cli.strange import TOKEN, address_file, json_answer, strange_owner


def ask(home: Path, timeout: float = 20.0) -> dict[str, object]:
    address = read_owner(str(home))
    assert address is not None
    return call(address, TOKEN, "north", {"query": "ü"}, Who("/r/ü x", "codex:maker", "s-1"), timeout)


def test_client_tells_the_owner_who_asks_and_from_where(tmp_path: Path) -> None:
    with strange_owner(tmp_path, json_answer({"ok": True, "rows": []})) as heard:
        answer = ask(tmp_path)

    head, _, body = heard[0].decode("ascii").partition("\r\n\r\n")
    assert answer == {"ok": True, "rows": []}
    assert head.splitlines()[0] == "POST /api/op/north HTTP/1.1"
    assert f"Authorization: Bearer {TOKEN}" in head
    assert "Hindbrain-Caller-Root: /r/%C3%BC%20x" in head
    assert "Hindbrain-Agent: codex:maker" in head
    assert "Hindbrain-Session: s-1" in head
    assert json.loads(body) == {"query": "ü"}


def test_client_reads_an_answer_that_may_come_in_chunks_or_without_a_length(tmp_path: Path) -> None:
    chunked = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7;x=y\r\n{"ok": \r\n5\r\ntrue}\r\n0\r\n\r\n'
    bare = b'HTTP/1.0 409 Conflict\r\n\r\n{"ok": false, "error": {"code": "busy"}}'

    with strange_owner(tmp_path, chunked):
        first = ask(tmp_path)
    with strange_owner(tmp_path, bare):
        second = ask(tmp_path)

    assert first == {"ok": True}
    assert second == {"ok": False, "error": {"code": "busy"}}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<html>",
        b"HTTP/1.1 200 OK\r\nContent-Length: nine\r\n\r\n<html>",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"x" * 100_000,
    ],
)
def test_client_a_stranger_on_the_port_is_no_owner(tmp_path: Path, answer: bytes) -> None:
    with strange_owner(tmp_path, answer), pytest.raises(OwnerGone) as gone:
        ask(tmp_path)

    assert gone.value.sent


def test_client_an_owner_that_hangs_is_given_up_at_the_deadline(tmp_path: Path) -> None:
    def silent(request: bytes, connection: socket.socket) -> None:
        connection.recv(1)  # until the client has had enough

    with strange_owner(tmp_path, silent), pytest.raises(OwnerGone, match="in time") as gone:
        ask(tmp_path, timeout=0.05)

    assert gone.value.sent


def test_client_an_owner_that_trickles_is_given_up_at_the_deadline(tmp_path: Path) -> None:
    """The limit is for the whole answer, not for each piece of it."""

    def trickle(request: bytes, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        with suppress(OSError):
            while True:
                connection.sendall(b" ")

    with strange_owner(tmp_path, trickle), pytest.raises(OwnerGone, match="in time"):
        ask(tmp_path, timeout=0.05)


def test_client_a_dead_owners_port_is_never_sent_the_token(tmp_path: Path) -> None:
    with strange_owner(tmp_path, json_answer({"ok": True})) as heard:
        address = read_owner(str(tmp_path))
        assert address is not None
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        kept = OwnerAddress(address.host, address.port, ended.pid, address.version, address.started_ms)

        with pytest.raises(OwnerGone) as gone:
            call(kept, TOKEN, "north", {}, Who("/r", "codex:maker"))
        address_file(tmp_path, address.port, locked=False)  # the number is of a living process, the writer is dead
        found = read_owner(str(tmp_path)), find_owner(str(tmp_path))

    assert not gone.value.sent
    assert heard == []
    assert found == (None, None)


def test_client_a_refused_connection_is_no_owner(tmp_path: Path) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # and not listening: nobody else gets the port
        address_file(tmp_path, deaf.getsockname()[1])

        with pytest.raises(OwnerGone) as gone:
            ask(tmp_path)

    assert not gone.value.sent


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"pid": 1}',
        '{"pid": 1, "host": "127.0.0.1", "port": 0}',
        '{"pid": -1, "host": "h", "port": 9}',
        "\x00\xff",
        "1" * 70000,
    ],
)
def test_client_a_broken_owner_file_is_no_owner(tmp_path: Path, text: str) -> None:
    (tmp_path / "owner.json").write_text(text, encoding="latin-1")

    assert read_owner(str(tmp_path)) is None


def test_client_without_a_readable_token_nobody_is_asked(tmp_path: Path) -> None:
    with pytest.raises(OwnerGone, match="token") as gone:
        read_token(str(tmp_path))

    assert not gone.value.sent


def test_client_a_body_that_is_refused_by_its_size_still_gets_its_answer(tmp_path: Path) -> None:
    refusal = json_answer({"ok": False, "error": {"code": "body_too_large"}}, status="413 Too Large")
    with strange_owner(tmp_path, refusal):
        address = read_owner(str(tmp_path))
        assert address is not None
        reply = request(address, TOKEN, "POST", "/api/op/x", {}, b" " * 3_000_000, 20.0)

    assert reply.status == 413
    assert client.answer_of(reply.body)["error"] == {"code": "body_too_large"}


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_client_a_header_value_is_ascii_and_reads_back(value: str) -> None:
    sent = header_value(value)

    assert sent.isascii()
    assert sent.isprintable()
    assert sent == sent.strip()
    assert unquote(sent, errors="strict") == value


# -- the same places as the rest of the house ---------------------------------------------------------------------------


@pytest.mark.parametrize("short_exists", [False, True])
@pytest.mark.parametrize("named", [None, "elsewhere", "~/tilde", "/absolute"])
@pytest.mark.parametrize("xdg", [None, "/xdg"])
def test_client_finds_the_home_that_the_house_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short_exists: bool, named: str | None, xdg: str | None
) -> None:
    environ = {"HOME": str(tmp_path)}
    environ |= {"HINDBRAIN_HOME": named} if named else {}
    environ |= {"XDG_DATA_HOME": xdg} if xdg else {}
    monkeypatch.setenv("HOME", str(tmp_path))
    if short_exists:
        (tmp_path / ".hindbrain").mkdir()

    assert home_path(environ) == str(default_home(environ))


def test_client_names_the_files_that_the_house_names(tmp_path: Path) -> None:
    home = Home(tmp_path)
    tokens = home.tokens()
    held = announce(home.owner_file, {"pid": os.getpid(), "host": "127.0.0.1", "port": 9, "version": __version__})

    assert (read_token(str(tmp_path)), read_token(str(tmp_path), human=True)) == (tokens.agent, tokens.human)
    assert read_token(str(tmp_path), hook=True) == tokens.hook
    address = read_owner(str(tmp_path))
    assert address is not None
    assert address.url == "http://127.0.0.1:9"
    os.close(held)
    assert read_owner(str(tmp_path)) is None


@pytest.mark.req("MED-017")
def test_med_017_the_caller_root_is_given_or_named_or_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    host = {"CLAUDE_PROJECT_DIR": "/host"}

    assert caller_root("/given", {"HINDBRAIN_WORKSPACE_ROOT": "/named"}) == ("/given", "call")
    assert caller_root("../link", {}) == (canonical_root(tmp_path / "here"), "call")
    assert caller_root(None, {"HINDBRAIN_WORKSPACE_ROOT": "/named", **host}) == ("/named", "environment")
    assert caller_root(None, host) == ("/host", "environment")
    assert caller_root(None, {}) == (str(tmp_path / "here"), "directory")


def test_client_a_removed_directory_is_still_where_the_caller_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert caller_root(None, {"PWD": str(gone)}) == (str(gone), "directory")
    assert caller_root(None, {}) == ("/", "directory")


@pytest.mark.parametrize(("version", "talks"), [("{0}.{1}.99", True), ("{0}.{1}.0rc1", True), ("{0}.99.0", False), ("", False)])
def test_client_releases_talk_when_major_and_minor_agree(version: str, talks: bool) -> None:
    assert client.same_line(version.format(*__version__.split("."))) is talks
