"""The Hall for tests: one Chromium for this directory, and one world, owner and signed-in page for each module."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from hindbrain.surfaces.demo.world import build_world
from tests.cli.program import Program
from tests.support.browser import DESKTOP, LIMIT_MS, chromium, chromium_path
from tests.support.hall import Built, BuiltWorld, Hall, opened

__all__ = ["browser", "built_world", "hall", "hall_owner", "hall_world", "page", "terminal"]

expect.set_options(timeout=LIMIT_MS)


# Of this package, not of the session: after the last test of this directory nothing of Playwright is left in the thread.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this directory in one worker."""
    if chromium_path() is None:
        reason = "no Chromium: install the package chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with chromium() as found:
        yield found


@pytest.fixture(scope="package")
def built_world(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The demonstration's world, built once in a worker; modules get copies."""
    return Built(build_world, tmp_path_factory.mktemp("demo") / "world")


@pytest.fixture(scope="module")
def hall_world(built_world: Built) -> BuiltWorld:
    """A world of this module's own. A module with another world has a fixture of this name."""
    return built_world.again()


@pytest.fixture(scope="module")
def hall(browser: Browser, hall_world: BuiltWorld) -> Iterator[Hall]:
    """The Hall of this module, with its owner and a page that is signed in."""
    with opened(browser, hall_world) as found:
        yield found


@pytest.fixture(scope="module")
def hall_owner(hall: Hall) -> object:
    """The owner of this module's world, to be called without a browser."""
    return hall.owner


@pytest.fixture
def page(hall: Hall, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    """The signed-in page of the module, at a desk and in the light. Errors, failed and foreign requests fail the test."""
    hall.page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    hall.page.emulate_media(color_scheme="light", reduced_motion="reduce")
    hall.watch.told()
    before = request.session.testsfailed
    yield hall.page
    if request.session.testsfailed > before:
        hall.page.screenshot(path=tmp_path / "page.png")
    assert hall.watch.told() == []


@pytest.fixture
def terminal(hall: Hall) -> Program:
    """The program at a terminal beside the browser, on the same home."""
    return hall.terminal()
