"""Words of goals: which words each kind of goal accounts for, and how a goal of that kind is written."""

from collections.abc import Mapping

__all__ = ["CHANGE_WORDS", "COMMAND_PROSE", "COUNT_WORDS", "DENIAL_WORDS", "FORMS", "FUNCTION_WORDS", "KIND_WORDS"]

# Words that ask for nothing by themselves. A word that can narrow or widen a goal (only, each, first, not, or) is not among them.
FUNCTION_WORDS = frozenset(
    {
        *("the", "a", "an", "of", "in", "inside", "within", "under", "to", "into", "from", "for", "and", "as", "on"),
        *("is", "are", "be", "was", "were", "there", "here", "that", "which", "it", "its", "them", "they"),
        *("this", "these", "those", "my", "our", "your", "me", "us", "you", "we", "i", "please", "all", "any"),
        *("file", "files", "called", "named", "project", "workspace", "repository", "repo", "path"),
    }
)

_VERIFY = frozenset(
    {"verify", "check", "make", "sure", "ensure", "confirm", "assert", "validate", "does", "do", "whether", "if", "still", "now"}
)
_HOLDS = frozenset(
    {
        *("contain", "contains", "containing", "mention", "mentions", "mentioning", "include", "includes", "including"),
        *("say", "says", "hold", "holds", "holding", "has", "have", "with", "text", "word", "string", "phrase"),
    }
)
_COUNT = frozenset({"count", "how", "many", "number", "total", "do", "does", "have", "has"})
_FIND = frozenset({"find", "list", "search", "locate", "grep", "look", "show", "which", "where", "what", "get", "give"})
_RUN = frozenset({"run", "execute", "check", "verify", "make", "sure", "confirm", "succeed", "succeeds", "pass", "passes"})

KIND_WORDS: Mapping[str, frozenset[str]] = {
    "count_in_file": _COUNT,
    "count_in_files": _COUNT,
    "count_files": _COUNT | {"exist", "exists", "match", "matching", "name", "names"},
    "count_text": _COUNT | _HOLDS,
    "find_files": _FIND | {"exist", "exists", "match", "matches", "matching", "name", "names", "have", "do"},
    "ranked_files": _FIND,
    "find_text": _FIND
    | _HOLDS
    | {"line", "lines", "occurrence", "occurrences", "match", "matches", "use", "uses", "reference", "references"},
    "read": frozenset(
        {"read", "show", "print", "display", "open", "cat", "get", "what", "does", "say", "content", "contents", "text", "whole"}
    ),
    "transform": frozenset({"write", "save", "store", "put", "result", "new", "line", "lines", "content", "contents"}),
    "concat": frozenset({"concatenate", "join", "merge", "combine", "together", "one", "single", "new", "content", "contents"}),
    "create": _HOLDS
    | {"create", "write", "make", "save", "put", "generate", "new", "content", "contents", "line", "words", "saying"}
    | {"reads", "reading"},
    "file_exists": _VERIFY
    | {"exist", "exists", "both", "present", "created", "been", "has", "have", "really", "not", "empty", "non", "nonempty"},
    "file_holds": _VERIFY | _HOLDS,
    "file_equals": _VERIFY | {"equal", "equals", "exactly", "reads", "text", "line", "string", "content", "contents"},
    "same_files": _VERIFY
    | {"compare", "equal", "equals", "same", "identical", "match", "matches", "content", "contents", "have", "both"}
    | {"differ", "differs", "different"},
    "checksum": _VERIFY | {"checksum", "sha", "sha256", "256", "hash", "digest", "equals", "equal", "match", "matches"},
    "tests": _RUN | {"test", "tests", "suite", "unit", "project's"},
    "build": frozenset({"build"}),
    "command": _RUN | {"command", "program", "script"},
    "recall": frozenset({"recall", "what", "do", "did", "know", "known", "remember", "decide", "ask", "memory", "about"}),
}

# The words of what is counted. Another unit in the same sentence is another count.
COUNT_WORDS: Mapping[str, frozenset[str]] = {
    "lines": frozenset({"line", "lines"}),
    "words": frozenset({"word", "words"}),
    "characters": frozenset({"character", "characters"}),
    "matches": _HOLDS
    | {"occurrence", "occurrences", "occur", "occurs", "appear", "appears", "match", "matches", "time", "times", "often"},
    "matching_lines": _HOLDS | {"line", "lines"},
    "files": frozenset(),
}

CHANGE_WORDS: Mapping[str, frozenset[str]] = {
    "sort_lines": frozenset({"sort", "sorted", "order", "alphabetically", "alphabetical", "ascending", "make"}),
    "dedupe_lines": frozenset({"dedupe", "deduplicate", "duplicate", "duplicates", "unique", "remove", "drop", "make"}),
    "upper": frozenset(
        {"uppercase", "uppercased", "upper", "case", "capital", "capitals", "letters", "convert", "change", "turn", "make"}
    ),
    "lower": frozenset({"lowercase", "lowercased", "lower", "case", "letters", "convert", "change", "turn", "make"}),
    "reverse_lines": frozenset({"reverse", "reversed", "descending", "order"}),
    "strip_blank_lines": frozenset({"remove", "drop", "strip", "blank", "empty"}),
    "number_lines": frozenset({"number"}),
    "replace": frozenset(
        {"replace", "substitute", "with", "by", "every", "occurrence", "occurrences", "word", "text", "string", "change"}
    ),
    "csv_to_json": frozenset({"csv", "json", "convert", "change", "turn", "transform"}),
    "json_to_csv": frozenset({"csv", "json", "convert", "change", "turn", "transform"}),
}

DENIAL_WORDS = frozenset(
    {
        *("not", "never", "no", "nowhere", "cannot", "without", "lack", "lacks", "lacking", "missing", "absent", "gone"),
        *("deleted", "removed", "free", "doesn't", "don't", "isn't", "aren't", "can't", "won't", "must", "may", "should"),
        *("longer", "anywhere"),
    }
)

# Words of sentences, not of commands: an unquoted command with one of them is prose.
COMMAND_PROSE = frozenset(
    {
        "and",
        "then",
        "the",
        "a",
        "an",
        "that",
        "which",
        "me",
        "it",
        "until",
        "so",
        "everything",
        "over",
        "my",
        "our",
        "all",
        "with",
    }
)

# One sentence of each kind that rules can plan.
FORMS: Mapping[str, str] = {
    "count_in_file": "Count the lines of FILE",
    "count_in_files": "Count the lines of all python files",
    "count_files": "Count the python files in DIRECTORY",
    "count_text": 'Count the files that contain "TEXT"',
    "find_files": "Find the python files in DIRECTORY",
    "ranked_files": "Find the largest files",
    "find_text": 'Find the lines that contain "TEXT" in DIRECTORY',
    "read": "Read FILE",
    "transform": 'Sort the lines of FILE and write them to NEW_FILE, or: Replace "OLD" with "NEW" in FILE',
    "concat": "Concatenate FILE and OTHER_FILE into NEW_FILE",
    "create": 'Create FILE with the text "TEXT"',
    "file_exists": "Verify that FILE exists",
    "file_holds": 'Verify that FILE contains "TEXT"',
    "file_equals": 'Verify that FILE equals "TEXT"',
    "same_files": "Verify that FILE and OTHER_FILE are identical",
    "checksum": "Verify the sha256 of FILE",
    "tests": "Run the tests",
    "build": "Build the project",
    "command": "Run 'COMMAND'",
    "recall": "What do we know about SUBJECT",
}
