"""Labels: the name of a claim as people write it, and the slug that is its file name."""

import hashlib
import re
import unicodedata

from hindbrain.domain.errors import InvalidLabel

__all__ = ["Slug", "former_slug", "slug_of"]

Slug = str

_LABEL_MAX = 200  # characters
_SLUG_MAX = 200  # bytes; a file system allows 255, and an ending, a time or a mark of a temporary file comes after it
_DIGEST = 12  # hexadecimal digits at the end of a slug that was cut
_KEPT = ("L", "M", "N")  # letters, marks that belong to them, and digits, of every script
# Letters and marks that nobody sees: fillers and selectors. Two labels that look the same are the same.
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)


def slug_of(label: str) -> Slug:
    """Return the label in lower case with one dash for every run of other signs than letters and digits.

    Letters of every script stay as they are, in their composed form (NFC). Signs that nobody sees are left out. A slug
    longer than a file name may be is cut, and ends in a digest of the whole.
    """
    if len(label) > _LABEL_MAX:
        raise InvalidLabel(
            f"the label has {len(label)} characters; {_LABEL_MAX} is the most",
            fix="shorten the label and put the rest into the claim's text",
        )
    slug = former_slug(label) if label.isascii() else _spelled(label)
    if not slug:
        raise InvalidLabel(
            f"the label {label[:60]!r} has no letter or digit to make a file name from",
            fix="give the claim a label with at least one letter or digit",
        )
    return slug


def former_slug(label: str) -> Slug:
    """Return the slug that 0.1.0 gave a label: only a-z and 0-9 were kept. It may be empty."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")


def _spelled(label: str) -> Slug:
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", label).lower())
    kept: list[str] = []
    for char in text:
        category = unicodedata.category(char)
        if char in _UNSEEN or category == "Cf":
            continue
        if category[0] not in _KEPT or (category[0] == "M" and (not kept or kept[-1] == "-")):
            char = "-"
        if char != "-" or (kept and kept[-1] != "-"):
            kept.append(char)
    # Once more: what stood between a letter and its mark is gone now.
    slug = unicodedata.normalize("NFC", "".join(kept).strip("-"))
    if len(slug.encode()) <= _SLUG_MAX:
        return slug
    digest = hashlib.sha256(slug.encode()).hexdigest()[:_DIGEST]
    head = slug.encode()[: _SLUG_MAX - _DIGEST - 1].decode("utf-8", "ignore").rstrip("-")
    return f"{head}-{digest}"
