"""SQL writing: one transaction, in statements that both databases understand. Knows no connection and no full text."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from hindbrain.domain.brain import BrainId
from hindbrain.domain.errors import StaleWrite
from hindbrain.domain.ledger import Act, Entry, sealed
from hindbrain.stores.port import BootEntry, Edge, Intent, Mark, Node, Version
from hindbrain.stores.sql_cards import CardWriter
from hindbrain.stores.sql_evidence import EvidenceWriter
from hindbrain.stores.sql_experience_writer import ExperienceWriter
from hindbrain.stores.sql_missions import MissionWriter
from hindbrain.stores.sql_model_calls import ModelCallWriter
from hindbrain.stores.sql_rows import COLUMNS, Head, Row, Session, TextIndex, insert, upsert
from hindbrain.stores.sql_terms import joined
from hindbrain.stores.vector_port import Shelf

__all__ = ["ENTRY", "LIVE", "VERSION", "SqlWriter", "reused", "stale", "version_of"]

_CHANNEL = "(select channel from ledger where ledger.brain_id = claim_version.brain_id and ledger.seq = claim_version.version)"
VERSION = f"slug, version, claim_id, digest, text, active, created, born_at, ended_at, ended_act, {_CHANNEL}"
ENTRY = "seq, at, actor, channel, act, subject, payload, prev, hash"
LIVE = f"select {VERSION} from claim_version where brain_id = ? and ended_at is null"

_UPDATE_HEAD = f"update brain_head set {', '.join(f'{name} = ?' for name in COLUMNS['brain_head'][1:])} where brain_id = ?"

_entry_values: Callable[[Entry], Row] = attrgetter(*ENTRY.split(", "))
_mark_values: Callable[[Mark], Row] = attrgetter("slug", "kind", "at", "by", "channel", "note")
_boot_values: Callable[[BootEntry], Row] = attrgetter(*COLUMNS["boot"][1:])
_node_values: Callable[[Node], Row] = attrgetter("id", "kind", "label", "path")
_edge_values: Callable[[Edge], Row] = attrgetter("source", "relation", "target")
_intent_values: Callable[[Intent], Row] = attrgetter("id", "kind", "payload", "at")


def version_of(row: Row) -> Version:
    return Version(
        slug=row[0],
        version=row[1],
        claim_id=row[2],
        digest=row[3],
        text=row[4],
        active=bool(row[5]),
        created=row[6],
        born_at=row[7],
        ended_at=row[8],
        ended_act=row[9],
        channel=row[10],
    )


def stale(slug: str, expected: int | None, live: int | None) -> StaleWrite:
    """The refusal of a write that was based on an older read."""
    now = "it is not live" if live is None else f"version {live} is live"
    return StaleWrite(
        f"{slug}: the write was based on version {expected or 'none'}, but {now}",
        fix="read the claim again and repeat the write on what is live now",
        slug=slug,
        expected=expected,
        live=live,
    )


def reused(slug: str, number: int, last: int) -> StaleWrite:
    """The refusal of a version number that this label already had, or that a forgotten claim may have had."""
    return StaleWrite(
        f"{slug}: version {number} is not above {last}",
        fix="number versions by the ledger entry that records them",
        slug=slug,
        last=last,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """Where a label stands: its live version, the turn by which the index knows it, and its last number."""

    live: int | None
    turn: int | None  # None when nothing of it can be found
    terms: int  # how many words it is found by
    last: int


class SqlWriter(EvidenceWriter, CardWriter, ExperienceWriter, ModelCallWriter, MissionWriter):
    """One write transaction. The head row is read once, changed in memory and written back before the commit."""

    def __init__(self, brain_id: BrainId, session: Session, head: Head, index: TextIndex) -> None:
        super().__init__(brain_id, session, head, index)
        self._before = replace(self.head)
        self.ending = 0  # its number, if rows end
        self.recorded: list[Entry] = []
        self.changed: dict[str, None] = {}  # labels of claims

    def finish(self) -> None:
        if any(self.gone.values()):
            self.ending = self._index.ending(self._session, self.gone)
        if self.head != self._before:
            self._session.rows(_UPDATE_HEAD, (*self.head.values(), self._brain))
        if (self.head.seq, self.head.turn) != (self._before.seq, self._before.turn):
            self._index.index_reached(self._session, self.head)

    def append(self, act: Act) -> Entry:
        entry = sealed(act, seq=self.head.seq + 1, prev=self.head.hash)
        self._session.rows(insert("ledger"), (self._brain, *_entry_values(entry)))
        self.head.seq, self.head.hash = entry.seq, entry.hash
        self.recorded.append(entry)
        return entry

    def live(self, slug: str) -> Version | None:
        found = self._session.rows(f"{LIVE} and slug = ?", (self._brain, slug))
        return version_of(found[0]) if found else None

    def put_claim(self, version: Version, *, expected: int | None, ended_act: str, terms: Sequence[str]) -> None:
        slug = version.slug
        last = max(self._close(slug, expected, at=version.born_at, ended_act=ended_act), self.head.forgotten)
        if version.version <= last:
            raise reused(slug, version.version, last)
        self.head.turn += 1
        self.head.active_claims += version.active
        words = joined(terms) if version.active else ""
        self.head.claim_terms += len(words.split())
        self._session.rows(
            insert("claim_version"),
            (
                *(self._brain, slug, version.version, version.claim_id, version.digest, version.text, int(version.active)),
                *(version.created, version.born_at, None, None, self.head.turn, words),
            ),
        )
        if words:
            self._index.index_claim(self._session, self.head.turn, words)

    def end_claim(self, slug: str, *, expected: int, at: int, ended_act: str) -> None:
        self._close(slug, expected, at=at, ended_act=ended_act)

    def _close(self, slug: str, expected: int | None, *, at: int, ended_act: str) -> int:
        """End the live version, which must be the expected one; answers the last number of this label."""
        standing = self._standing(slug)
        self.changed[slug] = None
        if standing.live != expected:
            raise stale(slug, expected, standing.live)
        if standing.live is not None:
            self._unindex(standing)
            self._session.rows(
                "update claim_version set ended_at = ?, ended_act = ?, terms = '' "
                "where brain_id = ? and slug = ? and version = ?",
                (at, ended_act, self._brain, slug, standing.live),
            )
        return standing.last

    def _standing(self, slug: str) -> "_Standing":
        """One statement, because on a server each costs a round trip."""
        ((live, active, turn, terms, highest),) = self._session.rows(
            "select v.version, v.active, v.turn, v.terms, "
            "(select max(version) from claim_version where brain_id = ? and slug = ?) from (select 1 as one) as here "
            "left join claim_version v on v.brain_id = ? and v.slug = ? and v.ended_at is null",
            (self._brain, slug, self._brain, slug),
        )
        return _Standing(live=live, turn=turn if active else None, terms=len((terms or "").split()), last=highest or 0)

    def _unindex(self, standing: "_Standing") -> None:
        if standing.turn is not None:
            self.head.active_claims -= 1
            self.head.claim_terms -= standing.terms
            self.gone[Shelf.CLAIM].append(standing.turn)
            self._index.unindex_claim(self._session, standing.turn)

    def erase_claim(self, slug: str) -> None:
        standing = self._standing(slug)
        self.changed.pop(slug, None)  # what is forgotten is not named
        self._unindex(standing)
        self.head.forgotten = max(self.head.forgotten, standing.last)
        for table in ("claim_version", "mark", "anchor"):
            self._session.rows(f"delete from {table} where brain_id = ? and slug = ?", (self._brain, slug))
        self.put_graph(f"claim:{slug}", (), ())
        self._index.erasing(self._session, Shelf.CLAIM)
        self.erased = True

    def erase_versions(self, slug: str, versions: Collection[int]) -> None:
        self.head.forgotten = max(self.head.forgotten, self._standing(slug).last)
        for number in versions:
            self._session.rows(
                "delete from claim_version where brain_id = ? and slug = ? and version = ? and ended_at is not null",
                (self._brain, slug, number),
            )
        self._index.erasing(self._session, Shelf.CLAIM)
        self.erased = True

    def put_mark(self, mark: Mark) -> None:
        self._session.rows(upsert("mark", "slug", "kind"), (self._brain, *_mark_values(mark)))

    def redact_mark(self, mark: Mark) -> None:
        self.put_mark(mark)
        self.erased = True

    def drop_mark(self, slug: str, kind: str) -> None:
        self._session.rows("delete from mark where brain_id = ? and slug = ? and kind = ?", (self._brain, slug, kind))

    def put_tombstone(self, fingerprint: str, *, at: int, by: str, reason: str) -> None:
        self._session.rows(f"{insert('tombstone')} on conflict do nothing", (self._brain, fingerprint, at, by, reason))

    def redact_tombstones(self, reason: str, *, to: str) -> int:
        self.erased = True
        changed = "update tombstone set reason = ? where brain_id = ? and reason = ? returning fingerprint"
        return len(self._session.rows(changed, (to, self._brain, reason)))

    def drop_tombstone(self, fingerprint: str) -> bool:
        return bool(
            self._session.rows(
                "delete from tombstone where brain_id = ? and fingerprint = ? returning fingerprint", (self._brain, fingerprint)
            )
        )

    def put_boot(self, entry: BootEntry) -> None:
        self._session.rows(upsert("boot", "key"), (self._brain, *_boot_values(entry)))

    def drop_boot(self, key: str) -> bool:
        return bool(self._session.rows("delete from boot where brain_id = ? and key = ? returning key", (self._brain, key)))

    def erase_boot(self, keys: Collection[str]) -> None:
        for key in keys:
            self.drop_boot(key)
        self._index.erasing(self._session, None)
        self.erased = True

    def put_anchors(self, slug: str, anchors: Mapping[str, str]) -> None:
        self._session.rows("delete from anchor where brain_id = ? and slug = ?", (self._brain, slug))
        self._session.insert_many("anchor", [(self._brain, slug, path, digest) for path, digest in anchors.items()])

    def put_graph(self, owner: str, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        had_nodes: dict[str, Row] = {
            row[0]: row
            for row in self._session.rows(
                "select id, kind, label, path from graph_node where brain_id = ? and owner = ?", (self._brain, owner)
            )
        }
        had_edges = set(
            self._session.rows(
                "select source, relation, target from graph_edge where brain_id = ? and owner = ?", (self._brain, owner)
            )
        )
        gives_nodes: dict[str, Row] = {node.id: _node_values(node) for node in nodes}
        gives_edges: set[Row] = {_edge_values(edge) for edge in edges}
        if had_nodes == gives_nodes and had_edges == gives_edges:
            return
        before = self._exclusive(owner)
        # Only the difference is written: an inventory of 100,000 files changes by a handful.
        gone = [(self._brain, id_, owner) for id_, row in had_nodes.items() if gives_nodes.get(id_) != row]
        came = [(self._brain, row[0], owner, *row[1:]) for id_, row in gives_nodes.items() if had_nodes.get(id_) != row]
        self._session.delete_many("graph_node", ("brain_id", "id", "owner"), gone)
        self._session.insert_many("graph_node", came)
        lost = [(self._brain, *row, owner) for row in had_edges - gives_edges]
        self._session.delete_many("graph_edge", ("brain_id", "source", "relation", "target", "owner"), lost)
        self._session.insert_many("graph_edge", [(self._brain, *row, owner) for row in sorted(gives_edges - had_edges)])
        after = self._exclusive(owner)
        self.head.nodes += after[0] - before[0]
        self.head.edges += after[1] - before[1]
        self.head.generation += 1

    def _exclusive(self, owner: str) -> tuple[int, int]:
        """How many nodes and edges no other owner gives: what this owner adds to the size of the graph."""
        ((nodes,),) = self._session.rows(
            "select count(*) from graph_node a where a.brain_id = ? and a.owner = ? and not exists (select 1 from graph_node b "
            "where b.brain_id = a.brain_id and b.id = a.id and b.owner <> a.owner)",
            (self._brain, owner),
        )
        ((edges,),) = self._session.rows(
            "select count(*) from graph_edge a where a.brain_id = ? and a.owner = ? and not exists (select 1 from graph_edge b "
            "where b.brain_id = a.brain_id and b.source = a.source and b.relation = a.relation and b.target = a.target "
            "and b.owner <> a.owner)",
            (self._brain, owner),
        )
        return int(nodes), int(edges)

    def put_intent(self, intent: Intent) -> None:
        self._session.rows(upsert("intent", "id"), (self._brain, *_intent_values(intent)))

    def drop_intent(self, intent_id: str) -> None:
        self._session.rows("delete from intent where brain_id = ? and id = ?", (self._brain, intent_id))

    def set_meta(self, key: str, value: str) -> None:
        self._session.rows(upsert("meta", "key"), (self._brain, key, value))

    def add_counts(self, counts: Mapping[tuple[str, str], int]) -> None:
        for (name, week), value in counts.items():
            self._session.rows(
                f"{insert('counter')} on conflict (brain_id, name, week) do update set value = counter.value + excluded.value",
                (self._brain, name, week, value),
            )
