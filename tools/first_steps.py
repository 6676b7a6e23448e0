"""What `make run` does once the package is installed: start the owner, have the model, and say what to do next."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hindbrain.surfaces.hall_opening import has_screen

HINDBRAIN = Path(sys.executable).with_name("hindbrain")
LIMIT_S = 60
INSTALL_S = 1800  # 84 MB over a slow line

NEXT = """
Next steps. The program is {program}; put it on your path:

  export PATH="{directory}:$PATH"

Give a repository its memory, and use it:

  cd /path/to/your/repository
  hindbrain init
  hindbrain memorize "Retry policy" "The worker retries three times." --evidence src/worker.py
  hindbrain north "change the worker"

See all of it in a browser, and decide what waits for you; `hindbrain demo` shows a world with something in it:

  hindbrain hall

Connect your agents; it shows what would change in their files, and asks:

  hindbrain install

Or by hand (stdio MCP; docs/how-to/connect-an-agent.md has every host's file):

  Claude Code   claude mcp add --scope user hindbrain -- {program} mcp
  Codex         codex mcp add hindbrain -- {program} mcp
  Gemini CLI    gemini mcp add --scope user hindbrain {program} mcp
  Cursor        ~/.cursor/mcp.json: {{"mcpServers": {{"hindbrain": {{"command": "{program}", "args": ["mcp"]}}}}}}

When you are done: hindbrain stop. An owner that nobody calls ends by itself."""


def asked(*words: str, start: bool = False) -> dict[str, Any]:
    """The answer of one command; its complaint goes to the person at once."""
    environ = {**os.environ, **({"HINDBRAIN_MODE": "owner"} if start else {})}
    done = subprocess.run([HINDBRAIN, *words, "--json"], env=environ, stdout=subprocess.PIPE, timeout=LIMIT_S, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def have_model(model_dir: str | None = None) -> bool:
    """Install the model that finds memory by meaning, unless it is there. Without it memory is found by words, so this is told
    and is no failure, except where nobody would read it: in continuous integration."""
    environ = {**os.environ, "HINDBRAIN_MODE": "embedded", **({"HINDBRAIN_MODEL_DIR": model_dir} if model_dir else {})}
    print("having the model that finds memory by meaning; the first time fetches 84 MB", file=sys.stderr)
    done = subprocess.run(
        [HINDBRAIN, "model", "install", "--json"], env=environ, stdout=subprocess.PIPE, timeout=INSTALL_S, check=False
    )
    if done.returncode:
        print(f"so memory is found by words only, until you run: {HINDBRAIN} model install", file=sys.stderr)
        if os.environ.get("CI") == "true":
            sys.exit(done.returncode)
    return not done.returncode


def main() -> int:
    """Start, show, explain."""
    asked("instances", start=True)
    status = asked("status")
    if asked("model", "status")["state"] in ("absent", "damaged"):
        have_model()
    owner = status["owner"]
    brains = [row for row in status.get("instances", []) if isinstance(row, dict)]
    print(f"Hindbrain {status['version']} is up at {owner['url']} (process {owner['pid']})")
    print(f"home {status['home']}, {len(brains)} brain{'' if len(brains) == 1 else 's'}")
    print(NEXT.format(program=HINDBRAIN, directory=HINDBRAIN.parent))
    if has_screen():
        asked("hall")
    return 0


if __name__ == "__main__":
    # `--model-into DIRECTORY` only has the model there: what `make test` needs.
    sys.exit(main() if len(sys.argv) == 1 else not have_model(sys.argv[2]))
