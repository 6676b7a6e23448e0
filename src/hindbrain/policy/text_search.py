"""Text search: what is read, how long one pattern may take, and which directories are never looked into."""

__all__ = [
    "CALL_SECONDS",
    "CONTEXT_DEFAULT",
    "CONTEXT_MAX",
    "FILE_MAX_BYTES",
    "FILE_SECONDS",
    "GLOB_TOP_K",
    "LAST",
    "LINE_SHOWN",
    "NAMED_FILES",
    "PATTERN_MAX",
    "SEARCH_TOP_K",
    "SEARCH_TOP_K_MAX",
    "SKIPPED_DIRECTORIES",
]

SEARCH_TOP_K = 50
SEARCH_TOP_K_MAX = 500
GLOB_TOP_K = 200
CONTEXT_DEFAULT = 2
CONTEXT_MAX = 10
PATTERN_MAX = 1_000  # characters of a query: a longer one is a pasted file, and compiling it costs more than the search
FILE_MAX_BYTES = 8 * 1024 * 1024  # larger files are data; they are named as not read instead of holding the owner up
FILE_SECONDS = 0.25  # a sane pattern needs a thousandth of this for the largest source file
CALL_SECONDS = 10.0  # after this the rest of the files is named as not read
LINE_SHOWN = 400  # characters of a line in a result: minified code has lines of a megabyte
NAMED_FILES = 20  # names listed of files that were not read; the number is always exact

# Other people's code, by-products and our own records: a hit in there says nothing about the project.
SKIPPED_DIRECTORIES = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "target",
        "dist",
        "build",
        ".hindbrain",
        ".m1nd",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
    }
    | {".mypy_cache"}
)

# Parts of a path whose hits come last: they repeat what the sources say.
LAST = ("fixture", "fixtures", "testdata", "snapshots", "__snapshots__", "generated", "vendor", "third_party", "golden")
