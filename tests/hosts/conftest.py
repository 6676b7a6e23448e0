"""A user who has one program and no host yet."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import program
from tests.support.world import World

__all__ = ["Desk", "desk", "program"]


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Somebody's machine: a home directory, a repository, and the house."""

    world: World
    user: Path
    root: Path
    program: str

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return self.world.at(str(self.root)).call(operation, **arguments)

    def actions(self, answer: dict[str, Any]) -> dict[str, str]:
        """What becomes of each file, by its path below the home or the repository."""
        files = [file for row in answer["hosts"] for file in row["files"]]
        bases = (str(self.user) + "/", str(self.root) + "/")
        return {file["path"].removeprefix(bases[0]).removeprefix(bases[1]): file["action"] for file in files}


@pytest.fixture
def desk(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    user = tmp_path / "user"
    (user / "bin").mkdir(parents=True)
    program = user / "bin" / "hindbrain"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m hindbrain "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return Desk(world=world, user=user, root=Path(world.repository("shop")), program=str(program))
