"""Goals: what a sentence asks for, read by rules. Knows kinds of goals and their parts; how they are reached is in `ways`.

A sentence is a goal only if every word of it is accounted for (`goal_words`). A word that is left would be dropped, and the goal
would be reported as done without it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hindbrain.engines.wording import PATH, QUOTED, paths_in, plain, quoted_in
from hindbrain.policy.goal_words import COMMAND_PROSE
from hindbrain.policy.perceiving import ACTIONS
from hindbrain.policy.planning import FILE_ENDINGS, FILE_KINDS

__all__ = ["Goal", "readings_of", "without_lead"]

_LEAD = re.compile(
    r"^(?:please|kindly|then|next|afterwards|finally|first|now|also|and"
    r"|(?:can|could|would) you|i (?:want|need) (?:you )?to)\b[,:]?\s*",
    re.IGNORECASE,
)
_AFTER = re.compile(r"^(?:and\s+)?(?:then|next|afterwards|finally|after that)\b", re.IGNORECASE)
_INTO = re.compile(
    r"\b(?:into|to|as|in(?:to)? (?:a |the )?(?:new )?file(?: called| named)?|save (?:it )?(?:as|to|in)|called|named)\s+$",
    re.IGNORECASE,
)
_HOLDING = re.compile(
    r"\b(?:contain(?:s|ing)?|mention(?:s|ing)?|(?:with|for) the (?:text|word|string|phrase)|includ(?:es|ing|e)"
    r"|that (?:say|hold)s?|holding|(?:occurrences?|matches|uses?) of|references? to|equals?|equal to|reads)\b[\s:]*",
    re.IGNORECASE,
)
_DIRECTORY = re.compile(
    r"\b(?:in|under|within|inside|below)\s+(?:the\s+)?(?:folder|directory)?\s*[\"'`]?([\w./-]+?)[\"'`]?\s*(?:/(?![\w.])|\b(?:folder|directory|dir|tree)\b|$|[,;!?]|\.(?!\w)|\s)",
    re.IGNORECASE,
)
_NOT_A_PLACE = frozenset(
    {
        "the",
        "a",
        "an",
        "all",
        "this",
        "that",
        "it",
        "its",
        "each",
        "every",
        "total",
        "here",
        "order",
        "place",
        "files",
        "file",
        "lines",
        "words",
        "reverse",
        "upper",
        "lower",
        "alphabetical",
        "project",
        "workspace",
        "repository",
        "repo",
        "current",
        "my",
        "our",
        "python",
        "markdown",
        "case",
        "uppercase",
        "lowercase",
        "json",
        "csv",
        "there",
        "them",
    }
)
_HASH = re.compile(r"\b[0-9a-f]{64}\b", re.IGNORECASE)
# Words that turn a sentence into its opposite. One that is overlooked makes a success of what failed.
_DENIES = re.compile(
    r"\b(?:not|never|no|none|nor|neither|nowhere|cannot|without|lacks?|lacking|missing|absent|gone|deleted|removed|free of)\b"
    r"|n['\u2019]t\b"
)
_DIFFERS = re.compile(r"\bdiffer(?:s|ent|ently)?\b")
# A text that is given without quotes follows a colon; without one it may only be described: "with the text of README.md".
_LITERAL = re.compile(
    r"\b(?:with (?:the )?(?:text|contents?|line|words?|phrase|string)|saying|reading|that (?:says|reads))\s*:\s*(?P<text>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
# A name that stands for itself without quotes, as MAX_RETRIES or retry_limit do; other words may describe what is meant.
_IDENTIFIER = re.compile(r"(?=.*[^a-z])[\w.$#@-]+", re.ASCII)
_EXISTS = re.compile(
    r"(?:verify|check|make|sure|ensure|confirm|assert|validate|does|do|is|are|that|whether|if|the|both|all|files?|and|or"
    r"|exists?|there|here|present|was|were|has|have|been|created|it|in|this|project|workspace|repository|still|now|really)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One thing that is asked for."""

    kind: str
    sentence: str
    parts: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    changes: tuple[tuple[str, Mapping[str, object]], ...] = ()  # transforms with their arguments, in order
    after: bool = False  # the sentence says that it comes after the one before


