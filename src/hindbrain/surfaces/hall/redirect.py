"""Redirect files: how a browser is sent to the Hall without the ticket in the list of processes."""

import hashlib
import os
import time
from contextlib import suppress
from html import escape
from pathlib import Path

from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import make_directory

__all__ = ["RedirectFiles"]

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta http-equiv="refresh" content="0;url={url}">
<title>Hindbrain</title>
<p><a href="{url}">Open the Hall</a>
</html>
"""


class RedirectFiles:
    """Pages of one directory that only its user can read, one for each ticket. The owner removes one when its ticket is used."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def write(self, ticket: str, url: str) -> Path:
        """Write the page that leads to the address."""
        make_directory(self._directory)
        path = self._path(ticket)
        write_text(path, _PAGE.format(url=escape(url)))
        return path

    def remove(self, ticket: str) -> None:
        """Remove the page of a ticket, if there is one."""
        with suppress(OSError):
            self._path(ticket).unlink(missing_ok=True)

    def remove_old(self, age_s: float) -> None:
        """Remove the pages whose tickets have ended."""
        with suppress(OSError):
            for entry in os.scandir(self._directory):
                if entry.name.endswith(".html") and entry.stat(follow_symlinks=False).st_mtime < time.time() - age_s:
                    os.unlink(entry)

    def _path(self, ticket: str) -> Path:
        return self._directory / f"{hashlib.sha256(ticket.encode()).hexdigest()[:16]}.html"
