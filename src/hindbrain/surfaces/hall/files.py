"""The files of the page: served by their exact names from the package, and nothing beside them."""

from functools import cache
from pathlib import Path

from starlette.responses import HTMLResponse, Response

from hindbrain.domain.errors import UnknownRoute
from hindbrain.surfaces.hall.visits import Visit

__all__ = ["CLEARED", "CLEAR_PATH", "DOOR_SCRIPT", "PAGE_HEADERS", "door", "entrance", "file", "page"]

_STATIC = Path(__file__).with_name("static")
_MEDIA = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

# Removes all that a browser keeps for this address: what a program that had this port before may have left, workers included.
CLEARED = {"Clear-Site-Data": '"storage"'}
CLEAR_PATH = "/hall/clear.svg"  # open to all: the door asks for it before the browser has a cookie
DOOR_SCRIPT = "/hall/js/door.js"

# Nothing but our own files runs or is loaded; text cannot become markup, for no sink of markup takes a string.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types hall",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def page() -> Response:
    """The one document; every view is an address inside of it."""
    return HTMLResponse(_STATIC.joinpath("index.html").read_bytes(), headers=PAGE_HEADERS)


def entrance(visit: Visit, cookie: str, *, clear: bool) -> Response:
    """What a ticket opens: the same document with the secret of the visit for the page's own script."""
    facts = {"visit": visit.id, "secret": visit.secret, "instance": visit.instance}
    told = "".join(f'<meta name="hall-{name}" content="{value}">\n' for name, value in facts.items())
    shell = _STATIC.joinpath("index.html").read_text(encoding="utf-8").replace("<title>", f"{told}<title>", 1)
    return HTMLResponse(shell, headers={**PAGE_HEADERS, **(CLEARED if clear else {}), "Set-Cookie": cookie})


def door(port: int) -> Response:
    """What a ticket opens on the port of the door: a page that cleans the Hall's address in this browser and goes on to it.

    The port is another one for each owner. So no worker of a stranger is there to see the ticket."""
    hall = f"http://127.0.0.1:{port}"
    shell = _STATIC.joinpath("door.html").read_text(encoding="utf-8")
    policy = f"default-src 'none'; script-src 'self'; img-src {hall}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return HTMLResponse(shell.replace("{hall}", hall), headers={"Content-Security-Policy": policy})


@cache
def _names() -> dict[str, Path]:
    return {path.relative_to(_STATIC).as_posix(): path for path in _STATIC.rglob("*") if path.is_file() and path.suffix in _MEDIA}


def file(name: str, *, clear: bool) -> Response:
    """One file of the page. `clear` says whether the browser may keep what another program left for this address."""
    if name == CLEAR_PATH.removeprefix("/hall/"):
        # The door is on another port of the same host.
        headers = {**PAGE_HEADERS, **(CLEARED if clear else {}), "Cross-Origin-Resource-Policy": "same-site"}
        return Response(_STATIC.joinpath("icon.svg").read_bytes(), media_type="image/svg+xml", headers=headers)
    path = _names().get(name)
    if path is None:
        raise UnknownRoute("the page has no such file", fix="reload the page: it may be of another release than the owner")
    return Response(path.read_bytes(), media_type=_MEDIA[path.suffix], headers=PAGE_HEADERS)
