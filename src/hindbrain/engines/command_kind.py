"""The kind of a command: test, compiler, linter or any other. A line of a shell counts as one only when its exit status is that
command's own; what is not understood is only a command."""

import re
from collections.abc import Sequence

from hindbrain.domain.mission import EventType
from hindbrain.engines.shell_words import taken_apart
from hindbrain.policy.commands import SHELLS
from hindbrain.policy.proof import BINARIES, ONLY_TELLING, ONLY_TELLING_OF, PROGRAMS, RUNNERS, STEERING, SUBCOMMANDS

__all__ = ["kind_of", "kind_of_line"]

_PYTHON = re.compile(r"\A(?:python|pypy)(?:\d+(?:\.\d+)*)?\Z")
_ASSIGNED = re.compile(r"\A[A-Za-z_][A-Za-z0-9_]*=")
_BACKGROUND = re.compile(r"(?<![&>])&(?![&>\d])")
_SHORTS = re.compile(r"\A-[A-Za-z]+\Z")
_DEEPEST = 6  # programs that start programs


def kind_of(argv: Sequence[str]) -> EventType:
    """What a command does, by its words."""
    return _kind(list(argv), 0)


def kind_of_line(line: str) -> EventType:
    """The same for a line of a shell. `a | b`, `a || b` and `a; b` end with the status of another command than the test."""
    return _line(line, 0)


def _line(line: str, depth: int) -> EventType:
    read = taken_apart(line)
    if read.odd or not read.fragments or depth > _DEEPEST or "||" in line or _BACKGROUND.search(line):
        return EventType.COMMAND
    if any(one.piped or one.nested or any(not word.plain for word in one.words[:2]) for one in read.fragments):
        return EventType.COMMAND
    *before, last = [[word.text for word in one.words] for one in read.fragments]
    if any(not words or words[0] != "cd" for words in before):
        return EventType.COMMAND
    return _kind(last, depth)


def _kind(words: list[str], depth: int) -> EventType:
    while words and _ASSIGNED.match(words[0]):
        if words[0].partition("=")[0] in STEERING:
            return EventType.COMMAND
        words = words[1:]
    if not words or depth > _DEEPEST:
        return EventType.COMMAND
    name, rest = _name(words[0]), words[1:]
    if name in SHELLS:
        return _line(rest[1], depth + 1) if len(rest) == 2 and rest[0] in ("-c", "-lc", "-ec") else EventType.COMMAND
    if name in RUNNERS:
        between = RUNNERS[name]
        if tuple(rest[: len(between)]) != between:
            return EventType.COMMAND
        return _kind(rest[len(between) :], depth + 1)
    if _PYTHON.match(name):
        module = rest[rest.index("-m") + 1 :] if "-m" in rest and _only_flags(rest[: rest.index("-m")]) else []
        return _kind(module, depth + 1) if module and module[0] in PROGRAMS else EventType.COMMAND
    if ONLY_TELLING.intersection(rest) or any(_only_tells(name, one) for one in rest):
        return EventType.COMMAND
    if name in SUBCOMMANDS:
        return _subcommand(name, rest)
    return PROGRAMS.get(name, EventType.COMMAND)


def _subcommand(name: str, rest: list[str]) -> EventType:
    """The kind of the first word that is no option; `npm run test` names its script after one more word."""
    plain = [one for one in rest if not one.startswith(("-", "+")) and not _ASSIGNED.match(one)]
    if plain[:1] == ["run"]:
        plain = plain[1:]
    if name == "make" and len(plain) != 1:
        return EventType.COMMAND
    return SUBCOMMANDS[name].get(plain[0], EventType.COMMAND) if plain else EventType.COMMAND


def _only_tells(name: str, word: str) -> bool:
    """Whether a word holds a short option with which this program does nothing; they may stand together, as in `-sn`."""
    return bool(_SHORTS.match(word)) and bool(ONLY_TELLING_OF.get(name, frozenset()) & set(word))


def _only_flags(words: Sequence[str]) -> bool:
    """Options of the interpreter before its module; a script or a program of its own is none."""
    valued = False
    for one in words:
        if not valued and (not one.startswith("-") or one == "-c"):
            return False
        valued = not valued and one in ("-W", "-X")
    return True


def _name(word: str) -> str:
    """The name of a program; one from a directory of its own may be anything."""
    place, _, name = word.rpartition("/")
    return name if not place or ("/" + place).endswith(BINARIES) else word
