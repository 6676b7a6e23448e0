"""Secret values: whether a value is a secret, or a name, a placeholder, a reference or a digest. Pure functions."""

import base64
import binascii
import math
import re
from collections import Counter
from itertools import pairwise

from hindbrain.policy.hygiene import (
    HIGH_ENTROPY,
    LITERAL_WORDS,
    PLACEHOLDER,
    PLACEHOLDER_WORDS,
    TECHNICAL_WORDS,
    TELLING_NAMES,
)

__all__ = [
    "base64_bytes",
    "entropy",
    "is_literal",
    "is_placeholder",
    "is_reference",
    "is_wordy",
    "kinds",
    "looks_like_password",
    "looks_random",
    "readable",
]

_HEX = re.compile(r"(?:0[xX])?[0-9a-fA-F]+\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_SEPARATOR = re.compile(r"[^A-Za-z0-9]+")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD = re.compile(r"[A-Z]?[a-z]{3,}")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
# A part between separators that is a word, a number, or one letter with a number.
_PLAIN_PART = re.compile(r"(?:(?:[A-Z]{0,4}[a-z]{2,}+)++\d{0,4}|[A-Z]+\d{0,4}|\d+|[a-zA-Z]\d{0,3}|)\Z")
_NAME_SHARE = 0.55  # of 32 random letters and digits, one run in 500 has so many characters in words
_SEQUENCE_SHARE = 0.5  # neighbours in the alphabet: a table of characters, not a key
_ADDRESS = re.compile(r"[13][1-9A-HJ-NP-Za-km-z]{25,34}\Z")  # a bitcoin address is public
_ENCODED = re.compile(r"[A-Za-z0-9+/]+={0,2}\Z")
_URL_ENCODED = re.compile(r"[A-Za-z0-9_-]+={0,2}\Z")

# An expression of a programming language, a template or a reference to where the value is.
_EXPRESSION = re.compile(
    r"[A-Za-z_$@&*!][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*[\(\[<]"  # a call, an index or a generic type
    r"|[A-Za-z_$@][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+[;,)\]}]*\Z"  # an attribute
    r"|(?:await|new|return|async|not|typeof|func|lambda|def|self|this)\b"
    r"|[&*!@~]+[A-Za-z_(]\w*\Z|[\[({]"
)
_PLACE = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,30}://[^\s@]*\Z|~?/|\.{1,2}/|[A-Za-z]:\\|arn:|projects/|op://|vault:|env:|file:|secret:|ref\+|ssm:|ENC\[|AQICAH|"
    r"urn:|did:|mailto:|sha\d+:|\$ANSIBLE_VAULT|\$\{?|%|@@?[A-Za-z]|!\w)|[\w.-]+(?:/[\w.-]+)+\.\w{1,5}\Z|[\w-]+\.(?:json|ya?ml|pem|key|txt|env|py|js|ts|go|toml|ini|crt|cfg|conf)\Z"
)
_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+\Z|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
_CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+\Z|(?:[A-Z][a-z]+){2,}\Z")


def entropy(run: str) -> float:
    """Return the Shannon entropy of a text in bits per character."""
    size = len(run)
    return -sum(n / size * math.log2(n / size) for n in Counter(run).values()) if size else 0.0


def kinds(value: str) -> int:
    """Return how many kinds of characters a value has: lower case, upper case, digits, others."""
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(not c.isalnum() for c in value)
    )


def is_wordy(run: str) -> bool:
    """Return True if a run is made of words: an identifier, a path or a slug."""
    letters = covered = 0
    for part in _SEPARATOR.split(run):
        letters += len(part)
        if _PLAIN_PART.match(part) and len(part) <= 24:
            covered += len(part)
        else:
            covered += sum(len(word[0]) for word in _WORD.finditer(part) if _VOWEL.search(word[0]))
    return covered >= _NAME_SHARE * letters


