"""A claim against one statement: what of it is accounted for, what is left over, and what the statement says otherwise. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hindbrain.engines.claim_content import Compares, Content, Item, compares_in, denials, root, word_stems
from hindbrain.engines.quantity import quantities, same_amount, unit_in_name
from hindbrain.engines.sentence import sentence_match
from hindbrain.engines.statement_view import Atom, View, bindings, is_word_in, name_in
from hindbrain.policy.claim_words import CHECKS, DEFAULTED, EMPTY, INCLUDED, LIMITS, OPPOSITES, QUANTIFIERS, SAID, SWITCHES

__all__ = ["Match", "matched"]

_LISTED = re.compile(r"[\[({][^\[\](){}]*\Z")
_ON = frozenset({"true", "on", "yes"})
_OFF = frozenset({"false", "off", "no"})
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OPPOSITE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_LITERAL = re.compile(r"\b(?:None|null|nil|0|zero)\b")
_SAID_MOST = 100  # characters of a statement that are shown
_BOUNDED = re.compile(r"\b(?:Math\.|f64::|std::)?(?P<name>max|min)\((?:[^(),]+,)?\s*(?P<number>-?\d+)\b")
_BESIDE = re.compile(r"\b(?:of|in|for|than)\s+(?:(?:the|a|an|its|all|every|each)\s+)*[`\"']?\Z")
_GIVEN = re.compile(r"\bsets?\s+`?(\w+)`?\s+to\s+`?([\w.]+)")
_COPULA = re.compile(r"\b(?:is|are|was|were|has|have|been|gets)\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What one statement shows of a claim."""

    shown: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tally:
    """What was found so far: items by the place that shows them."""

    own: list[Item] = field(default_factory=list)
    named: list[Item] = field(default_factory=list)
    said: list[Item] = field(default_factory=list)
    atoms: dict[int, Atom] = field(default_factory=dict)  # by the place of the item
    lacks: list[str] = field(default_factory=list)
    against: list[str] = field(default_factory=list)


def matched(content: Content, view: View) -> Match:
    """Hold a claim against a statement."""
    if view.statement.kind in ("prose", "comment"):
        shown, lacks, against = sentence_match(content, view)
        return Match(shown=shown, lacks=lacks, against=against)
    branch = view.statement.kind == "header" and view.statement.role != "definition"
    counted = any(item.kind == "idiom" and view.accounts(item) for item in content.items)
    if branch and not counted and not re.search(CHECKS, content.claim):
        return Match(lacks=tuple(item.text for item in content.items))
    tally = _Tally()
    for item in content.items:
        _account(item, content, view, tally)
    for one in content.compares:
        _compare(one, content, view, tally)
    if tally.own:
        _conditions(content, view, tally)
        _polarity(content, view, tally)
        _defaults(content, view, tally)
        _roles(content, view, tally)
    found = {item.at for item in (*tally.own, *tally.named, *tally.said)} | tally.atoms.keys()
    named = tuple(item.text for item in content.items if item.at in found)
    return Match(
        shown=named if tally.own else (),
        lacks=tuple(dict.fromkeys((*tally.lacks, *(() if tally.own else named)))),
        against=tuple(dict.fromkeys(tally.against)),
    )


# -- items ------------------------------------------------------------------------------------------------------------


def _account(item: Item, content: Content, view: View, tally: _Tally) -> None:
    """Find the place that shows an item."""
    if item.kind == "number":
        _number(item, content, view, tally)
    elif item.kind == "switch":
        _switch(item, content, view, tally)
    elif item.kind == "quantifier":
        if not _quantified(item, content, view):
            tally.lacks.append(item.text)
    elif item.kind == "relation":
        if not _related(item, content, view):
            tally.lacks.append(item.text)
    elif item.kind == "word" and root(item.form) == "default":
        if not (view.defaults or is_word_in("default", f"{view.raw}\n{view.names}", view.stems | view.name_stems)):
            tally.lacks.append(item.text)
    else:
        _word(item, content, view, tally)


def _word(item: Item, content: Content, view: View, tally: _Tally) -> None:
    conditional = content.clauses[item.clause].condition
    atom = _atom_of(item, view)
    if conditional and atom is not None:
        tally.atoms[item.at] = atom
    elif view.accounts(item):
        tally.own.append(item)
    elif _messaged(item, content, view):
        tally.said.append(item)
    elif view.named(item) or _in_text(item, view.loops):
        tally.named.append(item)
    elif atom is not None:
        tally.atoms[item.at] = atom
    elif item.kind == "word" and _noted(item, content, view):
        tally.named.append(item)
    else:
        tally.lacks.append(item.text)


