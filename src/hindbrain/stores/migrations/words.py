"""What every step says in the same words: tables in each dialect, planner figures, rows that are only added to, row security.

Released steps are made of these: their words never change either (`tests/stores/test_migrations.py` holds them).
"""

from collections.abc import Iterable, Mapping

__all__ = ["ERASING", "POSTGRES_TYPES", "SQLITE_TYPES", "figures", "guarded", "kept_in_postgres", "kept_in_sqlite", "tables"]

# Column types by dialect: T is text that sorts by code point on both databases, N is a whole number of 64 bits, R one with a
# fraction. `flat` rows are little more than their key; `heap` rows carry text.
SQLITE_TYPES = {"T": "text", "N": "integer", "R": "real", "flat": " strict, without rowid", "heap": " strict"}
POSTGRES_TYPES = {"T": 'text collate "C"', "N": "bigint", "R": "double precision", "flat": "", "heap": ""}

# What a person lets be forgotten for good goes while this note stands, in one transaction.
ERASING = "exists (select 1 from meta m where m.brain_id = old.brain_id and m.key = 'erasing')"


def tables(bodies: Mapping[str, str], types: Mapping[str, str]) -> tuple[str, ...]:
    """Tables by name, each with its columns in one dialect."""
    return tuple(f"create table {name} {body.format(**types)}" for name, body in bodies.items())


def figures(found: Iterable[tuple[str, str, str]]) -> tuple[str, ...]:
    """What SQLite's planner is told of tables and indexes before there is anything in them."""
    return tuple(
        f"insert into sqlite_stat1 (tbl, idx, stat) values ('{table}', '{index}', '{stat}')" for table, index, stat in found
    )


def kept_in_sqlite(names: Iterable[str]) -> tuple[str, ...]:
    """These tables are only added to."""
    return tuple(
        f"create trigger {name}_{verb} before {verb} on {name} {when} begin select raise(abort, '{name} is append-only'); end"
        for name in names
        for verb, when in (("update", ""), ("delete", f"when not {ERASING}"))
    )


def kept_in_postgres(names: Iterable[str]) -> tuple[str, ...]:
    """The same, by the function of the third step."""
    return tuple(
        f"create trigger {name}_kept before update or delete on {name} for each row execute function hindbrain_append_only()"
        for name in names
    )


def guarded(names: Iterable[str]) -> tuple[str, ...]:
    """Row security: whoever asks sees the rows of the brain that the transaction names, its owner too."""
    return tuple(
        statement
        for name in names
        for statement in (
            f"alter table {name} enable row level security",
            f"alter table {name} force row level security",
            f"create policy brain_rows on {name} using (brain_id = current_setting('app.brain', true)) "
            "with check (brain_id = current_setting('app.brain', true))",
        )
    )
