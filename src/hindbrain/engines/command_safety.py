"""Command safety: what may run unasked. A line is parsed, each command in it is judged by lists of what is allowed, and the worst
one counts. What is not on a list, or is not fully understood, is never taken for harmless."""

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from hindbrain.engines.command_danger import FREE, Danger, Judgement, lost, ran, unknown, worse
from hindbrain.engines.shell_words import Fragment, Redirect, Word, taken_apart
from hindbrain.policy.commands import (
    ADDS,
    AS_ANOTHER,
    AWK_FUNCTIONS,
    BUILDS,
    CLOSED,
    COMMAND_LONGEST,
    FIND_PRINTS,
    FIND_RUNS,
    FIND_WRITES,
    FIXING,
    GIT_LISTS,
    GIT_OPTIONS,
    GIT_READS,
    INTERPRETERS,
    IRREVERSIBLE,
    ONLY_LOOKING,
    PLACES,
    PLAIN_SHELLS,
    PROJECT,
    PROJECT_MODULES,
    READS,
    SAFE_VARIABLES,
    SHELLS,
    TEST_ONE,
    TEST_TWO,
    WRAPPERS,
)

__all__ = ["Danger", "Judgement", "judged"]

_PYTHON = re.compile(r"\A(?:python|pypy)(?:\d+(?:\.\d+)*)?\Z")
# A backslash at the end of a line parts a function from its bracket.
_AWK = re.compile(r"getline|system|[|>@`]|\\\s")
_AWK_CALLS = re.compile(r"([A-Za-z_]\w*)\s*\(")
_SED = re.compile(
    r"\A(?:\d+(?:,\d+)?|\$)?(?:p|d|q|=)\Z|\A/[^/\\\n]+/[pd]\Z|\As([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*\Z"
)
_NUMBER = re.compile(r"\A\d+(?:\.\d+)?[smhd]?\Z")
_READ_BY_DD = re.compile(r"\A(?:if|bs|count|skip|status|ibs|obs)=")
_VARIABLE = re.compile(r"\A[a-z_][a-z0-9_]*\Z")
_DEEPEST = 8  # shells that start shells
_MOVES = frozenset({"cd", "pushd", "popd"})
_PROGRAMS = frozenset({"pytest", "mypy", "ruff", "flake8", "pylint", "pyflakes"})  # modules that are programs, too


@cache
def _pattern(text: str) -> "re.Pattern[str]":
    return re.compile(rf"\A(?:{text})\Z", re.DOTALL) if text else re.compile(r"(?!)")


Exists = Callable[[str], bool]


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
    moved = any(word.text in _MOVES for one in line.fragments for word in one.words)
    there: Exists = (lambda _: True) if moved else exists
    found = [_of(fragment, there, depth) for fragment in line.fragments]
    found += [unknown(odd, command[:80]) for odd in line.odd]
    found += _together(found, [fragment.words for fragment in line.fragments], command[:80])
    return worse(*found) if found else unknown("it starts nothing that can be read", command[:80])


def _together(found: Sequence[Judgement], commands: Sequence[Sequence[Word]], shown: str) -> list[Judgement]:
    """Return what parts of a line do to each other: one that writes, after one that made a link or changed the directory."""
    writing = [one for one in found if one.danger is Danger.WRITES]
    if len(writing) > 1 and any(one.copies_links for one in writing):
        return [unknown("it may write through a link that another part of it copies", shown)]
    moves = [word for words in commands if any(one.text in _MOVES for one in words) for word in words]
    if writing and not all(word.plain and _inside(word.text) for word in moves):
        return [unknown("it cannot be told in which directory it writes", shown)]
    return []


def _inside(path: str) -> bool:
    """Return whether a path leads into the workspace, and not to settings or memory in it."""
    parts = path.split("/")
    return not path.startswith(("/", "~")) and ".." not in parts and CLOSED.isdisjoint(part.casefold() for part in parts)


def _of(fragment: Fragment, exists: Exists, depth: int) -> Judgement:
    shown = " ".join(word.text for word in fragment.words)[:120]
    found = [_redirect(one, exists, shown) for one in fragment.redirects]
    found.append(_words(list(fragment.words), exists, depth, shown, piped=fragment.piped))
    return worse(*found)


