"""Probes of a repository: documented examples, its tests, and small failing tests, each in a process of its own."""

import json
import os
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hindbrain.services.gym import probe_main
from hindbrain.stores.command import Commands, Ran

__all__ = ["Probe", "Probed", "Tried"]

_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A command that was really run, how it ended, and the documented examples that did not hold."""

    command: tuple[str, ...]
    ran: Ran
    failed: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How a reproduction ended on one copy: it passed, failed, did not end in time, or could not be run."""

    outcome: Literal["passed", "failed", "endless", "broken"]
    output: str


class Probe:
    """Runs programs of one repository. No network, a time limit. What an agent wrote runs only in a sandbox."""

    def __init__(self, root: Path, *, time_limit_s: float = _SECONDS) -> None:
        self._root = root
        self._limit = time_limit_s

    def examples(self, *documents: str) -> Probed:
        """Run the examples of documents. It ends with 1 when one of them does not give what its document says."""
        command = _program("examples", *documents)
        ran = self._commanded(command, uncontained=True)
        lines = ran.output.strip().splitlines() if ran.status in (0, 1) else []
        return Probed(command=command, ran=ran, failed=tuple(json.loads(lines[-1])) if lines else ())

    def tests(self) -> Probed:
        """The repository's own tests."""
        command = (sys.executable, "-B", "-m", "unittest", "discover", "-s", "tests")
        return Probed(command=command, ran=self._commanded(command, uncontained=True))

    def reproduce(self, text: str) -> Tried:
        """Run the text of a small test file."""
        with tempfile.TemporaryDirectory(prefix="hindbrain-gym-") as place:
            path = Path(place, "reproduction.py")
            path.write_text(text, encoding="utf-8")
            ran = self._commanded(_program("reproduce", str(path)), Path(place))
        if ran.status is None:
            return Tried(outcome="endless" if ran.contained else "broken", output=ran.why)
        said = ran.output[-2000:]
        if ran.status == 0:
            return Tried(outcome="passed", output=said)
        return Tried(outcome="failed" if ran.status == 1 else "broken", output=said)

    def _commanded(self, command: tuple[str, ...], *readable: Path, uncontained: bool = False) -> Ran:
        with tempfile.TemporaryDirectory(prefix="hindbrain-gym-") as place:
            places = (Path(probe_main.__file__), *readable)
            commands = Commands(self._root, temporary=Path(place), path=os.defpath, readable=places)
            return commands.run(shlex.join(command), timeout_s=self._limit, connect=False, uncontained=uncontained)


def _program(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-B", "-I", probe_main.__file__, *words)
