"""The registry: every operation once, with its types, effect, help text and errors."""

from hindbrain.operations import (
    boot,
    brains,
    claims,
    exchange,
    governance,
    graph,
    ledger,
    memory,
    migration,
    model,
    recall,
    recovery,
    search,
    session,
)
from hindbrain.operations.registry import REGISTRY, Effect, Operation, describe, dispatch, input_schema

__all__ = [
    "REGISTRY",
    "Effect",
    "Operation",
    "boot",
    "brains",
    "claims",
    "describe",
    "dispatch",
    "exchange",
    "governance",
    "graph",
    "input_schema",
    "ledger",
    "memory",
    "migration",
    "model",
    "recall",
    "recovery",
    "search",
    "session",
]
