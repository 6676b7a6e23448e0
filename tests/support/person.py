"""A person with an account of their own: another user id, a home, a clone, and a process of Hindbrain that runs as that user.

usage: python -m tests.support.person HOME ROOT STORE_URL     (reads calls as JSON lines, writes answers as JSON lines)
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

__all__ = ["OTHER_USERS", "Person", "other_users"]

_ROOT = Path(__file__).resolve().parents[2]
_GROUP = 61_000  # nobody has this number; a user of the kernel needs no entry in a file of accounts
OTHER_USERS = "no other users: only root can start a process as somebody else (setpriv)"


def other_users() -> None:
    """Skip where no process can be started as another user; on CI, where that has to work, fail."""
    if os.geteuid() == 0 and shutil.which("setpriv") and sys.platform == "linux":
        return
    if os.environ.get("CI") == "true":
        pytest.fail(OTHER_USERS)
    pytest.skip(OTHER_USERS)


class Person:
    """One OS user. Commands run with that user's id alone; the interpreter may lie where only root may look."""

    def __init__(self, name: str, number: int, place: Path) -> None:
        self.name = name
        self.uid = _GROUP + number
        self.home = place / name
        self.clone = str(self.home / "app")
        self._process: subprocess.Popen[str] | None = None
        self._made(self.home, 0o700)
        config = self.home / ".gitconfig"
        config.write_text(
            f"[user]\nname={name}\nemail={name}@example.org\n[safe]\ndirectory=*\n[pull]\nrebase=false\n", encoding="utf-8"
        )
        os.chown(config, self.uid, _GROUP)

    def _made(self, path: Path, mode: int) -> None:
        path.mkdir()
        path.chmod(mode)
        os.chown(path, self.uid, _GROUP)

    def _words(self, words: tuple[str, ...], *, reads: bool = False) -> list[str]:
        capabilities = ("+dac_read_search",) if reads else ()
        kept = [f"--{kind}-caps={one}" for one in capabilities for kind in ("inh", "ambient")]
        return ["setpriv", f"--reuid={self.uid}", f"--regid={_GROUP}", "--clear-groups", *kept, "--", *words]

    @property
    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *words: str, cwd: str | None = None, fails: bool = False) -> str:
        """Run a program as this user; `fails` for one that has to end with an error."""
        done = subprocess.run(
            self._words(words), cwd=cwd or self.clone, env=self._environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode != 0) == fails, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def git(self, *words: str, fails: bool = False) -> str:
        return self.run("git", *words, fails=fails)

    def start(self, store_url: str) -> None:
        """Start the process of Hindbrain that serves this user's calls."""
        reads = not os.access(sys.executable, os.X_OK) or Path(os.path.realpath(sys.executable)).is_relative_to("/root")
        home = str(self.home / ".hindbrain-home")
        words = (sys.executable, "-m", "tests.support.person", home, self.clone, store_url)
        self._process = subprocess.Popen(
            self._words(words, reads=reads),
            cwd=_ROOT,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        human = arguments.pop("human", False)
        process.stdin.write(json.dumps([operation, human, arguments]) + "\n")
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(process.stdout.readline())
        return answer

    def known(self) -> dict[str, str]:
        return {row["slug"]: row["text"] for row in self.call("claims", limit=200)["claims"]}

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate(timeout=60)


def main(home: str, root: str, store_url: str) -> int:
    from hindbrain.app import App, local_caller
    from hindbrain.domain.caller import Channel
    from hindbrain.settings import Settings
    from hindbrain.stores.home import Home

    assert os.geteuid() != 0
    app = App(Home(Path(home)), Settings({"store_url": store_url, "embedder": "off"}))
    callers = {
        human: local_caller(root=root, agent="person:self", channel=Channel.HUMAN if human else Channel.AGENT, environ={})
        for human in (False, True)
    }
    for line in sys.stdin:
        operation, human, arguments = json.loads(line)
        sys.stdout.write(json.dumps(app.call(operation, arguments, caller=callers[human])) + "\n")
        sys.stdout.flush()
    app.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
