"""Ingest: how much of a tree is read, how long that may take, and what is never looked at."""

from typing import Final

__all__ = [
    "BATCH_BYTES",
    "BATCH_FILES",
    "COMMITS",
    "COMMIT_FILES",
    "DEBOUNCE_MS",
    "DOCUMENTS",
    "FILE_SECONDS",
    "HISTORY_SECONDS",
    "IDLE_SECONDS",
    "INGEST_SECONDS",
    "INGEST_WAIT_SECONDS",
    "NOTES",
    "RACY_NS",
    "SKIPPED_DIRECTORIES",
    "SKIPPED_FILES",
    "SMALL_BYTES",
    "STEP_MS",
    "TOGETHER",
    "TOGETHER_EDGES",
    "TOGETHER_LEAST",
    "WATCH_RETRY_SECONDS",
    "WORKERS",
]

INGEST_SECONDS: Final = 300.0  # of one ingest; then it stops with what it has and says so
INGEST_WAIT_SECONDS: Final = 20.0  # that a second ingest of the same brain waits before it is told to come back
RACY_NS: Final = 2_000_000_000  # a file written this shortly before it was read is read again: file times are that coarse
FILE_SECONDS: Final = 10.0  # of one file: the slowest sane one needs a tenth of that
WORKERS: Final = 2  # parsing processes; beside the one that writes, more than two cores have nothing left to do
SMALL_BYTES: Final = 400_000  # up to this much a second process costs more than it saves
BATCH_FILES: Final = 24  # files handed to a worker at once
BATCH_BYTES: Final = 400_000
IDLE_SECONDS: Final = 300.0  # after which a worker that nobody needs goes: it holds some 60 MB

COMMITS: Final = 5_000  # of the log that are read: older ones say little of what changes together today
COMMIT_FILES: Final = 50  # a commit of more files is a rename or a reformat and binds nothing
HISTORY_SECONDS: Final = 30.0
TOGETHER: Final = 40  # files kept per file, those committed with it most often
TOGETHER_EDGES: Final = 8  # of them with an edge: enough to find the way, few enough not to drown the structure
TOGETHER_LEAST: Final = 2  # commits that two files must share: one may be chance
DEBOUNCE_MS: Final = 300  # quiet time before changed files are read: an editor writes a file in several steps
STEP_MS: Final = 100  # without a further change, after which those so far are read
WATCH_RETRY_SECONDS: Final = 2.0  # before a watcher tries again while another ingest is at work

NOTES: Final = (".md", ".markdown", ".txt")
DOCUMENTS: Final = (".md", ".markdown", ".mdx", ".txt", ".text", ".html", ".htm", ".rst")  # read without any other program
SKIPPED_DIRECTORIES: Final = frozenset(
    {".git", ".hindbrain", ".m1nd", "node_modules", "__pycache__", ".venv", "target", "dist", "build", ".next", "vendor"}
)
SKIPPED_FILES: Final = frozenset({"package-lock.json", "yarn.lock", "Cargo.lock", "poetry.lock"})
