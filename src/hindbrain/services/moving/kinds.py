"""Kinds: every program whose memory can move in, in the order in which a path is looked at."""

from hindbrain.services.moving import basic_memory, claude_code, claude_mem, codex, graph_memory, m1nd, mem0
from hindbrain.services.moving.source import Kind

__all__ = ["KINDS"]

KINDS: tuple[Kind, ...] = (
    claude_mem.KIND,
    claude_code.KIND,
    codex.KIND,
    m1nd.KIND,
    graph_memory.KIND,
    mem0.KIND,
    basic_memory.KIND,
)