def _atom_of(item: Item, view: View) -> Atom | None:
    return next((atom for group in reversed(view.atoms) for atom in group if _in_text(item, atom.text)), None)


def _in_text(item: Item, text: str) -> bool:
    if not text:
        return False
    if item.kind in ("quote", "path"):
        return re.sub(r"\s+", "", item.form) in re.sub(r"\s+", "", text)
    if item.kind == "name":
        return name_in(item.form, text)
    if item.kind == "idiom":
        return re.search(item.form, text) is not None
    return is_word_in(item.form, text, word_stems(text), signs=False)


def _messaged(item: Item, content: Content, view: View) -> bool:
    """Whether a text that is shown to somebody has the word: it counts for an error, and where the claim speaks of texts."""
    if not view.message or not (view.raises or re.search(SAID, content.claim, re.IGNORECASE)):
        return False
    return _in_text(item, view.message)


def _noted(item: Item, content: Content, view: View) -> bool:
    """A comment names what a value is; it does not say what happens."""
    bound = any(view.mentions(content, name) for name, _ in bindings(view.text))
    return bound and any(one.kind == "number" for one in content.items) and _in_text(item, view.statement.note)


def _number(item: Item, content: Content, view: View, tally: _Tally) -> None:
    claimed = item.quantity
    if claimed is None:
        return
    unsure = False
    for one in view.quantities:
        owners = view.owners(one.at)
        owner = next((name for name in owners if view.mentions(content, name)), "")
        if not owner and not any(_placed(name, content) for name in owners):
            continue
        same = same_amount(
            claimed, one, next(filter(None, map(unit_in_name, (owner, *owners[:1]))), "") or view.unit_beside(owner)
        )
        if same and _listed_alone(one.at, one.end, content, view):
            tally.own.append(item)
            return
        unsure = unsure or same is None
        alone = sum(view.owners(other.at) == owners for other in view.quantities) == 1
        if same is False and alone and owner and view.names_all_of(content, owner) and (owner, one.text) in _pairs(view):
            tally.against.append(f"{owner} = {one.text}, the claim says {item.text}")
            tally.own.append(item)
            return
    for group in view.atoms:
        for atom in group:
            for one in quantities(atom.text):
                if same_amount(claimed, one):
                    tally.atoms[item.at] = atom
                    return
    tally.lacks.append(f"the unit of {item.text}" if unsure else item.text)


def _placed(owner: str, content: Content) -> bool:
    """A value that is returned or answered belongs to the claim that says so."""
    if re.search(r"http|status|resp|reply", owner, re.IGNORECASE) and re.search(r"\b(?:answer|status|respon)", content.claim):
        return True
    return owner in ("return", "exit", "yield") and re.search(r"\b(?:return|exit|answer|status|yield)", content.claim) is not None


def _pairs(view: View) -> set[tuple[str, str]]:
    """Names with the first number of what they are bound to."""
    found = set()
    for one in view.quantities:
        for name in view.owners(one.at)[:1]:
            found.add((name, one.text))
    return found


def _listed_alone(at: int, end: int, content: Content, view: View) -> bool:
    """Whether a number is the whole value, and not one of several in a list that the claim does not name too."""
    before = _LISTED.search(view.raw[:at])
    if before is None or re.search(INCLUDED, content.claim, re.IGNORECASE):
        return True
    called = re.search(r"[\w.:]\Z", view.raw[: at - len(before[0])])
    if called:
        return True
    after = re.match(r"[^\[\](){}]*", view.raw[end:])
    others = quantities(f"{before[0][1:]} {after[0] if after else ''}")
    return all(
        any(same_amount(item.quantity, one) for item in content.items if item.quantity) for one in others if "=" not in before[0]
    )


def _switch(item: Item, content: Content, view: View, tally: _Tally) -> None:
    if any(True for _ in _switches(content, view)) or _in_text_switch(item, view):
        tally.own.append(item)
    else:
        tally.lacks.append(item.text)


def _in_text_switch(item: Item, view: View) -> bool:
    return (
        item.text in ("True", "False", "true", "false") and re.search(rf"\b{item.text}\b", view.text, re.IGNORECASE) is not None
    )