def without_lead(sentence: str) -> str:
    """A sentence without the words before its verb that ask for nothing: please, then, could you."""
    text = sentence.strip()
    while (lead := _LEAD.match(text)) is not None:
        text = text[lead.end() :]
    return text


def readings_of(sentence: str) -> tuple[tuple[str, Goal | None], ...]:
    """What each rule whose verb begins the sentence makes of it: the kind it would be, and the goal where its parts are there."""
    text, after = without_lead(sentence), bool(_AFTER.match(sentence.strip()))
    found: list[tuple[str, Goal | None]] = []
    for begins, kind, read in _READERS:
        if begins.match(text):
            goal = read(text)
            found.append((kind if goal is None else goal.kind, goal and replace(goal, sentence=sentence.strip(), after=after)))
    return tuple(found)


def _denied(text: str) -> bool:
    """Whether a sentence says no anywhere but in what it quotes or names."""
    return _DENIES.search(PATH.sub(" ", plain(text))) is not None


def _place(text: str) -> str:
    """The directory a sentence names, if it does."""
    for match in _DIRECTORY.finditer(QUOTED.sub(lambda one: f" {one.group()} " if "/" in one.group() else " ", text)):
        name = match.group(1).strip("/")
        if name and name.lower() not in _NOT_A_PLACE and not re.search(r"\.\w{1,8}$", name):
            return name
    return ""


def _pattern(text: str) -> str:
    """The pattern of the files that a sentence speaks of."""
    named = [path for path in paths_in(text) if "*" in path or "?" in path]
    if named:
        return named[0]
    spoken = plain(text)
    if place := _place(text):  # a directory called tests says nothing of names
        spoken = re.sub(rf"\b(?:in|under|within|inside|below)\s+(?:the\s+)?{re.escape(place.lower())}\b", " ", spoken)
    ending = re.search(rf"(?<!\w)(?:\.(\w{{1,8}})|({'|'.join(FILE_ENDINGS)}))\s+files?\b", spoken)
    if ending:
        return f"*.{ending[1] or ending[2]}"
    for word, pattern in FILE_KINDS.items():
        if re.search(rf"\b{word}\b(?:\s+\w+)?\s+files?\b|\b{word}s\b(?!\s+files?\b)|\b{word} files?\b", spoken):
            return pattern
    called = re.search(r"\b(?:called|named|name)\b", spoken)
    names = [*(name for name in quoted_in(text) if name and " " not in name), *paths_in(text)]
    if called and names:
        return names[0]
    files = [path for path in paths_in(text) if not path.endswith("/") and path != place]
    if files:
        return files[0]
    return "*"


def _needle(text: str) -> str:
    """The text that is to be found: what is quoted, else the name behind the word that asks for it."""
    quotes = [one for one in quoted_in(text) if one.strip()]
    holding = _HOLDING.search(text)
    if holding is not None:
        behind = quoted_in(text[holding.end() :])
        if behind:
            return behind[0]
        if quotes:
            return quotes[0]
        word = re.split(r"\s+(?:in|under|within|inside)\s+|[,;?!]", text[holding.end() :].strip(), maxsplit=1)[0]
        return _identifier(re.sub(r"^(?:the|a|an)\s+(?:text|word|string|phrase)?\s*", "", word.strip().rstrip(".")))
    searched = re.match(r"\s*(?:search|grep|look)(?:\s+for)?\s+", text, re.IGNORECASE)
    if searched is not None:
        if quotes:
            return quotes[0]
        return _identifier(
            re.split(r"\s+(?:in|under|within|inside)\s+|[,;?!]", text[searched.end() :], maxsplit=1)[0].rstrip(".")
        )
    return ""


def _identifier(word: str) -> str:
    return word.strip() if _IDENTIFIER.fullmatch(word.strip()) else ""


def _destination(text: str) -> str:
    """Where a result goes: the path behind `into`, `to`, `as`."""
    for match in PATH.finditer(text):
        before = text[: match.start()].rstrip("\"'`“ ") + " "
        if _INTO.search(before):
            return match.group().rstrip(".,;:!?")
    return ""


def _sources(text: str, *without: str) -> tuple[str, ...]:
    return tuple(path for path in paths_in(text) if path not in without and "*" not in path)


