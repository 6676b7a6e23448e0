"""Probes of a repository: documented examples, its tests, and small failing tests, each in a process of its own."""

import json
import os
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.services.gym import probe_main
from hindbrain.stores.command import Commands, Ran

__all__ = ["Probe", "Tried"]

_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How a reproduction ended on one copy: passed, failed, or could not be run."""

    outcome: str  # passed, failed, broken
    output: str


class Probe:
    """Runs programs of one repository. No network, a time limit."""

    def __init__(self, root: Path, *, time_limit_s: float = _SECONDS) -> None:
        self._root = root
        self._limit = time_limit_s

    def examples(self, *documents: str) -> list[dict[str, Any]]:
        """The documented examples that do not give what their document says."""
        ran = self._run("examples", *documents)
        if ran.status != 0:
            return []
        found: list[dict[str, Any]] = json.loads(ran.output.strip().splitlines()[-1])
        return found

    def tests(self) -> Ran:
        """The repository's own tests."""
        return self._commanded(f"{shlex.quote(sys.executable)} -B -m unittest discover -s tests")

    def reproduce(self, text: str) -> Tried:
        """Run the text of a small test file."""
        with tempfile.TemporaryDirectory(prefix="hindbrain-gym-") as place:
            path = Path(place, "reproduction.py")
            path.write_text(text, encoding="utf-8")
            ran = self._run("reproduce", str(path))
        if ran.status is None:
            return Tried(outcome="failed", output=ran.why)  # what never ends does not pass
        outcome = {0: "passed", 1: "failed"}.get(ran.status, "broken")
        return Tried(outcome=outcome, output=ran.output[-2000:])

    def _run(self, *words: str) -> Ran:
        program = [sys.executable, "-B", "-I", probe_main.__file__, *words]
        return self._commanded(shlex.join(program))

    def _commanded(self, command: str) -> Ran:
        with tempfile.TemporaryDirectory(prefix="hindbrain-gym-") as place:
            commands = Commands(self._root, temporary=Path(place), path=os.environ.get("PATH", os.defpath))
            return commands.run(command, timeout_s=self._limit, connect=False)
