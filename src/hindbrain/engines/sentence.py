"""A claim against a sentence. The sentence is cut at its commas and conjunctions: numbers, comparisons and denials belong to
their own part, the order of the words has to be the same, and the subject of the part has to be that of the claim. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hindbrain.engines.claim_content import Content, Item, compares_in, denials, root, word_stems
from hindbrain.engines.quantity import quantities, same_amount
from hindbrain.engines.statement_view import View, begins_alike, is_word_in
from hindbrain.policy.claim_words import EMPTY, GLUE, NUMBERS, OPENERS, OPPOSITES, QUANTIFIERS, RELATIONS, SWITCHES

__all__ = ["sentence_match"]

_CUT = re.compile(r"[,;:()]\s+|\s+(?=(?:and|but|or|then)\s)|\s+-\s+|[()]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PRONOUNS = frozenset(["it", "they", "this", "that", "these", "those", "he", "she", "we", "you", "there", "who", "which"])
_RESTRICTS = ("if", "unless", "except", "but only", "provided")
_SAID_MOST = 100


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a sentence: its text, what it takes over from the parts before it, and its own subject."""

    text: str
    before: str
    subject: frozenset[str]
    gapped: bool = False


def sentence_match(content: Content, view: View) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What the best part of a sentence shows of a claim, what is left over, and what it says otherwise."""
    best: tuple[tuple[int, int, int], tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] | None = None
    for part in _parts(view.raw):
        shown, lacks, against = _held(content, view, part)
        key = (-len(lacks), -len(against), len(shown))
        if best is None or key > best[0]:
            best = (key, (shown, lacks, against if not lacks else ()))
    return best[1] if best else ((), tuple(item.text for item in content.items), ())


def _parts(sentence: str) -> list[_Part]:
    texts = [one.strip() for one in _CUT.split(sentence) if one and one.strip()]
    found: list[_Part] = []
    carried = ""
    for text in texts:
        words = [one[0].lower() for one in _WORD.finditer(text)]
        bare = words[1:] if words[:1] and words[0] in ("and", "but", "or", "then") else words
        opens = not bare or bare[0] in OPENERS or bare[0].isdigit() or bare[0] in NUMBERS
        if not found:
            found.append(_Part(text, "", _subject(bare)))
            carried = text
        elif opens:
            found.append(_Part(text, carried, found[0].subject))
            carried = f"{carried} {text}"
        else:
            found.append(_Part(text, _verb_part(carried), _subject(bare), gapped=True))
    return found


def _subject(words: Sequence[str]) -> frozenset[str]:
    """The words a part begins with, up to its verb, number or preposition."""
    taken: list[str] = []
    for word in words:
        if taken and (word in OPENERS or word.isdigit() or word in NUMBERS):
            break
        if word in _PRONOUNS and not taken:
            return frozenset()
        if word not in GLUE and word not in OPENERS and word not in QUANTIFIERS and not word.isdigit():
            taken.append(root(word))
        if len(taken) >= 4:
            break
    return frozenset(taken)


def _verb_part(text: str) -> str:
    """What a part without its own verb takes over: the words up to the first number, preposition or quantifier after the verb."""
    words = text.split()
    for at, word in enumerate(words):
        low = word.lower().strip(",.")
        if at > 1 and (
            low[:1].isdigit()
            or low in NUMBERS
            or low in QUANTIFIERS
            or low in ("at", "for", "in", "on", "to", "with", "after", "by", "from")
        ):
            words = words[:at]
            break
    verb = next((at for at, word in enumerate(words) if at and word.lower() in OPENERS), 0)
    return " ".join(words[verb:])


def _held(content: Content, view: View, part: _Part) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    text = f"{part.before} {part.text}".strip()
    stems = word_stems(text)
    shown: list[str] = []
    inside: list[Item] = []
    lacks: list[str] = []
    against: list[str] = []
    for item in content.items:
        if _in_part(item, part, text, stems):
            inside.append(item)
            shown.append(item.text)
        elif view.named(item) or (item.kind == "quantifier" and re.search(QUANTIFIERS[item.form], view.aside)):
            shown.append(item.text)
        elif item.kind == "number" and item.quantity is not None and (other := _other_number(item, content, part)):
            against.append(other)
            shown.append(item.text)
        else:
            lacks.append(item.text)
    signs = {one.sign for one in compares_in(part.text)}
    for one in content.compares:
        if one.sign not in signs:
            (against if signs and not lacks else lacks).append(
                f"{part.text[:_SAID_MOST]!r}, the claim says {one.text}" if signs and not lacks else one.text
            )
    if not content.compares and signs and any(item.kind == "number" for item in inside):
        lacks.append(f"that it is {next(iter(compares_in(part.text))).text}")
    if not inside:
        return (), (*lacks, *(item.text for item in content.items if item.text in shown)), ()
    own = [item for item in inside if _in_part(item, part, part.text, word_stems(part.text))] if part.gapped else inside
    if not _in_order(own, part.text if part.gapped else text):
        lacks.append("in this order: " + " ".join(item.text for item in inside))
    said = _claim_words(content)
    if part.subject and not any(one in said or begins_alike(one, said) for one in part.subject) and not view.aside:
        lacks.append(f"that this is about {' '.join(sorted(part.subject))}")
    claimed = sum(one.negated ^ one.empty for one in content.clauses) + _off(content)
    source = (
        denials(text)
        + sum(word in OPPOSITES or word in EMPTY for word in _words(text))
        + sum(SWITCHES.get(word) is False for word in _words(text))
    )
    if not lacks and claimed % 2 != source % 2:
        (lacks if part.before else against).append(f"{text[:_SAID_MOST]!r}, the claim the opposite")
    lacks += _restricted(content, view, part)
    if content.never and not against and "never" not in _words(text):
        lacks.append("never")
    return tuple(shown), tuple(lacks), tuple(against)


def _restricted(content: Content, view: View, part: _Part) -> list[str]:
    """Conditions of the sentence that the claim leaves out; of a denial or of `all` nothing may be left out at all."""
    if view.aside:
        return []
    said = set(_words(content.claim))
    found = [one for one in _RESTRICTS if re.search(rf"\b{one}\b", view.raw, re.IGNORECASE) and not set(one.split()) & said]
    found += [one for one in ("when", "only", "while") if one in _words(part.text) and one not in said]
    universal = content.negated or any(item.kind == "quantifier" for item in content.items)
    if universal:
        stems = _claim_words(content)
        found += [
            one
            for one in _words(part.text)
            if one not in GLUE
            and one not in OPENERS
            and not (root(one) in stems or is_word_in(one, content.claim, stems, signs=False))
            and not (one.isdigit() or one in QUANTIFIERS)
        ]
    return [f"that it says {one}" for one in found]


def _off(content: Content) -> int:
    return sum(item.kind == "switch" and SWITCHES[item.form] is False for item in content.items)


def _words(text: str) -> list[str]:
    return [one[0].lower() for one in _WORD.finditer(text)]


def _claim_words(content: Content) -> set[str]:
    return word_stems(content.claim)


def _in_part(item: Item, part: _Part, text: str, stems: set[str]) -> bool:
    if item.kind == "number":
        return item.quantity is not None and any(same_amount(item.quantity, one) for one in quantities(part.text))
    if item.kind == "quantifier":
        return re.search(QUANTIFIERS[item.form], text, re.IGNORECASE) is not None
    if item.kind == "relation" or item.form in RELATIONS:
        return re.search(rf"\b{re.escape(item.form)}\b", text, re.IGNORECASE) is not None
    if item.kind == "switch":
        return any(SWITCHES.get(word) is not None for word in _words(text))
    if item.kind in ("quote", "path"):
        return re.sub(r"\s+", "", item.form) in re.sub(r"\s+", "", text)
    if item.kind == "name":
        return re.search(rf"(?<!\w){re.escape(item.form)}(?!\w)", text) is not None
    if item.kind == "idiom":
        return item.text.lower() in text.lower()
    return is_word_in(item.form, text, stems, signs=False)


def _other_number(item: Item, content: Content, part: _Part) -> str:
    """The one number of a part that says all else of the claim."""
    found = quantities(part.text)
    if len(found) != 1 or sum(one.kind == "number" for one in content.items) != 1:
        return ""
    return f"{part.text[:_SAID_MOST]!r}, the claim says {item.text}"


def _in_order(items: Sequence[Item], text: str) -> bool:
    """Whether what the claim says comes in the same order in the sentence."""
    at = 0
    low = text.lower()
    for item in items:
        place = _find(item, low, text, at)
        if place is None:
            return False
        at = place
    return True


def _find(item: Item, low: str, text: str, at: int) -> int | None:
    if item.kind == "number" and item.quantity is not None:
        return next((one.end for one in quantities(text) if one.at >= at and same_amount(item.quantity, one)), None)
    if item.kind in ("quote", "path", "name", "idiom", "relation"):
        place = low.find(item.form.lower() if item.kind != "idiom" else item.text.lower(), at)
        return place + len(item.form) if place >= 0 else (at if item.kind in ("quote", "idiom") else None)
    for one in _WORD.finditer(text, at):
        word = one[0].lower()
        if item.kind == "quantifier" and re.fullmatch(QUANTIFIERS[item.form].replace("\\b", ""), word):
            return one.end()
        if item.kind == "switch" and word in SWITCHES:
            return one.end()
        if item.kind == "word" and is_word_in(item.form, one[0], word_stems(one[0]), signs=False):
            return one.end()
    return at if item.kind == "quantifier" else None
