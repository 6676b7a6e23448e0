"""Telemetry table: which operations are memory operations, in the words of the semantic conventions for generative AI (July 2026,
still in development there). No text of a caller is ever among the attributes."""

from collections.abc import Mapping

__all__ = ["MEMORY_OPERATIONS", "RECORD_LISTS", "SCHEMA_URL", "SCOPE"]

SCOPE = "hindbrain"
SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"

_SEARCH, _UPSERT, _CREATE, _UPDATE, _DELETE = "search_memory", "upsert_memory", "create_memory", "update_memory", "delete_memory"

MEMORY_OPERATIONS: Mapping[str, str] = {
    **dict.fromkeys(("north", "seek", "recall", "context", "memory.search", "knowledge.retrieve", "experience.query"), _SEARCH),
    **dict.fromkeys(("memorize", "boot_memory"), _UPSERT),  # a claim with this label may be there already
    **dict.fromkeys(("memory.ingest", "record", "knowledge.create", "knowledge.distill", "experience.remember"), _CREATE),
    **dict.fromkeys(("promote", "knowledge.edit", "knowledge.promote", "knowledge.demote", "experience.feedback"), _UPDATE),
    **dict.fromkeys(("claim.remove", "forget", "reject", "memory.delete", "memory.purge", "experience.forget"), _DELETE),
    "init": "create_memory_store",
    "uninit": "delete_memory_store",
}

RECORD_LISTS = ("results", "memory", "cards", "megrams")  # where an answer has the records it found
