"""Named secrets: values beside a name, in a connection string, a command or a sentence that promises a secret."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from hindbrain.engines.secret_values import (
    base64_bytes,
    is_literal,
    is_placeholder,
    is_reference,
    is_wordy,
    kinds,
    looks_like_password,
    readable,
)
from hindbrain.policy import secret_contexts as contexts
from hindbrain.policy.hygiene import EXCLUDED_NAMES, PROPERTY_WORDS, TELLING_NAMES, TELLING_WORDS, WEAK_PASSWORDS

__all__ = ["named_hits"]


def named_hits(text: str, lower: str) -> Iterator[tuple[str, int, str]]:
    """Yield class, place and secret for every value of a text that its name or its sentence makes a secret."""
    for start in sorted(_telling_lines(lower)):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        # A value may be on the lines after its name: .netrc, and the name and value pairs of YAML.
        for name, at, value in _line_hits(text[start:end], text[start : end + contexts.AFTER]):
            yield name, start + at, value


def _telling_lines(lower: str) -> set[int]:
    """Return where the lines begin that contain a telling part. Most lines do not."""
    starts = set()
    for part in contexts.TELLING_PARTS:
        at = lower.find(part)
        while at >= 0:
            starts.add(lower.rfind("\n", 0, at) + 1)
            end = lower.find("\n", at)
            at = lower.find(part, end) if end >= 0 else -1
    return starts


def _line_hits(line: str, more: str) -> Iterator[tuple[str, int, str]]:
    yield from _connections(line)
    yield from _logins(line, more)
    yield from _assignments(line, more)
    yield from _sentences(line)


def _connections(line: str) -> Iterator[tuple[str, int, str]]:
    if "=" not in line:
        return
    for match in contexts.CONNECTION.finditer(line):
        value = match["value"].rstrip(")],")
        if is_placeholder(value) or is_literal(value) or value.lower() in WEAK_PASSWORDS:
            continue
        argument = (
            value.isalpha() and "(" in line[max(0, match.start() - 200) : match.start("value")]
        )  # connect(user=user, password=given)
        if not argument and not is_reference(value, quoted=False, literal=False):
            yield "connection_string", match.start("value"), value
    for match in contexts.QUERY.finditer(line):
        value = match["value"]
        name = match["name"].lower()
        least = 6 if name in ("password", "passwd", "pwd") else 16
        if len(value) >= least and not is_placeholder(value) and not is_wordy(value) and any(c.isdigit() for c in value):
            yield "connection_string", match.start("value"), value


def _logins(line: str, more: str) -> Iterator[tuple[str, int, str]]:
    for number, expression in enumerate(contexts.LOGINS):
        match = expression.search(more if number == 0 else line)
        if match and match.start() <= len(line):
            value = match["value"]
            variable = value.startswith("$") and number != contexts.HASHED
            if not (variable or is_placeholder(value) or value.lower() in WEAK_PASSWORDS or is_literal(value)):
                yield "login_line", match.start("value"), value


@functools.lru_cache(maxsize=8192)
def _level(name: str) -> int:
    """Return 2 for a name that promises a secret, 1 for one that may hold one, 0 for any other."""
    bare = name.strip("-$@_.:").rpartition(":")[2]
    if EXCLUDED_NAMES.search(bare):
        return 0
    parts = [part.lower() for part in contexts.CAMEL.findall(bare)]
    if not parts or (len(parts) > 1 and parts[-1] in PROPERTY_WORDS):
        return 0
    joined = "".join(parts)
    if any(one in joined for one in contexts.STRONG) or contexts.STRONG_WORDS & set(parts):
        return 2
    return 1 if any(one in joined for one in TELLING_NAMES) or TELLING_WORDS & set(parts) else 0


def _is_password_name(name: str) -> bool:
    parts = [part.lower() for part in contexts.CAMEL.findall(name)]
    return any(one in "".join(parts) for one in contexts.PASSWORDS[:5]) or bool(set(parts) & set(contexts.PASSWORDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A value beside a name."""

    name: str
    value: str
    quoted: bool = True
    whole: bool = False  # the assignment is all of its line
    program: bool = False  # a bare word there is a variable
    spaced: bool = False  # name = value
    call: bool = False  # name("value")


def _assignments(line: str, more: str) -> Iterator[tuple[str, int, str]]:
    at = 0
    while match := contexts.ASSIGN.search(line, at):
        # The value may itself be a name with a value: `-e PASSWORD=…`, `{"env": {"TOKEN": …}}`.
        at = max(match.end("name"), match.start() + 1)
        level = _level(match["name"])
        if level and not _is_other(line, match):
            group = match.lastgroup or "bare"
            one = _named(line, match, group)
            if _is_secret(one, level):
                yield ("env_assignment" if one.whole and level == 2 else "named_secret"), match.start(group), match[group]
    for match in (*contexts.ELEMENT.finditer(line), *contexts.SQL.finditer(line), *contexts.COOKIE.finditer(line)):
        value = match["value"]
        if _level(match.groupdict().get("name") or "password") and _is_given(value):
            yield "named_secret", match.start("value"), value
    if "value" in more and (match := contexts.PAIR.search(more)) and match.start() <= len(line):
        group = match.lastgroup or "bare"
        level = _level(match["name"])
        if level and _is_secret(_Named(name=match["name"], value=match[group]), level):
            yield "named_secret", match.start(group), match[group]


