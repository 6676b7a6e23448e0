"""Tools: what an executor may call, in the order in which they are preferred, and the limits of each with their reasons."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "APPLY_BYTES",
    "COMMAND_MAX_S",
    "COMMAND_OUTPUT",
    "COMMAND_PRINTED",
    "COMMAND_S",
    "CONFIRM_S",
    "CONTEXT_CUT",
    "DIFF_LINES",
    "ERROR_CUT",
    "FOUND_MOST",
    "GLOB_MOST",
    "INPUT_CUT",
    "KEPT_CUT",
    "NEAREST",
    "OUTPUT_CUT",
    "READ_MOST",
    "SEARCH_S",
    "SNIPPET_CUT",
    "TARGET_FIELDS",
    "TOOLS",
    "WORKSPACES_KEPT",
    "WORKSPACE_BYTES",
    "WORKSPACE_FILES",
    "WRITE_MOST",
    "Field",
    "Tool",
    "ToolClass",
    "target_of",
]

ToolClass = Literal["search", "file", "application", "shell", "web"]

# The first of these that an input has is the target of its call.
TARGET_FIELDS = ("query", "command", "path", "url")

APPLY_BYTES = 50_000_000  # of all files that one run brings into the project, before and after
DIFF_LINES = 200  # of one file, before a person is asked
NEAREST = "nearest_to"  # field of a recorded call: the file that was named, where another of a similar name was read
SNIPPET_CUT = 200  # characters of an output that are kept with its call
ERROR_CUT = 80  # characters of an error that are kept with its call
INPUT_CUT = 2_000  # characters of one field of an input that are kept with its call
KEPT_CUT = 40_000  # characters of one output that its judge gets
OUTPUT_CUT = 4_000  # characters of one output that a model is shown
CONTEXT_CUT = 8_000  # characters of all that was collected, when a model is shown it

COMMAND_S = 30.0  # a command that says nothing for so long waits for something that will not come
COMMAND_MAX_S = 600.0  # what a call may ask for: a test run of a large project
COMMAND_OUTPUT = 200_000  # bytes of what a command printed that are kept
COMMAND_PRINTED = 50_000_000  # bytes after which it is ended: nobody reads them
SEARCH_S = 10.0  # a search that takes longer has a pattern that explodes, or looks at too much
READ_MOST = 2_000_000  # bytes of a file that is read
WRITE_MOST = 5_000_000  # bytes of a file that is written
GLOB_MOST = 20_000  # names that one call may give; as many as a workspace holds
FOUND_MOST = 100_000  # lines that one search may give
CONFIRM_S = 120.0  # a person reads a question and answers it; nobody there is a no

WORKSPACE_FILES = 20_000  # a copy of more is a copy of what was not meant
WORKSPACE_BYTES = 200_000_000
WORKSPACES_KEPT = 20  # of earlier runs, to look at what they made


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a tool's input."""

    kind: type[Any]
    about: str
    needed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One thing an executor can do."""

    name: str
    class_: ToolClass
    about: str
    fields: Mapping[str, Field]
    target: str  # the field that says what it is done to
    mutating: bool = False
    offline: bool = True
    evidence: str = "direct_source"  # the class of evidence that its answer is


_INSIDE = "relative to the workspace"

# Indexed or by pattern first, then single files, then what we know, then a shell: the earlier, the less it can break.
_ORDER = (
    Tool(
        name="glob",
        class_="search",
        about="names of files that match a pattern",
        fields={
            "query": Field(kind=str, about="a pattern such as *.py or src/**/test_*.py; without a slash it holds at every depth"),
            "path": Field(kind=str, about=f"the directory to look in, {_INSIDE}", needed=False),
        },
        target="query",
        evidence="direct_search",
    ),
    Tool(
        name="search",
        class_="search",
        about="lines of files that hold a text",
        fields={
            "query": Field(kind=str, about="the text, or the regular expression"),
            "path": Field(kind=str, about=f"a file or directory, {_INSIDE}", needed=False),
            "files": Field(kind=str, about="a pattern that the names of files match", needed=False),
            "regex": Field(kind=bool, about="whether the query is a regular expression", needed=False),
            "ignore_case": Field(kind=bool, about="whether large and small letters are the same", needed=False),
        },
        target="query",
        evidence="direct_search",
    ),
    Tool(
        name="read",
        class_="file",
        about="the text of a file",
        fields={
            "path": Field(kind=str, about=f"the file, {_INSIDE}"),
            "start": Field(kind=int, about="the first line, from 1", needed=False),
            "lines": Field(kind=int, about="how many lines", needed=False),
        },
        target="path",
    ),
    Tool(
        name="write",
        class_="file",
        about="puts a text into a file; what was there before is asked about and kept in the trash",
        fields={
            "path": Field(kind=str, about=f"the file, {_INSIDE}"),
            "content": Field(kind=str, about="the whole text"),
        },
        target="path",
        mutating=True,
        evidence="direct_runtime",
    ),
    Tool(
        name="move",
        class_="file",
        about="gives a file another name; never over another file",
        fields={
            "path": Field(kind=str, about=f"the file or directory, {_INSIDE}"),
            "to": Field(kind=str, about=f"its new name, {_INSIDE}"),
        },
        target="path",
        mutating=True,
        evidence="direct_runtime",
    ),
    Tool(
        name="delete",
        class_="file",
        about="puts a file or directory into the trash of the workspace, after a person agreed",
        fields={"path": Field(kind=str, about=f"the file or directory, {_INSIDE}")},
        target="path",
        mutating=True,
        evidence="direct_runtime",
    ),
    Tool(
        name="ask_memory",
        class_="application",
        about="what the brain of the project remembers: claims and evidence",
        fields={"query": Field(kind=str, about="the question")},
        target="query",
        evidence="memory_recall",
    ),
    Tool(
        name="run",
        class_="shell",
        about="runs a command in the workspace; what cannot be taken back is asked about first",
        fields={
            "command": Field(kind=str, about="a line for the shell"),
            "timeout_s": Field(kind=int, about=f"seconds it may take, at most {COMMAND_MAX_S:.0f}", needed=False),
        },
        target="command",
        mutating=True,
        offline=False,
        evidence="direct_runtime",
    ),
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _ORDER}


def target_of(given: Mapping[str, Any]) -> str | None:
    """What a call is about: the first of the target fields that its input has."""
    found = next((given[field] for field in TARGET_FIELDS if given.get(field) is not None), None)
    return None if found is None else str(found)
