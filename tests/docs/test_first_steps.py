"""What `make run` shows once the package is installed: an owner that is up and the next steps, twice in a row."""

import os
import subprocess
import sys
from pathlib import Path

from tests.architecture.source import ROOT

LIMIT_S = 120


def first_steps(home: Path) -> "subprocess.CompletedProcess[str]":
    hidden = ("DISPLAY", "WAYLAND_DISPLAY")
    environ = {key: value for key, value in os.environ.items() if key not in hidden and not key.startswith("HINDBRAIN_")}
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "first_steps.py")],
        env={**environ, "HINDBRAIN_HOME": str(home), "HINDBRAIN_PORT": "0", "HINDBRAIN_EMBEDDER": "off"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_run_1_starts_an_owner_and_finds_it_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    hindbrain = Path(sys.executable).with_name("hindbrain")
    try:
        first, second = first_steps(home), first_steps(home)
    finally:
        subprocess.run([hindbrain, "stop", "--home", str(home)], check=True, capture_output=True, timeout=LIMIT_S)

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert first.stdout.splitlines()[0] == second.stdout.splitlines()[0]
    assert "is up at http://127.0.0.1:" in first.stdout
    for step in ("hindbrain init", "hindbrain memorize", "hindbrain north", "claude mcp add", "codex mcp add", "mcpServers"):
        assert step in first.stdout
