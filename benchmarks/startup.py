"""How long a thin call takes against a running owner, as a multiple of the bare interpreter's start.

    python benchmarks/startup.py [--runs 40] [--check]

Starts an owner on a temporary home, then runs `python -c pass`, thin command lines and a hook in turn, so that whatever
else the machine does falls on all of them alike. With --check the exit code is 1 when a median is over the limit.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 3.0  # times `python -c pass`, medians of the same run
FEWEST_RUNS = 25

HOOK_INPUT = b'{"hook_event_name": "SessionStart", "source": "startup"}'


def program() -> list[str]:
    """The installed console script, which is what people and hosts start."""
    script = Path(sys.executable).with_name("hindbrain")
    if not script.exists():
        sys.exit(f"{script} is missing: install the package first")
    return [str(script)]


def timed(command: list[str], *, environ: dict[str, str], directory: Path, stdin: bytes) -> float:
    begin = time.perf_counter()
    subprocess.run(command, env=environ, cwd=directory, input=stdin, check=True, capture_output=True)
    return (time.perf_counter() - begin) * 1000


def prepared(home: Path, repository: Path, environ: dict[str, str]) -> "subprocess.Popen[bytes]":
    """An owner that is up, with one brain and a few claims in it."""
    subprocess.run(["git", "init", "-q", str(repository)], check=True, env=environ)
    owner = subprocess.Popen(
        [*program(), "serve"], env=environ, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    if owner.stdout is None or not owner.stdout.readline():
        sys.exit("the owner did not start")
    subprocess.run([*program(), "init"], env=environ, cwd=repository, check=True, capture_output=True)
    for number in range(10):
        words = ["memorize", f"Fact {number}", f"The worker retries {number} times before it gives up"]
        subprocess.run([*program(), *words], env=environ, cwd=repository, check=True, capture_output=True)
    return owner


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=40)
    options.add_argument("--check", action="store_true", help=f"exit 1 when a median is over {LIMIT} times the interpreter")
    chosen = options.parse_args()
    place = Path(tempfile.mkdtemp(prefix="hindbrain-startup-"))
    home, repository = place / "home", place / "repository"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)  # without compiled modules every start is two to three times as long
    environ = {**kept, "HINDBRAIN_HOME": str(home), "HINDBRAIN_PORT": "0"}
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "hindbrain north": [*program(), "north"],
        "hindbrain seek": [*program(), "seek", "worker"],
        "hindbrain call north": [*program(), "call", "north", "{}"],
        "hindbrain hook": [*program(), "hook", "claude-code", "SessionStart"],
    }
    owner = prepared(home, repository, environ)
    try:
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(max(chosen.runs, FEWEST_RUNS)):
            for name, command in commands.items():
                stdin = HOOK_INPUT if "hook" in name else b""
                taken[name].append(timed(command, environ=environ, directory=repository, stdin=stdin))
    finally:
        owner.terminate()
        owner.wait(30)
        shutil.rmtree(place)
    return report(taken, check=chosen.check)


def report(taken: dict[str, list[float]], *, check: bool) -> int:
    bare = statistics.median(taken["python -c pass"])
    over = 0
    print(f"{'':22}  {'min ms':>8}  {'median ms':>9}  {'ratio':>6}")
    for name, times in taken.items():
        ratio = statistics.median(times) / bare
        over += ratio > LIMIT
        print(f"{name:22}  {min(times):8.1f}  {statistics.median(times):9.1f}  {ratio:6.2f}")
    figures = {name: {"min": min(times), "median": statistics.median(times)} for name, times in taken.items()}
    print(json.dumps({"runs": len(taken["python -c pass"]), "limit": LIMIT, "milliseconds": figures}))
    return 1 if check and over else 0


if __name__ == "__main__":
    sys.exit(main())
