"""Proof tables: what a reference may be called, how sure an unproven claim may be, how much of outputs and packets is kept, and
which commands are tests, compilers and linters."""

from collections.abc import Mapping

from hindbrain.domain.mission import EventType, EvidenceClass, EvidenceGrade
from hindbrain.policy.missions import EVENTS

__all__ = [
    "AS_COMPARED",
    "BINARIES",
    "CONFIDENCE_CAP",
    "HITS_MOST",
    "LABELS",
    "NOT_SIGNED",
    "ONLY_TELLING",
    "ONLY_TELLING_OF",
    "OUTPUT_KEPT",
    "PACKET_MOST",
    "PROGRAMS",
    "RANKS",
    "READ_BY_US",
    "READ_MOST",
    "RUNNERS",
    "STEERING",
    "SUBCOMMANDS",
    "TARGETED",
]

_C, _E = EvidenceClass, EventType

OUTPUT_KEPT = 2_000  # characters of one text in a payload; the digest stands for the rest
PACKET_MOST = 16 * 1024  # bytes: an agent reads a packet whole
READ_MOST = 16 * 1024 * 1024  # bytes of a file that is digested; a larger one is no source that anybody reads
HITS_MOST = 50  # of a search, that are looked up again

# How sure a claim may be called: only direct evidence lets the agent's own number stand.
CONFIDENCE_CAP: Mapping[EvidenceGrade, float] = {"direct": 1.0, "direct_unverified": 0.5, "graph_only": 0.5, "inferred": 0.5}

RANKS: Mapping[EvidenceGrade, int] = {"inferred": 0, "graph_only": 1, "direct_unverified": 2, "direct": 3}

# What the kind of a reference stands for: a class by its own name, or the class of an event of that type. Exact words only.
LABELS: Mapping[str, EvidenceClass] = {
    **{kind.value: rule.evidence for kind, rule in EVENTS.items() if not rule.runtime_only},
    **{one.value: one for one in EvidenceClass},
}

# Labels that reading the named file backs. A test, a probe or a person's word is not in the file.
READ_BY_US = frozenset({_C.DIRECT_SOURCE, _C.DIRECT_SEARCH})

# Events that are about something: without it they say nothing.
TARGETED = frozenset({_E.FILE_READ, _E.DIR_LIST, _E.FILE_EDIT, _E.WEB_FETCH, _E.DEAD_PATH})

AS_COMPARED = (
    "a verified claim is as good as its comparison: one statement of what it cites accounts for its numbers, units, names, "
    "words, conditions and denials; what the words mean, and what other code does, was not checked"
)
NOT_SIGNED = "the digests show that nothing was changed, not who wrote it: the packet is not signed"

# Programs by what they do. A program of a project can have any name; then its run is a command and no test.
PROGRAMS: Mapping[str, EventType] = {
    **dict.fromkeys(
        ("pytest", "py.test", "tox", "nox", "jest", "vitest", "mocha", "ava", "ctest", "rspec", "phpunit", "bats", "unittest"),
        _E.TEST_RUN,
    ),
    **dict.fromkeys(
        ("gcc", "g++", "clang", "clang++", "cc", "c++", "rustc", "javac", "kotlinc", "ghc", "swiftc", "tsc", "mypy", "pyright"),
        _E.COMPILE,
    ),
    **dict.fromkeys(("compileall", "py_compile", "dmypy", "pyre"), _E.COMPILE),
    **dict.fromkeys(
        ("ruff", "flake8", "pylint", "eslint", "shellcheck", "golangci-lint", "rubocop", "yamllint", "hadolint", "stylelint"),
        _E.LINT,
    ),
}
# Programs whose first word decides.
SUBCOMMANDS: Mapping[str, Mapping[str, EventType]] = {
    "cargo": {"test": _E.TEST_RUN, "nextest": _E.TEST_RUN, "build": _E.COMPILE, "check": _E.COMPILE, "clippy": _E.LINT},
    "go": {"test": _E.TEST_RUN, "build": _E.COMPILE, "vet": _E.LINT},
    "npm": {"test": _E.TEST_RUN, "t": _E.TEST_RUN},
    "yarn": {"test": _E.TEST_RUN},
    "pnpm": {"test": _E.TEST_RUN},
    "bun": {"test": _E.TEST_RUN},
    "deno": {"test": _E.TEST_RUN, "check": _E.COMPILE, "lint": _E.LINT},
    "make": {"test": _E.TEST_RUN, "check": _E.TEST_RUN, "lint": _E.LINT},
    "dotnet": {"test": _E.TEST_RUN, "build": _E.COMPILE},
    "mvn": {"test": _E.TEST_RUN, "verify": _E.TEST_RUN, "compile": _E.COMPILE},
    "gradle": {"test": _E.TEST_RUN, "check": _E.TEST_RUN, "build": _E.COMPILE},
    "bazel": {"test": _E.TEST_RUN, "build": _E.COMPILE},
    "swift": {"test": _E.TEST_RUN, "build": _E.COMPILE},
    "zig": {"test": _E.TEST_RUN, "build": _E.COMPILE},
    "mix": {"test": _E.TEST_RUN, "compile": _E.COMPILE},
}
# Programs that start the rest of their line, and the words that stand between.
RUNNERS: Mapping[str, tuple[str, ...]] = {
    "env": (),
    "nice": (),
    "time": (),
    "command": (),
    "npx": (),
    "uvx": (),
    "uv": ("run",),
    "poetry": ("run",),
    "pipenv": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
    "bundle": ("exec",),
}
# Where a program with a path may lie and still be what it is called.
BINARIES = ("/bin", "/.bin")
# Options with which a program only tells something, or leaves out what it is called for.
ONLY_TELLING = frozenset(
    {
        *("--version", "--help", "-h", "-V", "--collect-only", "--co", "--list-tests", "--listTests"),
        *("--fixtures", "--fixtures-per-test", "--markers", "--setup-plan", "--setup-only"),  # pytest
        *("--no-run", "--list", "-list", "--listenvs", "--listenvs-all", "--list-sessions", "--show-only", "--if-present"),
        *("--dry-run", "--just-print", "--recon", "--question", "--touch"),  # make, and others by the first
        *("-DskipTests", "-DskipTests=true", "-Dmaven.test.skip=true"),
    }
)
# Short ones that other programs use for something else.
ONLY_TELLING_OF: Mapping[str, frozenset[str]] = {
    "make": frozenset("nqt"),
    "ctest": frozenset("N"),
    "tox": frozenset("la"),
    "nox": frozenset("l"),
    "gradle": frozenset("m"),
    "bats": frozenset("c"),
}
# Variables that hold options of a program: what it does is then not what its words say.
STEERING = frozenset({"PYTEST_ADDOPTS", "PYTEST_PLUGINS", "MAKEFLAGS", "GNUMAKEFLAGS", "MAVEN_ARGS"})
