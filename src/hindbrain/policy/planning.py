"""Planning policy: how much of memory reaches a plan, what makes two plans the same, and how goals are worded."""

from collections.abc import Mapping

__all__ = [
    "ALIKE",
    "COMBINATIONS",
    "EMPTY_CRITERIA",
    "ENTRIES",
    "ENTRY_CUT",
    "FILE_ENDINGS",
    "FILE_KINDS",
    "GENERATIONS",
    "GUIDANCE",
    "MEMORY_S",
    "PAIRS_ASKED",
    "RECENT",
    "TASKS_KEPT",
    "TEST_COMMANDS",
    "TOOL_DISTRUST",
]

GENERATIONS = 3  # a plan and two more tries; who offends three times will offend again
ALIKE = 0.8  # share of common words from which two plans say the same
MEMORY_S = 0.25  # memory that takes longer is not worth the wait
ENTRIES = 10  # memories of one plan: more push the task itself out of sight
ENTRY_CUT = 400  # characters of one memory
RECENT = 3  # newest episodes that are quoted
PAIRS_ASKED = 16  # pairs of tool and target that one plan asks memory about; each is a message that is kept
TOOL_DISTRUST = (5.0, -3.0)  # attention and decision over all targets of a tool; less is the fault of single targets
COMBINATIONS = 400  # plans that are compared before the planner says that no way is left
TASKS_KEPT = 256  # tasks whose plans are remembered, in case their ends were not heard

# Criteria that no result can fail.
EMPTY_CRITERIA = (
    r"\b(all|every|each)\b[^.]{0,20}\bsub-?tasks?\b[^.]{0,20}\b(completed?|done|finished|succeed(s|ed)?|matched)\b"
    r"|\b(task|goal|request|intent)\b[^.]{0,15}\b(is|was|has been)\b[^.]{0,10}"
    r"\b(completed?|done|finished|fulfilled|satisfied|achieved)\b"
    r"|\bno (errors?|problems?) (occurred|occur)\b"
    r"|\b(user|person) is (happy|satisfied)\b"
)

# What the kind of a failure asks of the next plan.
GUIDANCE: Mapping[str, str] = {
    "environmental": "The surroundings were in the way: take another target or other parameters, and keep the method.",
    "logical": "The method was at fault: take another method or another class of tool.",
    "mixed": "First get the obstacles of the surroundings out of the way, then look at the method.",
}

# Endings by which people call files as well: `txt files`.
FILE_ENDINGS = (
    *(
        "txt",
        "md",
        "py",
        "js",
        "jsx",
        "ts",
        "tsx",
        "rs",
        "rb",
        "c",
        "h",
        "cc",
        "cpp",
        "hpp",
        "kt",
        "sh",
        "yml",
        "xml",
        "svg",
        "png",
    ),
    *(
        "jpg",
        "jpeg",
        "gif",
        "pdf",
        "ini",
        "cfg",
        "lock",
        "php",
        "swift",
        "lua",
        "zip",
        "gz",
        "db",
        "ipynb",
        "rst",
        "tex",
        "proto",
    ),
)

# How people call files, and the patterns of their names.
FILE_KINDS: Mapping[str, str] = {
    "python": "*.py",
    "markdown": "*.md",
    "text": "*.txt",
    "csv": "*.csv",
    "json": "*.json",
    "yaml": "*.y*ml",
    "toml": "*.toml",
    "log": "*.log",
    "html": "*.html",
    "css": "*.css",
    "javascript": "*.js",
    "typescript": "*.ts",
    "rust": "*.rs",
    "go": "*.go",
    "java": "*.java",
    "shell": "*.sh",
    "sql": "*.sql",
}

# How tests are run when nobody says how, the likeliest first.
TEST_COMMANDS = (
    "python -m pytest -q",
    "python -m unittest discover",
    "make test",
    "npm test",
)
