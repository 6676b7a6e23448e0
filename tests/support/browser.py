"""A real Chromium, the system's own, driven by Playwright; and a watch that writes down all that a page does wrong.

While Playwright's sync interface is started, its event loop counts as running in this thread, and `asyncio.run` is refused
there. So it is started for a stretch of work and stopped after it, before other tests run."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response, sync_playwright

__all__ = ["DESKTOP", "PHONE", "Watch", "chromium", "chromium_path", "new_context", "overflow"]

DESKTOP = (1280, 800)
PHONE = (390, 844)
LIMIT_MS = 20_000  # for one wait on a busy machine

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# Nothing is asked of the network by the browser itself, and nothing of it is throttled behind another window.
_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-default-apps",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
)


def chromium_path() -> str | None:
    """The system's Chromium, or None."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """One Chromium without a window. The driver is told to fetch no browser of its own."""
    path = chromium_path()
    if path is None:
        raise FileNotFoundError("no Chromium: install the package chromium")
    os.environ["PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD"] = "1"
    # Chromium's own sandbox cannot be set up by root.
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_FLAGS, *as_root])
        try:
            yield browser
        finally:
            browser.close()


@dataclass(kw_only=True)
class Watch:
    """What went wrong in the pages of one context: errors, failed requests, requests to anywhere but the owner."""

    host: str
    faults: list[str] = field(default_factory=list)
    answers: list[Response] = field(default_factory=list)
    _expected: list[re.Pattern[str]] = field(default_factory=list)

    def on(self, context: BrowserContext) -> None:
        """Watch every page of a context, those that are opened later, too."""
        context.on("console", self._said)
        context.on("weberror", lambda error: self._fault(f"page error: {error.error}"))
        context.on("request", self._asked)
        context.on("requestfailed", self._failed)
        context.on("response", self._answered)

    def expect(self, pattern: str) -> None:
        """Something that would be a fault belongs to this test: a refusal's status, a connection that is cut."""
        self._expected.append(re.compile(pattern))

    def told(self) -> list[str]:
        """The faults since the last time; expectations end here, too."""
        found, self.faults, self._expected = self.faults, [], []
        self.answers.clear()
        return found

    def _fault(self, what: str) -> None:
        if not any(pattern.search(what) for pattern in self._expected):
            self.faults.append(what[:2000])

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self._fault(f"console {message.type}: {message.text} ({message.location.get('url', '')})")

    def _asked(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob", "about") and address.netloc != self.host:
            self._fault(f"request to another host: {request.url}")

    def _answered(self, response: Response) -> None:
        self.answers.append(response)

    def _failed(self, request: Request) -> None:
        # A page that is left ends what it still asks for; that is no failure of anybody.
        if request.failure != "net::ERR_ABORTED":
            self._fault(f"request failed: {request.method} {request.url}: {request.failure}")


@contextmanager
def new_context(browser: Browser, *, size: tuple[int, int] = DESKTOP, dark: bool = False) -> Iterator[BrowserContext]:
    """A browser profile of its own, with one zone and language everywhere and no motion to wait for."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
        device_scale_factor=1,
    )
    context.set_default_timeout(LIMIT_MS)
    try:
        yield context
    finally:
        context.close()


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate("document.scrollingElement.scrollWidth - window.innerWidth"))
