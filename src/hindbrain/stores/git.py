"""Git, asked for facts only: nothing that a repository says of itself starts a program, reaches a network or writes a file."""

import os
import shutil
import subprocess
from collections.abc import Mapping

__all__ = ["asked"]

# What of a repository's own settings would start a program for the questions asked here.
_QUIET = ("core.fsmonitor=false", "core.quotepath=false", "log.showSignature=false")
_ENVIRONMENT = {
    # Variables of a git that started us (a hook, an alias) would speak of its repository instead of this one.
    "PATH": os.defpath,
    "LC_ALL": "C",
    # A partial clone fetches what it lacks by any command its settings name: no transport is allowed.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",  # a file may be called `:(exclude)x`
}


def asked(root: str, *words: str, seconds: float, environ: Mapping[str, str] | None = None) -> bytes | None:
    """What git says of a directory, or None when it cannot, or not in time. `environ`: more that it may know."""
    program = shutil.which("git")
    if program is None:
        return None
    settings = [word for one in _QUIET for word in ("-c", one)]
    try:
        done = subprocess.run(
            [program, *settings, "-C", root, *words],
            capture_output=True,
            check=False,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            env={**_ENVIRONMENT, **(environ or {})},
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    return done.stdout if done.returncode == 0 else None