def _count(text: str) -> Goal | None:
    spoken = plain(text)
    if _denied(text):
        return None
    files = _sources(text)
    place = _place(text)
    needle = _needle(text)
    what = "files" if re.search(r"\bfiles\b", spoken) else ""
    for word in ("lines", "words", "characters"):
        if re.search(rf"\b{word}\b", spoken):
            what = word
    if re.search(r"\b(?:occurrences?|occurs?|matches|times|how often)\b", spoken):
        needle = needle or next((one for one in quoted_in(text) if one.strip()), "")
        what = "matches" if needle else what
    if what == "lines" and needle and _HOLDING.search(text):
        what = "matching_lines"
    if what in ("lines", "words", "characters", "matches", "matching_lines"):
        if files:
            return Goal(kind="count_in_file", sentence=text, parts={"what": what, "text": needle}, files=files[:1])
        if what in ("matches", "matching_lines"):
            parts = {"text": needle, "place": place, "pattern": _named_pattern(text), "what": what}
            return Goal(kind="count_text", sentence=text, parts=parts)
        return Goal(kind="count_in_files", sentence=text, parts={"what": what, "pattern": _pattern(text), "place": place})
    if what == "files" or files or place:
        if needle and _HOLDING.search(text):
            return Goal(
                kind="count_text",
                sentence=text,
                parts={"text": needle, "place": place, "pattern": _named_pattern(text), "what": "files"},
            )
        return Goal(kind="count_files", sentence=text, parts={"pattern": _pattern(text), "place": place})
    return None


def _named_pattern(text: str) -> str:
    """The pattern of a sentence that is about text in files: none unless it names one."""
    pattern = _pattern(text)
    return "" if pattern == "*" or pattern in quoted_in(text) else pattern


def _verify(text: str) -> Goal | None:
    """What is to hold. A sentence of which a part is not understood is none: it would be proved by something else."""
    spoken, files = plain(text), _sources(text)
    if not files:
        return None
    denied = _denied(text)
    digest = _HASH.search(text)
    if digest or re.search(r"\b(?:checksum|sha-?256|hash|digest)\b", spoken):
        if denied or _DIFFERS.search(spoken) or len(files) > 1:
            return None
        return Goal(kind="checksum", sentence=text, parts={"digest": digest.group().lower() if digest else ""}, files=files)
    differs = _DIFFERS.search(spoken) is not None
    if len(files) > 1 and (differs or re.search(r"\b(?:equal|equals|same|identical|match(?:es)?)\b", spoken)):
        if len(files) > 2 or (differs and denied):
            return None
        return Goal(kind="same_files", sentence=text, parts={"differ": "yes" if differs or denied else ""}, files=files)
    needle = _needle(text)
    if needle and needle not in files:
        return _held(text, needle, files, denied=denied)
    return _there(text, files)


def _held(text: str, needle: str, files: tuple[str, ...], *, denied: bool) -> Goal | None:
    """One text in one file. Of several, one alone would prove too little."""
    exact = re.search(r"\b(?:equals?|exactly|reads)\b", plain(text)) is not None
    texts = [one for one in quoted_in(text) if one.strip() and one not in files]
    if len(files) > 1 or len(texts) > 1 or (denied and (exact or not texts)):
        return None
    parts = {"text": needle, "absent": "yes" if denied else ""}
    return Goal(kind="file_equals" if exact else "file_holds", sentence=text, parts=parts, files=files)


def _there(text: str, files: tuple[str, ...]) -> Goal | None:
    """Files that are to be there, and perhaps to hold something; nothing else is said of them."""
    spoken, filled = re.subn(r"\b(?:is |are )?(?:not empty|non-?empty)\b", " ", plain(text))
    for path in files:
        spoken = spoken.replace(path.lower(), " ")
    if any(not _EXISTS.fullmatch(word) for word in re.findall(r"[^\W_](?:[\w'\u2019-]*\w)?", spoken)):
        return None
    return Goal(kind="file_exists", sentence=text, parts={"filled": "yes" if filled else ""}, files=files)