def _is_sequence(run: str) -> bool:
    """Return True for a table of characters, such as an alphabet."""
    steps = sum(ord(after) - ord(before) == 1 for before, after in pairwise(run))
    return steps >= _SEQUENCE_SHARE * len(run)


def looks_random(run: str) -> bool:
    """Return True if a run has upper case, lower case, digits and high entropy, and is no id, name or address."""
    if _HEX.match(run) or _UUID.match(run) or _ADDRESS.match(run):
        return False
    mixed = any(c.isupper() for c in run) and any(c.islower() for c in run) and any(c.isdigit() for c in run)
    if not mixed or entropy(run) < float(str(HIGH_ENTROPY["bits"])):
        return False
    return not is_wordy(run) and not _is_sequence(run)


def is_placeholder(value: str) -> bool:
    """Return True for a value that stands for another one: `<token>`, `changeme`, `your-key-here`, `xxxxxxxx`."""
    bare = value.strip("\"'`;, ")
    if PLACEHOLDER.match(bare):
        return True
    if len(bare) >= 8 and len(set(bare)) <= 3:
        return True
    parts = [part.lower() for part in _SEPARATOR.split(bare) if part]
    return any(part in PLACEHOLDER_WORDS for part in parts)


def is_literal(value: str) -> bool:
    """Return True for a word of a schema or a program where a value could be: `required`, `string`, `bearer`."""
    return value.strip("\"'`;,.()[]{}? ").lower() in LITERAL_WORDS


def is_reference(value: str, *, quoted: bool, literal: bool) -> bool:
    """Return True for a value that names where the secret is: an expression, a path, an address, another variable.

    `literal` says that the text is a list of settings, in which a bare word is the value itself.
    """
    if _PLACE.match(value):
        return True
    if not quoted and _EXPRESSION.match(value):
        return True
    parts = [part.lower() for part in _SEPARATOR.split(value) if part]
    plain = not any(c.isdigit() for c in value)
    tells = any(name in "".join(parts) for name in TELLING_NAMES[:11]) or parts[-1:] in (["key"], ["keys"])
    if plain and tells and len(_PIECE.findall(value)) > 1:
        return True
    if quoted or literal:
        return False
    return bool(_SNAKE.match(value) or (plain and _CAMEL.match(value)))


def looks_like_password(value: str, *, least: int = 6) -> bool:
    """Return True for a value that a sentence or a program would hardly contain unless it is a password."""
    bare = value.rstrip(".,;:!?)\"'`")
    if len(bare) < least or is_placeholder(bare) or TECHNICAL_WORDS.match(bare) or is_literal(bare):
        return False
    if not any(c.isalpha() for c in bare):
        return False
    digits = sum(c.isdigit() for c in bare)
    symbols = [c for c in bare if not c.isalnum() and c not in "-_'’/.:()"]
    parts = [part for part in _SEPARATOR.split(bare) if part]
    if digits == 0 and not symbols:
        # Mixed case inside a word is a name in a program; only a random mix counts.
        return kinds(bare) >= 2 and len(bare) >= 12 and not is_wordy(bare)
    if len(parts) > 1 and not symbols and all(_PLAIN_PART.match(part) for part in parts):
        return False  # step-2, utf-8-encoded, 2024-01-15
    return kinds(bare) >= 2


def base64_bytes(run: str) -> bytes | None:
    """Return what a run decodes to as base64 or base64url, or None if it is neither."""
    bare = run.rstrip("=")
    if len(bare) % 4 == 1:
        return None
    padded = bare + "=" * (-len(bare) % 4)
    try:
        if _ENCODED.match(run):
            return base64.b64decode(padded, validate=True)
        return base64.b64decode(padded, altchars=b"-_", validate=True) if _URL_ENCODED.match(run) else None
    except (binascii.Error, ValueError):
        return None


def readable(data: bytes) -> str | None:
    """Return the text in some bytes, or None if they are not plain text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text and all(c.isprintable() or c in "\t\r\n" for c in text) else None
