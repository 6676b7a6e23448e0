"""Git: every call of it. No setting of a repository starts a program, reaches a network or writes a file.

Questions are limited to verbs that read objects, the index and names of files. None of them reads a working file, so no filter
that a repository names runs."""

import os
from collections.abc import Mapping

from hindbrain.launcher import Finished, TimeoutExpired, find_program, run

__all__ = ["answer", "asked", "change", "installed"]

# Settings that name a program, or switch one on. The repository's own value loses against the command line.
_QUIET = (
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "core.sshCommand=false",
    "core.gitProxy=",
    "credential.helper=",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.quotepath=false",
)
_NO_HOOKS = "core.hooksPath=/dev/null"
# Verbs that may be asked. `diff` compares the index with a commit: with working files it would run filters of the repository.
_VERBS = frozenset(
    {"check-ignore", "config", "diff", "diff-tree", "for-each-ref", "log", "ls-files", "ls-tree", "rev-list", "rev-parse"}
)
# Without these, a diff starts programs that the repository names, and git status in each submodule with that one's settings.
_SHOWS = frozenset({"diff", "diff-tree", "log"})
_PLAIN_DIFF = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
_ENVIRONMENT = {
    # No variable of the caller: those of a git that started us (a hook, an alias) would name its repository instead of this one.
    "PATH": os.defpath,
    "LC_ALL": "C",
    # A partial clone fetches missing objects by any command its settings name: no transport is allowed.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",  # a file may be called `:(exclude)x`
}
# For repositories that Hindbrain makes itself: no settings of the person, no signing, no template.
_OURS = ("commit.gpgsign=false", "tag.gpgsign=false", "init.templateDir=")
_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
_CHANGE_S = 60.0


def installed(root: str) -> str | None:
    """Return the path of the git program, or None. A program inside the repository itself does not count."""
    return find_program("git", outside=_top(root))


def _top(directory: str) -> str:
    """Return the directory above that has a `.git`, else the directory: programs lie beside the place where somebody works."""
    place = os.path.realpath(directory)
    while not os.path.lexists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return directory
        place = above
    return place


def answer(
    root: str, verb: str, *words: str, seconds: float, environ: Mapping[str, str] | None = None, hooks: bool = False
) -> Finished[bytes] | None:
    """Ask git one question about a directory; None without git, TimeoutExpired when it is late.

    `environ` adds variables. `hooks` leaves the repository's own hooks path visible."""
    if verb not in _VERBS or (verb == "diff" and "--cached" not in words):
        raise ValueError(f"git {verb} is not a question that starts no program")
    program = installed(root)
    if program is None:
        return None
    settings = _QUIET if hooks else (*_QUIET, _NO_HOOKS)
    plain = _PLAIN_DIFF if verb in _SHOWS else ()
    return run(
        [program, "--no-pager", *_options(settings), "-C", root, verb, *plain, *words],
        timeout_s=seconds,
        env={**_ENVIRONMENT, **(environ or {})},
    )


def asked(
    root: str, verb: str, *words: str, seconds: float, environ: Mapping[str, str] | None = None, hooks: bool = False
) -> bytes | None:
    """Return what git prints about a directory, or None when it fails, is missing or is late."""
    try:
        done = answer(root, verb, *words, seconds=seconds, environ=environ, hooks=hooks)
    except (TimeoutExpired, OSError):
        return None
    return done.stdout if done is not None and done.returncode == 0 else None


def change(
    root: str, *words: str, settings: tuple[str, ...] = (), environ: Mapping[str, str] | None = None
) -> Finished[bytes] | None:
    """Run git in a repository that Hindbrain made itself; None without git."""
    program = installed(root)
    if program is None:
        return None
    return run(
        [program, "--no-pager", *_options((*_QUIET, _NO_HOOKS, *_OURS, *settings)), "-C", root, *words],
        timeout_s=_CHANGE_S,
        env={**_ENVIRONMENT, **_ALONE, "HOME": root, **(environ or {})},
    )


def _options(settings: tuple[str, ...]) -> list[str]:
    return [word for one in settings for word in ("-c", one)]
