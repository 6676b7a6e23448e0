"""Schema 4: experience, the messages of the control loop, and what models were asked.

The rules of the first schema hold: every key begins with brain_id, and no row refers to another brain's.
"""

from hindbrain.stores.migrations.words import (
    POSTGRES_TYPES,
    SQLITE_TYPES,
    figures,
    guarded,
    kept_in_postgres,
    kept_in_sqlite,
    tables,
)

__all__ = ["POSTGRES", "SQLITE", "TABLES"]

# R is a floating-point number of 64 bits.
_LEVELS = "('M', 'K', 'C', 'T')"

TABLES: dict[str, str] = {
    # As it was written; nothing of it ever changes. Times are milliseconds since 1970, UTC.
    "megram": f"""(
        brain_id {{T}} not null, id {{T}} not null, level {{T}} not null check (level in {_LEVELS}), created_at {{N}} not null,
        space {{T}} not null, entity {{T}} not null, content {{T}} not null, state {{T}} not null,
        f {{R}} not null check (f between 0 and 1), sigma {{R}} not null check (sigma between -1 and 1),
        k {{R}} not null check (k >= 0), writer {{T}} not null check (writer in ('R7', 'dreamer', 'operator')),
        task_id {{T}}, mission_id {{T}}, round {{N}}, source_event_id {{T}}, loss {{T}}, category {{T}}, tags {{T}} not null,
        derived_from {{T}} not null, supersedes {{T}},
        primary key (brain_id, id), check (k = 0 or level in ('M', 'K'))){{heap}}""",
    # What befell a megram. It outlives the megram, so it refers to it by name only.
    "megram_event": f"""(
        brain_id {{T}} not null, seq {{N}} not null, at {{N}} not null, megram_id {{T}} not null,
        kind {{T}} not null check (kind in
            ('consolidated', 'demoted', 'promoted_k', 'superseded', 'forgotten', 'restored')),
        level {{T}} check (level in {_LEVELS}), k {{R}} check (k >= 0), into_id {{T}}, content_sha256 {{T}},
        detail {{T}} not null,
        primary key (brain_id, seq)){{heap}}""",
    # What counts of a megram now: follows from the two tables above, and from its recall, which is kept nowhere else. What it
    # adds to a sum while it is new stands here as well, so that one index answers for a pair.
    "megram_clock": f"""(
        brain_id {{T}} not null, megram_id {{T}} not null, space {{T}} not null, entity {{T}} not null, created_at {{N}} not null,
        attention {{R}} not null, decision {{R}} not null, level {{T}} not null check (level in {_LEVELS}),
        k {{R}} not null check (k >= 0), origin {{N}} not null, fades_at {{N}}, consolidated_at {{N}}, superseded_at {{N}},
        last_recalled_at {{N}}, recalls {{N}} not null,
        primary key (brain_id, megram_id),
        foreign key (brain_id, megram_id) references megram (brain_id, id) on delete restrict){{heap}}""",
    "megram_tag": """(
        brain_id {T} not null, tag {T} not null, megram_id {T} not null,
        primary key (brain_id, tag, megram_id),
        foreign key (brain_id, megram_id) references megram (brain_id, id) on delete restrict){flat}""",
    # What the Dreamer has still to look at, and what it wants to see again though nothing new comes.
    "megram_pair": """(
        brain_id {T} not null, space {T} not null, entity {T} not null,
        unsettled {N} not null check (unsettled in (0, 1)), watch {N} not null check (watch in (0, 1)),
        primary key (brain_id, space, entity)){flat}""",
    # `seq` is the entry of the ledger that records it. The text may be erased; the entry stays.
    "control_message": """(
        brain_id {T} not null, seq {N} not null, id {T} not null, at {N} not null, sender {T} not null, recipient {T} not null,
        type {T} not null, task_id {T}, body {T} not null,
        primary key (brain_id, seq)){heap}""",
    # `seq` is the entry that records the beginning. Until a call is settled it counts with the most it may cost.
    "model_call": """(
        brain_id {T} not null, seq {N} not null, at {N} not null, task_id {T}, role {T} not null, provider {T} not null,
        model {T} not null, prompt_tokens {N} not null check (prompt_tokens >= 0),
        completion_tokens {N} not null check (completion_tokens >= 0), elapsed_ms {N} not null,
        cost_micros {N} not null check (cost_micros >= 0), outcome {T} not null, prompt {T} not null, reply {T} not null,
        primary key (brain_id, seq)){heap}""",
}

