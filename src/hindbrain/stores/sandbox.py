"""Sandbox: how this machine can contain a command, and which places the command sees. Closed by default, opened by name."""

import os
import platform
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from hindbrain.launcher import TimeoutExpired, find_program, run
from hindbrain.policy.sandbox import (
    CREDENTIALS,
    LANDLOCK_LEAST,
    LARGEST_FILE,
    MEMORY,
    PERSONAL,
    PREFIX_PARTS,
    PROC_FILES,
    PROCESSES,
    SYSTEM,
    TOOLCHAINS,
)
from hindbrain.stores import confined

__all__ = ["Places", "Sandbox", "available", "places_of", "specification", "usable"]

_PROBE_S = 10.0
_SYSTEM_PATH = os.pathsep.join(("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"))
_NAMESPACES = ("--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
# Our own program is the first process of the namespace: it has the limits of the command, which bubblewrap's has not.
_HELD = ("--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL")


class Sandbox(StrEnum):
    """What contains a command."""

    BUBBLEWRAP = "bubblewrap"  # namespaces of its own, then Landlock where the kernel has it, and seccomp
    LANDLOCK = "landlock"  # Landlock and seccomp only
    NONE = "none"


@cache
def usable(sandbox: Sandbox) -> bool:
    """Return whether this machine has a sandbox, tried out."""
    if sandbox is Sandbox.NONE:
        return True
    if not sys.platform.startswith("linux") or platform.machine() not in confined.MACHINES:
        return False
    if sandbox is Sandbox.LANDLOCK:
        return confined.landlock_version() >= LANDLOCK_LEAST
    program = _bubblewrap()
    if program is None:
        return False
    tried = [
        program,
        *_NAMESPACES,
        "--unshare-net",
        *_HELD,
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "/bin/true",
    ]
    try:
        return run(tried, timeout_s=_PROBE_S, env={"PATH": os.defpath}).returncode == 0
    except (TimeoutExpired, OSError):
        return False


def available() -> Sandbox:
    """Return the best sandbox of this machine."""
    return next(one for one in Sandbox if usable(one))


def _bubblewrap() -> str | None:
    return find_program("bwrap", _SYSTEM_PATH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What a command sees. `hidden` places are closed, also inside the others; what is not named is closed as well."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    hidden: tuple[str, ...]
    fixed: tuple[str, ...] = ()  # readable only, inside a place that is written; needs namespaces

    def read_only(self, place: Path) -> "Places":
        """Return the same places, with one that is read and not written."""
        return replace(self, read=(*self.read, str(place)), write=tuple(one for one in self.write if one != str(place)))

    def with_fixed(self, places: Iterable[Path]) -> "Places":
        """Return the same places, with these readable only."""
        inside = (os.path.realpath(one) for one in places)
        return replace(self, fixed=tuple(one for one in inside if any(_inside(one, top) for top in self.write)))


def places_of(
    *, write: Sequence[Path], read: Sequence[Path], hidden: Sequence[Path], path: Sequence[str], user: Path | None
) -> Places:
    """Return the places of a command: the system, the interpreter, tools that the search path names, and what was given."""
    prefixes = [place for one in (sys.base_prefix, sys.exec_prefix) for place in _prefix(one, user)]
    tools = [place for one in (*path, os.path.join(sys.prefix, "bin")) for place in _tool(one, user)]
    own = [str(user / name) for name in TOOLCHAINS] if user is not None else []
    given = [str(one) for one in (*read, Path(confined.__file__))]
    closed = [*hidden, *((user / name for name in CREDENTIALS) if user is not None else ())]
    return Places(
        read=_outermost([*SYSTEM, *prefixes, *tools, *own, *given]),
        write=tuple(os.path.realpath(one) for one in write),
        hidden=tuple(dict.fromkeys(os.path.realpath(one) for one in closed if os.path.lexists(one))),
    )


def _tool(directory: str, user: Path | None) -> list[str]:
    """Return what a directory of the search path needs: itself, and its libraries. A virtual environment also needs its base."""
    prefix = os.path.dirname(directory.rstrip("/"))
    found = [directory]
    if os.path.basename(directory.rstrip("/")) in ("bin", "sbin"):
        found += _prefix(prefix, user)
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8") as file:
            settings = dict(line.split("=", 1) for line in file.read(8192).splitlines() if "=" in line)
    except (OSError, UnicodeDecodeError):
        return found
    base = next((value.strip() for name, value in settings.items() if name.strip() == "home"), "")
    linked = [one for one in _linked(prefix) if user is None or not _inside(os.path.realpath(user), os.path.realpath(one))]
    return [*found, *linked, *(_prefix(os.path.dirname(base), user) if os.path.isabs(base) else ())]


def _linked(prefix: str) -> list[str]:
    """Return the directories outside a virtual environment that its packages are installed from as links."""
    found: list[str] = []
    for file in Path(prefix).glob("lib/python*/site-packages/*.pth"):
        with suppress(OSError, UnicodeDecodeError):
            found += [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if os.path.isabs(line.strip())]
    return found


def _prefix(prefix: str, user: Path | None) -> list[str]:
    """Return the parts of a prefix to read: all of it where it only holds programs."""
    real = os.path.realpath(prefix)
    whole = os.path.exists(os.path.join(real, "pyvenv.cfg"))
    if user is not None:
        home = os.path.realpath(user)
        whole = whole or any(_inside(real, os.path.join(home, one)) for one in TOOLCHAINS)
        if _inside(home, real) or real in (os.path.normpath(os.path.join(home, one)) for one in PERSONAL):
            whole = False
    return [prefix] if whole else [os.path.join(prefix, part) for part in PREFIX_PARTS]


def _inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _outermost(places: Iterable[str]) -> tuple[str, ...]:
    """Return the places that exist, by name and by real path, without those inside another one."""
    named = dict.fromkeys(
        form for one in places if os.path.exists(one) for form in (os.path.normpath(one), os.path.realpath(one))
    )
    kept: list[str] = []
    for one in sorted(named, key=len):
        if one != "/" and not any(_inside(one, outer) for outer in kept):
            kept.append(one)
    return tuple(kept)


def specification(sandbox: Sandbox, places: Places, command: str, *, connect: bool, root: Path) -> dict[str, Any]:
    """Return the description that the sandbox program takes."""
    alone = sandbox is Sandbox.BUBBLEWRAP
    spec: dict[str, Any] = {
        "command": command,
        "confine": sandbox is not Sandbox.NONE,
        "processes": PROCESSES,
        "memory": MEMORY,
        "largest_file": LARGEST_FILE,
        "write": list(places.write),
    }
    if sandbox is Sandbox.NONE:
        return spec
    process_files = ["/proc"] if alone else [f"/proc/{name}" for name in PROC_FILES]
    spec |= {
        "read": [*places.read, *process_files],
        # Mounts hide them already; as rules of Landlock they would close the directory around them for new files.
        "hidden": [] if alone else list(places.hidden),
        # In a network of its own, a command may use sockets as it likes.
        "sockets": connect or alone,
        "landlock": confined.landlock_version(),
    }
    if alone:
        inside = [os.path.realpath(sys.executable), "-I", "-S", confined.__file__, "inside"]
        spec["outer"] = [_bubblewrap(), *_mounts(places, connect=connect), "--chdir", str(root), "--", *inside]
    return spec


def _mounts(places: Places, *, connect: bool) -> list[str]:
    # Later mounts lie over earlier ones: a place below /dev, such as /dev/shm/work, comes after it.
    words = [*_NAMESPACES, *(() if connect else ("--unshare-net",)), *_HELD, "--proc", "/proc", "--dev", "/dev"]
    for one in places.read:
        words += ["--ro-bind-try", one, one]
    words += _covers(places, places.read)
    for one in places.write:
        words += ["--bind", one, one]
    for one in places.fixed:
        words += ["--ro-bind", one, one]
    words += _covers(places, places.write)
    return [*words, "--remount-ro", "/"]


def _covers(places: Places, around: Sequence[str]) -> list[str]:
    """Return mounts that hide the closed places inside open ones: an empty directory, an empty file."""
    words: list[str] = []
    for one in places.hidden:
        if any(one != place and _inside(one, place) for place in around):
            words += ["--tmpfs", one] if os.path.isdir(one) else ["--ro-bind", "/dev/null", one]
    return words
