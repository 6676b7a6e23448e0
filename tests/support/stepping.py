"""A writer that dies at every step: runs one call again and again, each time in a copy of the home, and ends the process without
any clean-up right before the next statement that a database would be asked to carry out.

    python -m tests.support.stepping HOME ROOT WORK CHANNEL OPERATION ARGUMENTS

For each death WORK/<number>/home is what is left; a line says which statement was not carried out any more. The last copy is of
the run in which nothing happened. Statements that only read leave no trace on a disk and are passed over, unless HINDBRAIN_LONG
is set.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import apsw

from hindbrain.app import App, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from tests.support.world import START_MS

DIED = 86
READING = ("select", "pragma", "with", "attach") if not os.environ.get("HINDBRAIN_LONG") else ()


class Steps:
    """Counts what the databases are asked to do; at its number the process ends."""

    def __init__(self, number: int, told: int) -> None:
        self.left = number
        self.told = told
        self.armed = False  # what a process does to wake up is no part of the act

    def watch(self, connection: apsw.Connection) -> None:
        connection.exec_trace = self.step

    def step(self, cursor: apsw.Cursor, statement: str, values: Any) -> bool:
        plain = " ".join(statement.split()).lower()
        if not self.armed or (READING and (plain.startswith(READING) or plain == "begin")):
            return True
        if self.left == 0:
            os.write(self.told, plain[:120].encode())
            os._exit(DIED)
        self.left -= 1
        return True


def child(home: Path, root: str, channel: str, operation: str, arguments: str, number: int, told: int) -> None:
    steps = Steps(number, told)
    apsw.connection_hooks.append(steps.watch)
    app = App(Home(home), Settings({}), clock=lambda: START_MS)
    caller = local_caller(root=root, agent="codex:maker", channel=Channel(channel), environ={})
    app.call("context", {"query": "it"}, caller=caller)
    steps.armed = True
    answer = app.call(operation, json.loads(arguments), caller=caller)
    os.write(told, b"" if answer["ok"] else json.dumps(answer).encode())
    app.close()
    os._exit(0 if answer["ok"] else 1)


def main(home: str, root: str, work: str, channel: str, operation: str, arguments: str) -> int:
    number = 0
    while True:
        place = Path(work, str(number), "home")
        shutil.copytree(home, place, symlinks=True)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                child(place, root, channel, operation, arguments, number, writing)
            finally:
                os._exit(9)
        os.close(writing)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read().decode()
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"number": number, "code": code, "statement": said}), flush=True)
        if code != DIED:
            return code
        number += 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
