"""Two turns of the real Claude Code, Codex and Gemini CLI with the hooks of Hindbrain, against stubs of their APIs.

    .venv/bin/python tools/real_hosts.py [--clis DIR] [--record DIR]

Installs the three from npm into a temporary directory (740 MB), or takes them from DIR/node_modules. Everything runs under the
network guard of the tests, so that nothing leaves the machine. Afterwards the evidence is examined: no row may hold text that
Hindbrain put into a session, and only what the user typed may have the label human. Exits 1 if one does. `--record` writes
the transcripts of the hosts into a directory, as the fixtures of tests/hosts/test_real_transcripts.py."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.cli.program import Ended  # noqa: E402 - the tests are no installed package
from tests.support.guarded import Guarded, guarded  # noqa: E402
from tests.support.host_apis import HostApis, serving_host_apis  # noqa: E402

PACKAGES = ("@anthropic-ai/claude-code", "@openai/codex", "@google/gemini-cli")
ASKED = ("Please make the ferry timetable sortable.", "Now by arrival, please.", "And the night ferries last.")
CLAIM = "The ferry timetable is read as local time"
OURS = re.compile(r"hindbrain|hook_context|```memory|`north`|read as local time", re.IGNORECASE)
LOGS = {
    "claude-code": ".claude/projects/*/*.jsonl",
    "codex": ".codex/sessions/*/*/*/*.jsonl",
    "gemini": ".gemini/tmp/*/chats/*.json*",
}
MANY = 100_000  # tokens that Codex takes for too many

Run = Callable[..., Ended]


def install(place: Path) -> Path:
    """The hosts from npm; returns the directory of their programs."""
    (place / "package.json").write_text('{"private": true}')
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", *PACKAGES], cwd=place, check=True, stdout=subprocess.DEVNULL)
    return place / "node_modules" / ".bin"


def prepare(place: Path, programs: Path, apis: HostApis) -> dict[str, str]:
    """A user with the three hosts, a repository, and the environment that leads the hosts to the stub."""
    for name in ("user/.codex", "user/.gemini", "bin", "app"):
        (place / name).mkdir(parents=True)
    for name in ("claude", "codex", "gemini"):
        (place / "bin" / name).symlink_to(programs / name)
    program = place / "bin" / "hindbrain"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m hindbrain "$@"\n')
    program.chmod(0o755)
    subprocess.run(["git", "init", "-q", str(place / "app")], check=True)
    (place / "app" / "ferry.py").write_text("TIMES = []\n")
    (place / "app" / "AGENTS.md").write_text("# Rules of the house\n\nUse tabs.\n")
    (place / "user/.gemini/settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    provider = (
        f'[model_providers.stub]\nname = "stub"\nbase_url = "{apis.url}/v1"\nwire_api = "responses"\nenv_key = "STUB_KEY"\n'
    )
    config = f'model = "gpt-5"\nmodel_provider = "stub"\nmodel_auto_compact_token_limit = {MANY // 2}\n{provider}'
    (place / "user/.codex/config.toml").write_text(config)
    node = shutil.which("node")
    return {
        "HOME": str(place / "user"),
        "PATH": f"{place / 'bin'}:{Path(node).parent if node else ''}:/usr/bin:/bin",
        "TERM": "dumb",
        "HINDBRAIN_HOME": str(place / "home"),
        "HINDBRAIN_PORT": "0",
        "STUB_KEY": "x",
        "ANTHROPIC_API_KEY": "sk-ant-x",
        "ANTHROPIC_BASE_URL": apis.url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "GEMINI_API_KEY": "x",
        "GOOGLE_GEMINI_BASE_URL": apis.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def talk(run: Run, apis: HostApis) -> None:
    """Two turns of each host, and what makes it save: Claude Code and Codex are made to cut their context."""
    first, second, third = ASKED
    run("claude", "-p", first)
    run("claude", "-p", "--continue", second)
    run("claude", "-p", "--continue", "/compact")
    trusted = "--dangerously-bypass-hook-trust"
    run("codex", "exec", trusted, first)
    apis.tokens = MANY
    run("codex", "exec", "resume", "--last", trusted, second)
    run("codex", "exec", "resume", "--last", trusted, third)
    apis.tokens = 100
    run("gemini", "-m", "gemini-2.5-flash", "-p", first)
    run("gemini", "-m", "gemini-2.5-flash", "-p", second, "--resume", "latest")


def rows_of(run: Run) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = run("hindbrain", "memory", "list", "--limit", "500").json["rows"]
    return rows


def save(run: Run, user: Path) -> None:
    """Save every log once more, as the hook does before a cut that a person asked for."""
    for host, pattern in LOGS.items():
        for log in user.glob(pattern):
            session = re.sub(r"^(rollout|session)-", "", log.stem)
            told = {"session_id": session, "transcript_path": str(log), "trigger": "manual"}
            run("hindbrain", "hook", host, "PreCompress" if host == "gemini" else "PreCompact", stdin=json.dumps(told))


def wrong(rows: list[dict[str, Any]]) -> list[str]:
    """What no row may be."""
    ours = [f"holds our text: {row['content'][:200]!r}" for row in rows if OURS.search(row["content"])]
    human = [row for row in rows if row["provenance"] == "human" and row["content"] not in ASKED]
    return [*ours, *(f"is labelled human: {row['content'][:200]!r}" for row in human)]


def record(user: Path, root: Path, target: Path) -> None:
    """Copy the logs, without the paths of this machine and without the long instructions of the hosts' makers."""
    target.mkdir(parents=True, exist_ok=True)
    for host, pattern in LOGS.items():
        for log in user.glob(pattern):
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            kept = [json.dumps(shortened(line)) for line in lines if line.get("type") not in LEFT_OUT]
            text = "\n".join(kept).replace(str(root), "{root}").replace(str(user), "{user}").replace(str(user.parent), "{place}")
            (target / f"{host}.jsonl").write_text(text + "\n")


