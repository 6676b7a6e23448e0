"""Migrations: the numbered steps that make a database what this release expects. The list only ever grows at its end."""

from collections.abc import Sequence
from dataclasses import dataclass

from hindbrain.domain.errors import StoreNewer
from hindbrain.stores.migrations import fifth, first, fourth, second, seventh, sixth, third

__all__ = ["COPIES", "MIGRATIONS", "Migration", "copy_name", "outstanding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step, in the words of each database. A released step is never changed: write the next one."""

    number: int
    name: str
    sqlite: tuple[str, ...]
    postgres: tuple[str, ...]  # {schema} stands for the quoted schema


MIGRATIONS: tuple[Migration, ...] = (
    Migration(number=1, name="first schema", sqlite=first.SQLITE, postgres=first.POSTGRES),
    Migration(number=2, name="evidence", sqlite=second.SQLITE, postgres=second.POSTGRES),
    Migration(number=3, name="cards", sqlite=third.SQLITE, postgres=third.POSTGRES),
    Migration(number=4, name="experience", sqlite=fourth.SQLITE, postgres=fourth.POSTGRES),
    Migration(number=5, name="missions", sqlite=fifth.SQLITE, postgres=fifth.POSTGRES),
    Migration(number=6, name="who recorded evidence", sqlite=sixth.SQLITE, postgres=sixth.POSTGRES),
    Migration(number=7, name="origin of evidence", sqlite=seventh.SQLITE, postgres=seventh.POSTGRES),
)


COPIES = "brain.db.v*.bak"  # copies of brain.db beside it, from before a migration or a repair; forgetting removes them


def copy_name(at: int, version: int = MIGRATIONS[-1].number) -> str:
    """The name of such a copy: the schema it has, and when it was made."""
    return f"brain.db.v{version}.{at}.bak"


def outstanding(migrations: Sequence[Migration], found: int, place: str) -> tuple[Migration, ...]:
    """The steps from the version found up to ours; StoreNewer when the database is ahead of us."""
    known = migrations[-1].number
    if found > known:
        raise StoreNewer(
            f"{place} has schema version {found}; this release knows up to {known}",
            fix="upgrade Hindbrain to the release that wrote it; nothing was changed",
            found=found,
            known=known,
        )
    return tuple(step for step in migrations if step.number > found)
