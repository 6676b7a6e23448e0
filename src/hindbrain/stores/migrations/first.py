"""Schema 1: one table list for both databases, and what only PostgreSQL has: row security and search behind a function.

The seven rules of a schema that can be sharded by brain hold from the first day: every key begins with brain_id, uniqueness
is per brain, writers make the ids, and nothing refers from one brain to another.
"""

from hindbrain.stores.migrations.words import POSTGRES_TYPES, SQLITE_TYPES, figures, guarded, tables

__all__ = ["POSTGRES", "SQLITE", "TABLES"]

TABLES: dict[str, str] = {
    # One row per brain: the end of its chain and what would be slow to count. It is the row that PostgreSQL writers queue on.
    "brain_head": """(
        brain_id {T} not null, seq {N} not null, hash {T} not null, turn {N} not null, active_claims {N} not null,
        nodes {N} not null, edges {N} not null, generation {N} not null, forgotten {N} not null,
        primary key (brain_id)){flat}""",
    "ledger": """(
        brain_id {T} not null, seq {N} not null, at {N} not null, actor {T} not null, channel {T} not null, act {T} not null,
        subject {T} not null, payload {T} not null, prev {T} not null, hash {T} not null,
        primary key (brain_id, seq)){heap}""",
    # `turn` counts the puts of a brain; the text index knows a claim by it. `terms` are kept for the live version only.
    "claim_version": """(
        brain_id {T} not null, slug {T} not null, version {N} not null, claim_id {T} not null, digest {T} not null,
        text {T} not null, active {N} not null, created {N}, born_at {N} not null, ended_at {N}, ended_act {T},
        turn {N} not null, terms {T} not null,
        primary key (brain_id, slug, version)){heap}""",
    "mark": """(
        brain_id {T} not null, slug {T} not null, kind {T} not null, at {N} not null, marked_by {T} not null,
        channel {T} not null, note {T} not null,
        primary key (brain_id, slug, kind)){flat}""",
    "tombstone": """(
        brain_id {T} not null, fingerprint {T} not null, at {N} not null, put_by {T} not null, reason {T} not null,
        primary key (brain_id, fingerprint)){flat}""",
    "boot": """(
        brain_id {T} not null, key {T} not null, value {T} not null, tags {T} not null, source_refs {T} not null,
        updated_at_ms {N} not null, updated_by_agent {T} not null,
        primary key (brain_id, key)){heap}""",
    "anchor": """(
        brain_id {T} not null, slug {T} not null, path {T} not null, digest {T} not null,
        primary key (brain_id, slug, path)){flat}""",
    "graph_node": """(
        brain_id {T} not null, id {T} not null, owner {T} not null, kind {T} not null, label {T} not null, path {T} not null,
        primary key (brain_id, id, owner)){flat}""",
    "graph_edge": """(
        brain_id {T} not null, source {T} not null, relation {T} not null, target {T} not null, owner {T} not null,
        primary key (brain_id, source, relation, target, owner)){flat}""",
    "intent": """(
        brain_id {T} not null, id {T} not null, kind {T} not null, payload {T} not null, at {N} not null,
        primary key (brain_id, id)){heap}""",
    "meta": """(
        brain_id {T} not null, key {T} not null, value {T} not null,
        primary key (brain_id, key)){flat}""",
    "counter": """(
        brain_id {T} not null, name {T} not null, week {T} not null, value {N} not null,
        primary key (brain_id, name, week)){flat}""",
}

_INDEXES = (
    "create index ledger_subject on ledger (brain_id, subject, seq)",
    # The digest is in the index so that comparing a whole brain with its files reads no text; SQLite wants ended_at there too.
    "create index claim_live on claim_version (brain_id, slug, digest, ended_at) where ended_at is null",
    "create index claim_turn on claim_version (brain_id, turn) where ended_at is null and active = 1",
    "create index claim_recent on claim_version (brain_id, created desc, slug) where ended_at is null and active = 1",
    "create index claim_ended on claim_version (brain_id, ended_at, slug, version) where ended_at is not null",
    "create index claim_ids on claim_version (brain_id, claim_id)",
    "create index graph_node_owner on graph_node (brain_id, owner)",
    "create index graph_edge_target on graph_edge (brain_id, target, source, relation)",
    "create index graph_edge_owner on graph_edge (brain_id, owner)",
)

