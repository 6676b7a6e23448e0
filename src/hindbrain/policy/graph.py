"""The graph: how strongly each relation binds, and how much of a file is looked at."""

from dataclasses import dataclass

__all__ = [
    "BINARY_LOOK",
    "CHUNK_LINES",
    "CHUNK_MAX_LINES",
    "DOC_CHARS",
    "EXCERPT_CHARS",
    "FILE_IMPORT_WEIGHT",
    "LONGEST_LINE",
    "MAX_FILE_BYTES",
    "MAX_SYMBOLS",
    "REGISTERING",
    "STRENGTHS",
    "Strength",
    "strength",
]

MAX_FILE_BYTES = 1_000_000  # above it a file is generated or data; its parse would cost seconds and find nothing an agent edits
BINARY_LOOK = 8_192  # bytes searched for a NUL: every binary format of note shows one there
LONGEST_LINE = 5_000  # a line of this length, in a file of few lines, was written by a minifier
MAX_SYMBOLS = 20_000  # of one file; a file of constants must not fill the graph of a repository
EXCERPT_CHARS = 220
DOC_CHARS = 400  # of a docstring that help to find a file; what follows are parameters
CHUNK_LINES = 60  # measured: files are found best by their best stretch of about sixty lines
CHUNK_MAX_LINES = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """What an edge starts with."""

    weight: float
    causal: float


STRENGTHS = {
    "contains": Strength(weight=1.0, causal=0.0),
    "imports": Strength(weight=0.5, causal=0.6),
    "implements": Strength(weight=0.7, causal=0.4),
    "inherits": Strength(weight=0.7, causal=0.4),  # as strong a promise as an interface
    "calls": Strength(weight=0.4, causal=0.5),
    "type": Strength(weight=0.3, causal=0.4),  # a type in a signature; stored as `references`
    "decorator": Strength(weight=0.4, causal=0.4),  # stored as `references`
    "references": Strength(weight=0.5, causal=0.4),
    "tests": Strength(weight=0.5, causal=0.5),
    "registers": Strength(weight=0.7, causal=0.7),
    "declares_module": Strength(weight=0.7, causal=0.4),
}
FILE_IMPORT_WEIGHT = 0.6  # an import that was resolved from file to file is surer than one that names a symbol


def strength(relation: str) -> Strength:
    """What an edge of this relation starts with."""
    return STRENGTHS.get(relation) or STRENGTHS["references"]


# Calls that hand something over to be run later by somebody else: the argument is what they bind.
_REGISTERING = """
register register_blueprint register_module register_plugin register_handler register_component register_service
include_router include add_url_rule add_command add_typer add_route add_router add_api_route add_handler add_subparser
add_middleware mount use connect subscribe installPlugin addPlugin registerPlugin registerModule registerComponent HandleFunc
Handle AddService
"""
REGISTERING = frozenset(_REGISTERING.split())