def _redirect(redirect: Redirect, exists: Exists, shown: str) -> Judgement:
    target = redirect.target
    if redirect.sign in ("<&", ">&") and target.plain and re.fullmatch(r"\d|-", target.text):
        return FREE
    if target.plain and target.text == "/dev/null":
        return FREE
    if redirect.sign in ("<", "<&"):
        # Some shells take a path such as /dev/tcp/host/port for a connection.
        fine = redirect.sign == "<" and target.plain and not posixpath.normpath(target.text).lstrip("/").startswith("dev/")
        return FREE if fine else unknown("it cannot be told what it reads from", shown)
    return _writing([target], exists, f"{shown} {redirect.sign} {target.text}".strip())


def _writing(targets: Sequence[Word], exists: Exists, shown: str) -> Judgement:
    """Writing to files: new ones of the workspace are free."""
    for target in targets:
        if not target.plain or not target.text:
            return unknown("it cannot be told which file it writes", shown)
        if not _inside(target.text):
            return unknown("it may write outside of the workspace, or change settings of git or the memory in it", shown)
        if exists(target.text):
            return lost(f"it takes away or writes over {target.text[:80]}, which was there before", shown)
    return Judgement(danger=Danger.WRITES, fragment=shown)


def _words(words: list[Word], exists: Exists, depth: int, shown: str, *, piped: bool = False) -> Judgement:
    """One command, without what stands before it."""
    least = FREE
    while words:
        first = words[0]
        if first.assigns:
            least = worse(least, _variable(first.assigns, alone=len(words) == 1, shown=shown))
        elif first.plain and first.text in AS_ANOTHER:
            least = unknown("it runs as another user", shown)
        else:
            break
        words.pop(0)
    if not words:
        return least
    return worse(least, _command(words, exists, depth, shown, piped=piped))


def _variable(name: str, *, alone: bool, shown: str) -> Judgement:
    if name in SAFE_VARIABLES or (alone and _VARIABLE.match(name)):
        return FREE
    if name == "PYTHONPATH" and not alone:
        return Judgement(danger=Danger.PROJECT, fragment=shown)
    return unknown(f"{name} can change what is started", shown)


def _command(words: list[Word], exists: Exists, depth: int, shown: str, *, piped: bool) -> Judgement:
    first, rest = words[0], words[1:]
    if not first.plain:
        return unknown("it cannot be told what it starts", shown)
    name = _name(first.text)
    if name in IRREVERSIBLE or name.startswith("mkfs."):
        return _irreversible(name, rest, shown)
    if "/" in first.text and first.text not in (place + name for place in PLACES):
        if not _PYTHON.match(name) and name not in PROJECT:
            return unknown("it is a program of the workspace, or of nobody knows where", shown)
        return worse(Judgement(danger=Danger.PROJECT, fragment=shown), _known(name, rest, exists, depth, shown, piped=piped))
    return _known(name, rest, exists, depth, shown, piped=piped)


def _known(name: str, rest: list[Word], exists: Exists, depth: int, shown: str, *, piped: bool) -> Judgement:
    if name == "for":
        fine = bool(rest) and rest[0].plain and bool(_VARIABLE.match(rest[0].text))
        return FREE if fine else unknown("it cannot be told what it repeats", shown)
    if name in WRAPPERS:
        return _wrapped(name, rest, exists, depth, shown)
    if name in SHELLS:
        return _shell(name, rest, exists, depth, shown, piped=piped)
    if name == "eval":
        # It works on this very shell: what it changes holds for the rest of the line.
        inner = _judged(" ".join(word.text for word in rest), exists, depth + 1)
        return worse(unknown("it runs a text in the same shell", shown), inner)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(rest, exists, depth, shown)
    if _PYTHON.match(name):
        return _python(rest, exists, depth, shown)
    if name in INTERPRETERS:
        return unknown("it runs code that cannot be read from here", shown)
    if name in PROJECT and name not in PROJECT_MODULES - _PROGRAMS:
        return _project(name, rest, shown)
    if name in BUILDS:
        return _build(name, rest, shown)
    if name in ADDS:
        return _adding(name, rest, shown)
    if name in READS:
        return _reading(name, rest, exists, shown)
    return unknown(f"nobody knows what {name[:40]} changes", shown)


def _name(text: str) -> str:
    return text.rsplit("/", 1)[-1]


def _irreversible(name: str, rest: Sequence[Word], shown: str) -> Judgement:
    if name == "dd" and all(word.plain and _READ_BY_DD.match(word.text) for word in rest):
        return FREE
    if name == "kill" and [word.text for word in rest] == ["-l"]:
        return FREE
    return lost(IRREVERSIBLE.get(name, IRREVERSIBLE["mkfs"]), shown)


