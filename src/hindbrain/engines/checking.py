"""Checking: whether tool calls show what a criterion asks for. It is given the facts about paths, and does nothing itself."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import regex  # type: ignore[import-untyped]  # it comes without types

from hindbrain.domain.task import CheckSpec
from hindbrain.engines.json_paths import PathWrong, value_at
from hindbrain.engines.showing import Shown, exit_status, failed, lines, looks, proving, words_of
from hindbrain.engines.transforming import BadTransform, apply
from hindbrain.policy.checks import CHECKS, PATHS_LOOKED_AT, REGEX_SECONDS
from hindbrain.policy.tools import KEPT_CUT

__all__ = ["Evidence", "Finding", "PathFact", "asked_paths", "asked_texts", "check"]

_NUMBER = regex.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|\.\d)")
_AT_LINE = regex.compile(r"^(.+?):\d+(?::.*)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathFact:
    """What is at a path. The size of a directory is the number of its entries."""

    exists: bool
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What there is to judge by."""

    shown: tuple[Shown, ...]
    paths: Mapping[str, PathFact] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check came to, the calls that it rests on, and what would help where it failed."""

    passed: bool
    evidence: str
    event_ids: tuple[str, ...] = ()
    remedy: str = ""


def asked_paths(spec: CheckSpec, shown: tuple[Shown, ...]) -> tuple[str, ...]:
    """The paths that have to be looked at before a check can be made."""
    if spec.kind in ("path_exists", "path_nonempty"):
        path = spec.args.get("path")
        return (path,) if isinstance(path, str) and path else ()
    if spec.kind == "count_at_least" and spec.args.get("of") == "paths":
        named = dict.fromkeys(path for one in _aimed(spec, proving(shown)) for path in _named_paths(one.text))
        return tuple(named)[:PATHS_LOOKED_AT]
    return ()


def asked_texts(spec: CheckSpec, shown: tuple[Shown, ...]) -> tuple[str, ...]:
    """The files whose text a check compares: the one that was made, and what it was made from."""
    if spec.kind != "path_equals":
        return ()
    read = (one.call.target for one in _reads(shown) if one.call.target)
    return tuple(dict.fromkeys((str(spec.args.get("path", "")), *map(str, spec.args.get("sources", ())), *read)))


def check(spec: CheckSpec, evidence: Evidence) -> Finding:
    """Make a check. One that cannot be read, like one that takes too long, is not passed."""
    known = CHECKS[spec.kind]
    lacks = [name for name in known.needs if name not in spec.args]
    strange = [name for name in spec.args if name not in (*known.needs, *known.takes)]
    if lacks or strange:
        wrong = f"lacks {', '.join(lacks)}" if lacks else f"does not take {', '.join(strange)}"
        return Finding(passed=False, evidence=f"the check {spec.kind} {wrong}", remedy="Plan a check that can be read.")
    return _MADE[spec.kind](spec, evidence)


def _aimed(spec: CheckSpec, shown: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """The calls that a check is about."""
    target = spec.args.get("target")
    if target is None:
        return shown
    return tuple(one for one in shown if one.call.target == target or target in words_of(one.call.input))


def _resting(shown: tuple[Shown, ...], evidence: str) -> Finding:
    return Finding(passed=True, evidence=evidence, event_ids=tuple(one.call.event_id for one in shown))


def _path(spec: CheckSpec, evidence: Evidence) -> Finding:
    path = str(spec.args["path"])
    named = tuple(one for one in evidence.shown if _names(one, path))
    actions = [one for one in named if not looks(one.call)]
    if actions and failed(actions[-1]):
        why = actions[-1].call.error or actions[-1].text
        return Finding(
            passed=False,
            evidence=f"the last action on {path} failed: {_short(why)}; a look afterwards shows what was there before",
            remedy=f"Make {path} by another way, and only then look at it.",
        )
    proof = tuple(one for one in proving(evidence.shown) if _names(one, path))
    fact = evidence.paths.get(path)
    if fact is None or not fact.exists:
        return Finding(passed=False, evidence=f"{path} is missing", remedy=f"Make {path}; nothing is at that path.")
    if spec.kind == "path_nonempty" and fact.size == 0:
        return Finding(passed=False, evidence=f"{path} is empty", remedy=f"Write the content of {path}.")
    if not proof:
        return Finding(
            passed=False, evidence=f"{path} is there, and no call shows it", remedy=f"Make or read {path} with a tool."
        )
    return _resting(proof[-1:], f"{path} is there, {fact.size} long")


def _names(shown: Shown, path: str) -> bool:
    plain = path.removeprefix("./").rstrip("/")
    return any(plain in word for word in words_of(shown.call.input)) or plain in shown.text


def _reads(shown: tuple[Shown, ...]) -> tuple[Shown, ...]:
    return tuple(one for one in proving(shown) if one.call.tool == "read")


def _text_equals(spec: CheckSpec, evidence: Evidence) -> Finding:
    """Whether a file has the text that it must have."""
    path = str(spec.args["path"])
    there = _path(CheckSpec(kind="path_exists", args={"path": path}), evidence)
    if not there.passed:
        return there
    has = evidence.texts.get(path)
    if has is None:
        return Finding(passed=False, evidence=f"{path} cannot be read as text", remedy=f"Write {path} as text.")
    try:
        wanted = (str(spec.args["text"]),) if "text" in spec.args else _made_from(spec, evidence, path)
    except BadTransform as wrong:
        return Finding(passed=False, evidence=str(wrong), remedy="Use a source that has what the goal names.")
    if has in wanted:
        return Finding(passed=True, evidence=f"{path} has the text that was asked for", event_ids=there.event_ids)
    return Finding(passed=False, evidence=f"{path} has another text than was asked for", remedy=f"Write {path} again.")


def _made_from(spec: CheckSpec, evidence: Evidence, path: str) -> tuple[str, ...]:
    """The texts that the sources and changes of a check lead to: sources are joined as they are, or each on lines of its own."""
    changes = [(str(name), args) for name, args in spec.args.get("changes", ())]
    reads = _reads(evidence.shown)
    sources = [str(one) for one in spec.args.get("sources", ())]
    if len(sources) == 1:
        text, changed = _source_text(sources[0], reads[-1] if reads else None, evidence, path)
        left = changes[1:] if changed else changes
        for name, args in left:
            if name == "replace" and str(args.get("old", "")) not in text:
                raise BadTransform(f"{_short(str(args.get('old', '')))!r} does not occur in {sources[0]}")
            text = apply(name, text, args)
        return (text,)
    texts = [evidence.texts.get(one) for one in sources]
    if path in sources or any(one is None for one in texts):
        raise BadTransform("a source cannot be read as text")
    known = [one for one in texts if one is not None]
    on_lines = "".join(one if one.endswith("\n") or last else one + "\n" for one, last in _with_last(known))
    return "".join(known), on_lines


def _with_last(texts: list[str]) -> list[tuple[str, bool]]:
    return [(one, number == len(texts)) for number, one in enumerate(texts, 1)]


def _source_text(named: str, read: Shown | None, evidence: Evidence, path: str) -> tuple[str, bool]:
    """The text that a file was made from, and whether the first change was already made as it was read. A file that was changed
    in its place is known only by what the call showed before."""
    source = named if read is None else read.call.target or named
    if source != path and (text := evidence.texts.get(source)) is not None:
        return text, False
    if read is None or len(read.text) >= KEPT_CUT:
        raise BadTransform(f"{source} is too long, or was not read as text, so the result cannot be compared with it")
    return read.text, "then" in read.call.input


def _exit(spec: CheckSpec, evidence: Evidence) -> Finding:
    wanted = spec.args["equals"]
    ran = [one for one in _aimed(spec, evidence.shown) if "command" in one.call.input]
    actions = [one for one in ran if not looks(one.call)] or ran
    if not actions:
        return Finding(passed=False, evidence="no command ran", remedy="Run the command that the criterion is about.")
    last = actions[-1]
    status = exit_status(last)
    if status is None or status != wanted:
        ended = f"exit status {status}, not {wanted}" if status is not None else "the command came to no end"
        return Finding(
            passed=False,
            evidence=f"{ended}: {_short(last.call.error or last.text)}",
            remedy="Repair what the command complains of, or run another.",
        )
    return _resting((last,), f"exit status {status}")


def _contains(spec: CheckSpec, evidence: Evidence) -> Finding:
    text = str(spec.args["text"])
    shown = _aimed(spec, proving(evidence.shown))
    having = tuple(one for one in shown if text in one.text)
    if spec.args.get("absent"):
        if having:
            return Finding(passed=False, evidence=f"{_short(text)!r} is still there", remedy=f"Remove {_short(text)!r}.")
        return _resting(shown, f"{_short(text)!r} is in none of {len(shown)} outputs") if shown else _nothing()
    if having:
        return _resting(having[-1:], f"the output has {_short(text)!r}")
    return _nothing() if not shown else _lacking(f"no call shows {_short(text)!r}")


def _regex(spec: CheckSpec, evidence: Evidence) -> Finding:
    shown = _aimed(spec, proving(evidence.shown))
    try:
        pattern = regex.compile(str(spec.args["pattern"]), regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as wrong:
        return Finding(passed=False, evidence=f"no regular expression: {wrong}", remedy="Plan a check that can be read.")
    for one in reversed(shown):
        try:
            if pattern.search(one.text, timeout=REGEX_SECONDS):
                return _resting((one,), f"the output fits {_short(pattern.pattern)}")
        except TimeoutError:
            return Finding(passed=False, evidence="the pattern came to no end", remedy="Plan a simpler pattern.")
    return _nothing() if not shown else _lacking(f"no output fits {_short(pattern.pattern)}")


def _number(spec: CheckSpec, evidence: Evidence) -> Finding:
    wanted = spec.args["equals"]
    if isinstance(wanted, bool) or not isinstance(wanted, int | float):
        return Finding(passed=False, evidence=f"{wanted!r} is no number", remedy="Plan a check that can be read.")
    shown = _aimed(spec, proving(evidence.shown))
    for one in reversed(shown):
        if round(float(wanted), 9) in (round(float(told.replace(",", "")), 9) for told in _NUMBER.findall(one.text)):
            return _resting((one,), f"the output has the number {wanted}")
    return _nothing() if not shown else _lacking(f"no call shows the number {wanted}")


def _count(spec: CheckSpec, evidence: Evidence) -> Finding:
    n = spec.args["n"]
    if isinstance(n, bool) or not isinstance(n, int):
        return Finding(passed=False, evidence=f"{n!r} is no count", remedy="Plan a check that can be read.")
    of = "text" if "text" in spec.args else str(spec.args.get("of", "lines"))
    counted = _COUNTED.get(of)
    if counted is None:
        return Finding(passed=False, evidence=f"nothing counts {of}", remedy="Plan a check that can be read.")
    shown = _aimed(spec, proving(evidence.shown))
    if not shown:
        return _nothing()
    counts = [(one, counted(spec, evidence, one)) for one in shown]
    best, most = max(counts, key=lambda pair: pair[1])
    if most >= n:
        return _resting((best,), f"{most} {of}, at least {n}")
    # A result may have come in several calls of one tool.
    tools = dict.fromkeys(one.call.tool for one in shown)
    for tool in tools:
        some = [(one, count) for one, count in counts if one.call.tool == tool and count]
        if some and sum(count for _, count in some) >= n:
            return _resting(tuple(one for one, _ in some), f"{sum(count for _, count in some)} {of} in all, at least {n}")
    return _lacking(f"{most} {of}, fewer than {n}")


def _named_paths(text: str) -> list[str]:
    """Lines that may be paths, and the paths before the line number of a hit."""
    found = []
    for line in lines(text):
        at = _AT_LINE.match(line)
        path = (at.group(1) if at else line).strip().strip("\"'`")
        if path and len(path) <= 1024 and "\0" not in path:
            found.append(path)
    return found


def _json_of(text: str) -> Any:
    """The JSON value of an output, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _items(_: CheckSpec, __: Evidence, shown: Shown) -> int:
    value = _json_of(shown.text)
    return len(value) if isinstance(value, list | dict) else 0


