"""The graph: how strongly each relation binds, and how much of a file is looked at."""

from dataclasses import dataclass

__all__ = [
    "BINARY_LOOK",
    "CHUNK_LINES",
    "CHUNK_MAX_LINES",
    "COMMON_NAMES",
    "DATA_KEYS",
    "DOCUMENT_OWNERS",
    "DOC_CHARS",
    "EXCERPT_CHARS",
    "FILE_IMPORT_WEIGHT",
    "LIGHT_STRENGTHS",
    "LONGEST_LINE",
    "MAX_FILE_BYTES",
    "MAX_SYMBOLS",
    "REGISTERING",
    "STRENGTHS",
    "Strength",
    "strength",
]

# How the names of owners of documents begin; `entities` owns what several documents name.
DOCUMENT_OWNERS = ("bibtex:", "entities", "json:", "light:", "memory:", "universal:")

MAX_FILE_BYTES = 1_000_000  # above it a file is generated or data; its parse would cost seconds and find nothing an agent edits
BINARY_LOOK = 8_192  # bytes searched for a NUL: every binary format of note shows one there
LONGEST_LINE = 5_000  # a line of this length, in a file of few lines, was written by a minifier
MAX_SYMBOLS = 20_000  # of one file; a file of constants must not fill the graph of a repository
DATA_KEYS = 300  # of a data file: a configuration has fewer, and a data set is no structure
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
# The parts of an L1GHT file: how each hangs on the file, on its section or on its claim.
LIGHT_STRENGTHS = {
    "meta": Strength(weight=1.0, causal=0.85),
    "dep": Strength(weight=1.0, causal=0.9),
    "next": Strength(weight=0.95, causal=0.82),
    "section": Strength(weight=1.0, causal=0.8),
    "tag": Strength(weight=0.9, causal=0.7),
    "evidence": Strength(weight=0.8, causal=0.8),
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

# Methods of every library: called on an object of unknown type they mean the library's, even if one class here has one too.
_COMMON = """
add all any append apply args as_str assert bind call clear clone close collect commit contains copy count create data decode
default delete dict dump dumps emit encode end endswith entries equals error exec execute exists exit expect expect_err extend
fetch fetchall fetchone filter find first flush foreach forEach format fn get getItem get_or_insert group groups handle has
hash hashCode head id identity index indexOf info init insert into into_iter is_empty is_none is_some isEmpty item items iter
join json key keys last len length less line list load loads lock log lower map match max merge message min name new next node
not_ ok_or on open parse path pop post print println push put query raise_ range read readline readlines ready recv reduce
register release remove render replace request reset resolve result return_value reverse rollback run save search seek select
send set setdefault shape size slice sleep sort sorted split splitlines start startswith state status stop str string strip
sub submit sum super tell test text then to_owned to_string toString tolist trace trim type union unwrap unwrap_err unwrap_or
update upper url use value values wait warn warning write writelines zip
"""
COMMON_NAMES = frozenset(_COMMON.split())
