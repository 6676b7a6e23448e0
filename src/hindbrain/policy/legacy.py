"""Legacy: what other programs' memories look like, and which of their rules differ from ours. Knows no file and no database."""

from hindbrain.domain.card import ACTIVE_OF, Rank, Status
from hindbrain.domain.evidence import Provenance, SourceType

__all__ = [
    "CELL_MAX_BYTES",
    "CITED_MOST",
    "FACT_TAG",
    "FLAGGED_MOST",
    "MEMPALACE_COLLECTION",
    "MEMPALACE_INNER_ROOMS",
    "MEMPAL_NEWEST",
    "OLD_STATUSES",
    "PROVENANCES",
    "STATUSES",
]

MEMPAL_NEWEST = 9  # of its schema versions, as its `user_version` counts them; there is no tenth to learn from
CELL_MAX_BYTES = 1 << 20  # of one value; more is no note, and one value must not fill the memory of the reader
FLAGGED_MOST = 200  # odd rows named one by one in an answer; the count has them all
CITED_MOST = 1_000  # pieces of evidence of one card; more is an attack on whoever reads it

# What mempal allowed: no candidate of `shu` or `dao_tian`, which is why neither could be earned there.
OLD_STATUSES: dict[Rank, frozenset[Status]] = {
    Rank.DAO_TIAN: frozenset((Status.CANONICAL, Status.DEMOTED)),
    Rank.DAO_REN: frozenset((Status.CANDIDATE, Status.PROMOTED, Status.DEMOTED, Status.RETIRED)),
    Rank.SHU: frozenset((Status.PROMOTED, Status.DEMOTED, Status.RETIRED)),
    Rank.QI: frozenset((Status.CANDIDATE, Status.PROMOTED, Status.DEMOTED, Status.RETIRED)),
}

# What we allow: every rank begins as a candidate, and has one active status.
STATUSES: dict[Rank, frozenset[Status]] = {
    rank: frozenset((Status.CANDIDATE, ACTIVE_OF[rank], Status.DEMOTED, Status.RETIRED)) for rank in Rank
}

# How an observation was made, where a row does not say: by what it was read from.
PROVENANCES: dict[SourceType, Provenance] = {
    SourceType.PROJECT: Provenance.RESEARCH,
    SourceType.CONVERSATION: Provenance.HUMAN,
    SourceType.MANUAL: Provenance.HUMAN,
}

MEMPALACE_COLLECTION = "mempalace_drawers"
MEMPALACE_INNER_ROOMS = frozenset(("_registry",))  # its own book-keeping: which files it has read
FACT_TAG = "fact"  # a relation that another program kept as subject, predicate and object
