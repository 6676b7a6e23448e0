"""How long an agent host waits for its tool list: from the start of `hindbrain mcp` to the answered `tools/list`.

    python benchmarks/bridge.py [--runs 15] [--check]

Three ways: with an owner that runs, with one that has to be started (answered from the manifest an earlier owner left),
and, for comparison, the bare interpreter. With --check the exit code is 1 when a median is over the limit.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LIMIT_MS = 250.0
WARM, STARTING, BARE = "owner running", "owner starting", "python -c pass"

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}


class Host:
    """An agent host that starts a bridge and speaks to it."""

    def __init__(self, environ: dict[str, str], directory: Path) -> None:
        script = Path(sys.executable).with_name("hindbrain")
        if not script.exists():
            sys.exit(f"{script} is missing: install the package first")
        self._begin = time.perf_counter()
        self._process = subprocess.Popen(
            [str(script), "mcp"], env=environ, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, method: str, params: dict[str, Any] | None = None) -> float:
        """Milliseconds from the start of the process to the answer."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params or {}}).encode() + b"\n")
        stdin.flush()
        answer = json.loads(stdout.readline())
        if "result" not in answer:
            sys.exit(f"{method} failed: {answer}")
        return (time.perf_counter() - self._begin) * 1000

    def tools(self) -> float:
        self.ask("initialize", INITIALIZE)
        return self.ask("tools/list")

    def leave(self) -> None:
        self._process.communicate(timeout=60)


def end_owner(home: Path) -> None:
    """Kill the owner of a home and wait until it is gone."""
    try:
        pid = json.loads((home / "owner.json").read_text())["pid"]
        os.kill(pid, signal.SIGKILL)
        while True:
            os.kill(pid, 0)
            time.sleep(0.01)
    except (OSError, ValueError):
        return


def bare(environ: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], env=environ, check=True)
    return (time.perf_counter() - begin) * 1000


def visited(environ: dict[str, str], directory: Path, *, until_up: bool) -> float:
    """One host that lists the tools and leaves, or stays until the owner has answered a call."""
    host = Host(environ, directory)
    taken = host.tools()
    if until_up:
        host.ask("tools/call", {"name": "health", "arguments": {}})
    host.leave()
    return taken


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=15)
    options.add_argument("--check", action="store_true", help=f"exit 1 when a median is over {LIMIT_MS:g} ms")
    chosen = options.parse_args()
    place = Path(tempfile.mkdtemp(prefix="hindbrain-bridge-"))
    home = place / "home"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HINDBRAIN_", "CLAUDE_"))}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)  # without compiled modules every start is two to three times as long
    environ = {**kept, "HINDBRAIN_HOME": str(home), "HINDBRAIN_PORT": "0"}
    taken: dict[str, list[float]] = {WARM: [], STARTING: [], BARE: []}
    try:
        visited(environ, place, until_up=True)
        for _ in range(chosen.runs):
            taken[BARE].append(bare(environ))
            taken[WARM].append(visited(environ, place, until_up=False))
            end_owner(home)
            taken[STARTING].append(visited(environ, place, until_up=True))
    finally:
        end_owner(home)
        shutil.rmtree(place)
    return report(taken, check=chosen.check)


def report(taken: dict[str, list[float]], *, check: bool) -> int:
    medians = {name: statistics.median(times) for name, times in taken.items()}
    print(f"{'':16}  {'min ms':>8}  {'median ms':>9}")
    for name, times in taken.items():
        print(f"{name:16}  {min(times):8.1f}  {medians[name]:9.1f}")
    print(json.dumps({"runs": len(taken[BARE]), "limit_ms": LIMIT_MS, "median_ms": medians}))
    return 1 if check and max(medians[WARM], medians[STARTING]) > LIMIT_MS else 0


if __name__ == "__main__":
    sys.exit(main())
