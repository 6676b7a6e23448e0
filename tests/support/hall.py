"""The Hall in a browser: a world with something in every room, its owner, a page that is signed in, and a terminal beside it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from playwright.sync_api import Browser, BrowserContext, Page

from hindbrain.domain.brain import fingerprint
from tests.cli.program import Program
from tests.support.browser import Watch, new_context
from tests.support.owner import RunningOwner, start_owner
from tests.support.world import put_back

__all__ = ["Built", "BuiltWorld", "Hall", "opened"]


# The page hears of its new address before this promise is kept, so its main part is busy by then.
_GO = """where => new Promise(kept => {
  addEventListener('hashchange', () => kept(null), {once: true});
  location.href = where;
})"""


class BuiltWorld(Protocol):
    """What a builder of worlds gives back; `hindbrain.surfaces.demo.world.World` is one."""

    @property
    def directory(self) -> Path: ...
    @property
    def home(self) -> Path: ...
    @property
    def roots(self) -> dict[str, Path]: ...
    @property
    def ids(self) -> dict[str, str]: ...


class Built:
    """A world that modules begin from, each with a copy in the same place: a brain belongs to the path of its repository."""

    def __init__(self, build: Callable[[Path], BuiltWorld], place: Path) -> None:
        self.world = build(place)
        self._copy = place.with_name(f"{place.name}.kept")
        shutil.copytree(self.world.directory, self._copy, symlinks=True)

    def again(self) -> BuiltWorld:
        """As it was built. Whoever had it before must have closed it."""
        put_back(self._copy, Path(self.world.directory))
        return self.world


@dataclass(frozen=True, kw_only=True)
class Hall:
    """One world, its owner, and a browser profile in which a person is signed in."""

    world: BuiltWorld
    owner: RunningOwner
    context: BrowserContext
    page: Page
    watch: Watch

    @property
    def ids(self) -> dict[str, str]:
        """Names that a route may have in braces: repositories for their brains, and what the world calls notable."""
        return {**{name: fingerprint(str(root)) for name, root in self.world.roots.items()}, **self.world.ids}

    def route(self, route: str) -> str:
        """A route with the names in its braces filled in."""
        return route.format_map(self.ids)

    def open(self, route: str, *, page: Page | None = None) -> Page:
        """Show a view and wait until it has what it asked for."""
        shown, address = page or self.page, f"{self.owner.url}/{self.route(route)}"
        if shown.url == address:
            shown.reload()
        elif shown.url.startswith(f"{self.owner.url}/"):
            shown.evaluate(_GO, address)
        else:
            self.enter(shown, self.route(route))
        settled(shown)
        return shown

    def enter(self, page: Page, route: str = "") -> None:
        """Begin a visit in a page, as a person who opens the Hall once more."""
        json_body = {"Content-Type": "application/json"}
        answer = self.owner.request("POST", "/api/hall/ticket", body=b"{}", headers=json_body, token=self.owner.human_token)
        page.goto(f"{self.owner.url}/?ticket={answer.json['ticket']}{route}")
        page.wait_for_url(lambda url: "ticket=" not in url)

    def terminal(self, root: str | None = None, **environ: str) -> Program:
        """The program at a terminal in one of the repositories, on the home of this world."""
        directory = self.world.directory if root is None else self.world.roots[root]
        return Program(home=self.world.home, directory=directory, environ=environ)

    def call(self, operation: str, *, root: str | None = None, **arguments: Any) -> dict[str, Any]:
        """An operation as an agent in one of the repositories calls it."""
        return self.owner.call(operation, root=None if root is None else self.world.roots[root], **arguments)


def settled(page: Page) -> None:
    """Wait until the view on the page is loaded: its main part is busy until then."""
    page.evaluate("new Promise(kept => setTimeout(kept))")  # by then the page has heard of an address that it has
    page.locator("main[aria-busy=false]").wait_for()


@contextmanager
def opened(browser: Browser, world: BuiltWorld, **options: Any) -> Iterator[Hall]:
    """An owner on a world, and somebody who opened its Hall by the address that `hindbrain hall` gives."""
    owner = start_owner(world.home, **options)
    try:
        with new_context(browser) as context:
            watch = Watch(host=f"127.0.0.1:{owner.port}")
            watch.on(context)
            hall = Hall(world=world, owner=owner, context=context, page=context.new_page(), watch=watch)
            told = hall.terminal().answer("hall", "--no-open", "--json")
            assert told["ok"], told
            hall.page.goto(told["url"])
            hall.page.wait_for_url(lambda address: "ticket=" not in address)
            settled(hall.page)
            yield hall
    finally:
        owner.kill()
