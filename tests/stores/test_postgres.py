"""PostgreSQL: a schema that can be sharded by brain, and rows that stay with their brain."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Thread
from urllib.parse import urlsplit

import apsw
import psycopg
import pytest

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.brain import BrainId
from hindbrain.domain.errors import Busy, InvalidParams, StoreNewer, StoreUnavailable
from hindbrain.domain.evidence import EvidenceId
from hindbrain.domain.ledger import breaks
from hindbrain.stores.migrations import MIGRATIONS, first
from hindbrain.stores.port import Node, Source
from hindbrain.stores.postgres import PostgresStore
from hindbrain.stores.postgres_schema import ROLE
from hindbrain.stores.postgres_vectors import PostgresVectors
from hindbrain.stores.sql_rows import COLUMNS
from hindbrain.stores.vector_port import Embedded, Shelf
from tests.stores.conftest import BRAIN
from tests.stores.releases import old_brain
from tests.stores.test_sqlite import LATER
from tests.stores.values import all_entries, evidence, found, names, observe, put, texts

OTHER = BrainId("medulla")
NO_BRAIN = {"hindbrain_schema"}  # the number of the schema itself: no brain's row
DERIVED = {"vector"}  # made again from the rows; a copy does without


@pytest.fixture
def url(postgres_schema_url: str) -> str:
    return postgres_schema_url


@pytest.fixture
def brain(url: str) -> Iterator[PostgresStore]:
    store = PostgresStore(url, BRAIN)
    yield store
    store.close()


@pytest.fixture
def admin(url: str) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """A superuser in the same schema, whom no row security holds."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


Admin = psycopg.Connection[tuple[object, ...]]


# --- the shape of the schema -------------------------------------------------------------------------------------------------


def test_store_every_table_and_every_key_begins_with_the_brain(brain: PostgresStore, admin: Admin) -> None:
    first = dict(
        admin.execute(
            "select table_name, column_name from information_schema.columns "
            "where table_schema = current_schema() and ordinal_position = 1"
        ).fetchall()
    )
    keys = admin.execute(
        "select t.relname, i.relname, a.attname from pg_index x join pg_class t on t.oid = x.indrelid "
        "join pg_class i on i.oid = x.indexrelid join pg_attribute a on a.attrelid = t.oid and a.attnum = x.indkey[0] "
        "where x.indisunique and t.relnamespace = current_schema()::regnamespace"
    ).fetchall()

    assert {table for table, column in first.items() if column != "brain_id"} == NO_BRAIN
    assert set(first) == set(COLUMNS) | NO_BRAIN | DERIVED
    assert {table for table, _, _ in keys} == set(first)
    assert {table for table, _, column in keys if column != "brain_id"} == NO_BRAIN


def test_store_nothing_refers_across_brains_or_counts_for_all_of_them(brain: PostgresStore, admin: Admin) -> None:
    here = "current_schema()::regnamespace"
    kinds = admin.execute(f"select contype::text, condeferrable from pg_constraint where connamespace = {here}").fetchall()
    sequences = admin.execute(f"select relname from pg_class where relkind = 'S' and relnamespace = {here}").fetchall()

    refers = admin.execute(
        "select a.attname, b.attname from pg_constraint c "
        "join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1] "
        "join pg_attribute b on b.attrelid = c.confrelid and b.attnum = c.confkey[1] "
        f"where contype = 'f' and connamespace = {here}"
    ).fetchall()

    assert {kind for kind, _ in kinds} <= {"p", "n", "c", "f"}
    assert set(refers) == {("brain_id", "brain_id")}  # a card and its evidence are of one brain
    assert not any(deferrable for _, deferrable in kinds)
    assert sequences == []


def test_store_row_security_is_on_and_forced_on_every_table(brain: PostgresStore, admin: Admin) -> None:
    found = admin.execute(
        "select relname, relrowsecurity and relforcerowsecurity from pg_class "
        "where relkind = 'r' and relnamespace = current_schema()::regnamespace"
    ).fetchall()

    assert {table for table, safe in found if not safe} == NO_BRAIN