def _switches(content: Content, view: View) -> Iterator[tuple[str, bool]]:
    """Names that the claim mentions, and whether they are switched on."""
    for name, value in bindings(view.text):
        low = value.lower()
        if low not in _ON | _OFF:
            continue
        if name.lower() in SWITCHES:  # the section says what is switched
            yield name, SWITCHES[name.lower()] is (low in _ON)
        elif name == "return" or view.mentions(content, name):
            yield name, low in _ON


def _quantified(item: Item, content: Content, view: View) -> bool:
    if re.search(QUANTIFIERS[item.form], view.text, re.IGNORECASE) or (
        item.form in ("only", "always") and re.search(rf"\b{item.form}\b", view.names)
    ):
        return True
    following = next((one for one in content.items if one.at > item.at), None)
    return item.form in ("every", "each", "all") and following is not None and _in_text(following, view.loops)


def _related(item: Item, content: Content, view: View) -> bool:
    """`after 20 minutes` is the value of a timeout; every other order has to be written."""
    if re.search(rf"\b{item.form}\b", f"{view.text}\n{view.loops}", re.IGNORECASE):
        return True
    following = next((one for one in content.items if one.at > item.at), None)
    if item.form == "after":
        return following is not None and following.kind == "number"
    return item.form == "over" and re.search(r"\bfor\b|\bwhile\b", view.text) is not None


# -- comparisons and conditions ----------------------------------------------------------------------------------------


def _compare(one: Compares, content: Content, view: View, tally: _Tally) -> None:
    """A comparison of the claim has to be one of the statement or its conditions, the same way round."""
    after = next((item for item in content.items if item.at >= one.end and item.kind not in ("quantifier", "relation")), None)
    wanted = _OPPOSITE[one.sign] if content.clauses[one.clause].negated and content.clauses[one.clause].condition else one.sign
    before = next((item for item in reversed(content.items) if item.at < one.at), None)
    subject = before if before is not None and _COPULA.search(content.claim[: one.at]) else None
    for text, negated in _relations(view):
        left, sign, right = text
        if _operand(after, one, right):
            other = left
        elif _operand(after, one, left):
            sign, other = _FLIPPED[sign], right
        else:
            continue
        sign = _OPPOSITE[sign] if negated else sign
        if subject is not None and subject.kind in ("word", "name") and not _in_text(subject, other):
            tally.lacks.append(f"{subject.text} {one.text}")
        elif sign != wanted:
            tally.against.append(f"{left.strip()} {text[1]} {right.strip()}, the claim says {one.text}"[:_SAID_MOST])
        return
    if one.sign in LIMITS and after is not None and after.kind in ("number", "name"):
        owners = " ".join(name for name in (*(name for name, _ in bindings(view.text)), view.text) if name)
        if re.search(LIMITS[one.sign], f"{owners}\n{view.names}", re.IGNORECASE):
            return
    for bounded in _BOUNDED.finditer(view.text):
        sign = ">=" if bounded["name"] == "max" else "<="
        if (
            after is not None
            and after.quantity is not None
            and after.quantity.value == float(bounded["number"])
            and one.sign == sign
        ):
            return
    if any(found.sign == one.sign for found in compares_in(view.text)):
        return
    tally.lacks.append(one.text)


def _relations(view: View) -> Iterator[tuple[tuple[str, str, str], bool]]:
    for group in reversed(view.atoms):
        for atom in group:
            if atom.relation is not None:
                yield atom.relation, atom.negated_branch
    own = Atom(text=view.text, against=False, nothing=False, joined=False, negated_branch=False)
    if own.relation is not None:
        yield own.relation, False


def _operand(item: Item | None, one: Compares, text: str) -> bool:
    if one.zero:
        return text.strip().rstrip(")") in ("0", "0.0")
    if item is None:
        return False
    if item.quantity is not None:
        return any(same_amount(item.quantity, found) for found in quantities(text))
    return _in_text(item, text)


def _conditions(content: Content, view: View, tally: _Tally) -> None:
    """Conditions of the claim are those of the statement, with the same sign; what happens only sometimes is not said plainly."""
    parts = {item.clause for item in content.items if content.clauses[item.clause].condition}
    messaged = {item.clause for item in tally.said}
    for clause in sorted(parts):
        items = [item for item in content.items if item.clause == clause and item.kind not in ("quantifier", "relation")]
        if not any(item.at in tally.atoms or item in tally.said or _in_text(item, view.loops) for item in items):
            compared = any(one.clause == clause for one in content.compares) and view.atoms
            if not compared:
                tally.lacks.append(f"the condition {' '.join(item.text for item in items)}")
    _signs(content, view, tally, messaged)
    _sometimes(content, view, tally, conditional=bool(parts), messaged=bool(messaged))


