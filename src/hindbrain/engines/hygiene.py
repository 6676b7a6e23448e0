"""Hygiene scan: one function for every site that writes. Never repeats more than four characters of what it found."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain

from hindbrain.engines.disguises import forms, plain
from hindbrain.engines.named_secrets import named_hits
from hindbrain.engines.secret_values import base64_bytes, entropy, is_placeholder, is_wordy, looks_random, readable
from hindbrain.policy.hygiene import CLASSES, DIGEST_WORDS, HIGH_ENTROPY, LOCAL_HOSTS, PATTERNS, WEAK_PASSWORDS, Pattern
from hindbrain.policy.vendor_tokens import VENDOR_TOKENS

__all__ = ["Finding", "has_conflict_markers", "redacted", "scan"]

_ORDER = {name: number for number, name in enumerate(CLASSES)}
_CONFLICT = next(pattern for pattern in PATTERNS if pattern.name == "conflict_marker")
_DISTINCT = 6  # characters that differ in a token; fewer are a row of x
_SPACE = re.compile(r"[\s\"'`<>()\[\]{},]")
_PUBLIC_BLOCK = re.compile(r"-----BEGIN (?![A-Z0-9 ]*PRIVATE)[A-Z0-9 ]{3,40}-----.{0,100000}?-----END", re.S)
_PRIVATE_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY")
_DIGEST_RUN = re.compile(
    r"(?:sha-?(?:1|224|256|384|512)|md5|blake[23][bs]?)[-_=:]|AAAA[BCEG][23]N|AAAAE2VjZHNh|AAAAGnNr|AAAAInNr", re.I
)
_DATA_URL = re.compile(r"(?:;base64,|data:[\w/+.-]{0,60},)\Z")
_JWK = re.compile(r"\"(?:n|x|y|x5c|x5t|x5t#S256)\"\s{0,4}:\s{0,4}\[?\"\Z")
_MAGIC: tuple[bytes, ...] = (
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"%PDF",
    b"wOF",
    b"\x00asm",
    b"RIFF",
    b"OggS",
    b"ID3",
    b"\x00\x01\x00\x00",
)
_MAGIC += (b"\x00\x00\x01\x00", b"BM", b"OTTO", b"ttcf", b"\x1aE\xdf\xa3", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"SQLite")
_BEFORE = 300  # characters before a run that decide what it is
_NEAR = 600  # characters on each side of a line end in which a broken secret is searched
_LONG_WORD = re.compile(r"[^\s\"'`<>()\[\]{},;|]{15,}+")  # the shortest token of the tables has so many characters
_URL = next(pattern for pattern in PATTERNS if pattern.name == "credentialed_url")
_URL_CREDENTIAL = re.compile(r"(?P<user>[^\s/:@\"'<>?#]{0,200}+):(?P<password>[^\s/@]{1,300})@(?P<host>[^\s/@:?\"'<>),;]{1,300})")
_IN_WORDS = frozenset(CLASSES) - {"private_key", "aws_secret_key", "bearer_header", "credentialed_url", "conflict_marker"}
_WORD_PATTERNS = tuple(pattern for pattern in PATTERNS if pattern.name in _IN_WORDS)
_SPACED_PATTERNS = tuple(pattern for pattern in PATTERNS if pattern.name in ("private_key", "aws_secret_key", "bearer_header"))
_BROKEN = (
    (next(pattern for pattern in PATTERNS if pattern.name == "private_key"), re.compile(r"-----BEGIN|-[ \t]*\r?\n[ \t]*-")),
    (_URL, re.compile(r"://|:/?[ \t]*\r?\n[ \t]*/")),
)


Hit = tuple[str, int, int, str]  # class, start, end, secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that must not be remembered: its class and place, and at most four characters of it."""

    pattern_class: str
    line: int
    column: int
    preview: str
    text: str  # the whole line, for the allow list only; never shown
    last_line: int  # equal to `line` unless the secret is broken over line ends


class _Words:
    """The long words of a text, one a line. Nearly every secret is in one, and they are a small part of a text."""

    def __init__(self, text: str) -> None:
        found = [(match.start(), match[0]) for match in _LONG_WORD.finditer(text)]
        self._places = [at for at, _ in found]
        self._starts = list(accumulate((len(word) + 1 for _, word in found), initial=0))
        self.text = "\n".join(word for _, word in found)

    def place(self, at: int) -> int:
        """Return the place in the whole text of a place in the words."""
        number = bisect_right(self._starts, at) - 1
        return self._places[number] + at - self._starts[number]


def scan(text: str) -> tuple[Finding, ...]:
    """Return everything in a text that the floor refuses, the most specific class first."""
    shown = plain(text)
    words = _Words(shown)
    hits = list(_direct(shown, words))
    found = list(_joined(shown))
    other = list(_hidden(shown, words))
    if not hits and not found and not other:
        return ()
    source = _Source(shown)
    found += [source.finding(*hit) for hit in hits]
    known = {(one.pattern_class, one.line) for one in found}
    found += [source.at(name, line, last, secret) for name, line, last, secret in other if (name, line) not in known]
    return tuple(sorted(found, key=lambda one: (_ORDER[one.pattern_class], one.line, one.column)))