def test_store_every_column_is_known_to_a_copy(brain: PostgresStore, admin: Admin) -> None:
    held: dict[object, list[object]] = {}
    for table, column in admin.execute(
        "select table_name, column_name from information_schema.columns where table_schema = current_schema() "
        "and is_generated = 'NEVER' order by table_name, ordinal_position"
    ).fetchall():
        held.setdefault(table, []).append(column)

    assert {table: tuple(columns) for table, columns in held.items() if table not in NO_BRAIN | DERIVED} == COLUMNS


# --- rows stay with their brain ------------------------------------------------------------------------------------------------


def test_conf_01_a_transaction_of_one_brain_sees_no_row_of_another(brain: PostgresStore, url: str) -> None:
    other = PostgresStore(url, OTHER)
    put(other, "theirs", "secret words")
    put(brain, "mine", "own words")
    observe(other, evidence("theirs", "secret words"))
    observe(brain, evidence("mine", "own words"))
    for one in (other, brain):
        (unit,) = one.vectors.pending("m", Shelf.EVIDENCE, limit=9)
        one.vectors.put("m", Shelf.EVIDENCE, [Embedded(turn=unit.turn, raw=b"\x01\x02", searched=b"\x01\x02")])
    with other.writing() as writer:
        writer.put_source(Source(source="s", scope="x", digest="d", normalize_version=1, chunks=1, done=True, at=1))
        writer.put_graph("inventory", [Node(id="n", kind="file", label="n")], [])
        writer.set_meta("salt", "s")

    with brain.reading() as session:
        tables = (*COLUMNS, *DERIVED)
        seen = {table: session.rows(f"select count(*) from {table} where brain_id = ?", (OTHER,))[0][0] for table in tables}
        all_slugs = session.rows("select slug from claim_version")

    assert set(seen.values()) == {0}
    assert all_slugs == [("mine",)]
    assert names(brain, brain.find(["words"], limit=9)) == ("mine",)
    assert names(other, other.find(["words"], limit=9)) == ("theirs",)
    assert (found(brain, "words"), found(other, "words")) == (("mine",), ("theirs",))
    near = brain.vectors.nearest("m", Shelf.EVIDENCE, [1.0, 0.0], limit=9)
    assert brain.keys(Shelf.EVIDENCE, near.turns) == {near.turns[0]: "mine"}
    other.close()


def test_conf_01_the_search_functions_refuse_another_brain(brain: PostgresStore, url: str) -> None:
    other = PostgresStore(url, OTHER)
    put(other, "theirs", "secret words")
    observe(other, evidence("theirs", "secret words"))
    rows = (
        "select * from hindbrain_find_evidence("
        "?, array['secret']::tsquery[], array['secret'], array[1.0]::float8[], 1.0, '{}', 9)",
        "select * from hindbrain_evidence_frequencies(?, array['secret']::tsquery[], 9)",
    )
    ask = "select * from hindbrain_find_claims(?, array['secret']::tsquery[], array['secret'], array[1.0]::float8[], 1.0, 9)"
    count = "select * from hindbrain_frequencies(?, array['secret']::tsquery[], 9)"

    with brain.reading() as session:
        assert (session.rows(ask, (OTHER,)), session.rows(count, (OTHER,))) == ([], [])
        assert [session.rows(one, (OTHER,)) for one in rows] == [[], []]
    with other.reading() as session:
        assert (len(session.rows(ask, (OTHER,))), session.rows(count, (OTHER,))) == (1, [(1, 1)])
        assert [len(session.rows(one, (OTHER,))) for one in rows] == [1, 1]
    other.close()


def test_conf_02_a_row_for_another_brain_is_refused(brain: PostgresStore) -> None:
    def write() -> None:
        with brain.transaction() as session:
            session.rows("insert into meta (brain_id, key, value) values (?, 'k', 'v')", (OTHER,))

    with pytest.raises(StoreUnavailable, match="row-level security"):
        write()


