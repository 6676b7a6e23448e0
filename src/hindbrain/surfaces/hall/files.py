"""The files of the page: served by their exact names from the package, and nothing beside them."""

from functools import cache
from pathlib import Path

from starlette.responses import HTMLResponse, Response

from hindbrain.domain.errors import UnknownRoute

__all__ = ["PAGE_HEADERS", "entrance", "file", "page"]

_STATIC = Path(__file__).with_name("static")
_MEDIA = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

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


def entrance(key: str, cookie: str) -> Response:
    """What a ticket opens: hands the key to the page's own script, which keeps it and goes on to where the address leads."""
    shell = _STATIC.joinpath("enter.html").read_text(encoding="utf-8")
    return HTMLResponse(shell.replace("{key}", key), headers={**PAGE_HEADERS, "Set-Cookie": cookie})


@cache
def _names() -> dict[str, Path]:
    return {path.relative_to(_STATIC).as_posix(): path for path in _STATIC.rglob("*") if path.is_file() and path.suffix in _MEDIA}


def file(name: str) -> Response:
    """One file of the page."""
    path = _names().get(name)
    if path is None:
        raise UnknownRoute("the page has no such file", fix="reload the page: it may be of another release than the owner")
    return Response(path.read_bytes(), media_type=_MEDIA[path.suffix], headers=PAGE_HEADERS)
