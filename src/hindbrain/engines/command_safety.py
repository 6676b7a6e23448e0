"""Command safety: what may run unasked. A line is taken apart, each command in it judged, and the worst one counts; what is not
known is never taken for harmless."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from hindbrain.engines.shell_words import Fragment, Redirect, Word, taken_apart
from hindbrain.policy.commands import (
    COMMAND_LONGEST,
    FIXING,
    GIT_READS,
    INTERPRETERS,
    IRREVERSIBLE,
    KEYWORDS,
    LEADING,
    ONLY_LOOKING,
    PLACES,
    PROJECT,
    PROJECT_MODULES,
    PROJECT_TARGETS,
    READS,
    SAFE_VARIABLES,
    SHELLS,
    WRAPPERS,
    WRITING_OPTIONS,
)

__all__ = ["Danger", "Judgement", "judged"]

_PYTHON = re.compile(r"\A(?:python|pypy)(?:\d+(?:\.\d+)*)?\Z")
_AWK = re.compile(r"system|getline|[|>]|@|close|fflush")
_SED = re.compile(
    r"\A(?:\d+(?:,\d+)?|\$)?(?:p|d|q|=)\Z|\A/[^/\\\n]+/[pd]\Z|\As([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*\Z"
)
_NUMBER = re.compile(r"\A\d+(?:\.\d+)?[smhd]?\Z")
_DEEPEST = 8  # shells that start shells


class Danger(IntEnum):
    """How much a command can do, from nothing on."""

    READS = 0
    WRITES = 1  # makes files or directories that were not there
    PROJECT = 2  # runs code of the workspace
    UNKNOWN = 3
    IRREVERSIBLE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a line can do, and why that is said."""

    danger: Danger
    why: str = ""
    fragment: str = ""

    @property
    def asks(self) -> bool:
        return self.danger >= Danger.UNKNOWN


Exists = Callable[[str], bool]
_FREE = Judgement(danger=Danger.READS)


def judged(command: str, *, exists: Exists = lambda _: True) -> Judgement:
    """The worst that a line starts. `exists` says of a path whether writing there would cost something that was there before."""
    return _judged(command, exists, 0)


def _judged(command: str, exists: Exists, depth: int) -> Judgement:
    if not command.strip():
        return Judgement(danger=Danger.UNKNOWN, why="it is empty")
    if len(command) > COMMAND_LONGEST or depth > _DEEPEST:
        return Judgement(danger=Danger.UNKNOWN, why="it is too long to be read", fragment=command[:80])
    line = taken_apart(command)
    # Once the directory changes, a name no longer says which file is meant.
    moved = any(word.text in ("cd", "pushd", "popd") for one in line.fragments for word in one.words)
    there: Exists = (lambda _: True) if moved else exists
    found = [_of(fragment, there, depth) for fragment in line.fragments]
    found += [_unknown(odd, command[:80]) for odd in line.odd]
    return max(found, key=lambda one: one.danger, default=_unknown("it starts nothing that can be read", command[:80]))


def _unknown(why: str, shown: str) -> Judgement:
    return Judgement(danger=Danger.UNKNOWN, why=why, fragment=shown)


def _lost(why: str, shown: str) -> Judgement:
    return Judgement(danger=Danger.IRREVERSIBLE, why=why, fragment=shown)


def _of(fragment: Fragment, exists: Exists, depth: int) -> Judgement:
    shown = " ".join(word.text for word in fragment.words)[:120]
    found = [_redirect(one, exists, shown) for one in fragment.redirects]
    found.append(_words(list(fragment.words), exists, depth, shown, piped=fragment.piped))
    return _worse(*found)


def _redirect(redirect: Redirect, exists: Exists, shown: str) -> Judgement:
    target = redirect.target
    if redirect.sign in ("<", "<&") or (redirect.sign == ">&" and target.plain and target.text in ("1", "2", "-")):
        return _FREE
    if target.plain and target.text == "/dev/null":
        return _FREE
    return _writing([target], exists, f"{shown} {redirect.sign} {target.text}".strip())


def _writing(targets: Sequence[Word], exists: Exists, shown: str) -> Judgement:
    """Writing to files: new ones of the workspace are free."""
    for target in targets:
        if not target.plain or not target.text:
            return _unknown("it cannot be told which file it writes", shown)
        if target.text.startswith(("/", "~")) or ".." in target.text.split("/"):
            return _unknown("it may write outside of the workspace", shown)
        if exists(target.text):
            return _lost(f"it takes away or writes over {target.text[:80]}, which was there before", shown)
    return Judgement(danger=Danger.WRITES, fragment=shown)


