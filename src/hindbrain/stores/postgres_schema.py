"""PostgreSQL's schema: who owns it, which version it has, and the role in which every transaction runs."""

from collections.abc import Sequence

import psycopg
from psycopg import errors, sql

from hindbrain.domain.errors import StoreUnavailable
from hindbrain.stores.migrations import Migration, outstanding
from hindbrain.stores.sql_rows import COLUMNS, Row

__all__ = ["ROLE", "migrate", "prepare_vectors"]

# Row security does not bind a superuser, and its own tables bind an owner only by force. So every transaction steps down to
# this role. It cannot log in; where we may neither make nor take it, we stay who we are and forced row security holds us.
ROLE = "hindbrain_brain"

_LOCK = 0x68696E64  # "hind": one migration at a time per database

_DERIVED = ("vector",)  # tables that a copy of a brain does without
_FUNCTIONS = (
    "hindbrain_frequencies(text, tsquery[], bigint)",
    "hindbrain_find_claims(text, tsquery[], text[], float8[], float8, bigint)",
    "hindbrain_evidence_frequencies(text, tsquery[], bigint)",
    "hindbrain_find_evidence(text, tsquery[], text[], float8[], float8, jsonb, bigint)",
)

_MAKE_ROLE = f"""do $$ begin
    if not exists (select from pg_roles where rolname = '{ROLE}') then
        create role {ROLE} nologin;
    end if;
    if not pg_has_role(current_user, '{ROLE}', 'member') then
        grant {ROLE} to current_user;
    end if;
exception when insufficient_privilege or duplicate_object or unique_violation or undefined_object then
    raise notice 'hindbrain stays with its own role';
end $$"""


def migrate(connection: psycopg.Connection[Row], migrations: Sequence[Migration]) -> None:
    """Bring the first schema of the search path to this release. The connection is in autocommit."""
    ((schema,),) = connection.execute("select current_schema()").fetchall()
    if schema is None:
        raise StoreUnavailable("the schema in store_url does not exist", fix="create it, or name another in its search_path")
    if not outstanding(migrations, _version(connection), f"schema {schema}"):
        return
    connection.execute(_MAKE_ROLE)
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        # Not a row of any brain, so it has no brain_id and no row security.
        connection.execute("create table if not exists hindbrain_schema (version bigint primary key, name text not null)")
        for step in outstanding(migrations, _version(connection), f"schema {schema}"):
            for statement in step.postgres:
                connection.execute(statement.replace("{schema}", sql.Identifier(schema).as_string(None)))
            connection.execute("insert into hindbrain_schema (version, name) values (%s, %s)", (step.number, step.name))
        if connection.execute("select 1 from pg_roles where rolname = %s", (ROLE,)).fetchall():
            _grant(connection, schema)


_MAKE_EXTENSION = """do $$ begin
    create extension if not exists vector with schema public;
exception when insufficient_privilege or undefined_file or feature_not_supported or invalid_schema_name or undefined_object
    or unique_violation or duplicate_object then
    raise notice 'hindbrain compares vectors itself';
end $$"""
_EXTENSION = "select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'"
_COLUMN = (
    "select 1 from information_schema.columns where table_schema = current_schema() and table_name = 'vector' "
    "and column_name = 'embedding'"
)


def prepare_vectors(connection: psycopg.Connection[Row]) -> str | None:
    """The quoted schema of pgvector, once the vectors have a column of its type; None where the server has no such extension
    or does not let us use it."""
    if not connection.execute(_EXTENSION).fetchall():
        connection.execute(_MAKE_EXTENSION)
    found = connection.execute(_EXTENSION).fetchall()
    if not found:
        return None
    place = sql.Identifier(found[0][0]).as_string(None)
    if not connection.execute(_COLUMN).fetchall():
        try:
            connection.execute(f"alter table vector add column if not exists embedding {place}.halfvec")
        except (errors.InsufficientPrivilege, errors.UndefinedObject):  # not our table, or a pgvector before 0.7
            return None
    return place


def _version(connection: psycopg.Connection[Row]) -> int:
    there = "select 1 from pg_tables where schemaname = current_schema() and tablename = 'hindbrain_schema'"
    if not connection.execute(there).fetchall():
        return 0
    ((version,),) = connection.execute("select coalesce(max(version), 0) from hindbrain_schema").fetchall()
    return int(version)


def _grant(connection: psycopg.Connection[Row], schema: str) -> None:
    connection.execute(sql.SQL("grant usage on schema {} to " + ROLE).format(sql.Identifier(schema)))
    for table in (*COLUMNS, *_DERIVED):
        connection.execute(f"grant select, insert, update, delete on {table} to {ROLE}")
    for function in _FUNCTIONS:
        connection.execute(f"grant execute on function {function} to {ROLE}")
