"""Evidence: how text is cut, how much is taken at once, and what of a log is no evidence. Numbers with their reasons."""

import re
from dataclasses import dataclass

__all__ = [
    "BATCH_ROWS",
    "CODE",
    "CODE_SUFFIXES",
    "DOCUMENT_MAX_BYTES",
    "DOCUMENT_SUFFIXES",
    "EXPORT_MAX_BYTES",
    "HARD_CUT",
    "HOST_TEXT",
    "IGNORE_FILE",
    "LINE_MAX_BYTES",
    "MESSAGE",
    "NEAR_TURNS",
    "NEIGHBOURS_MOST",
    "NOISE",
    "NOISE_MAX",
    "NORMALIZE_VERSION",
    "OVERLAP",
    "PATH_MAX",
    "RECORD_MAX_BYTES",
    "REFUSED_MOST",
    "SAMPLE_LINES",
    "SECTION",
    "SHORT_WORDS",
    "SKIPPED_DIRECTORIES",
    "SOURCE_LOCK_S",
    "SOURCE_MAX",
    "TAGS_MOST",
    "TAG_MAX",
    "TEXT_MAX_BYTES",
    "WINDOW",
    "WORD_MAX",
    "Limit",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How large a chunk may be. All three hold: characters for people, words for the recipe, tokens for the embedder."""

    chars: int
    words: int
    tokens: int


_TOKENS = 240  # the embedder reads 256, two of them its own; ours are estimated, so some are left over

MESSAGE = Limit(chars=1_400, words=160, tokens=_TOKENS)  # 160 words measured best for long messages
SECTION = Limit(chars=1_000, words=180, tokens=_TOKENS)  # paragraphs of one heading that stay together
CODE = Limit(chars=1_000, words=180, tokens=_TOKENS)  # blank-line blocks; code has more tokens a character

WINDOW = 800  # characters of plain text that has no structure to respect
OVERLAP = 100  # shared by two windows: a sentence that is cut in one is whole in the other
HARD_CUT = 200  # a run without white space is cut here; no text has more tokens than characters

SHORT_WORDS = 60  # below: a turn of a conversation, found also by the turns around it
NEAR_TURNS = 2  # that many before and after; measured: one finds less, four dilute
NORMALIZE_VERSION = 3  # grows when reading or stripping changes; rows of an older one can be read again

BATCH_ROWS = 500  # rows a transaction: a kill loses at most this many, and commits stay rare
SOURCE_LOCK_S = 5.0  # a second reader of the same source waits this long for the first
SAMPLE_LINES = 64  # lines that are looked at to know a format

LINE_MAX_BYTES = 32 * 1024 * 1024  # one line of an export; longer is an image or an attack
EXPORT_MAX_BYTES = 512 * 1024 * 1024  # an export that is one JSON document has to be in memory at once
DOCUMENT_MAX_BYTES = 16 * 1024 * 1024  # one text file; more is data
TEXT_MAX_BYTES = 128 * 1024 * 1024  # a text that comes in the call itself; bad bytes have three of them each
RECORD_MAX_BYTES = 65_536  # one observation; a document goes through memory.ingest
WORD_MAX = 200  # characters of a wing, room, field, speaker or role: names, not texts
PATH_MAX = 5_000  # of a path that an export brings along: longer than any a file system takes
SOURCE_MAX = 10 * WORD_MAX  # of where something comes from: paths and addresses are longer than names
TAG_MAX = 64
TAGS_MOST = 32
REFUSED_MOST = 50  # refusals named one by one in an answer; the count has them all
NEIGHBOURS_MOST = 10  # with more results than this the chunks beside each would drown them

IGNORE_FILE = ".hindbrainignore"
# By-products, whatever the ignore rules say.
SKIPPED_DIRECTORIES = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".hindbrain",
        ".m1nd",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        "__pycache__",
        "node_modules",
        "target",
        "venv",
    }
)

DOCUMENT_SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".rst", ".adoc"})
CODE_SUFFIXES = frozenset(
    (
        *(".bash", ".c", ".cc", ".cfg", ".conf", ".cpp", ".cs", ".css", ".go", ".h", ".hpp", ".html", ".ini", ".java", ".js"),
        *(".json", ".jsx", ".kt", ".lua", ".mjs", ".php", ".pl", ".ps1", ".py", ".r", ".rb", ".rs", ".scala", ".sh", ".sql"),
        *(".swift", ".toml", ".ts", ".tsx", ".vue", ".xml", ".yaml", ".yml", ".zig"),
    )
)

NOISE_MAX = 128 * 1024  # characters of a message that is looked through for noise; hosts write no longer ones
# What an agent host writes into its own log beside what was said. Each takes whole lines or blocks outside code fences, and none
# looks at a character more often than a few times, whatever somebody wrote there.
HOST_TEXT = re.compile(  # files of instructions that a host puts into a conversation as words of the user, fences and all
    r"^# AGENTS\.md instructions\b[^\n]*\n\s*<INSTRUCTIONS>.*?^</INSTRUCTIONS>[ \t]*\n?", re.S | re.M
)
NOISE: tuple[re.Pattern[str], ...] = (
    re.compile(r"^[ \t]*<system-reminder>.*?(?:</system-reminder>|\Z)[ \t]*(?:\n|\Z)", re.S | re.M),
    re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.S),
    re.compile(
        r"^[ \t]*<(command-(?:name|message|args)|local-command-std(?:out|err))>(?:(?!<\1>).)*?</\1>[ \t]*\n?", re.S | re.M
    ),
    re.compile(r"^[ \t]*<(environment_context|user_instructions|turn_aborted)>(?:(?!<\1>).)*?</\1>[ \t]*\n?", re.S | re.M),
    re.compile(r'^[ \t]*\[(?:\s*+"toolu_\w++"\s*+,?+)++\][ \t]*(?:\n|\Z)', re.M),
    re.compile(r"^Base directory for this skill:.*?(?:\n[ \t]*\n|\Z)", re.S | re.M),
    re.compile(r"^[ \t]*\[?session (?:started|ended)\b[^\n]*(?:\n|\Z)", re.I | re.M),
)