def test_conf_02_a_transaction_that_names_no_brain_sees_nothing(brain: PostgresStore, admin: Admin) -> None:
    put(brain, "mine", "own words")

    with admin.transaction():
        admin.execute(f"set local role {ROLE}")  # type: ignore[arg-type]  # a name of our own
        unnamed = admin.execute("select count(*) from claim_version").fetchall()

    assert unnamed == [(0,)]
    assert admin.execute("select count(*) from claim_version").fetchall() == [(1,)]


def test_store_who_is_no_superuser_keeps_brains_apart_too(url: str, postgres_url: str, admin: Admin) -> None:
    """An ordinary user who owns the schema and may make no role: forced row security holds it."""
    schema = admin.execute("select current_schema()").fetchall()[0][0]
    owner = _owned(url, admin)

    mine, theirs = PostgresStore(owner, BRAIN), PostgresStore(owner, OTHER)
    put(mine, "mine", "own words")
    put(theirs, "theirs", "secret words")

    with mine.reading() as session:
        assert session.rows("select slug from claim_version") == [("mine",)]
        assert session.rows("select current_user::text") == [(schema,)]
    assert names(mine, mine.find(["words"], limit=9)) == ("mine",)
    mine.close()
    theirs.close()
    _disown(admin)


def _owned(url: str, admin: Admin) -> str:
    """The schema given to a user of its own who may make no role and no extension; the address as that user."""
    schema = admin.execute("select current_schema()").fetchall()[0][0]
    for statement in (f"create role {schema} login", f"alter schema {schema} owner to {schema}"):
        admin.execute(statement)  # type: ignore[arg-type]  # a name of our own
    parts = urlsplit(url)
    return parts._replace(netloc=f"{schema}@{parts.hostname}:{parts.port}").geturl()


def _disown(admin: Admin) -> None:
    schema = admin.execute("select current_schema()").fetchall()[0][0]
    admin.execute(f"drop owned by {schema} cascade")  # type: ignore[arg-type]  # a name of our own
    admin.execute(f"drop role {schema}")  # type: ignore[arg-type]  # a name of our own


def test_store_a_search_uses_its_index_under_row_security(brain: PostgresStore, admin: Admin) -> None:
    admin.execute(
        "insert into claim_version (brain_id, slug, version, claim_id, digest, text, active, born_at, turn, terms) "
        "select %s, 'c' || n, 1, '', '', '', 1, 1, n, 'all w' || n from generate_series(1, 5000) as n",
        (BRAIN,),
    )
    admin.execute("analyze claim_version")

    with admin.transaction():
        admin.execute("load 'auto_explain'")
        admin.execute("set local auto_explain.log_min_duration = 0")
        admin.execute("set local auto_explain.log_nested_statements = on")
        admin.execute("set local client_min_messages = log")
        admin.execute(f"set local app.brain = '{BRAIN}'")  # type: ignore[arg-type]  # a name of our own
        admin.execute(f"set local role {ROLE}")  # type: ignore[arg-type]  # a name of our own
        plans: list[str] = []
        admin.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
        rows = admin.execute("select n from hindbrain_frequencies(%s, array['w7']::tsquery[], 9)", (BRAIN,)).fetchall()

    assert rows == [(1,)]
    assert any("claim_words" in plan for plan in plans), plans


@pytest.mark.req("MIND-051", "MIND-064")
@pytest.mark.parametrize(
    ("kind", "anchor", "domain"), [("branch", "branch://b", "project"), ("global", "global://default", "project")]
)
def test_store_the_server_itself_refuses_a_bad_anchor(
    brain: PostgresStore, admin: Admin, kind: str, anchor: str, domain: str
) -> None:
    observe(brain, evidence("a"))

    with pytest.raises(psycopg.errors.CheckViolation):
        admin.execute("update evidence set anchor_kind = %s, anchor_id = %s", (kind, anchor))