_COUNTED: Mapping[str, Callable[[CheckSpec, Evidence, Shown], int]] = {
    "lines": lambda spec, evidence, one: len(lines(one.text)),
    "items": _items,
    "text": lambda spec, evidence, one: one.text.count(str(spec.args["text"])) if spec.args.get("text") else 0,
    "paths": lambda spec, evidence, one: sum(
        1 for path in dict.fromkeys(_named_paths(one.text)) if (fact := evidence.paths.get(path)) is not None and fact.exists
    ),
}


def _json_path(spec: CheckSpec, evidence: Evidence) -> Finding:
    path, wanted = str(spec.args["path"]), spec.args["equals"]
    shown = _aimed(spec, proving(evidence.shown))
    seen: list[str] = []
    for one in reversed(shown):
        try:
            found = value_at(_json_of(one.text), path)
        except PathWrong as wrong:
            return Finding(passed=False, evidence=str(wrong), remedy="Plan a check that can be read.")
        for value in found:
            if _same(value, wanted):
                return _resting((one,), f"{path} is {_short(json.dumps(value, ensure_ascii=False))}")
            seen.append(_short(json.dumps(value, ensure_ascii=False)))
    return _nothing() if not shown else _lacking(f"{path} is {seen[0]}" if seen else f"no output has {path}")


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return round(one, 9) == round(other, 9)
    return bool(one == other)


def _claim(spec: CheckSpec, evidence: Evidence) -> Finding:
    return Finding(
        passed=False,
        evidence="claims are verified in missions, and this task is in none",
        remedy="Plan a check of what the tools give.",
    )


def _nothing() -> Finding:
    return Finding(passed=False, evidence="no call shows anything of it", remedy="Use a tool that shows it.")


def _lacking(evidence: str) -> Finding:
    return Finding(passed=False, evidence=evidence, remedy="Use another tool or another target: this one does not give it.")


def _short(text: str, most: int = 160) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


_MADE: Mapping[str, Callable[[CheckSpec, Evidence], Finding]] = {
    "path_exists": _path,
    "path_nonempty": _path,
    "path_equals": _text_equals,
    "exit_status": _exit,
    "contains": _contains,
    "regex": _regex,
    "number": _number,
    "count_at_least": _count,
    "json_path": _json_path,
    "claim_verified": _claim,
}
