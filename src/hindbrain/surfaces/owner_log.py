"""The owner's log: small, private, and without the text of any memory."""

import logging
import os
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from hindbrain.surfaces.runner import defect_lines

__all__ = ["start_log"]

_SIZE = 512 * 1024
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


class _PrivateFile(RotatingFileHandler):
    """A rotating file that only its user can read, the fresh one after a rotation included."""

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return TextIOWrapper(os.fdopen(handle, "ab"), encoding="utf-8", errors="backslashreplace", write_through=True)


class _WithoutMessages(logging.Formatter):
    """Defects by type and place: an exception's message quotes what was passed in."""

    def formatException(  # noqa: N802 - the name is logging's
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        return "" if ei[1] is None else "; ".join(defect_lines(ei[1]))


def start_log(path: Path, *, to_terminal: bool) -> None:
    """Send the owner's and the web server's records to the log file, and to standard error if somebody looks at it."""
    handlers: list[logging.Handler] = [_PrivateFile(path, maxBytes=_SIZE, backupCount=1, encoding="utf-8")]
    if to_terminal:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(_WithoutMessages(_FORMAT))
    for name, level in (("hindbrain", logging.INFO), ("uvicorn", logging.WARNING), ("asyncio", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.handlers = list(handlers)
        logger.propagate = False
