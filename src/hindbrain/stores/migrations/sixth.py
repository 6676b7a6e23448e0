"""Schema 6: evidence knows who recorded it, so that an observation is shown with its observer."""

from hindbrain.stores.migrations.words import POSTGRES_TYPES, SQLITE_TYPES

__all__ = ["POSTGRES", "SQLITE"]

_STEP = "alter table evidence add column recorded_by {T}"

SQLITE = (_STEP.format(**SQLITE_TYPES),)
POSTGRES = (_STEP.format(**POSTGRES_TYPES),)
