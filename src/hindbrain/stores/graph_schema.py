"""The tables of graph.db. Node keys are small integers; edges and references lie packed beside the file that wrote them.

A million edges are read as a few hundred blobs instead of a million rows, and a changed file replaces one row.
"""

import string
from typing import Any

__all__ = ["CHUNK_BITS", "EDGE", "FIELDS", "PLAIN_VERSION", "SCHEMA", "VERSION", "edge_type"]

PLAIN_VERSION = 2  # the last one without checksums; its tables are the same
VERSION = 3  # a file of another version is set aside and made again
CHUNK_BITS = 20  # row of a chunk = file << 20 | its number: no table is needed to find the file again
HASH_BYTES = 32 * 1024 * 1024  # what full text gathers before it writes a segment: few segments need no merging
FIELDS = ("chunks", "names", "whole")

# One tuple per packed row, as numpy's structured types want it.
EDGE = (
    ("source", "<i4"),
    ("target", "<i4"),
    ("relation", "<i4"),  # the number of a word: a large tree has more than two bytes can count
    ("flags", "<i2"),  # 1 bidirectional, 2 inhibitory
    ("weight", "<f4"),
    ("causal", "<f4"),
)

# Terms are words already: only white space parts them, as in the index of claims.
_KEPT = string.punctuation.replace("'", "''").replace('"', '""')
_TEXT = f"content = '', contentless_delete = 1, tokenize = \"ascii tokenchars '{_KEPT}'\""

SCHEMA = (
    "create table meta (key text primary key, value text not null) strict, without rowid",
    "create table word (id integer primary key, text text not null unique) strict",
    # A source of nodes: a file of the checkout (kind 0), or something else that was merged in (kind 1).
    "create table owner (id integer primary key, kind integer not null, name text not null, size integer not null default 0, "
    "mtime_ns integer not null default 0, sha256 text not null default '', language text not null default '', "
    "lines integer not null default 0, commits integer not null default 0, last_commit integer not null default 0, "
    "parse text not null default '', last_modified real not null default 0, change_frequency real not null default 0, "
    "spans blob not null default x'', unique (kind, name)) strict",
    "create table pack (owner integer primary key, imports text not null, refs blob not null, bases text not null, "
    "names blob not null, inner blob not null, outer blob not null, resolved integer not null, ambiguous integer not null, "
    "unresolved integer not null) strict",
    "create table node (id integer primary key, ext text not null unique, label text not null, kind integer not null, "
    "owner integer not null, line_start integer not null, line_end integer not null, excerpt text not null, "
    "namespace integer not null, tags integer not null, path text, last_modified real, change_frequency real) strict",
    "create index node_of_owner on node (owner)",
    "create index node_by_label on node (label)",
    "create table together (owner integer primary key, others blob not null) strict",
    *(f"create virtual table {field} using fts5(terms, {_TEXT})" for field in FIELDS),
    *(f"insert into {field} ({field}, rank) values ('hashsize', {HASH_BYTES})" for field in FIELDS),
    f"pragma user_version = {VERSION}",
)


def edge_type() -> Any:
    """numpy's type of a packed edge. numpy is loaded when the first graph is."""
    import numpy as np

    return np.dtype(list(EDGE))
