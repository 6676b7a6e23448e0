"""Ways: for each kind of goal the ways that lead to it, the best first. Which one is gone is decided in `planning`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.task import Step
from hindbrain.engines.goals import Goal
from hindbrain.policy.planning import TEST_COMMANDS

__all__ = ["Way", "reads_of", "text_to_write", "ways_to", "writes_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to a goal: steps, in words of its own, and the tool that gives the result. Other tools only look things up."""

    says: str
    steps: tuple[Step, ...]
    main: str


def ways_to(goal: Goal) -> tuple[Way, ...]:
    """Every known way, the best first, no two with the same steps. Where a tool refuses a path, a shell is no way around it."""
    found: list[Way] = []
    outside = any(
        map(_outside, (*goal.files, goal.parts.get("into", ""), goal.parts.get("place", ""), goal.parts.get("file", "")))
    )
    for way in _WAYS[goal.kind](goal):
        around = outside and goal.kind != "command" and any(step.tool == "run" for step in way.steps)
        if not around and all(way.steps != one.steps for one in found):
            found.append(way)
    return tuple(found)


def _outside(path: str) -> bool:
    return path.startswith(("/", "~")) or ".." in path.split("/")


def writes_of(goal: Goal) -> tuple[str, ...]:
    """The files that exist only once the goal is reached."""
    if goal.kind in ("transform", "concat"):
        return (goal.parts["into"] or goal.files[0],)
    return goal.files if goal.kind == "create" else ()


def reads_of(goal: Goal) -> tuple[str, ...]:
    """The files that have to be there before."""
    return () if goal.kind == "create" else goal.files


# -- small parts ---------------------------------------------------------------------------------------------------------


def _step(tool: str, **given: Any) -> Step:
    return Step(tool=tool, input={key: value for key, value in given.items() if value not in (None, "")})


def _quoted(text: str) -> str:
    """A word of a shell line."""
    return text if re.fullmatch(r"[\w./@%+=:,-]+", text) and not text.startswith("-") else "'" + text.replace("'", "'\\''") + "'"


def _file(path: str) -> str:
    """A file as an argument of a program: a leading dash is no option."""
    return _quoted(f"./{path}" if path.startswith("-") else path)