def _transform(text: str) -> Goal | None:
    spoken = PATH.sub(" ", plain(text))  # a file called unique.txt asks for no change
    into = _destination(text)
    files = _sources(text, into)
    replaced = re.search(r"\breplace\b", spoken) is not None
    changes: list[tuple[int, str, dict[str, object]]] = []
    for pattern, name, args in _CHANGES:
        found = re.search(pattern, spoken)
        if found:
            changes.append((found.start(), name, dict(args)))
    if any(name == "reverse_lines" for _, name, _ in changes) and any(name == "sort_lines" for _, name, _ in changes):
        changes = [
            (at, name, {**args, "reverse": True} if name == "sort_lines" else args)
            for at, name, args in changes
            if name != "reverse_lines"
        ]
    quotes = quoted_in(text)
    if replaced:
        pair = quotes[:2]
        if len(pair) < 2:
            return None
        changes = [(0, "replace", {"old": pair[0], "new": pair[1]})]
        files = tuple(path for path in files if path not in pair)
    if not changes:
        kinds = (_ending(files[0]) if files else "", _ending(into))
        if kinds == ("csv", "json"):
            changes = [(0, "csv_to_json", {})]
        elif kinds == ("json", "csv"):
            changes = [(0, "json_to_csv", {})]
    if not files or not changes:
        return None
    if not into and changes[0][1] in ("csv_to_json", "json_to_csv"):
        into = files[0].rsplit(".", 1)[0] + (".json" if changes[0][1] == "csv_to_json" else ".csv")
    ordered = tuple((name, args) for _, name, args in sorted(changes, key=lambda one: one[0]))
    return Goal(kind="transform", sentence=text, parts={"into": into}, files=files[:1], changes=ordered)


def _ending(path: str) -> str:
    return path.rsplit(".", 1)[-1].lower() if "." in path else ""


def _concat(text: str) -> Goal | None:
    into = _destination(text)
    files = _sources(text, into)
    return Goal(kind="concat", sentence=text, parts={"into": into}, files=files) if into and len(files) > 1 else None


def _create(text: str) -> Goal | None:
    """A file with a text that is given word for word: quoted, or after a word that announces it. What is only described, no rule
    can write."""
    quotes = quoted_in(text)
    files = [path for path in paths_in(text) if path not in quotes] or [
        name for name in quotes if re.fullmatch(r"[\w./-]+\.\w{1,8}", name)
    ]
    if not files or re.match(
        r"add\b(?! (?:an? |the )?(?:new )?file\b)", text, re.IGNORECASE
    ):  # to add to a file is not to make it
        return None
    path = files[0]
    told = [one for one in quotes if one != path]
    if not told and (given := _LITERAL.search(text)) is not None:
        told = [given["text"].strip()]
    return Goal(kind="create", sentence=text, parts={"content": told[0]}, files=(path,)) if told and told[0] else None


def _run(text: str) -> Goal | None:
    said = re.match(r"(?:run|execute)\s+(?:the\s+)?(?:command\s+|program\s+|script\s+)?", text, re.IGNORECASE)
    quote = QUOTED.match(text, said.end()) if said else None
    if quote is not None:
        return Goal(kind="command", sentence=text, parts={"command": quoted_in(quote.group())[0]})
    spoken = text.lower().rstrip(".")
    if re.search(r"\btests?\b", PATH.sub(" ", spoken)) and not re.match(
        r"(?:run|execute)\s+\S*(?:pytest|npm|make|cargo|go|python)\b", spoken
    ):
        place = [path for path in paths_in(text) if path.endswith(".py") or "/" in path]
        return Goal(kind="tests", sentence=text, parts={"place": place[0] if place else ""})
    command = re.match(
        r"(?:run|execute)\s+(?:the\s+command\s+|command\s+)?(.+?)(?:\s+and\s+(?:check|verify|make sure|confirm)\b.*)?[.!]?$",
        text,
        re.IGNORECASE,
    )
    if command and not COMMAND_PROSE & set(QUOTED.sub(" ", command[1]).lower().split()):
        return Goal(kind="command", sentence=text, parts={"command": command[1].strip()})
    return Goal(kind="build", sentence=text) if re.match(r"build\b", spoken) else None


