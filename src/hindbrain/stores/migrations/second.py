"""Schema 2: evidence, how far its sources were taken in, and the vectors that PostgreSQL keeps beside it.

The rules of the first schema hold: every key begins with brain_id, and no row refers to another brain's.
"""

from hindbrain.stores.migrations.words import POSTGRES_TYPES, SQLITE_TYPES, figures, guarded, tables

__all__ = ["POSTGRES", "SQLITE", "TABLES"]

TABLES: dict[str, str] = {
    # `turn` comes from the counter that claims use too; `changed` is the turn at which the words last changed. `tags` is a JSON
    # list; `terms` and `near` are kept for live rows only. A bad anchor is refused by the database itself, whoever writes.
    "evidence": """(
        brain_id {T} not null, id {T} not null, turn {N} not null, content {T} not null, source {T} not null,
        source_type {T} not null check (source_type in ('project', 'conversation', 'manual')),
        provenance {T} not null check (provenance in ('human', 'research', 'runtime')),
        domain {T} not null check (domain in ('project', 'agent', 'skill', 'global')),
        field {T} not null, wing {T} not null, room {T}, tags {T} not null,
        importance {N} not null check (importance between 0 and 5), chunk_index {N} not null, normalize_version {N} not null,
        anchor_kind {T} not null check (anchor_kind in ('worktree', 'repo', 'global')), anchor_id {T} not null,
        parent_anchor_id {T}, thread {T}, position {N} not null, message {T} not null, speaker {T}, role {T}, said_at {N},
        added_at {N} not null, deleted_at {N}, changed {N} not null, terms {T} not null, near {T} not null,
        primary key (brain_id, id), check (anchor_kind <> 'global' or domain = 'global')){heap}""",
    "source": """(
        brain_id {T} not null, source {T} not null, scope {T} not null, digest {T} not null, normalize_version {N} not null,
        chunks {N} not null, done {N} not null check (done in (0, 1)), at {N} not null,
        primary key (brain_id, source, scope)){flat}""",
}

# What would be slow to count: live rows, and the words by which they are found, for the average length that BM25 asks for.
_HEAD = tuple(
    f"alter table brain_head add column {name} {{N}} not null default 0" for name in ("evidence", "evidence_terms", "claim_terms")
)
_COUNT_TERMS = (
    "update brain_head set claim_terms = (select coalesce(sum(length(v.terms) - length(replace(v.terms, ' ', '')) + 1), 0) "
    "from claim_version v where v.brain_id = brain_head.brain_id and v.terms <> '')"
)

_INDEXES = (
    "create index evidence_turn on evidence (brain_id, turn) where deleted_at is null",
    "create index evidence_anchor on evidence (brain_id, anchor_kind, anchor_id, turn) where deleted_at is null",
    "create index evidence_parent on evidence (brain_id, parent_anchor_id, turn) where deleted_at is null",
    "create index evidence_thread on evidence (brain_id, thread, position) where deleted_at is null",
    "create index evidence_source on evidence (brain_id, source, turn) where deleted_at is null",
    # Few rows: those whose neighbours came after them. An index that fell behind asks for these alone.
    "create index evidence_changed on evidence (brain_id, changed) where changed > turn",
)

_STATISTICS = (
    ("evidence", "sqlite_autoindex_evidence_1", "1000000 1000000 1"),
    ("evidence", "evidence_turn", "1000000 1000000 1"),
    ("evidence", "evidence_anchor", "1000000 1000000 300000 50000 1"),
    ("evidence", "evidence_parent", "1000000 1000000 100000 1"),
    ("evidence", "evidence_thread", "1000000 1000000 400 1"),
    ("evidence", "evidence_source", "1000000 1000000 100 1"),
    ("evidence", "evidence_changed", "100000 100000 4"),
    ("source", "source", "10000 10000 1 1"),
)

SQLITE = (
    *tables(TABLES, SQLITE_TYPES),
    *(statement.format(**SQLITE_TYPES) for statement in _HEAD),
    _COUNT_TERMS,
    *_INDEXES,
    *figures(_STATISTICS),
)

# On a server the vectors stand beside the rows and go with them in the same transaction. `raw`, `searched` and `late` are int8.
_DERIVED: dict[str, str] = {
    "vector": """(
        brain_id {T} not null, shelf {T} not null, stamp {T} not null, turn {N} not null, part {N} not null, added {N} not null,
        raw bytea not null, searched bytea not null, late bytea not null,
        primary key (brain_id, shelf, stamp, turn, part))""",
}

_PLAIN = ("wing", "room", "domain", "field", "provenance", "source_type", "source", "thread", "anchor_kind")
_ADMITTED = " and ".join(
    (
        *(f"(p_where->>'{name}' is null or c.{name} = p_where->>'{name}')" for name in _PLAIN),
        "(p_where->>'tag' is null or jsonb_exists(c.tags::jsonb, p_where->>'tag'))",
        "(p_where->>'anchor_ids' is null or jsonb_exists(p_where->'anchor_ids', c.anchor_id))",
    )
)

