"""Commands under a guard that refuses and records every use of the network outside of this machine; see network_guard.c.

As a program this is what runs inside of the guard: it starts each command that a line of standard input names."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.cli.program import Ended
from tests.support.owner import LIMIT_S, REPOSITORY

__all__ = ["Guarded", "compiled_guard", "guarded"]

_SOURCE = Path(__file__).with_name("network_guard.c")


def compiled_guard(directory: Path) -> Path:
    """The guard as a program. It takes gcc and Linux; CI has both, elsewhere the tests that need it are skipped."""
    compiler = shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        why = "the network guard takes Linux and gcc"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(f"{why}; CI has to run it")
        pytest.skip(why)
    made = directory / "network_guard"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(made), str(_SOURCE)], check=True)
    return made


class Guarded:
    """Runs commands below one guard; all that they start is guarded too, until the end."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self._process = process
        self._log = log

    def run(self, *words: str, directory: Path, stdin: str = "", **environ: str) -> Ended:
        """Run a command to its end."""
        asks, answers = _pipes(self._process)
        asks.write(json.dumps({"words": words, "directory": str(directory), "stdin": stdin, "environ": environ}) + "\n")
        asks.flush()
        line = answers.readline()
        assert line, f"the guard ended with {self._process.wait(LIMIT_S)}"
        return Ended(**json.loads(line))

    def hindbrain(self, *words: str, directory: Path, stdin: str = "", **environ: str) -> Ended:
        """Run `hindbrain`, and expect that it did what it was asked for."""
        ended = self.run(sys.executable, "-P", "-m", "hindbrain", *words, directory=directory, stdin=stdin, **environ)
        assert ended.code == 0, (words, ended.out[-2000:], ended.err[-2000:])
        return ended

    def attempts(self) -> list[str]:
        """What was refused so far: process, program, call and address."""
        return self._log.read_text().splitlines()


def _pipes(process: "subprocess.Popen[str]") -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


@contextmanager
def guarded(directory: Path, environ: Mapping[str, str]) -> Iterator[Guarded]:
    """A guard with an environment of its own. When it ends, everything that was started below it has ended."""
    log = directory / "attempts.log"
    command = [str(compiled_guard(directory)), str(log), sys.executable, "-m", "tests.support.guarded"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=REPOSITORY, env=dict(environ)) as process:
        try:
            yield Guarded(process, log)
        finally:
            _pipes(process)[0].close()  # the program below ends, and the guard ends what it left
            try:
                process.wait(LIMIT_S)
            finally:
                process.kill()


def _main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        done = subprocess.run(
            asked["words"],
            cwd=asked["directory"],
            env={**os.environ, **asked["environ"]},
            input=asked["stdin"],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        print(json.dumps({"code": done.returncode, "out": done.stdout, "err": done.stderr}), flush=True)


if __name__ == "__main__":
    _main()
