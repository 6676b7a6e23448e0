"""Schema 3: cards with their links and events, outcomes of guidance, and cards of another program that wait to be taken over.

The rules of the first schema hold: every key begins with brain_id, and no row refers to another brain's.
"""

from hindbrain.stores.migrations.words import (
    ERASING,
    POSTGRES_TYPES,
    SQLITE_TYPES,
    figures,
    guarded,
    kept_in_postgres,
    kept_in_sqlite,
    tables,
)

__all__ = ["POSTGRES", "SQLITE", "TABLES"]

TABLES: dict[str, str] = {
    # `version` and `status_seq` are entries of the ledger: the last change, and the one that gave the status. `terms` are the
    # words a card is found by. What a rule forbids is refused by the database itself, whoever writes.
    "card": """(
        brain_id {T} not null, id {T} not null, statement {T} not null, content {T} not null,
        tier {T} not null check (tier in ('dao_tian', 'dao_ren', 'shu', 'qi')),
        status {T} not null check (status in ('candidate', 'promoted', 'canonical', 'demoted', 'retired')),
        domain {T} not null check (domain in ('project', 'agent', 'skill', 'global')), field {T} not null default 'general',
        anchor_kind {T} not null check (anchor_kind in ('worktree', 'repo', 'global')), anchor_id {T} not null,
        parent_anchor_id {T}, scope_constraints {T}, trigger_hints {T},
        importance {N} not null check (importance between 0 and 5), opt_in {N} not null check (opt_in in (0, 1)),
        derived_from {T}, supersedes {T}, created_by {T} not null,
        created_at {N} not null, updated_at {N} not null, version {N} not null, status_seq {N} not null, terms {T} not null,
        primary key (brain_id, id), check (anchor_kind <> 'global' or domain = 'global'),
        check (status <> 'canonical' or tier = 'dao_tian')){heap}""",
    "card_link": """(
        brain_id {T} not null, card_id {T} not null, evidence_id {T} not null,
        role {T} not null check (role in ('supporting', 'verification', 'counterexample', 'teaching')),
        note {T} not null, at {N} not null, place {N} not null,
        primary key (brain_id, card_id, evidence_id, role),
        foreign key (brain_id, card_id) references card (brain_id, id) on delete restrict,
        foreign key (brain_id, evidence_id) references evidence (brain_id, id) on delete restrict){heap}""",
    "card_event": """(
        brain_id {T} not null, seq {N} not null, card_id {T} not null,
        event_type {T} not null check (event_type in
            ('created', 'promoted', 'demoted', 'retired', 'linked', 'unlinked', 'updated', 'published_anchor')),
        from_status {T}, to_status {T}, reason {T} not null, actor {T} not null, channel {T} not null, metadata {T} not null,
        at {N} not null,
        primary key (brain_id, seq),
        foreign key (brain_id, card_id) references card (brain_id, id) on delete restrict){heap}""",
    # An outcome outlives the card it is about, so it refers to it by name only.
    "adoption_event": """(
        brain_id {T} not null, id {T} not null, seq {N} not null,
        track {T} not null check (track in
            ('runtime_adoption', 'card_context', 'card_embedding', 'evaluator', 'research_adapter')),
        signal {T} not null check (signal in
            ('used', 'accepted', 'rejected', 'miss', 'rollback', 'contradiction', 'neutral')),
        feature {T} not null, actor {T} not null, channel {T} not null, at {N} not null, query {T}, context_hash {T}, card_id {T},
        evaluator_id {T}, research_report_id {T}, note {T}, metadata {T} not null,
        primary key (brain_id, id)){heap}""",
    # A knowledge row of another program, as it stood there (JSON), until it becomes a card.
    "foreign_card": """(
        brain_id {T} not null, id {T} not null, body {T} not null, at {N} not null,
        primary key (brain_id, id)){heap}""",
}

# Grows with each change of a card, a link or a card's evidence: who holds cards in memory sees that they are out of date.
_HEAD = ("alter table brain_head add column card_turn {N} not null default 0",)

_INDEXES = (
    "create index card_standing on card (brain_id, tier, status)",
    "create index card_axes on card (brain_id, domain, field)",
    "create index card_anchor on card (brain_id, anchor_kind, anchor_id)",
    "create index card_link_evidence on card_link (brain_id, evidence_id)",
    "create index card_event_card on card_event (brain_id, card_id, seq)",
    "create index adoption_track on adoption_event (brain_id, track, at)",
    "create index adoption_feature on adoption_event (brain_id, feature)",
    "create index adoption_signal on adoption_event (brain_id, signal)",
    # How much was observed of each subject, without reading what was observed. Most rows have none in particular.
    "create index evidence_field on evidence (brain_id, field, turn) where deleted_at is null and field <> 'general'",
    # What somebody marked as important, the most important first. Most rows are not, and cost nothing here.
    "create index evidence_importance on evidence (brain_id, importance, added_at, id) "
    "where deleted_at is null and importance > 0",
)

_STATISTICS = (
    ("card", "sqlite_autoindex_card_1", "5000 5000 1"),
    ("card", "card_standing", "5000 5000 1250 250"),
    ("card", "card_axes", "5000 5000 1250 50"),
    ("card", "card_anchor", "5000 5000 2000 500"),
    ("card_link", "sqlite_autoindex_card_link_1", "20000 20000 4 1 1"),
    ("card_link", "card_link_evidence", "20000 20000 2"),
    ("card_event", "sqlite_autoindex_card_event_1", "20000 20000 1"),
    ("card_event", "card_event_card", "20000 20000 4 1"),
    ("adoption_event", "sqlite_autoindex_adoption_event_1", "20000 20000 1"),
    ("adoption_event", "adoption_track", "20000 20000 4000 1"),
    ("adoption_event", "adoption_feature", "20000 20000 2000"),
    ("adoption_event", "adoption_signal", "20000 20000 3000"),
    ("evidence", "evidence_field", "100000 100000 5000 1"),
    ("evidence", "evidence_importance", "10000 10000 2000 1 1"),
)

# History is only added to. What a person lets be forgotten for good goes while the note `erasing` stands, in one transaction.
_KEPT = ("card_event", "adoption_event")

SQLITE = (
    *tables(TABLES, SQLITE_TYPES),
    *(statement.format(**SQLITE_TYPES) for statement in _HEAD),
    *_INDEXES,
    *figures(_STATISTICS),
    *kept_in_sqlite(_KEPT),
)

POSTGRES = (
    *tables(TABLES, POSTGRES_TYPES),
    *(statement.format(**POSTGRES_TYPES) for statement in _HEAD),
    *_INDEXES,
    f"""create function hindbrain_append_only() returns trigger language plpgsql set search_path = {{schema}}, pg_temp as $$
    begin
        if tg_op = 'DELETE' then
            if {ERASING} then
                return old;
            end if;
        end if;
        raise exception '% is append-only', tg_table_name;
    end $$""",
    *kept_in_postgres(_KEPT),
    *guarded(TABLES),
)
