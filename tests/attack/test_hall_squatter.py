"""A program of another account takes the owner's port before a real browser (F7), or reads the list of processes (F25)."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.cli.program import Program
from tests.hall.test_hall import World, quay
from tests.support.browser import chromium, chromium_path
from tests.support.hall import opened, settled
from tests.support.owner import LIMIT_S, RunningOwner, Starter

pytestmark = pytest.mark.skipif(chromium_path() is None and os.environ.get("CI") != "true", reason="no Chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


class Squatter:
    """The process on the port, and what it wrote down."""

    def __init__(self, port: int, directory: Path) -> None:
        self._loot = directory / "loot.jsonl"
        self._loot.touch()
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("squatter_main.py")), str(port), str(self._loot)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._hear("listening")

    def _hear(self, word: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == word

    def leave(self) -> None:
        """Give the port back, and go on collecting."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self._hear("left")

    def loot(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._loot.read_text().splitlines()]

    def calls(self) -> list[dict[str, Any]]:
        return [one for one in self.loot() if one["path"].startswith("/api/")]

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def squatting(port: int, directory: Path) -> Iterator[Squatter]:
    made = Squatter(port, directory)
    try:
        yield made
    finally:
        made.end()


def wait_until(page: Page, fact: Any) -> None:
    """Let the browser work until something is so."""
    for _ in range(int(LIMIT_S * 20)):
        if fact():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not happen in time")


def works(owner: RunningOwner, heard: dict[str, Any]) -> bool:
    """Whether a request that the squatter heard is let in by an owner."""
    headers = {
        name: value for name, value in heard["headers"].items() if name.lower() not in ("host", "origin", "content-length")
    }
    answer = owner.request(heard["method"], heard["path"], body=heard["body"].encode() or None, headers=headers, token=None)
    return answer.status < 400 and "/api/hall/owner" not in heard["path"]


def words_of(loot: list[dict[str, Any]]) -> set[str]:
    """Every word in the loot that might be a token, a ticket, a key or a secret."""
    return set(re.findall(r"[A-Za-z0-9_.-]{20,}", unquote(json.dumps(loot))))


def test_f7_a_program_that_takes_the_port_hears_nothing_that_works_and_shows_nothing(
    browser: Browser, tmp_path: Path, starter: Starter
) -> None:
    world = quay(tmp_path)
    with opened(browser, world) as hall:
        page = hall.page
        hall.call("init", root="quay", path=str(world.roots["quay"]))
        hall.watch.expect(".")
        hall.owner.kill()
        with squatting(hall.owner.port, tmp_path) as squatter:
            expect(page.get_by_text("The owner is away.")).to_be_visible()
            wait_until(page, lambda: len(squatter.calls()) >= 3)
            page.evaluate("location.hash = '#/mail'")
            expect(page.get_by_role("alert")).to_be_visible()
            assert page.title() != "stranger"
            assert not [one for one in squatter.loot() if one["path"].endswith(".js")]  # no script is loaded from a stranger
            elsewhere = starter(world.home)
            assert elsewhere.port != hall.owner.port
            assert [one["path"] for one in squatter.calls() if works(elsewhere, one)] == []
            assert [
                word
                for word in words_of(squatter.loot())
                if elsewhere.get("/api/health", authorization=f"Bearer {word}").status < 400
            ] == []
            elsewhere.kill()
        back = starter(world.home, port=hall.owner.port)

        expect(page.get_by_text("live", exact=True)).to_be_visible()
        assert [one["path"] for one in squatter.calls() if works(back, one)] == []
        assert "FORGED" not in page.content()


def opened_by_command(world: World, directory: Path, context: BrowserContext, tmp_path: Path) -> tuple[Page, str]:
    """Run `hindbrain hall`, and go where it sends the browser; also gives the words of its processes."""
    said = watch_processes(Program(home=world.home, directory=directory, environ={}), tmp_path)
    address = (tmp_path / "address").read_text().strip()
    page = context.new_page()
    page.goto(address)
    page.wait_for_url(lambda url: urlsplit(url).scheme == "http" and "ticket=" not in url)
    return page, said