def _options_fit(pattern: str, words: Sequence[Word]) -> bool:
    """Return whether every option is on the list, and no word can turn out to be another one."""
    if any(word.open for word in words):
        return False
    return all(_pattern(pattern).match(word.text) for word in words if word.text.startswith("-") and word.text != "-")


def _operands(words: Sequence[Word]) -> list[Word]:
    """Return the words that are no options. A single `-` stands for a stream, and is an operand."""
    return [word for word in words if not word.text.startswith("-") or word.text == "-"]


def _reading(name: str, rest: Sequence[Word], exists: Exists, shown: str) -> Judgement:
    pattern = READS[name]
    if name in ("[", "test"):
        return FREE if _tests(name, list(rest)) else unknown("it cannot be told what it tests", shown)
    # Only the first word of printf can be an option.
    if pattern is not None and not _options_fit(pattern, rest[:1] if name == "printf" else rest):
        return unknown(f"an option of {name} may write or start something", shown)
    operands = _operands(rest)
    if name == "date" and any(word.text[:1].isdigit() for word in operands):
        return lost("it sets the clock", shown)
    if name == "uniq" and (len(operands) > 1 or not all(word.plain for word in rest)):
        return _writing(operands[-1:], exists, shown)
    if name == "read" and not all(word.plain and _VARIABLE.match(word.text) for word in operands):
        # A name with an index runs what stands in the index.
        return unknown("it cannot be told what it sets", shown)
    return FREE


def _tests(name: str, words: list[Word]) -> bool:
    """Return whether a test has one known operator in its place. A word that is replaced elsewhere can then be no operator."""
    if name == "[" and (not words or words.pop().text != "]"):
        return False
    while words and words[0].plain and words[0].text == "!":
        words.pop(0)
    if any(word.loose for word in words):
        return False
    if len(words) == 2:
        return words[0].plain and words[0].text in TEST_ONE
    if len(words) == 3:
        return words[1].plain and words[1].text in TEST_TWO
    if len(words) < 2:
        return True
    parts = [word.text for word in words]
    return all(word.plain for word in words) and all(
        one in TEST_ONE | TEST_TWO or one in ("-a", "-o", "!") or one[:1] != "-" for one in parts
    )


def _adding(name: str, rest: Sequence[Word], shown: str) -> Judgement:
    if not _options_fit(ADDS[name], rest):
        return unknown(f"an option of {name} may change what is there", shown)
    return _writing(_operands(rest), lambda _: False, shown)