def _words(words: list[Word], exists: Exists, depth: int, shown: str, *, piped: bool = False) -> Judgement:
    """One command, without what stands before it."""
    least = _FREE
    while words:
        first = words[0]
        if first.assigns:
            least = _worse(least, _variable(first.assigns, alone=len(words) == 1, shown=shown))
        elif first.plain and not first.quoted and first.text in LEADING:
            if first.text in ("sudo", "doas"):
                least = _unknown("it runs as another user", shown)
        else:
            break
        words.pop(0)
    if not words or (len(words) == 1 and words[0].text in KEYWORDS):
        return least
    return _worse(least, _command(words, exists, depth, shown, piped=piped))


def _worse(*found: Judgement) -> Judgement:
    return max(found, key=lambda one: one.danger)


def _variable(name: str, *, alone: bool, shown: str) -> Judgement:
    if name in SAFE_VARIABLES or (alone and name.islower()):
        return _FREE
    if name == "PYTHONPATH" and not alone:
        return Judgement(danger=Danger.PROJECT, fragment=shown)
    return _unknown(f"{name} can change what is started", shown)


def _command(words: list[Word], exists: Exists, depth: int, shown: str, *, piped: bool) -> Judgement:
    first, rest = words[0], words[1:]
    if not first.plain:
        return _unknown("it cannot be told what it starts", shown)
    name = _name(first.text)
    if name in IRREVERSIBLE or name.startswith("mkfs."):
        return _irreversible(name, rest, shown)
    if "/" in first.text and first.text not in (place + name for place in PLACES):
        if not _PYTHON.match(name) and name not in PROJECT:
            return _unknown("it is a program of the workspace, or of nobody knows where", shown)
        return _worse(Judgement(danger=Danger.PROJECT, fragment=shown), _known(name, rest, exists, depth, shown, piped=piped))
    return _known(name, rest, exists, depth, shown, piped=piped)


def _known(name: str, rest: list[Word], exists: Exists, depth: int, shown: str, *, piped: bool) -> Judgement:
    if name == "for":
        fine = bool(rest) and rest[0].plain and rest[0].text.islower() and rest[0].text.isidentifier()
        return _FREE if fine else _unknown("it cannot be told what it repeats", shown)
    if name in WRAPPERS:
        return _wrapped(name, rest, exists, depth, shown)
    if name in SHELLS:
        return _shell(rest, exists, depth, shown, piped=piped)
    if name == "eval":
        if all(word.plain for word in rest) and rest:
            return _judged(" ".join(word.text for word in rest), exists, depth + 1)
        return _unknown("it runs a text that cannot be read from here", shown)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(rest, exists, depth, shown)
    if _PYTHON.match(name):
        return _python(rest, exists, depth, shown)
    if name in INTERPRETERS:
        return _unknown("it runs code that cannot be read from here", shown)
    if name in PROJECT:
        return _project(name, rest, shown)
    if name in PROJECT_TARGETS:
        return _build(name, rest, shown)
    if name in READS:
        return _reading(name, rest, exists, shown)
    return _unknown(f"nobody knows what {name[:40]} changes", shown)


def _name(text: str) -> str:
    return text.rsplit("/", 1)[-1]


def _irreversible(name: str, rest: Sequence[Word], shown: str) -> Judgement:
    if name == "dd" and all(word.plain for word in rest) and not any(word.text.startswith("of=") for word in rest):
        return _FREE
    if name == "kill" and [word.text for word in rest] == ["-l"]:
        return _FREE
    return _lost(IRREVERSIBLE.get(name, IRREVERSIBLE["mkfs"]), shown)


def _option(word: Word, options: Sequence[str], *, exact: bool = False) -> bool:
    """Whether a word is one of these options, also shortened, with its value attached, or among other letters."""
    text = word.text
    if exact:
        return text in options
    if text.startswith("--"):
        given = text.split("=", 1)[0]
        return len(given) > 2 and any(one.startswith(given) for one in options if one.startswith("--"))
    if text.startswith("-") and len(text) > 1:
        return any(one[1] in text[1:] for one in options if not one.startswith("--") and len(one) == 2)
    return False


def _reading(name: str, rest: Sequence[Word], exists: Exists, shown: str) -> Judgement:
    options = WRITING_OPTIONS.get(name, ())
    if options and any(_option(word, options) or word.open for word in rest):
        return _unknown(f"an option of {name} writes or starts something", shown)
    operands = [word for word in rest if not word.text.startswith("-")]
    if name == "date" and any(word.text[:1].isdigit() for word in operands):
        return _lost("it sets the clock", shown)
    if name == "uniq" and (len(operands) > 1 or not all(word.plain for word in rest)):
        return _writing(operands[-1:], exists, shown)
    if name in ("mkdir", "touch"):
        return _writing(operands, lambda _: False, shown)
    return _FREE


