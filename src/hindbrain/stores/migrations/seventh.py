"""Schema 7: a copy of evidence knows the brain it was copied from, so that it is shown with its origin."""

from hindbrain.stores.migrations.words import POSTGRES_TYPES, SQLITE_TYPES

__all__ = ["POSTGRES", "SQLITE"]

_STEPS = (
    "alter table evidence add column origin_brain {T}",
    "create index evidence_origin on evidence (brain_id, id) where origin_brain is not null",
)

SQLITE = tuple(step.format(**SQLITE_TYPES) for step in _STEPS)
POSTGRES = tuple(step.format(**POSTGRES_TYPES) for step in _STEPS)
