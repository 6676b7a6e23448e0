"""Opening the Hall: an owner, a ticket of its own for this visit, and a browser where there is a screen."""

import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hindbrain.domain.errors import HindbrainError, InternalError
from hindbrain.launcher import python_words, start
from hindbrain.stores.home import Home
from hindbrain.surfaces.client import OwnerGone, answer_of, ensure_owner, read_token, request
from hindbrain.surfaces.hall.redirect import RedirectFiles
from hindbrain.surfaces.hall.visits import TICKET_S

__all__ = ["has_screen", "open_hall"]

_ASK_S = 10.0


def open_hall(home: str, *, browser: bool, at: str = "") -> dict[str, Any]:
    """Start the owner if none is up, take a ticket as a person and show the page; the answer has the address, good for one visit.

    `at` is a place in the page, such as `b/medulla/memory`."""
    address = ensure_owner(home)
    token = read_token(home, human=True)
    headers = {"Content-Type": "application/json"}
    answer = answer_of(request(address, token, "POST", "/api/hall/ticket", headers, b"{}", _ASK_S).body)
    if not answer["ok"]:
        raise _refused(answer)
    place = f"#/{quote(at.lstrip('#/'), safe='/?=&:')}" if at else ""
    ticket = str(answer["ticket"])
    url = f"{address.url}/?ticket={ticket}{place}"
    opened = (
        browser and has_screen() and _shown(home, ticket, f"http://{address.host}:{answer['door_port']}/?ticket={ticket}{place}")
    )
    rendered = (
        "The Hall is open in your browser. If the page stays empty, run: hindbrain hall --no-open"
        if opened
        else f"Open the Hall in a browser (this address works once, within {answer['valid_s'] // 60} min):\n\n  {url}"
    )
    return {"ok": True, "schema": "hindbrain-hall-v0", "url": url, "opened": opened, "owner": address.url, "rendered": rendered}


def has_screen() -> bool:
    """Whether a browser would be seen by somebody."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _shown(home: str, ticket: str, url: str) -> bool:
    """Ask the system's browser to show it. Not waited for: a browser may live as long as it likes.

    Other accounts see the words of every process. So the browser gets the name of a file that only its user can read."""
    redirects = RedirectFiles(Home(Path(home)).hall_dir)
    redirects.remove_old(TICKET_S)
    try:
        start(python_words("webbrowser", "-t", redirects.write(ticket, url).as_uri()))
    except OSError:
        return False
    return True


def _refused(answer: dict[str, Any]) -> HindbrainError | OwnerGone:
    error = answer.get("error")
    if isinstance(error, dict) and error.get("code") == "unknown_route":
        return OwnerGone("the owner that is up is of a release without a Hall; `hindbrain stop`, then try again", sent=True)
    return InternalError(f"the owner gave no ticket: {error}", fix="see owner.log in the home")
