"""Clients from npm: installed once beside this file, pinned by the lock file, and driven as their users would."""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import owner, repository
from tests.support.owner import LIMIT_S

__all__ = ["owner", "repository"]

HERE = Path(__file__).parent
INSTALL_S = 600

Program = Callable[..., Any]


def unavailable(why: str) -> None:
    """Skip on a machine without Node; in CI its absence would hide a missing proof, so there it fails."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"{why}; CI has to run the clients from npm")
    pytest.skip(why)


@pytest.fixture(scope="session")
def node() -> Path:
    """A Node that the pinned clients run on, with them installed."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        unavailable("Node and npm are not installed")
    wanted = (HERE / "package-lock.json").read_text()
    stamp = HERE / "node_modules" / ".installed-lock"
    # Several test processes may come here at once; the first installs, the others wait.
    with (HERE / ".npmrc").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            done = subprocess.run(
                [str(npm), "ci", "--no-audit", "--no-fund"],
                cwd=HERE,
                capture_output=True,
                text=True,
                timeout=INSTALL_S,
                check=False,
            )
            if done.returncode:
                unavailable(f"npm could not install the clients: {done.stderr[-500:]}")
            stamp.write_text(wanted)
    return HERE / "node_modules" / "node" / "bin" / "node"


@pytest.fixture
def run_node(node: Path, tmp_path: Path) -> Iterator[Program]:
    """Run a program of Node and give its exit code and what it wrote, as JSON where it is JSON."""

    def run(program: str, *arguments: str, cwd: Path | None = None) -> tuple[int, Any, str]:
        done = subprocess.run(
            [str(node), str(HERE / program), *arguments],
            cwd=cwd or HERE,
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        try:
            found = json.loads(done.stdout)
        except ValueError:
            found = done.stdout
        return done.returncode, found, done.stderr

    return run
