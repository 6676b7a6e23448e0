"""Panes: which target of tmux may be used, how a message looks as one typed line, and which lines of a screen are the last."""

import re
from dataclasses import dataclass

from hindbrain.engines.fence import shown

__all__ = ["Envelope", "envelope", "is_shell", "last_lines", "target_problem"]

_TARGET_MAX = 200
_BREAK = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_SHELLS = frozenset(
    {
        *("ash", "bash", "busybox", "cmd", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "osh", "powershell", "pwsh"),
        *("rbash", "sh", "tcsh", "xonsh", "yash", "zsh"),
        # These stand before a shell that tmux cannot see: of another machine, user, container or terminal.
        *(
            "doas",
            "docker",
            "incus",
            "kubectl",
            "login",
            "lxc",
            "machinectl",
            "mosh",
            "mosh-client",
            "nsenter",
            "podman",
            "screen",
        ),
        *("script", "ssh", "su", "sudo", "telnet", "tmux"),
        # These run a command of the system from the middle of a line: `!` of a pager, `\\!` of a database.
        *("less", "man", "mariadb", "more", "most", "mysql", "psql"),
    }
)
_VERSION = re.compile(r"[-.]?[\d.]+(?:\.exe)?\Z|\.exe\Z")  # zsh-5.9, bash5, pwsh.exe


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One line to type. `literal` when the message had several, so that none of it can be the name of a key."""

    line: str
    literal: bool


def target_problem(target: str) -> str | None:
    """Why a target of tmux is refused, or None. It is one argument of a program, and neither an option nor two commands."""
    if not target.strip():
        return "is empty"
    if len(target) > _TARGET_MAX:
        return f"has {len(target)} characters; {_TARGET_MAX} is the most"
    if target.startswith("-"):
        return "begins with '-', which tmux reads as an option"
    if target.endswith(";"):
        return "ends with ';', which tmux reads as the end of a command"
    if shown(target) != target or "\n" in target or "\t" in target:
        return "holds control characters"
    return None


def envelope(source: str, target: str, text: str) -> Envelope:
    """The message as it is typed. Who speaks stands first; a line break is shown, for a typed one would submit the line."""
    parts = _BREAK.split(text)
    body = " ⏎ ".join(shown(part.replace("\t", " ")) for part in parts)
    return Envelope(line=f"[hindbrain bus from {source} to {target}] {body}", literal=len(parts) > 1)


def last_lines(screen: str, count: int) -> str:
    """The last lines of what a pane shows, without what could steer a terminal. Empty rows below the text are no lines."""
    lines = shown(screen).rstrip("\n").split("\n")
    return "\n".join(line.rstrip() for line in lines[-count:])


def is_shell(program: str) -> bool:
    """Whether a program runs what is typed into it, or stands before one that does. One that nobody can name may be one."""
    name = program.lstrip("-").rsplit("/", 1)[-1].lower()
    return not name or name in _SHELLS or _VERSION.sub("", name) in _SHELLS
