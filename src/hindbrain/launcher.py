"""Launcher: the only module that starts child processes. A test checks that no other module does.

A child starts outside any repository, by an absolute program path, and no search path depends on the working directory.
A command that a person typed is the one exception: it runs where the person is, with the person's environment."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

__all__ = [
    "DEVNULL",
    "OUTSIDE",
    "PIPE",
    "STDOUT",
    "Child",
    "Finished",
    "TimeoutExpired",
    "find_program",
    "python_words",
    "run",
    "start",
    "start_typed",
]

DEVNULL, PIPE, STDOUT = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
OUTSIDE = "/"  # the working directory of a child that needs none of its own

Child = subprocess.Popen
Finished = subprocess.CompletedProcess
TimeoutExpired = subprocess.TimeoutExpired

# Search paths: an entry that is not absolute means a place below the working directory, which may be a hostile repository.
_SEARCH_PATHS = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
# These make Python load or run something else than the module it was asked for.
_STEERS_PYTHON = ("PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONEXECUTABLE", "PYTHONPLATLIBDIR")


def find_program(name: str, path: str | None = None, *, outside: str | None = None) -> str | None:
    """Return the absolute path of a program, or None. `path` is our own PATH by default.

    Entries that are relative, or inside the directory `outside`, are skipped."""
    places = _absolute(os.environ.get("PATH", os.defpath) if path is None else path)
    if outside is not None:
        closed = os.path.realpath(outside).rstrip("/") + "/"
        places = [one for one in places if not (os.path.realpath(one) + "/").startswith(closed)]
    import shutil  # late: it loads compression libraries, which a thin command does not need

    return shutil.which(name, path=os.pathsep.join(places)) if places else None


def python_words(module: str, *words: str) -> list[str]:
    """Return the command line that runs a module with this interpreter. -P: the working directory is not on the import path."""
    return [sys.executable, "-P", "-m", module, *words]


def start(
    words: Sequence[str],
    *,
    cwd: str | os.PathLike[str] = OUTSIDE,
    env: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    stdin: int = DEVNULL,
    stdout: int = DEVNULL,
    stderr: int = DEVNULL,
    own_session: bool = True,
    pass_fds: Sequence[int] = (),
    bufsize: int = -1,
) -> Child[bytes]:
    """Start a program. `env` is its whole environment. By default it gets our own, cleaned and without the names in `without`.

    `more` adds variables."""
    if not os.path.isabs(words[0]):
        raise ValueError(f"a child needs an absolute program path, not {words[0]!r}")
    return subprocess.Popen(
        list(words),
        cwd=cwd,
        env={**(_clean(dict(os.environ.items()), without) if env is None else env), **(more or {})},
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=own_session,
        pass_fds=tuple(pass_fds),
        bufsize=bufsize,
    )


def run(
    words: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str],
    cwd: str | os.PathLike[str] = OUTSIDE,
) -> Finished[bytes]:
    """Run a program to its end and return its status and both streams; TimeoutExpired when it takes too long."""
    with start(words, cwd=cwd, env=env, stdout=PIPE, stderr=PIPE, own_session=False) as child:
        try:
            printed, said = child.communicate(timeout=timeout_s)
        except BaseException:
            child.kill()
            raise
    return Finished(list(words), child.returncode, printed, said)


def start_typed(words: Sequence[str], *, cwd: str, env: Mapping[str, str] | None = None) -> Child[bytes]:
    """Start a command that a person typed after our own: in their directory, with their terminal, environment and search path."""
    return subprocess.Popen(list(words), cwd=cwd, env=None if env is None else dict(env), stdout=PIPE, stderr=PIPE)


def _absolute(path: str) -> list[str]:
    return [one for one in path.split(os.pathsep) if os.path.isabs(one)]


def _clean(environ: Mapping[str, str], without: Sequence[str]) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if name not in _STEERS_PYTHON and name not in without}
    for name in _SEARCH_PATHS:
        if name in kept:
            kept[name] = os.pathsep.join(_absolute(kept[name]))
            if not kept[name]:
                del kept[name]
    return kept