def _hidden(text: str, words: _Words) -> Iterator[Hit]:
    """Yield class, first line, last line and secret for what another form of the text shows."""
    for form, decoded in forms(text, words.text, words.place):
        hits = _formats(form.text, _Words(form.text))
        for name, at, _, secret in chain(hits, _named(form.text)) if decoded else hits:
            yield name, *form.span(at), secret


class _Source:
    """A text with the numbers of its lines."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def finding(self, name: str, at: int, end: int, secret: str) -> Finding:
        line = bisect_right(self._starts, at)
        last = max(line, bisect_right(self._starts, max(at, end - 1)))
        return self.at(name, line, min(last, len(self.lines)), secret, at - self._starts[line - 1] + 1)

    def at(self, name: str, line: int, last: int, secret: str, column: int = 1) -> Finding:
        whole = "\n".join(self.lines[line - 1 : last]).strip()
        return Finding(pattern_class=name, line=line, column=column, preview=secret.strip()[:4], text=whole, last_line=last)


def redacted(text: str) -> str:
    """Return a text without the lines that hold a secret. A merge-conflict marker is none."""
    found = [hit for hit in scan(text) if hit.pattern_class != _CONFLICT.name]
    if not found:
        return text
    lines: list[str | None] = list(text.split("\n"))
    for hit in found:
        for number in range(hit.line - 1, hit.last_line):
            lines[number] = None
        lines[hit.line - 1] = f"[redacted: {hit.pattern_class}]"
    left = "\n".join(line for line in lines if line is not None)
    # A secret that is broken over line ends may be found again in what is left; then all of it goes.
    if any(hit.pattern_class != _CONFLICT.name for hit in scan(left)):
        return f"[redacted: {found[0].pattern_class}]"
    return left


def has_conflict_markers(text: str) -> bool:
    """Return True when a merge was left unfinished in this text."""
    return _CONFLICT.expression.search(text) is not None


def _direct(text: str, words: _Words) -> Iterator[Hit]:
    yield from _formats(text, words)
    yield from _named(text)
    yield from _random_runs(text, words)
    if _has(text, _CONFLICT.hints):
        yield from ((_CONFLICT.name, hit.start(), hit.start() + 1, hit[0]) for hit in _CONFLICT.expression.finditer(text))


def _named(text: str) -> Iterator[Hit]:
    lower = text.lower()
    # Some capitals have more than one small letter; then places would differ.
    lower = lower if len(lower) == len(text) else text
    yield from ((name, at, at + len(secret), secret) for name, at, secret in named_hits(text, lower))


def _formats(text: str, words: _Words) -> Iterator[Hit]:
    """Everything with a format of its own."""
    yield from _urls(text)
    lower = text.lower()
    for pattern in _SPACED_PATTERNS:
        if _has(lower, pattern.hints):
            for match in pattern.expression.finditer(text):
                if _counts(pattern, match):
                    yield pattern.name, match.start(), _end(pattern, text, match.end()), match[0]
    if not words.text:
        return
    lower = words.text.lower()
    for pattern in _WORD_PATTERNS:
        if _has(lower, pattern.hints):
            for match in pattern.expression.finditer(words.text):
                if _counts(pattern, match):
                    at = words.place(match.start())
                    yield pattern.name, at, at + len(match[0]), match[0]
    for row in VENDOR_TOKENS:
        if _has(words.text, row.hints):
            for match in row.expression.finditer(words.text):
                if len(set(match[0])) >= _DISTINCT and not is_placeholder(match[0]):
                    at = words.place(match.start())
                    yield "vendor_token", at, at + len(match[0]), match[0]


def _has(text: str, hints: tuple[str, ...]) -> bool:
    # A plain loop: this runs over a hundred times a text, and a generator costs more than the search.
    for hint in hints:  # noqa: SIM110
        if hint in text:
            return True
    return False


def _end(pattern: Pattern, text: str, end: int) -> int:
    """A private key ends where its block ends."""
    if pattern.name == "private_key" and (stop := _PRIVATE_END.search(text, end, end + 20_000)):
        return stop.end()
    return end


def _urls(text: str) -> Iterator[Hit]:
    at = text.find("://")
    while at >= 0:
        match = _URL_CREDENTIAL.match(text, at + 3)
        if match and at and (text[at - 1].isalnum() or text[at - 1] in "+.-") and _counts(_URL, match):
            yield _URL.name, at, match.end(), match["password"]
        at = text.find("://", at + 3)


def _counts(pattern: Pattern, match: re.Match[str]) -> bool:
    """Return False for a match whose secret is a placeholder."""
    if pattern.name == "credentialed_url":
        return _is_credential(match["user"], match["password"], match["host"])
    if pattern.name == "bearer_header":
        return _is_authorization(match)
    if pattern.value_group is None:
        return True
    value = match[pattern.value_group]
    return value is None or (len(set(value)) >= _DISTINCT and not is_placeholder(value))


def _is_credential(user: str, password: str, host: str) -> bool:
    if is_placeholder(password) or (is_placeholder(user) and user):
        return False
    if password.lower() not in WEAK_PASSWORDS:
        return True
    return not (LOCAL_HOSTS.match(host) or user.lower() == password.lower() or user.lower() in ("user", "username"))


def _is_authorization(match: re.Match[str]) -> bool:
    if basic := match["basic"]:
        data = base64_bytes(basic)
        text = readable(data) if data else None
        if text is not None and ":" in text:
            return True
        return any(c.isdigit() for c in basic) and any(c.isupper() for c in basic)
    value = match["bearer"] or match["token"] or ""
    code = re.match(r"[\w.]+[(\[]|[a-z_]+(?:\.[a-z_]+)+\Z", value)
    words = is_wordy(value) and not any(c.isdigit() for c in value)
    return not (is_placeholder(value) or code or (words and not match["bearer"]) or _is_variable(value))


def _is_variable(value: str) -> bool:
    return re.match(r"[\"'`]?\s*[+.]|[A-Z]+(?:_[A-Z]+)+\Z|\{", value) is not None


def _joined(text: str) -> Iterator[Finding]:
    """Yield the secrets that are broken over a line end: neighbouring lines, joined with and without a space."""
    if "\n" not in text:
        return
    for pattern, marks in _BROKEN:
        for number, first, second in _neighbours(text, marks):
            for joined in (first + second, f"{first} {second}"):
                hits = (match for match in pattern.expression.finditer(joined) if match.start() < len(first) < match.end())
                if match := next((match for match in hits if _counts(pattern, match)), None):
                    yield Finding(
                        pattern_class=pattern.name,
                        line=number,
                        column=match.start() + 1,
                        preview=match[0][:4],
                        text=joined,
                        last_line=number + 1,
                    )
                    break


def _neighbours(text: str, marks: re.Pattern[str]) -> Iterator[tuple[int, str, str]]:
    """Yield number, line and next line for every line in which a broken secret can begin."""
    done = counted = 0
    number = 1
    while match := marks.search(text, done):
        number += text.count("\n", counted, match.start())
        counted = match.start()
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        if end < 0:
            return
        after = text.find("\n", end + 1)
        # The part near the break is enough; a line can be very long.
        first = text[max(start, end - _NEAR) : end].rstrip()
        yield number, first, text[end + 1 : after if after >= 0 else len(text)][:_NEAR].lstrip()
        done = end + 1


def _random_runs(text: str, words: _Words) -> Iterator[Hit]:
    expression = HIGH_ENTROPY["run"]
    assert isinstance(expression, re.Pattern)  # noqa: S101 - the table holds one pattern and one number
    blocks: list[tuple[int, int]] | None = None
    for match in expression.finditer(words.text):
        at = words.place(match.start())
        # A path is a chain of names: only a segment that is itself long and random counts.
        runs = (
            [piece for piece in match[0].split("/") if len(piece) >= 32]
            if match[0].count("/") > 1 and not _is_one(match[0])
            else [match[0]]
        )
        for run in runs:
            if not looks_random(run) or _is_public(text, at, run):
                continue
            if blocks is None:
                blocks = [found.span() for found in _PUBLIC_BLOCK.finditer(text)] if "-----BEGIN" in text else []
            if not any(start <= at < end for start, end in blocks):
                yield str(HIGH_ENTROPY["name"]), at, at + len(match[0]), run


def _is_one(run: str) -> bool:
    """Return True for a run with slashes that is base64 and not a path."""
    return (
        run.endswith("=")
        and not run.startswith("/")
        and entropy(run) > 4.5
        and all(not is_wordy(part) for part in run.split("/") if len(part) > 8)
    )


def _is_public(text: str, at: int, run: str) -> bool:
    """Return True for a run that is no key by its surroundings or content: a digest, a picture, a public key, an address."""
    if _DIGEST_RUN.match(run):
        return True
    before = text[max(0, at - _BEFORE) : at]
    line = before.rpartition("\n")[2]
    if DIGEST_WORDS.search(line[-80:]) or _DATA_URL.search(line[-80:]) or ("kty" in text and _JWK.search(line[-40:])):
        return True
    word = _SPACE.split(line)[-1]
    if "://" in word or word.startswith(("www.", "git@")):
        return True
    data = base64_bytes(run[: len(run) - len(run) % 4] if not run.endswith("=") else run)
    if data is None:
        return False
    if data.startswith(_MAGIC) or readable(data) is not None:
        return True
    # DER: a certificate or a public key is a sequence that starts with a sequence; a private key starts with its version.
    return len(data) > 40 and data[0] == 0x30 and data[1] in (0x81, 0x82) and data[2 + (data[1] & 0x7F)] == 0x30