@pytest.mark.req("MIND-052")
def test_store_evidence_is_filtered_by_its_anchor_with_an_index(brain: PostgresStore, admin: Admin) -> None:
    observe(brain, *(evidence(f"e{number}", anchor=Anchor(kind=AnchorKind.REPO, id=f"repo://{number}")) for number in range(900)))
    admin.execute("analyze evidence")

    plan = admin.execute(
        "explain select content from evidence where brain_id = %s and anchor_kind = 'repo' and anchor_id = 'repo://7' "
        "and deleted_at is null",
        (BRAIN,),
    ).fetchall()

    assert "evidence_anchor" in str(plan)


def test_store_vectors_are_compared_here_and_say_why_where_the_server_cannot(url: str, admin: Admin) -> None:
    store = PostgresStore(url, BRAIN)
    observe(store, *(evidence(f"e{number}") for number in range(5)))
    turns = [one.turn for one in store.vectors.pending("m", Shelf.EVIDENCE, limit=9)]
    rows = [Embedded(turn=turn, raw=b"\x01\x02", searched=bytes((100, place * 20))) for place, turn in enumerate(turns)]
    without = PostgresVectors(store, None)
    without.put("m", Shelf.EVIDENCE, rows)  # as it was before somebody installed pgvector
    question = [0.6, 0.8]

    served, here = (
        store.vectors.nearest("m", Shelf.EVIDENCE, question, limit=3),
        without.nearest("m", Shelf.EVIDENCE, question, limit=3),
    )

    assert (served.turns, store.vectors.degraded) == (here.turns, None)
    assert served.cosines == pytest.approx(here.cosines, abs=1e-6)
    assert "pgvector" in (without.degraded or "")
    with store.writing() as writer:
        writer.delete_evidence([EvidenceId("e4")], at=1)
    without.put("m", Shelf.EVIDENCE, [Embedded(turn=turns[0], raw=b"\x01\x02", searched=bytes((60, 80)))])
    assert without.nearest("m", Shelf.EVIDENCE, question, limit=9).turns == (turns[0], *turns[3:0:-1])
    store.close()


# --- several writers, and a server that goes away --------------------------------------------------------------------------