def _wrapped(name: str, rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    """A program that starts the rest of its line. Its options differ too much to be read: any of them makes it unknown."""
    least = _FREE
    while rest and rest[0].plain:
        text = rest[0].text
        if text.startswith("-") and text != "--":
            least = _unknown(f"an option of {name} may change what is started", shown)
            if name == "command" and text in ("-v", "-V"):
                return _FREE
        elif not (text == "--" or (name in ("timeout", "nice") and _NUMBER.match(text))):
            break
        rest = rest[1:]
    if not rest:
        return least if name in ("env", "time", "nice") else _unknown(f"{name} starts nothing that can be read", shown)
    worst = [least, _words(list(rest), exists, depth, shown)]
    if least.danger:
        # The value of an option may have been taken for the program: whatever is named in the line counts.
        worst += [_lost(IRREVERSIBLE[_name(word.text)], shown) for word in rest if _name(word.text) in IRREVERSIBLE]
    return _worse(*worst)


def _shell(rest: Sequence[Word], exists: Exists, depth: int, shown: str, *, piped: bool) -> Judgement:
    if not rest and piped:
        return _lost("it runs what another program prints", shown)
    flags = [word for word in rest if word.text.startswith("-")]
    if len(rest) >= 2 and rest[0].text in ("-c", "-ec", "-lc", "-uc", "-euc", "-xc", "-exc"):
        if rest[1].plain:
            return _judged(rest[1].text, exists, depth + 1)
        return _unknown("it runs a text that cannot be read from here", shown)
    if [word.text for word in flags] == ["--version"] and len(rest) == 1:
        return _FREE
    return _unknown("it runs a script that cannot be read from here", shown)


def _python(rest: Sequence[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    texts = [word.text for word in rest if word.plain]
    if len(texts) == len(rest) and texts in (["--version"], ["-V"]):
        return _FREE
    while texts and texts[0] in ("-B", "-I", "-E", "-s", "-u", "-q", "-X", "-W", "dev", "error"):
        texts.pop(0)
    if len(texts) >= 2 and texts[0] == "-m" and texts[1] in PROJECT_MODULES:
        if texts[1] == "json.tool" and len([one for one in texts[2:] if not one.startswith("-")]) > 1:
            return _unknown("it writes a file", shown)
        if texts[1] in PROJECT:
            return _project(texts[1], [word for word in rest if word.text not in ("-m", texts[1])], shown)
        return Judgement(danger=Danger.PROJECT, fragment=shown)
    return _unknown("it runs code that cannot be read from here", shown)


def _project(name: str, rest: Sequence[Word], shown: str) -> Judgement:
    texts = {word.text.split("=", 1)[0] for word in rest}
    if any(word.open for word in rest):
        return _unknown("it cannot be told what it is given", shown)
    if texts & FIXING or (name in ONLY_LOOKING and texts.isdisjoint(ONLY_LOOKING[name]) and texts - {"--version", "--help"}):
        return _lost(f"{name} writes over files", shown)
    return Judgement(danger=Danger.PROJECT, fragment=shown)


def _build(name: str, rest: Sequence[Word], shown: str) -> Judgement:
    operands = [word for word in rest if not word.text.startswith("-")]
    allowed = PROJECT_TARGETS[name]
    if not all(word.plain for word in rest):
        return _unknown("it cannot be told what it is given", shown)
    if name == "make":
        quiet = all(re.fullmatch(r"-(?:j\d*|s|k|B|n|\d+)", word.text) for word in rest if word.text.startswith("-"))
        fine = quiet and all(word.text in allowed for word in operands)
    else:
        fine = bool(rest) and rest[0].text in allowed
    return Judgement(danger=Danger.PROJECT, fragment=shown) if fine else _unknown(f"nobody knows what this {name} changes", shown)


# --- programs with rules of their own -----------------------------------------------------------------------------------


def _git(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    texts = [word.text for word in rest]
    while texts and texts[0] in ("--no-pager", "-P"):
        texts.pop(0)
    if not texts or texts[0].startswith("-"):
        return _FREE if texts == ["--version"] else _unknown("an option of git can start other programs", shown)
    verb, more = texts[0], texts[1:]
    if verb in GIT_READS and not any(word.open for word in rest):
        writes = [one for one in more if one.startswith(("--output", "--ext-diff", "--textconv", "-O", "--open-files", "--out"))]
        return _unknown("an option of git writes or starts something", shown) if writes else _ran(shown)
    listing = {
        "branch": ("-a", "-v", "-vv", "-r", "--list", "--show-current", "--all"),
        "tag": ("-l", "--list", "-n"),
        "remote": ("-v",),
        "stash": ("list",),
    }
    if verb in listing and all(one in listing[verb] for one in more):
        return _ran(shown) if more or verb != "stash" else _lost("it takes changes away from the files", shown)
    if verb == "config" and more and more[0] in ("--get", "--list", "-l", "--get-all"):
        return _ran(shown)
    return _lost("git changes files, history or another copy by it", shown)


def _ran(shown: str) -> Judgement:
    return Judgement(danger=Danger.PROJECT, fragment=shown)


def _find(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    if any(word.open for word in rest):
        return _unknown("it cannot be told what find is given", shown)
    found = [_FREE]
    for number, word in enumerate(rest):
        if word.text == "-delete":
            found.append(_lost(IRREVERSIBLE["rm"], shown))
        elif word.text in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            found.append(_writing(rest[number + 1 : number + 2] or [Word("", plain=False)], exists, shown))
        elif word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            inner = []
            for one in rest[number + 1 :]:
                if one.text in (";", "+"):
                    break
                inner.append(Word("x") if one.text == "{}" else one)
            found.append(_words(inner, exists, depth, shown) if inner else _unknown("it cannot be told what it starts", shown))
    return _worse(*found)


def _xargs(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    harmless = {"-0", "-r", "-t", "--null", "--no-run-if-empty"}
    lost = [word for word in rest if _name(word.text) in IRREVERSIBLE]
    if lost:
        return _lost(IRREVERSIBLE[_name(lost[0].text)], shown)
    while rest and rest[0].text.startswith("-"):
        takes = rest[0].text in ("-n", "-I", "-P", "-L", "-d")
        if not takes and rest[0].text not in harmless and not re.fullmatch(r"-[nPL]\d+|-I\S+", rest[0].text):
            return _unknown("an option of xargs may change what is started", shown)
        rest = rest[2:] if takes else rest[1:]
    if not rest:
        return _FREE
    inner = _words(list(rest), exists, depth, shown)
    name = _name(rest[0].text)
    if inner.danger < Danger.UNKNOWN and (name not in READS or name in {*WRITING_OPTIONS, "uniq"}):
        # What is read from the pipe becomes words of it: an option among them cannot be seen from here.
        return _unknown("it cannot be told what it is given", shown)
    return inner


def _sed(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    if any(word.text.startswith(("-i", "--in-place")) for word in rest):
        return _lost("it writes over the files it reads", shown)
    options = [word.text for word in rest if word.text.startswith("-")]
    operands = [word for word in rest if not word.text.startswith("-")]
    plain = all(one in ("-n", "-E", "-r", "-s", "-nE") for one in options) and not any(word.open for word in rest)
    if plain and operands and operands[0].plain and _SED.match(operands[0].text):
        return _FREE
    return _unknown("a script of sed can write files and start programs", shown)


def _awk(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    options = [word.text for word in rest if word.text.startswith("-")]
    operands = [word for word in rest if not word.text.startswith("-")]
    given = bool(operands) and operands[0].plain and not any(word.open for word in rest)
    if given and all(one.startswith("-F") and one != "-F" for one in options) and not _AWK.search(operands[0].text):
        return _FREE
    return _unknown("a script of awk can write files and start programs", shown)


def _tee(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    return _writing([word for word in rest if not word.text.startswith("-")], exists, shown)


def _copied(rest: list[Word], exists: Exists, depth: int, shown: str, *, gone: bool) -> Judgement:
    """A copy to a new name is free. Moving takes the old name away: free only for what this run made itself."""
    options = [word.text for word in rest if word.text.startswith("-")]
    operands = [word for word in rest if not word.text.startswith("-")]
    if not all(one in ("-r", "-R", "-a", "-p", "-v", "-n", "-i", "--") for one in options) or len(operands) != 2:
        return _lost("it may write over files that are there", shown)
    return _writing(operands if gone else operands[1:], exists, shown)


def _set(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    known = {"-e", "-u", "-x", "-o", "pipefail", "-eu", "-eux", "-euo", "-euxo", "errexit", "nounset"}
    return _FREE if rest and all(word.plain and word.text in known for word in rest) else _unknown("it changes the shell", shown)


_SPECIAL: dict[str, Callable[[list[Word], Exists, int, str], Judgement]] = {
    "git": _git,
    "find": _find,
    "xargs": _xargs,
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "tee": _tee,
    "cp": lambda rest, exists, depth, shown: _copied(rest, exists, depth, shown, gone=False),
    "mv": lambda rest, exists, depth, shown: _copied(rest, exists, depth, shown, gone=True),
    "set": _set,
}