_LIVE = "consolidated_at is null and superseded_at is null"

_INDEXES = (
    "create index megram_time on megram (brain_id, created_at, id)",
    "create index megram_task on megram (brain_id, task_id, created_at, id) where task_id is not null",
    "create index megram_category on megram (brain_id, space, entity) where category is not null",
    "create index megram_event_megram on megram_event (brain_id, megram_id, seq)",
    # A pair's megrams in their order, and all that its sums need: a second index over pairs would double what a write costs.
    "create index megram_clock_pair on megram_clock (brain_id, space, entity, created_at, megram_id, "
    "level, origin, k, attention, decision, consolidated_at, superseded_at)",
    "create index megram_clock_level on megram_clock (brain_id, level, created_at, megram_id)",
    f"create index megram_clock_fading on megram_clock (brain_id, fades_at, megram_id) where fades_at is not null and {_LIVE}",
    "create index megram_clock_spent on megram_clock (brain_id, consolidated_at, megram_id) where consolidated_at is not null",
    "create index megram_tag_megram on megram_tag (brain_id, megram_id)",
    "create index megram_pair_open on megram_pair (brain_id, space, entity) where unsettled + watch > 0",
    "create unique index control_message_id on control_message (brain_id, id)",
    "create index control_message_task on control_message (brain_id, task_id, seq) where task_id is not null",
    "create index control_message_recipient on control_message (brain_id, recipient, seq)",
    "create index model_call_task on model_call (brain_id, task_id, seq) where task_id is not null",
    "create index model_call_at on model_call (brain_id, at)",
)

_STATISTICS = (
    ("megram", "sqlite_autoindex_megram_1", "1000000 1000000 1"),
    ("megram", "megram_time", "1000000 1000000 1 1"),
    ("megram", "megram_task", "1000000 1000000 10 2 1"),
    ("megram", "megram_category", "50000 50000 250 5"),
    ("megram_event", "sqlite_autoindex_megram_event_1", "500000 500000 1"),
    ("megram_event", "megram_event_megram", "500000 500000 2 1"),
    ("megram_clock", "sqlite_autoindex_megram_clock_1", "1000000 1000000 1"),
    ("megram_clock", "megram_clock_pair", "1000000 1000000 5000 20 1 1 1 1 1 1 1 1 1"),
    ("megram_clock", "megram_clock_level", "1000000 1000000 300000 1 1"),
    ("megram_clock", "megram_clock_fading", "1000000 1000000 1 1"),
    ("megram_clock", "megram_clock_spent", "100000 100000 10 1"),
    ("megram_tag", "megram_tag", "1000000 1000000 1000 1"),
    ("megram_tag", "megram_tag_megram", "1000000 1000000 2"),
    ("megram_pair", "megram_pair", "50000 50000 250 1"),
    ("megram_pair", "megram_pair_open", "500 500 5 1"),
    ("control_message", "sqlite_autoindex_control_message_1", "1000000 1000000 1"),
    ("control_message", "control_message_id", "1000000 1000000 1"),
    ("control_message", "control_message_task", "1000000 1000000 100 1"),
    ("control_message", "control_message_recipient", "1000000 1000000 100000 1"),
    ("model_call", "sqlite_autoindex_model_call_1", "100000 100000 1"),
    ("model_call", "model_call_task", "100000 100000 20 1"),
    ("model_call", "model_call_at", "100000 100000 1"),
)

# Only added to. What fades, or what a person lets be forgotten, goes while the note `erasing` stands, in one transaction.
_KEPT = ("megram", "megram_event", "control_message")

SQLITE = (
    *tables(TABLES, SQLITE_TYPES),
    *_INDEXES,
    *figures(_STATISTICS),
    *kept_in_sqlite(_KEPT),
)

POSTGRES = (
    *tables(TABLES, POSTGRES_TYPES),
    *_INDEXES,
    *kept_in_postgres(_KEPT),
    *guarded(TABLES),
)