def watch_processes(program: Program, tmp_path: Path) -> str:
    """Run `hindbrain hall` and write down the words of all processes meanwhile, as every account can."""
    script = tmp_path / "browser"
    script.write_text(
        f'#!/bin/sh\ntr "\\0" " " < /proc/$PPID/cmdline > {tmp_path}/words; echo "$@" >> {tmp_path}/words\n'
        f'echo "$1" > {tmp_path}/address.new; mv {tmp_path}/address.new {tmp_path}/address\n'
    )
    script.chmod(0o755)
    (tmp_path / "address").unlink(missing_ok=True)
    over, seen = threading.Event(), set[str]()

    def look() -> None:
        while not over.is_set():
            for entry in os.scandir("/proc"):
                if entry.name.isdigit():
                    try:
                        seen.add(Path(entry.path, "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
                    except OSError:
                        continue

    looking = threading.Thread(target=look)
    looking.start()
    try:
        ended = program.given(DISPLAY=":0", BROWSER=str(script)).run("hall", "--json")
        assert ended.json["opened"], ended.out
        for _ in range(int(LIMIT_S * 20)):
            if (tmp_path / "address").exists():
                break
            over.wait(0.05)
    finally:
        over.set()
        looking.join()
    return "\n".join(seen) + (tmp_path / "words").read_text()


def test_f7_what_a_stranger_leaves_in_the_browser_gets_nothing_of_the_next_visit(
    browser: Browser, tmp_path: Path, starter: Starter
) -> None:
    """The page is reloaded while the squatter has the port: its script reads the storage, stays open and installs a worker."""
    world = quay(tmp_path)
    with opened(browser, world) as hall:
        victim = hall.page
        hall.call("init", root="quay", path=str(world.roots["quay"]))
        hall.watch.expect(".")
        hall.owner.kill()
        with squatting(hall.owner.port, tmp_path) as squatter:
            victim.reload()
            expect(victim).to_have_title("planted")
            wait_until(victim, lambda: any("hall-" in one["body"] or "session" in one["body"] for one in squatter.loot()))
            squatter.leave()
            back = starter(world.home, port=hall.owner.port)
            assert [
                word for word in words_of(squatter.loot()) if back.get("/api/health", authorization=f"Bearer {word}").status < 400
            ] == []

            page, _ = opened_by_command(world, world.roots["quay"], hall.context, tmp_path)
            settled(page)

            expect(page.get_by_text("live", exact=True)).to_be_visible()
            assert page.evaluate("navigator.serviceWorker.getRegistrations().then((found) => found.length)") == 0
            kept = json.loads(page.evaluate("sessionStorage.getItem('hall-visit')"))
            page.reload()
            settled(page)
            expect(page.get_by_text("live", exact=True)).to_be_visible()
            loot = json.dumps(squatter.loot())
            assert kept["key"] not in loot
            assert "ticket=" not in loot
            assert "hall-secret" not in loot
            words = words_of(squatter.loot())
            assert [word for word in words if back.get("/api/health", authorization=f"Bearer {word}").status < 400] == []
            assert [one["path"] for one in squatter.calls() if works(back, one)] == []


def test_f25_the_ticket_is_in_no_list_of_processes_and_its_file_goes_with_it(
    browser: Browser, tmp_path: Path, starter: Starter
) -> None:
    world = quay(tmp_path)
    owner = starter(world.home)
    context = browser.new_context()
    try:
        page, words = opened_by_command(world, world.roots["quay"], context, tmp_path)
        settled(page)
    finally:
        context.close()

    assert "ticket=" not in words
    address = urlsplit((tmp_path / "address").read_text().strip())
    assert address.scheme == "file"
    assert not Path(unquote(address.path)).exists()
    assert list((owner.home / "hall").iterdir()) == []


def test_f25_the_file_is_the_user_s_alone_and_old_ones_are_removed(tmp_path: Path, starter: Starter) -> None:
    world = quay(tmp_path)
    starter(world.home)
    program = Program(home=world.home, directory=tmp_path, environ={})
    watch_processes(program, tmp_path)
    first = Path(urlsplit((tmp_path / "address").read_text().strip()).path)
    assert first.stat().st_mode & 0o777 == 0o600
    assert first.parent.stat().st_mode & 0o777 == 0o700
    os.utime(first, (1, 1))

    watch_processes(program, tmp_path)

    assert not first.exists()
    assert len(list(first.parent.iterdir())) == 1