_SEARCH = (
    """alter table evidence add column words tsvector generated always as
    (case when terms = '' and near = '' then null
     else array_to_tsvector(array_remove(string_to_array(terms || ' ' || near, ' '), '')) end) stored""",
    # How many words a row has, as FTS5 counts its length: those of both columns.
    """alter table evidence add column size bigint generated always as
    (cardinality(array_remove(string_to_array(terms || ' ' || near, ' '), ''))) stored""",
    "create index evidence_words on evidence using gin (words) with (fastupdate = off) where words is not null",
    "create index vector_added on vector (brain_id, shelf, stamp, added)",
    """create function hindbrain_evidence_frequencies(p_brain text, p_queries tsquery[], p_most bigint)
    returns table (place bigint, n bigint)
    language sql stable security definer set search_path = {schema}, pg_temp as $$
        select q.place, (select count(*) from (select 1 from evidence e
                          where e.brain_id = p_brain and e.words @@ q.query limit p_most) as seen)
          from unnest(p_queries) with ordinality as q(query, place)
         where p_brain = current_setting('app.brain', true)
    $$""",
    # BM25 as FTS5 has it (k1 1.2, b 0.75). How often a word is in a text is counted in the stored terms: each stands between two
    # spaces of its own. One index scan per word and one sum are twice as fast as asking each found row for each word.
    "drop function hindbrain_find(text, tsquery[], float8[], bigint)",
    """create function hindbrain_find_claims(p_brain text, p_queries tsquery[], p_words text[], p_weights float8[],
                                             p_average float8, p_limit bigint)
    returns table (slug text, turn bigint, score float8)
    language sql stable security definer set search_path = {schema}, pg_temp as $$
        select v.slug, best.turn, best.score from (
            select hit.turn, sum(q.weight * hit.often * 2.2 / (hit.often + 1.2 * (0.25 + 0.75 * hit.size / p_average))) as score
              from unnest(p_queries, p_words, p_weights) as q(query, word, weight)
             cross join lateral (
                select c.turn, length(c.terms) - length(replace(c.terms, ' ', '')) + 1 as size,
                       (length(t.text) - length(replace(t.text, ' ' || q.word || ' ', ''))) / (length(q.word) + 2.0) as often
                  from claim_version c cross join lateral (select ' ' || replace(c.terms, ' ', '  ') || ' ' as text) as t
                 where c.brain_id = p_brain and c.words @@ q.query offset 0) as hit
             where p_brain = current_setting('app.brain', true)
             group by hit.turn order by score desc, hit.turn desc limit p_limit) as best
          join claim_version v on v.brain_id = p_brain and v.turn = best.turn and v.ended_at is null and v.active = 1
         order by best.score desc, best.turn desc
    $$""",
    # The same over two texts, the words of the neighbours at half weight. p_where names what a row must have to be ranked.
    """create function hindbrain_find_evidence(p_brain text, p_queries tsquery[], p_words text[], p_weights float8[],
                                               p_average float8, p_where jsonb, p_limit bigint)
    returns table (id text, turn bigint, score float8)
    language sql stable security definer set search_path = {schema}, pg_temp as $$
        select e.id, best.turn, best.score from (
            select hit.turn, sum(q.weight * hit.often * 2.2 / (hit.often + 1.2 * (0.25 + 0.75 * hit.size / p_average))) as score
              from unnest(p_queries, p_words, p_weights) as q(query, word, weight)
             cross join lateral (
                select c.turn, c.size, (
                    1.0 * (length(t.text) - length(replace(t.text, ' ' || q.word || ' ', '')))
                    + 0.5 * (length(t.near) - length(replace(t.near, ' ' || q.word || ' ', '')))) / (length(q.word) + 2) as often
                  from evidence c
                 cross join lateral (select ' ' || replace(c.terms, ' ', '  ') || ' ' as text,
                                            ' ' || replace(c.near, ' ', '  ') || ' ' as near) as t
                 where c.brain_id = p_brain and c.words @@ q.query and {admitted} offset 0) as hit
             where p_brain = current_setting('app.brain', true)
             group by hit.turn order by score desc, hit.turn desc limit p_limit) as best
          join evidence e on e.brain_id = p_brain and e.turn = best.turn and e.deleted_at is null
         order by best.score desc, best.turn desc
    $$""".replace("{admitted}", _ADMITTED),
    "revoke all on function hindbrain_find_claims(text, tsquery[], text[], float8[], float8, bigint) from public",
    "revoke all on function hindbrain_evidence_frequencies(text, tsquery[], bigint) from public",
    "revoke all on function hindbrain_find_evidence(text, tsquery[], text[], float8[], float8, jsonb, bigint) from public",
)

# Forced row security shows an owner who names no brain nothing at all: it is lifted for this one statement about all of them.
_COUNT_TERMS_OF_ALL = (
    *(f"alter table {name} no force row level security" for name in ("brain_head", "claim_version")),
    _COUNT_TERMS,
    *(f"alter table {name} force row level security" for name in ("brain_head", "claim_version")),
)

POSTGRES = (
    *tables(TABLES | _DERIVED, POSTGRES_TYPES),
    *(statement.format(**POSTGRES_TYPES) for statement in _HEAD),
    *_COUNT_TERMS_OF_ALL,
    *_INDEXES,
    *_SEARCH,
    *guarded((*TABLES, *_DERIVED)),
)