def _base(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _loose(path: str) -> str:
    """A pattern for files whose name is like this one, wherever they lie: the stem, whatever stands around it."""
    stem = re.split(r"[.\-_ ]", _base(path))[0] or _base(path)
    if len(stem) < 3:
        return f"{stem}*"
    return f"*{stem.rstrip('s') if len(stem) > 4 else stem}*"


def _under(pattern: str, place: str) -> str:
    return f"{place}/**/{pattern}" if place else pattern


def _finding(pattern: str, place: str) -> str:
    """A shell line that names files."""
    if "/" in pattern:
        where = f"-path {_quoted('./' + pattern.replace('**/', '*').removeprefix('./'))}"
    else:
        where = f"-iname {_quoted(pattern)}"
    return f"find {_file(place or '.')} -type f {where}"


def _wc(what: str) -> str:
    return {"lines": "-l", "words": "-w", "characters": "-m"}[what]


# -- reading one file, found where it is or under a name like it ------------------------------------------------------------


def _reading(path: str, verb: str, **then: Any) -> tuple[tuple[str, tuple[Step, ...]], ...]:
    """Ways to read: the file as it was named, one of that name elsewhere, then the one whose name is most like it."""
    near = {"path_from": "previous", "transform": "closest_line", "args": {"name": path}}
    ways: list[tuple[str, tuple[Step, ...]]] = [(f"{verb} from the text of {path}", (_step("read", path=path, **then),))]
    for first in (f"**/{_base(path)}", _loose(path)):
        ways.append(
            (
                f"look for a name like {first} and {verb} from what lies nearest",
                (_step("glob", query=first), Step(tool="read", input={**near, **then})),
            )
        )
    return tuple(ways)


def _read(goal: Goal) -> list[Way]:
    path = goal.files[0]
    ways = [Way(says=says, steps=steps, main="read") for says, steps in _reading(path, "give everything")]
    return [*ways, Way(says=f"have the shell print {path}", steps=(_step("run", command=f"cat {_file(path)}"),), main="run")]


def _count_in_file(goal: Goal) -> list[Way]:
    path, what, text = goal.files[0], goal.parts["what"], goal.parts.get("text", "")
    then: dict[str, Any] = {"then": f"count_{what}"} | ({"then_args": {"text": text}} if what.startswith("match") else {})
    ways = [Way(says=says, steps=steps, main="read") for says, steps in _reading(path, f"count {what.replace('_', ' ')}", **then)]
    if what == "matches":
        command = f"grep -o -F -- {_quoted(text)} {_file(path)} | wc -l"
    elif what == "matching_lines":
        command = f"grep -c -F -- {_quoted(text)} {_file(path)}"
    else:
        command = f"wc {_wc(what)} < {_file(path)}"
    ways.append(Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run"))
    if what == "matching_lines":
        steps = (_step("search", query=text, path=path, then="count_lines"),)
        ways.append(Way(says=f"search {path} and number the hits", steps=steps, main="search"))
    return ways


# -- many files ------------------------------------------------------------------------------------------------------------


def _globbing(goal: Goal, verb: str, **then: Any) -> list[Way]:
    """Names by the pattern and in the place that were asked for. A looser pattern would answer another question."""
    pattern = _under(goal.parts["pattern"], goal.parts.get("place", ""))
    return [Way(says=f"{verb} names that match {pattern}", steps=(_step("glob", query=pattern, **then),), main="glob")]


def _find_files(goal: Goal) -> list[Way]:
    command = _finding(goal.parts["pattern"], goal.parts.get("place", ""))
    return [
        *_globbing(goal, "list"),
        Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run"),
    ]


def _ranked_files(goal: Goal) -> list[Way]:
    field, order = ("%s", "-rn") if goal.parts["by"] in ("largest", "biggest") else ("%T@", "-rn")
    order = "-n" if goal.parts["by"] == "oldest" else order
    finding = _finding(goal.parts["pattern"], goal.parts.get("place", ""))
    command = f"{finding} -printf '{field} %p\\n' | sort {order} | head -n {1 if goal.parts.get('one') else 20}"
    return [Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run")]


def _count_files(goal: Goal) -> list[Way]:
    command = _finding(goal.parts["pattern"], goal.parts.get("place", "")) + " | wc -l"
    shell = Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run")
    return [*_globbing(goal, "count", then="count_lines"), shell]


def _count_in_files(goal: Goal) -> list[Way]:
    pattern, place, what = goal.parts["pattern"], goal.parts.get("place", ""), goal.parts["what"]
    ways = []
    if what == "lines":
        steps = (
            _step("search", query="^", regex=True, path=place, files=None if pattern == "*" else pattern, then="count_lines"),
        )
        ways.append(Way(says=f"search every line of {pattern} and number them", steps=steps, main="search"))
    command = _finding(pattern, place) + f" -exec cat {{}} + | wc {_wc(what)}"
    return [*ways, Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run")]


def _searching(goal: Goal, verb: str, **then: Any) -> Way:
    """The text itself, where it was asked for. Parts of it, or other places, would answer another question."""
    text, place, pattern = goal.parts["text"], goal.parts.get("place", ""), goal.parts.get("pattern", "")
    steps = (_step("search", query=text, path=goal.parts.get("file", "") or place, files=pattern, **then),)
    return Way(says=f"{verb} lines with {text}", steps=steps, main="search")


def _grep(goal: Goal, options: str) -> str:
    pattern = goal.parts.get("pattern", "")
    include = f" --include={_quoted(pattern)}" if pattern else ""
    where = goal.parts.get("file", "") or goal.parts.get("place", "") or "."
    return f"grep {options}{include} -F -- {_quoted(goal.parts['text'])} {_file(where)}"


def _find_text(goal: Goal) -> list[Way]:
    ways = [_searching(goal, "search for")]
    if goal.parts.get("file"):
        then = {"then": "matching_lines", "then_args": {"text": goal.parts["text"]}}
        ways += [Way(says=says, steps=steps, main="read") for says, steps in _reading(goal.parts["file"], "pick lines", **then)]
    command = _grep(goal, "-rn")
    return [*ways, Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run")]


def _count_text(goal: Goal) -> list[Way]:
    what = goal.parts["what"]
    command = _grep(goal, {"files": "-rl", "matches": "-roh", "matching_lines": "-rn"}[what]) + " | wc -l"
    shell = Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run")
    # A search gives one line for each line that matches: neither files nor occurrences can be counted from it.
    return [_searching(goal, "number", then="count_lines"), shell] if what == "matching_lines" else [shell]


# -- changing and making ---------------------------------------------------------------------------------------------------


def _shell_change(name: str, args: Mapping[str, object]) -> str:
    """The same change as a program of the shell; empty where there is none."""
    if name == "replace":
        old, new = (re.sub(r"([][\\/.*^$&])", r"\\\1", str(args[key])) for key in ("old", "new"))
        return "" if "\n" in old + new else f"sed {_quoted(f's/{old}/{new}/g')}"
    sort = "sort" + (" -n" if args.get("numeric") else "") + (" -r" if args.get("reverse") else "")
    return {
        "upper": "tr '[:lower:]' '[:upper:]'",
        "lower": "tr '[:upper:]' '[:lower:]'",
        "sort_lines": f"LC_ALL=C {sort}",
        "dedupe_lines": "awk '!seen[$0]++'",
        "reverse_lines": "tac",
        "strip_blank_lines": "grep -v '^[[:space:]]*$'",
    }.get(name, "")


def _transform(goal: Goal) -> list[Way]:
    source, into = goal.files[0], goal.parts["into"] or goal.files[0]
    *early, (last, last_args) = goal.changes
    words = " and ".join(name.replace("_", " ") for name, _ in goal.changes)
    ways = []
    if len(early) <= 1:
        then: dict[str, Any] = {"then": early[0][0], "then_args": dict(early[0][1])} if early else {}
        write = Step(
            tool="write",
            input={"path": into, "content_from": "previous", "transform": last}
            | ({"args": dict(last_args)} if last_args else {}),
        )
        for says, steps in _reading(source, words, **{key: value for key, value in then.items() if value}):
            if goal.parts["into"] or len(steps) == 1:  # a file that was only guessed is not written over
                ways.append(Way(says=f"{says}, written to {into}", steps=(*steps, write), main="write"))
    programs = [_shell_change(name, args) for name, args in goal.changes]
    if all(programs) and into != source:
        command = f"{programs[0]} < {_file(source)}" + "".join(f" | {one}" for one in programs[1:]) + f" > {_file(into)}"
        ways.append(Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run"))
    return ways


def _concat(goal: Goal) -> list[Way]:
    into = goal.parts["into"]
    reads = tuple(_step("read", path=path) for path in goal.files)
    write = Step(tool="write", input={"path": into, "content_from": "all"})
    command = f"cat {' '.join(_file(path) for path in goal.files)} > {_file(into)}"
    return [
        Way(says=f"read {', '.join(goal.files)} and write them one after another", steps=(*reads, write), main="write"),
        Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run"),
    ]


def text_to_write(goal: Goal) -> str:
    """The text of a file that is to be made, with a line break at its end."""
    text = goal.parts["content"].replace("\\n", "\n")
    return text if text.endswith("\n") else text + "\n"


def _create(goal: Goal) -> list[Way]:
    path, text = goal.files[0], text_to_write(goal)
    command = f"printf '%s' {_quoted(text)} > {_file(path)}"
    return [
        Way(says=f"write the text to {path}", steps=(_step("write", path=path, content=text),), main="write"),
        Way(says="have the shell print it into the file", steps=(_step("run", command=command),), main="run"),
    ]


# -- looking whether something holds ---------------------------------------------------------------------------------------


def _file_exists(goal: Goal) -> list[Way]:
    globs = tuple(_step("glob", query=path) for path in goal.files)
    reads = tuple(_step("read", path=path) for path in goal.files)
    command = "ls -l " + " ".join(_file(path) for path in goal.files)
    return [
        Way(says=f"match the names {', '.join(goal.files)}", steps=globs, main="glob"),
        Way(says="open each file and see", steps=reads, main="read"),
        Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run"),
    ]


def _file_holds(goal: Goal) -> list[Way]:
    path, text = goal.files[0], goal.parts["text"]
    then = {"then": "contains", "then_args": {"text": text}}
    command = f"if grep -q -F -- {_quoted(text)} {_file(path)}; then echo found; else echo missing; fi"
    ways = [Way(says=says, steps=steps, main="read") for says, steps in _reading(path, "see whether the words are there", **then)]
    return [*ways, Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run")]


def _file_equals(goal: Goal) -> list[Way]:
    then = {"then": "equals", "then_args": {"text": goal.parts["text"]}}
    return [Way(says=says, steps=steps, main="read") for says, steps in _reading(goal.files[0], "compare", **then)]


def _same_files(goal: Goal) -> list[Way]:
    one, other = goal.files
    compared = {"path": other, "then": "equals", "then_args": {"text": {"step": 1}}}
    command = f"if cmp -s {_file(one)} {_file(other)}; then echo equal; else echo different; fi"
    return [
        Way(
            says=f"read {one} and {other} and compare",
            steps=(_step("read", path=one), Step(tool="read", input=compared)),
            main="read",
        ),
        Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run"),
    ]


def _checksum(goal: Goal) -> list[Way]:
    path = goal.files[0]
    ways = [Way(says=says, steps=steps, main="read") for says, steps in _reading(path, "take the digest", then="sha256")]
    command = f"sha256sum {_file(path)}"
    return [*ways, Way(says=f"ask the shell: {command}", steps=(_step("run", command=command),), main="run")]


# -- commands and memory ---------------------------------------------------------------------------------------------------


def _tests(goal: Goal) -> list[Way]:
    place = goal.parts.get("place", "")
    commands = [f"{TEST_COMMANDS[0]} {_file(place)}", f"python -m unittest {_file(place)}"] if place else list(TEST_COMMANDS)
    return [Way(says=f"run {one}", steps=(_step("run", command=one),), main="run") for one in commands]


def _build(goal: Goal) -> list[Way]:
    return [
        Way(says=f"run {one}", steps=(_step("run", command=one),), main="run") for one in ("make build", "make", "npm run build")
    ]


def _command(goal: Goal) -> list[Way]:
    command = goal.parts["command"]
    ways = [Way(says=f"run {command}", steps=(_step("run", command=command),), main="run")]
    for pattern, tool in _SHELL_TWINS:
        found = re.fullmatch(pattern, command.strip())
        if found:
            ways.append(tool(found))
    return ways


def _twin(says: str, main: str, **given: Any) -> Way:
    return Way(says=says, steps=(_step(main, **given),), main=main)


# What some shell lines come to when it is done with tools for files.
_SHELL_TWINS: tuple[tuple[str, Callable[[re.Match[str]], Way]], ...] = (
    (r"cat\s+([\w./-]+)", lambda m: _twin(f"read {m[1]} as a file", "read", path=m[1])),
    (r"ls(?:\s+-\w+)*(?:\s+([\w./-]+))?", lambda m: _twin("match every name", "glob", query="*", path=m[1])),
    (r"wc\s+-l\s+<?\s*([\w./-]+)", lambda m: _twin(f"read {m[1]} and number lines", "read", path=m[1], then="count_lines")),
    (
        r"grep\s+(?:-\w+\s+)*[\"']?([^\"']+?)[\"']?\s+([\w./-]+)",
        lambda m: _twin("search for it", "search", query=m[1], path=m[2]),
    ),
)


def _recall(goal: Goal) -> list[Way]:
    query = goal.parts["query"]
    return [_twin(f"ask memory about {query}", "ask_memory", query=query)]


_WAYS: Mapping[str, Callable[[Goal], list[Way]]] = {
    "read": _read,
    "count_in_file": _count_in_file,
    "count_in_files": _count_in_files,
    "count_files": _count_files,
    "count_text": _count_text,
    "find_files": _find_files,
    "find_text": _find_text,
    "ranked_files": _ranked_files,
    "transform": _transform,
    "concat": _concat,
    "create": _create,
    "file_exists": _file_exists,
    "file_holds": _file_holds,
    "file_equals": _file_equals,
    "same_files": _same_files,
    "checksum": _checksum,
    "tests": _tests,
    "build": _build,
    "command": _command,
    "recall": _recall,
}