def _wrapped(name: str, rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    """A program that starts the rest of its line. Its options differ too much to be read: any of them makes it unknown."""
    least = FREE
    while rest and rest[0].plain:
        text = rest[0].text
        if text.startswith("-") and text != "--":
            least = unknown(f"an option of {name} may change what is started", shown)
            if name == "command" and text in ("-v", "-V"):
                return FREE
        elif not (text == "--" or (name in ("timeout", "nice") and _NUMBER.match(text))):
            break
        rest = rest[1:]
    if not rest:
        return least if name in ("env", "time", "nice") else unknown(f"{name} starts nothing that can be read", shown)
    worst = [least, _words(list(rest), exists, depth, shown)]
    if least.danger:
        # The value of an option may have been taken for the program: whatever is named in the line counts.
        worst += [lost(IRREVERSIBLE[_name(word.text)], shown) for word in rest if _name(word.text) in IRREVERSIBLE]
    return worse(*worst)


def _shell(name: str, rest: Sequence[Word], exists: Exists, depth: int, shown: str, *, piped: bool) -> Judgement:
    if not rest and piped:
        return lost("it runs what another program prints", shown)
    flags = [word for word in rest if word.text.startswith("-")]
    if len(rest) >= 2 and rest[0].text in ("-c", "-ec", "-lc", "-uc", "-euc", "-xc", "-exc"):
        if rest[1].plain:
            inner = _judged(rest[1].text, exists, depth + 1)
            return inner if name in PLAIN_SHELLS else worse(inner, unknown(f"{name} reads a line in its own way", shown))
        return unknown("it runs a text that cannot be read from here", shown)
    if [word.text for word in flags] == ["--version"] and len(rest) == 1:
        return FREE
    return unknown("it runs a script that cannot be read from here", shown)


def _python(rest: Sequence[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    texts = [word.text for word in rest]
    if not all(word.plain for word in rest[:2]):
        return unknown("it runs code that cannot be read from here", shown)
    if texts in (["--version"], ["-V"]):
        return FREE
    at = 0
    while at < len(rest) and rest[at].plain:
        if texts[at : at + 2] in (["-X", "dev"], ["-W", "error"]):
            at += 2
        elif texts[at] in ("-B", "-I", "-E", "-s", "-u", "-q"):
            at += 1
        else:
            break
    if at + 1 < len(rest) and rest[at + 1].plain and texts[at] == "-m" and texts[at + 1] in PROJECT_MODULES:
        module, more = texts[at + 1], rest[at + 2 :]
        if module == "json.tool" and len(_operands(more)) > 1:
            return unknown("it writes a file", shown)
        return _project(module, more, shown)
    return unknown("it runs code that cannot be read from here", shown)


def _project(name: str, rest: Sequence[Word], shown: str) -> Judgement:
    texts = {word.text.split("=", 1)[0] for word in rest}
    if texts & FIXING or (name in ONLY_LOOKING and texts.isdisjoint(ONLY_LOOKING[name]) and texts - {"--version", "--help"}):
        return lost(f"{name} writes over files", shown)
    if not _options_fit(PROJECT[name], rest):
        return unknown(f"an option of {name} may write a file, or change what is run", shown)
    operands = [word.text for word in _operands(rest)]
    if any(one.startswith("@") for one in operands):
        return unknown(f"{name} reads more options from a file", shown)
    if name == "tsc" and {"false", "null"} & {one.casefold() for one in operands}:
        return lost("tsc writes over files", shown)  # the value of the option before it
    if name == "ruff" and operands[:1] not in ([], ["check"], ["format"]):
        return unknown("nobody knows what this ruff changes", shown)
    if name == "ruff" and operands[:1] == ["format"] and texts.isdisjoint(("--check", "--diff")):
        return lost("ruff writes over files", shown)
    return ran(shown)


def _build(name: str, rest: Sequence[Word], shown: str) -> Judgement:
    build = BUILDS[name]
    if not all(word.plain for word in rest):
        return unknown("it cannot be told what it is given", shown)
    texts = [word.text for word in rest]
    parted = texts.index("--") if "--" in texts else len(texts)
    before, after = texts[:parted], texts[parted + 1 :]
    operands = [one for one in before if not one.startswith("-")]
    fine = (
        (name == "make" or (bool(operands) and operands[0] in build.targets))
        and _options_fit(build.options, rest[:parted])
        and all(_pattern(build.operands).match(one) for one in operands)
        and (parted == len(texts) or (build.after is not None and all(_pattern(build.after).match(one) for one in after)))
    )
    return ran(shown) if fine else unknown(f"nobody knows what this {name} changes", shown)


# --- programs with rules of their own -----------------------------------------------------------------------------------


def _git(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    words = list(rest)
    while words and words[0].text in ("--no-pager", "-P"):
        words.pop(0)
    if not words or words[0].text.startswith("-"):
        only = [word.text for word in words] == ["--version"]
        return FREE if only else unknown("an option of git can start other programs", shown)
    verb, more = words[0], words[1:]
    texts = [word.text for word in more]
    if not verb.plain:
        return unknown("it cannot be told what git does", shown)
    if verb.text in GIT_READS:
        fine = _options_fit(GIT_OPTIONS, more)
        return ran(shown) if fine else unknown("an option of git may write or start something", shown)
    if verb.text in GIT_LISTS and all(one in GIT_LISTS[verb.text] for one in texts):
        return ran(shown) if texts or verb.text != "stash" else lost("it takes changes away from the files", shown)
    if verb.text == "config" and texts and texts[0] in ("--get", "--list", "-l", "--get-all") and _options_fit("", more[1:]):
        return ran(shown)
    return lost("git changes files, history or another copy by it", shown)


def _find(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    if any(word.open and word.text not in ("{}", "{", "}") for word in rest):
        return unknown("it cannot be told what find is given", shown)
    found, at = [FREE], 0
    while at < len(rest):
        word = rest[at]
        at += 1
        if word.text == "-delete":
            found.append(lost(IRREVERSIBLE["rm"], shown))
        elif word.text in FIND_WRITES:
            found.append(_writing(rest[at : at + 1] or [Word("", plain=False)], exists, shown))
            at += 1
        elif word.text in FIND_RUNS:
            inner: list[Word] = []
            while at < len(rest) and rest[at].text != ";" and not (rest[at].text == "+" and inner and inner[-1].text == "{}"):
                inner.append(rest[at])
                at += 1
            at += 1
            found.append(_found(inner, depth, shown))
        elif word.text.startswith("-") and not _pattern(FIND_PRINTS).match(word.text):
            found.append(unknown(f"nobody knows what {word.text[:40]} of find does", shown))
    return worse(*found)


def _found(words: list[Word], depth: int, shown: str) -> Judgement:
    """Judge the command that find starts. It puts names of files wherever `{}` stands. As a word of its own that is a name; in a
    text it becomes part of the text, and a shell would run it."""
    if not words:
        return unknown("it cannot be told what it starts", shown)
    # It is started once for each file, some in another directory: nobody knows what a name means there.
    judged_ = _words([Word("./x") if one.text == "{}" else one for one in words], lambda _: True, depth, shown)
    if words[0].text == "{}" or any("{}" in one.text and one.text != "{}" for one in words):
        return worse(judged_, unknown("find puts names of files into what is run", shown))
    return judged_


def _xargs(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    harmless = {"-0", "-r", "-t", "--null", "--no-run-if-empty"}
    named = [word for word in rest if _name(word.text) in IRREVERSIBLE]
    if named:
        return lost(IRREVERSIBLE[_name(named[0].text)], shown)
    while rest and rest[0].text.startswith("-"):
        takes = rest[0].text in ("-n", "-I", "-P", "-L", "-d")
        if not takes and rest[0].text not in harmless and not re.fullmatch(r"-[nPL]\d+|-I\S+", rest[0].text):
            return unknown("an option of xargs may change what is started", shown)
        rest = rest[2:] if takes else rest[1:]
    if not rest:
        return FREE
    inner = _words(list(rest), exists, depth, shown)
    # What is read from the pipe becomes words of the program: only one whose options are all harmless can take them.
    if inner.danger < Danger.UNKNOWN and (not rest[0].plain or READS.get(_name(rest[0].text), "") is not None):
        return unknown("it cannot be told what it is given", shown)
    return inner


def _sed(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    if any(word.text.startswith(("-i", "--in-place")) for word in rest):
        return lost("it writes over the files it reads", shown)
    options = [word.text for word in rest if word.text.startswith("-")]
    operands = _operands(rest)
    plain = all(one in ("-n", "-E", "-r", "-s", "-nE") for one in options) and not any(word.open for word in rest)
    if plain and operands and operands[0].plain and _SED.match(operands[0].text):
        return FREE
    return unknown("a script of sed can write files and start programs", shown)


def _awk(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    options = [word.text for word in rest if word.text.startswith("-")]
    operands = _operands(rest)
    given = bool(operands) and operands[0].plain and not any(word.open for word in rest)
    if given and all(re.fullmatch(r"-F.+", one, re.DOTALL) for one in options):
        script = operands[0].text
        if not _AWK.search(script) and all(one in AWK_FUNCTIONS for one in _AWK_CALLS.findall(script)):
            return FREE
    return unknown("a script of awk can write files and start programs", shown)


def _tee(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    return _writing(_operands(rest), exists, shown)


def _copied(rest: list[Word], exists: Exists, depth: int, shown: str, *, gone: bool) -> Judgement:
    """A copy to a new name is free. Moving takes the old name away: free only for what this run made itself."""
    options = [word.text for word in rest if word.text.startswith("-")]
    operands = _operands(rest)
    if any(word.open for word in rest):
        return unknown("it cannot be told what it is given", shown)
    if not all(one in ("-r", "-R", "-a", "-p", "-v", "-n", "-i", "--") for one in options) or len(operands) != 2:
        return lost("it may write over files that are there", shown)
    # A copy of a tree, or of a file as it is, holds links as links.
    copies_links = bool({"-r", "-R", "-a"} & set(options))
    return replace(_writing(operands if gone else operands[1:], exists, shown), copies_links=copies_links)


def _set(rest: list[Word], exists: Exists, depth: int, shown: str) -> Judgement:
    known = {"-e", "-u", "-x", "-o", "pipefail", "-eu", "-eux", "-euo", "-euxo", "errexit", "nounset"}
    return FREE if rest and all(word.plain and word.text in known for word in rest) else unknown("it changes the shell", shown)


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
