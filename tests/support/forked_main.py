"""The process that has imported the program, and of which every run of it is a fork.

No module of the program reads the environment or a file when it is imported (`test_layers.py` holds that), so a fork with a
directory, environment, streams and words of its own is the program as it is right after its imports. Requests come by a socket,
each with its streams and a pipe that is told the process id and, in the end, the exit code. It ends when the socket does.
"""

import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, BinaryIO, TextIO

# What the program and an owner import sooner or later.
IMPORTED = (
    *("hindbrain.app", "hindbrain.operations", "hindbrain.engines.code.resolve", "hindbrain.stores.sqlite", "uvloop"),
    *(f"hindbrain.surfaces.{name}" for name in ("cli", "client", "described", "hook", "human", "local", "local_call")),
    *(f"hindbrain.surfaces.{name}" for name in ("output", "owner", "remote", "render")),
)
MOST = 1 << 18  # bytes of one request
HANDLES = 256  # more than this process ever has open


def born(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Answer requests for ever; returns in each child, with what it shall be."""
    waited = selectors.DefaultSelector()
    waited.register(channel, selectors.EVENT_READ)
    while True:
        for key, _ in waited.select():
            if key.data is not None:
                child, told = key.data
                waited.unregister(key.fd)
                os.close(key.fd)
                _, status = os.waitpid(child, 0)
                _tell(told, os.waitstatus_to_exitcode(status))
                os.close(told)
                continue
            message, handles, _, _ = socket.recv_fds(channel, MOST, 4)
            if not message:
                os._exit(0)
            *streams, told = handles
            child = os.fork()
            if child == 0:
                waited.close()  # here, not when they are collected: their numbers will be those of other files by then
                channel.close()
                return json.loads(message), streams
            for handle in streams:
                os.close(handle)
            _tell(told, child)
            waited.register(os.pidfd_open(child), selectors.EVENT_READ, (child, told))


def _tell(told: int, number: int) -> None:
    with suppress(BrokenPipeError):  # a test that failed no longer listens
        os.write(told, b"%d\n" % number)


def become(request: dict[str, Any], streams: list[int]) -> None:
    """The process that was asked for, as the interpreter leaves it before the first line of the program."""
    if request["terminal"]:
        os.login_tty(streams[0])
    else:
        for number, handle in enumerate(streams):
            os.dup2(handle, number)
    os.closerange(3, HANDLES)
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    sys.stdin = sys.__stdin__ = _stream(0, sys.stdin)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, sys.stdout)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, sys.stderr)  # type: ignore[misc]
    sys.argv = [request["module"], *request["words"]]
    if request["module"] != "hindbrain":
        sys.path.insert(0, request["directory"])


def _stream(handle: int, like: TextIO) -> TextIOWrapper:
    """A standard stream as the interpreter makes it, for what the handle leads to now."""
    opened: BinaryIO = os.fdopen(handle, "wb" if handle else "rb", closefd=False)
    by_line = handle == 2 or os.isatty(handle)
    return TextIOWrapper(opened, like.encoding, like.errors, newline="\n" if handle else None, line_buffering=by_line)


if __name__ == "__main__":
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    for imported in IMPORTED:
        importlib.import_module(imported)
    gc.freeze()  # what is imported is never looked through again
    asked, given = born(socket.socket(fileno=int(sys.argv[1])))
    signal.signal(signal.SIGINT, signal.default_int_handler if asked["terminal"] else interrupted)
    become(asked, given)
    runpy.run_module(asked["module"], run_name="__main__", alter_sys=True)