LEFT_OUT = ("world_state", "turn_context", "token_usage_record", "event_msg", "queue-operation", "file-history-snapshot")
LONGEST = 4_000


def shortened(value: Any) -> Any:
    """A value without texts that are longer than anything that Hindbrain puts into a session."""
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items() if key not in ("base_instructions", "tools", "git")}
    if isinstance(value, list):
        return [shortened(one) for one in value]
    return f"{value[:200]} [shortened]" if isinstance(value, str) and len(value) > LONGEST else value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clis", type=Path, help="directory whose node_modules has the hosts")
    parser.add_argument("--record", type=Path, help="directory for the transcripts")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hosts-") as temporary, serving_host_apis() as apis:
        place = Path(temporary).resolve()
        (place / "npm").mkdir()
        programs = asked.clis.resolve() / "node_modules" / ".bin" if asked.clis else install(place / "npm")
        with guarded(place, prepare(place, programs, apis)) as guard:
            return examined(guard, apis, place, asked.record)


def examined(guard: Guarded, apis: HostApis, place: Path, recorded: Path | None) -> int:
    def run(*words: str, stdin: str = "") -> Ended:
        apis.asked.clear()
        ended = guard.run(*words, directory=place / "app", stdin=stdin)
        if ended.code:
            raise SystemExit(f"{words} ended with {ended.code}: {ended.out[-1000:]}{ended.err[-1000:]}")
        if apis.asked:
            seen = sum("hindbrain" in body and "local time" in body for _, body in apis.asked)
            print(f"{words[0]:8} {' '.join(words[1:])[-44:]:44} {len(apis.asked)} request(s), {seen} with memory in the context")
        return ended

    for name in ("claude", "codex", "gemini"):
        print(run(name, "--version").out.strip() or name)
    run("hindbrain", "install", "--yes")
    run("hindbrain", "init")
    run("hindbrain", "hall", "--no-open")  # an owner that lives as long as the hosts
    run("hindbrain", "memorize", "Ferry timetable", CLAIM)
    talk(run, apis)
    turns = rows_of(run)
    save(run, place / "user")
    every = rows_of(run)
    faults = [*wrong(turns), *wrong(every)]
    for when, rows in (("after the turns", turns), ("after saving every log", every)):
        human = sum(row["provenance"] == "human" for row in rows)
        print(f"{when}: {len(rows)} rows, {human} of them human")
    ours = [line for line in guard.attempts() if "hindbrain" in line.partition(" | ")[0]]
    print(f"refused: {len(guard.attempts())} connections of the hosts, {len(ours)} of Hindbrain")
    print("\n".join([*faults, *ours]) or "no row holds text of Hindbrain, and only the user is human")
    if recorded is not None:
        record(place / "user", place / "app", recorded)
    return 1 if faults or ours else 0


if __name__ == "__main__":
    raise SystemExit(main())