def _signs(content: Content, view: View, tally: _Tally, messaged: set[int]) -> None:
    """Whether each condition is said with the sign that it has in the source."""
    for place, part in enumerate(content.clauses):
        here = {item.at for item in content.items if item.clause == place}
        if part.empty and not here & tally.atoms.keys() and not any(item.at in here for item in tally.said):
            tally.lacks.append(_emptied(content))
    for place in sorted(messaged):
        part = content.clauses[place]
        said = denials(view.message) + sum(word in EMPTY for word in re.findall(r"[a-z]+", view.message.lower()))
        if (part.negated ^ part.empty) != (said % 2 == 1):
            (tally.against if part.condition else tally.lacks).append(f"{view.message[:_SAID_MOST]}, the claim the opposite")
    by_at = {item.at: item for item in content.items}
    for at, atom in tally.atoms.items():
        part = content.clauses[by_at[at].clause]
        if atom.relation is not None:
            if not content.compares and by_at[at].clause not in messaged:
                tally.lacks.append(f"how {atom.text.strip()[:_SAID_MOST]} is met")
            continue
        literal = _LITERAL.search(content.claim) is not None
        says_no = atom.against ^ (atom.nothing and not literal) ^ atom.negated_branch
        claimed = (part.negated and part.condition) ^ part.empty
        if says_no != claimed:
            tally.against.append(
                f"{'otherwise than ' if atom.negated_branch else ''}{atom.text.strip()[:_SAID_MOST]}, the claim the opposite"
            )


def _sometimes(content: Content, view: View, tally: _Tally, *, conditional: bool, messaged: bool) -> None:
    """What happens only under a condition is not said without it."""
    used = {id(atom) for atom in tally.atoms.values()} | _compared_atoms(content, view)
    conditional = conditional or bool(tally.atoms) or bool(content.compares and used)
    for group, guard in zip(view.atoms, view.guards, strict=True):
        if guard.negated and conditional:
            continue
        missed = [atom for atom in group if id(atom) not in used]
        if messaged:
            continue
        if not conditional and not view.raises:
            tally.lacks.append(f"that it happens only {'otherwise than ' if guard.negated else ''}{guard.text[:_SAID_MOST]}")
        elif conditional and len(missed) == len(group):
            tally.lacks.append(f"that it happens only {guard.text[:_SAID_MOST]}")
        elif conditional and group[0].joined and missed:
            tally.lacks.append(f"that also {missed[0].text.strip()[:_SAID_MOST]}")


def _emptied(content: Content) -> str:
    """The word with which a claim says that something is missing or another."""
    return next((word for word in re.findall(r"[a-z]+", content.claim.lower()) if word in EMPTY or word in OPPOSITES), "empty")


def _compared_atoms(content: Content, view: View) -> set[int]:
    found = set()
    for one in content.compares:
        after = next((item for item in content.items if item.at >= one.end), None)
        for group in view.atoms:
            for atom in group:
                if atom.relation and (_operand(after, one, atom.relation[0]) or _operand(after, one, atom.relation[2])):
                    found.add(id(atom))
    return found


# -- the statement as a whole ------------------------------------------------------------------------------------------


def _polarity(content: Content, view: View, tally: _Tally) -> None:
    """A claim that says yes where the statement says no, or the other way round."""
    off = sum(item.kind == "switch" and SWITCHES[item.form] is False for item in content.items) if content.items else 0
    claimed = (content.negated + off) % 2 == 1
    switched = list(_switches(content, view))
    branch = view.statement.kind == "header" and view.statement.role != "definition"
    denied = (0 if branch else _denials(content, view)) + any(not on for _, on in switched)
    if claimed != (denied % 2 == 1):
        tally.against.append(f"{view.raw[:_SAID_MOST]!r}, the claim the opposite")
    elif content.never and not re.search(r"\bnever\b", view.text, re.IGNORECASE) and not content.compares:
        tally.lacks.append("never")