def _is_other(line: str, match: re.Match[str]) -> bool:
    """Return True for a part of an ARN, and for a name and a word that only follow each other."""
    before = line[max(0, match.start() - 200) : match.start()]
    if "arn:" in before.rpartition(" ")[2] or match["name"].startswith("arn:"):
        return True
    return bool(match["space"]) and not match["name"].startswith("--") and before.strip() not in ("ENV", "ARG", "setx", "set")


def _named(line: str, match: re.Match[str], group: str) -> _Named:
    sep = match["sep"] or " "
    quoted = group != "bare"
    whole = bool(contexts.LINE.match(line, 0, match.start())) and sep != "," and bool(contexts.TAIL.match(line, match.end()))
    spaced = sep.startswith("=") and match.end("close") < match.start("sep")
    argument = not quoted and (line[match.end() : match.end() + 1] == "," or match["close"][:1] in ('"', "'"))
    return _Named(
        name=match["name"],
        value=match[group].strip() if quoted else match[group].rstrip(")]}."),
        quoted=quoted,
        whole=whole,
        program=argument or not whole or (spaced and not match["name"].isupper()),
        spaced=spaced,
        call=sep in ("(", ","),
    )


def _is_given(value: str) -> bool:
    """Return True for the text of an element, a statement or a cookie that is a value and not a word or a reference."""
    if is_placeholder(value) or is_literal(value) or value.lower() in WEAK_PASSWORDS:
        return False
    return not is_reference(value, quoted=True, literal=True) and (len(value) >= contexts.LEAST or looks_like_password(value))


def _is_secret(one: _Named, level: int) -> bool:
    name, value = one.name, one.value
    password = _is_password_name(name)
    if is_placeholder(value) or is_literal(value) or is_reference(value, quoted=one.quoted, literal=not one.program):
        return False
    if value.lower() == name.lower() or contexts.COLOUR.match(value):
        return False
    if " " in value and not (one.quoted and password and any(c.isdigit() for c in value)):
        return False  # a sentence
    if level == 1:
        return _is_key(value) or _is_basic(value)
    variable = one.spaced and not one.quoted and value.isalpha() and ((name.islower() and not password) or "." in name)
    if one.whole and len(value) >= contexts.LEAST and not variable:
        return password or one.quoted or not value.isdigit()
    if contexts.HEX.match(value):
        return True
    if is_wordy(value) and not (password and kinds(value) >= 3):
        return password and one.quoted and not one.call and looks_like_password(value)
    return looks_like_password(value, least=6 if password else contexts.LEAST_TOKEN)


def _is_key(value: str) -> bool:
    """Return True for a value that only a machine makes: long, with letters and digits, and no name."""
    if contexts.HEX.match(value):
        return True
    return (
        len(value) >= contexts.LEAST_KEY
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and not is_wordy(value)
        and "/" not in value[:-4]
    )


def _is_basic(value: str) -> bool:
    """Return True for `user:password` in base64, as it is in configuration files of registries."""
    data = base64_bytes(value) if len(value) >= 12 else None
    text = readable(data) if data else None
    return text is not None and ":" in text[1:-1] and " " not in text


def _sentences(line: str) -> Iterator[tuple[str, int, str]]:
    stated = chain(contexts.STATED.finditer(line), () if line.isascii() else contexts.STATED_UNSPACED.finditer(line))
    for match in stated:
        value = match["value"]
        if _is_stated(value):
            yield "stated_password", match.start("value"), value
    for match in (*contexts.BESIDE.finditer(line), *contexts.USER_PASS.finditer(line)):
        value = match["value"].rstrip(".,;:!?)")
        if (
            looks_like_password(value, least=7)
            and kinds(value) >= 3
            and not is_wordy(value)
            and not is_reference(value, quoted=False, literal=False)
        ):
            yield "stated_password", match.start("value"), value
    for match in contexts.HEX_BESIDE.finditer(line):
        group = "value" if match["value"] else "before"
        yield "stated_password", match.start(group), match[group]
    if phrase := contexts.MNEMONIC.search(line):
        yield "stated_password", phrase.start("value"), phrase["value"]


def _is_stated(value: str) -> bool:
    bare = value.rstrip(".,;:!?)]}*")
    if is_reference(bare, quoted=False, literal=True) or is_literal(bare) or contexts.PROGRAM.search(bare[:-2]):
        return False
    return bool(contexts.HEX.match(bare)) or looks_like_password(bare)