def test_store_two_openers_of_one_brain_append_to_one_chain(postgres_schema: Callable[[], str]) -> None:
    url = postgres_schema()
    stores = (PostgresStore(url, BRAIN), PostgresStore(f"{url}&application_name=second", BRAIN))  # two pools
    start, failures = Barrier(2), list[Exception]()

    def write(store: PostgresStore) -> None:
        try:
            start.wait()
            for number in range(40):
                put(store, f"c{number}", "text")
        except Exception as error:  # noqa: BLE001 - carried to the test's own thread
            failures.append(error)

    threads = [Thread(target=write, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert stores[0].head()[0] == 80
    assert breaks(all_entries(stores[0]), head=stores[1].head()) == []
    assert stores[0].check() == ()
    for store in stores:
        store.close()


def test_store_many_openers_at_once_make_the_schema_once(postgres_schema: Callable[[], str]) -> None:
    url, made, start = postgres_schema(), list[PostgresStore](), Barrier(4)

    def join(number: int) -> None:
        start.wait()
        made.append(PostgresStore(f"{url}&application_name=n{number}", BRAIN))

    threads = [Thread(target=join, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [store.head()[0] for store in made] == [0] * 4
    for store in made:
        store.close()


def test_store_a_connection_that_died_between_calls_is_replaced(brain: PostgresStore, admin: Admin) -> None:
    put(brain, "a", "text")

    admin.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'hindbrain'")

    assert texts(brain.each_live()) == ["text"]
    assert put(brain, "b", "text").version == 2


def test_store_a_connection_that_dies_in_a_transaction_is_told_and_nothing_stays(brain: PostgresStore, admin: Admin) -> None:
    def write() -> None:
        with brain.writing() as writer:
            writer.set_meta("k", "v")
            admin.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'hindbrain'")
            writer.set_meta("k", "w")

    with pytest.raises(StoreUnavailable) as refused:
        write()

    assert refused.value.fix
    assert brain.meta("k") is None


def test_store_a_brain_that_another_holds_is_busy(brain: PostgresStore, url: str, admin: Admin) -> None:
    put(brain, "a", "text")
    hurried = PostgresStore(url, BRAIN, lock_ms=20)

    with admin.transaction():
        admin.execute("select * from brain_head for update")
        with pytest.raises(Busy) as refused:
            put(hurried, "b", "text")

    assert refused.value.fix
    assert put(hurried, "b", "text").version == 2
    hurried.close()


def test_store_a_server_that_is_not_there_is_told_without_its_password() -> None:
    with pytest.raises(StoreUnavailable) as refused:
        PostgresStore("postgresql://me:hunter2@127.0.0.1:1/none", BRAIN)

    assert "hunter2" not in str(refused.value.answer())
    assert refused.value.fix


def test_store_a_schema_that_is_not_there_is_told(postgres_url: str) -> None:
    with pytest.raises(StoreUnavailable, match="schema"):
        PostgresStore(f"{postgres_url}?options=-csearch_path%3Dhb_never", BRAIN)


def test_store_a_text_that_the_server_cannot_hold_is_refused(brain: PostgresStore) -> None:
    with pytest.raises(InvalidParams):
        put(brain, "a", "with a nul \0 in it")


# --- migrations ------------------------------------------------------------------------------------------------------------


def test_mind_023_a_schema_newer_than_the_program_is_refused_with_both_versions(url: str) -> None:
    newer = PostgresStore(url, BRAIN, migrations=(*MIGRATIONS, LATER))
    put(newer, "a", "text")
    newer.close()

    with pytest.raises(StoreNewer) as refused:
        PostgresStore(url, BRAIN)

    assert (refused.value.details["found"], refused.value.details["known"]) == (LATER.number, MIGRATIONS[-1].number)


def test_mind_023_an_older_schema_is_brought_forward(url: str, admin: Admin) -> None:
    old = PostgresStore(url, BRAIN)
    put(old, "a", "text of old")
    old.close()

    new = PostgresStore(url, BRAIN, migrations=(*MIGRATIONS, LATER))

    assert names(new, new.find(["old"], limit=9)) == ("a",)
    assert admin.execute("select version from hindbrain_schema order by version").fetchall() == [
        (step.number,) for step in (*MIGRATIONS, LATER)
    ]
    new.close()


@pytest.mark.parametrize("superuser", [True, False])
def test_mind_023_a_schema_of_the_first_release_is_brought_forward(
    url: str, admin: Admin, tmp_path: Path, superuser: bool
) -> None:
    owner = url if superuser else _owned(url, admin)
    with psycopg.connect(owner) as connection:
        schema = connection.execute("select quote_ident(current_schema())").fetchall()[0][0]
        for statement in MIGRATIONS[0].postgres:
            connection.execute(statement.replace("{schema}", schema))  # type: ignore[arg-type]  # a statement of our own
        connection.execute("create table hindbrain_schema (version bigint primary key, name text not null)")
        connection.execute("insert into hindbrain_schema (version, name) values (1, 'first schema')")
    old = apsw.Connection(str(old_brain(tmp_path / "old", 1) / "brain.db"))
    for table in first.TABLES:
        rows = old.execute(f"select * from {table}").fetchall()
        columns = ", ".join(row[1] for row in old.execute(f"pragma table_info({table})"))
        for row in rows:
            admin.execute(f"insert into {table} ({columns}) values ({', '.join(['%s'] * len(row))})", row)  # type: ignore[arg-type]
    old.close()

    new = PostgresStore(owner, BRAIN)

    answer = new.find(["port", "1339"], limit=9)
    assert (names(new, answer), new.check()) == (("alpha", "delta"), ())
    assert breaks(all_entries(new), head=new.head()) == []
    with new.reading() as session:
        counted = session.rows("select claim_terms from brain_head")
    assert counted == [(19,)]
    observe(new, evidence("first", "the port again"))
    assert found(new, "port") == ("first",)
    new.close()
    if not superuser:
        _disown(admin)
