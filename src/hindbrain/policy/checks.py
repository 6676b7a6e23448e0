"""Checks: what a mechanical check is told, and the words by which calls, failures and searches are recognised."""

from collections.abc import Mapping
from dataclasses import dataclass

from hindbrain.domain.task import CheckKind
from hindbrain.policy.tools import TOOLS

__all__ = [
    "BROKEN_OFF",
    "CHECKS",
    "DRIFT",
    "DRIFT_CRITERION",
    "ENVIRONMENTAL",
    "INFRASTRUCTURE",
    "INVENTED_CRITERION",
    "LAW1",
    "LOOKING_COMMANDS",
    "LOOKING_TOOLS",
    "NOTHING_FOUND",
    "NO_CHECK",
    "PATHS_LOOKED_AT",
    "PERMISSION",
    "PROTECTED",
    "REFUSED",
    "REGEX_SECONDS",
    "SCORING_ERROR",
    "SEARCHING_TOOLS",
    "SEARCH_COMMANDS",
    "Arguments",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What a check needs and what it may be told."""

    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    why: str


# `path_equals` compares a file with `text`, or with the texts of `sources` in their order after `changes` were made to them.
# `target` narrows a check of output to calls on that file, query or command. `of` says what is counted: `lines` (the default),
# `items` of a JSON list, `paths` that exist, or `text`, whose occurrences are counted. `absent` turns `contains` around.
CHECKS: Mapping[CheckKind, Arguments] = {
    "path_exists": Arguments(needs=("path",), why="a result that is a file can be looked at"),
    "path_nonempty": Arguments(needs=("path",), why="an empty file is what a broken step leaves behind"),
    "path_equals": Arguments(
        needs=("path",), takes=("text", "sources", "changes"), why="a file that is there may have another text than was asked for"
    ),
    "exit_status": Arguments(needs=("equals",), takes=("target",), why="programs say by it whether they did their work"),
    "contains": Arguments(needs=("text",), takes=("target", "absent"), why="the plainest thing to ask of a text"),
    "regex": Arguments(needs=("pattern",), takes=("target",), why="a form, where the words differ"),
    "number": Arguments(needs=("equals",), takes=("target",), why="3 is not in 13: a number stands alone"),
    "count_at_least": Arguments(needs=("n",), takes=("of", "text", "target"), why="how much was found"),
    "json_path": Arguments(needs=("path", "equals"), takes=("target",), why="one value of a structured answer"),
    "claim_verified": Arguments(needs=(), takes=("claim",), why="missions hold the claims; without one there is none to look at"),
}

REGEX_SECONDS = 0.5  # a pattern of a plan is text of a model: it may be one that never ends
PATHS_LOOKED_AT = 200  # lines of an output that are looked up as paths

NO_CHECK = "no mechanical check"
SCORING_ERROR = "scoring error"
LAW1 = "[LAW1]"
REFUSED = (LAW1, "[BLOCKED]", "[CAUTION]")  # how the gateway of the tools begins what it says of a call that it did not make
DRIFT = "intent drift"
DRIFT_CRITERION = "the result is about what the request names"
INVENTED_CRITERION = "the result says only what the tools gave"

# The last word of a program that did not come to its end, whatever it says of its status.
BROKEN_OFF = ("killed", "aborted", "terminated", "(core dumped)")

# Failures of the surroundings, whatever a judge says of them. Compared in lower case.
ENVIRONMENTAL = (
    "permission denied",
    "no such file",
    "not found",
    "not exist",
    "connection refused",
    "time out",
    "timed out",
    "network error",
    "command not found",
    "executable file not found",
    "[law1]",
)
# What ends an attempt for good: the same call meets the same wall.
INFRASTRUCTURE = ("cancelled", "canceled", "deadline exceeded", "network", "timeout", "timed out", "time out")
PERMISSION = ("permission denied", "operation not permitted", "access is denied")
# Places that belong to the system: whoever searches everything is refused there, and nothing asked for is in them.
PROTECTED = (
    "/proc",
    "/sys",
    "/root",
    "/boot",
    "/lost+found",
    "/etc",
    "/var",
    "/run",
    "/dev",
    "/private/var",
    "/System",
    "/Library",
)

# How a search says that it ran and found nothing.
NOTHING_FOUND = (
    "[]",
    "{}",
    "0",
    "no matches",
    "no match",
    "no hits",
    "no results",
    "no files",
    "nothing",
    "none",
    "no such entry",
)

# Tools and commands that only look. After an action failed, they show what was there before it.
SEARCHING_TOOLS = frozenset(tool.name for tool in TOOLS.values() if tool.class_ == "search" or tool.name == "ask_memory")
LOOKING_TOOLS = frozenset(tool.name for tool in TOOLS.values() if not tool.mutating)
SEARCH_COMMANDS = frozenset({"find", "grep", "rg", "ag", "fd", "locate"})
LOOKING_COMMANDS = SEARCH_COMMANDS | {
    *("ls", "stat", "wc", "cat", "test", "du", "df", "head", "tail", "file"),
    *("echo", "printf", "pwd", "tree", "sort", "uniq", "which", "["),
}