def _find(text: str) -> Goal | None:
    spoken = plain(text)
    if _denied(text):
        return None
    needle, place = _needle(text), _place(text)
    ranked = re.search(r"\b(largest|biggest|newest|latest|oldest)\b", spoken)
    if ranked and re.search(r"\bfiles?\b", spoken):
        one = "" if re.search(r"\bfiles\b", spoken) else "yes"
        parts = {"by": ranked[1], "one": one, "pattern": _pattern(text), "place": place}
        return Goal(kind="ranked_files", sentence=text, parts=parts)
    if needle and (_HOLDING.search(text) or re.match(r"\s*(?:search|grep|look)\b", text, re.IGNORECASE)):
        files = _sources(text)
        single = files[0] if files and files[0] not in quoted_in(text) else ""
        return Goal(
            kind="find_text",
            sentence=text,
            parts={"text": needle, "place": place, "pattern": _named_pattern(text) if not single else "", "file": single},
        )
    if re.search(r"\bfiles?\b", spoken) or paths_in(text) or place:
        return Goal(kind="find_files", sentence=text, parts={"pattern": _pattern(text), "place": place})
    quotes = [one for one in quoted_in(text) if one.strip()]
    return (
        Goal(kind="find_text", sentence=text, parts={"text": quotes[0], "place": place, "pattern": "", "file": ""})
        if quotes
        else None
    )


def _read(text: str) -> Goal | None:
    files = [path for path in _sources(text) if not path.endswith("/")]
    if not files or re.search(r"\bfiles\b", plain(text)) or _HOLDING.search(text):
        return None
    return Goal(kind="read", sentence=text, files=(files[0],))


def _recall(text: str) -> Goal | None:
    asked = re.match(
        r"(?:recall|what (?:do|did) (?:we|you|i) (?:know|remember|decide)|what is known|ask (?:the |my |our )?memory)"
        r"(?:\s+(?:about|of|on|for))?\s+(.+?)[?.!]*$",
        text,
        re.IGNORECASE | re.DOTALL,
    )
    if asked is None or paths_in(text) or ACTIONS & set(plain(asked[1]).split()):  # what else is to be done with it
        return None
    return Goal(kind="recall", sentence=text, parts={"query": asked[1]})


_CHANGES: tuple[tuple[str, str, Mapping[str, object]], ...] = (
    (r"\bsort(?:ed|s)?\b[^.]*\b(?:numeric(?:ally)?|by number)\b", "sort_lines", {"numeric": True}),
    (r"\bsort(?:ed|s)?\b(?![^.]*\b(?:numeric(?:ally)?|by number)\b)", "sort_lines", {}),
    (r"\b(?:dedupe|deduplicate|duplicates?|unique)\b", "dedupe_lines", {}),
    (r"\b(?:upper-?\s?case|capitals?|uppercased?)\b", "upper", {}),
    (r"\b(?:lower-?\s?case|lowercased?)\b", "lower", {}),
    (r"\b(?:reverse|descending)\b", "reverse_lines", {}),
    (r"\b(?:blank|empty) lines\b", "strip_blank_lines", {}),
    (r"\bnumber\b[^.]*\blines\b", "number_lines", {}),
    (r"\bcsv\b[^.]*\b(?:to|into|as)\b[^.]*\bjson\b", "csv_to_json", {}),
    (r"\bjson\b[^.]*\b(?:to|into|as)\b[^.]*\bcsv\b", "json_to_csv", {}),
)


def _begins(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{words})\b", re.IGNORECASE)


# The words that begin a sentence, the kind it is most likely of, and the rule that reads it.
_READERS = (
    (_begins("count|how many|how often"), "count_files", _count),
    (
        _begins(
            "sort|dedupe|deduplicate|remove|drop|uppercase|upper-case|lowercase|lower-case|convert|replace|reverse|number|transform|change|turn|make|rewrite|substitute"
        ),
        "transform",
        _transform,
    ),
    (_begins("concatenate|join|merge|combine"), "concat", _concat),
    (_begins("create|write|make|save|add|put|generate"), "create", _create),
    (_begins("verify|check|make sure|ensure|confirm|assert|does|do|is|are|validate|compare"), "file_holds", _verify),
    (_begins("run|execute|test|tests|build|check"), "command", _run),
    (_begins("read|show|print|display|open|cat|get|what does"), "read", _read),
    (_begins("find|list|search|locate|grep|look|show|which|where|get"), "find_files", _find),
    (_begins("recall|ask|what do|what did|what is known"), "recall", _recall),
)