def _denials(content: Content, view: View) -> int:
    """Denials in the statement of what the claim names: `not null` says nothing of the default beside it."""
    count = 0
    text = re.sub(r"\"[^\"\n]*\"|'[^'\n]*'", lambda found: found[0] if " " not in found[0] else '""', view.text)
    for found in re.finditer(
        r"(?:\bnot\b|\bnever\b|\bno\b|\bwithout\b|!(?=[\w(]))\s*\(?(?P<next>[\w.]+)|(?P<differs>!=|<>)\s*(?P<right>[\w.\"']+)",
        text,
    ):
        following = found["next"] or found["right"] or ""
        if (
            following in ("in", "is", "be")
            or any(_in_text(item, following) for item in content.items if item.kind != "number")
            or any(item.quantity and same_amount(item.quantity, one) for item in content.items for one in quantities(following))
        ):
            count += 1
    return count


def _defaults(content: Content, view: View, tally: _Tally) -> None:
    """A value that somebody may override is only a default."""
    if re.search(DEFAULTED, content.claim, re.IGNORECASE):
        return
    for start, end in view.default_spans:
        value = view.raw[start:end]
        rest = f"{view.raw[:start]} {view.raw[end:]}"
        for item in tally.own:
            inside = any(same_amount(item.quantity, one) for one in quantities(value)) if item.quantity else _in_text(item, value)
            if item.kind == "switch":
                inside = re.search(r"\b(?:true|false|on|off)\b", value, re.IGNORECASE) is not None
            if inside and not (item.quantity is None and item.kind != "switch" and _in_text(item, rest)):
                tally.lacks.append("that it is only the default")
                return


def _roles(content: Content, view: View, tally: _Tally) -> None:
    """Who does something and to whom: below a key its section acts, and of two arguments nothing says which is which."""
    acts = next((item for item in tally.own if item.kind == "word"), None)
    for item in tally.named:
        after = acts is not None and item.at > acts.at and not content.clauses[item.clause].condition
        if after and not _BESIDE.search(content.claim[: item.at]) and not _in_text(item, view.loops):
            tally.lacks.append(f"{acts.text if acts else ''} {item.text}")
    words = [item for item in content.items if item.kind == "word"]
    for place, item in enumerate(words):
        if any(root(one.form) == root(item.form) and one.form != item.form for one in words[:place]):
            tally.lacks.append(item.text)  # the same word as a name and as a verb: one place shows only one of them
    if view.statement.kind == "data":
        key, _, _ = re.sub(r"\A-\s*", "", view.raw).partition(":" if ":" in view.raw.split("=")[0] else "=")
        keyed = next((item for item in content.items if item.kind in ("word", "name") and _in_text(item, key)), None)
        if keyed is not None:
            before = [
                item
                for item in content.items
                if item.at < keyed.at and item in tally.own and not _in_text(item, key) and not view.named(item)
            ]
            behind = [item for item in tally.named if item.at > keyed.at and not _in_text(item, view.raw)]
            if before and behind and not re.search(r"\b(?:of|in|for)\b", content.claim):
                tally.lacks.append(f"{before[0].text} {keyed.text} {behind[0].text}")
        return
    if (
        (given := _GIVEN.search(content.claim))
        and not re.search(rf"\b{re.escape(given[1])}\b\s*(?::\s*\w+\s*)?[:=]\s*[\"']?{re.escape(given[2])}(?![\w.])", view.raw)
        and not any(item.kind == "number" and item.at == given.start(2) for item in tally.own)
    ):
        tally.lacks.append(given[0])
    directed = re.search(r"\b(?:to|from|into)\b", content.claim)
    subtracts = re.search(r"\bsubtracts?\s+(\w+)\s+from\s+(\w+)", content.claim)
    if subtracts and not re.search(rf"\b{re.escape(subtracts[2])}\s*-\s*{re.escape(subtracts[1])}\b", view.text):
        tally.lacks.append(subtracts[0])
    if directed is None or subtracts:
        return
    sides = [
        [item for item in tally.own if side(item.at, directed.start()) and item.kind in ("word", "name")]
        for side in (int.__lt__, int.__gt__)
    ]
    for call in re.finditer(r"\(([^()]*,[^()]*)\)", view.text):
        arguments = call[1].split(",")
        held = [{at for at, one in enumerate(arguments) if any(_in_text(item, one) for item in side)} for side in sides]
        if held[0] and held[1] and held[0] != held[1]:
            tally.lacks.append(f"which argument is meant by {directed[0]}")