# What ANALYZE would find in a large brain. A file holds one brain, so brain_id parts nothing; SQLite cannot know that and took
# any index that begins with it. Given numbers, plans are the same on every machine and from the first row on.
_STATISTICS = (
    ("ledger", "sqlite_autoindex_ledger_1", "200000 200000 1"),
    ("ledger", "ledger_subject", "200000 200000 4 1"),
    ("claim_version", "sqlite_autoindex_claim_version_1", "120000 120000 2 1"),
    ("claim_version", "claim_live", "100000 100000 1 1 1"),
    ("claim_version", "claim_turn", "100000 100000 1"),
    ("claim_version", "claim_recent", "100000 100000 1 1"),
    ("claim_version", "claim_ended", "20000 20000 1 1 1"),
    ("claim_version", "claim_ids", "120000 120000 2"),
    ("anchor", "anchor", "200000 200000 2 1"),
    ("mark", "mark", "1000 1000 2 1"),
    ("graph_node", "graph_node", "200000 200000 2 1"),
    ("graph_node", "graph_node_owner", "200000 200000 4"),
    ("graph_edge", "graph_edge", "600000 600000 4 3 1 1"),
    ("graph_edge", "graph_edge_target", "600000 600000 4 1 1"),
    ("graph_edge", "graph_edge_owner", "600000 600000 8"),
)

SQLITE = (
    *tables(TABLES, SQLITE_TYPES),
    *_INDEXES,
    "analyze main",
    *figures(_STATISTICS),
)

_SEARCH = (
    """alter table claim_version add column words tsvector generated always as
    (case when terms = '' then null else array_to_tsvector(string_to_array(terms, ' ')) end) stored""",
    # Pending GIN entries are read one by one on every search; claims are written rarely and searched often.
    "create index claim_words on claim_version using gin (words) with (fastupdate = off) where words is not null",
    # `@@` is not leak-proof, so under row security alone it may not use its index. The functions run as their owner and name
    # the brain themselves; the setting is compared too, so that nobody can ask them for another brain.
    """create function hindbrain_frequencies(p_brain text, p_queries tsquery[], p_most bigint)
    returns table (place bigint, n bigint)
    language sql stable security definer set search_path = {schema}, pg_temp as $$
        select q.place, (select count(*) from (select 1 from claim_version v
                          where v.brain_id = p_brain and v.words @@ q.query limit p_most) as seen)
          from unnest(p_queries) with ordinality as q(query, place)
         where p_brain = current_setting('app.brain', true)
    $$""",
    # Rare words weigh more, long texts less; 40 words is an ordinary claim. The newer claim comes first when two are equal.
    # One index scan per word and one sum are twice as fast as asking each found row for each word.
    """create function hindbrain_find(p_brain text, p_queries tsquery[], p_weights float8[], p_limit bigint)
    returns table (slug text, score float8)
    language sql stable security definer set search_path = {schema}, pg_temp as $$
        select v.slug, best.score from (
            select hit.turn, sum(q.weight) / (0.55 + 0.45 * max(length(hit.words)) / 40.0) as score
              from unnest(p_queries, p_weights) as q(query, weight)
             cross join lateral (select c.turn, c.words from claim_version c
                                  where c.brain_id = p_brain and c.words @@ q.query offset 0) as hit
             where p_brain = current_setting('app.brain', true)
             group by hit.turn order by score desc, hit.turn desc limit p_limit) as best
          join claim_version v on v.brain_id = p_brain and v.turn = best.turn and v.ended_at is null and v.active = 1
         order by best.score desc, best.turn desc
    $$""",
    "revoke all on function hindbrain_frequencies(text, tsquery[], bigint) from public",
    "revoke all on function hindbrain_find(text, tsquery[], float8[], bigint) from public",
)

POSTGRES = (
    *tables(TABLES, POSTGRES_TYPES),
    *_INDEXES,
    *_SEARCH,
    *guarded(TABLES),
)
