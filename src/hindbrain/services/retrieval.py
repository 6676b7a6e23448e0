"""Retrieval: what a question finds on one shelf of one brain, by words and by meaning. The one pipeline of all recall.

Candidates are the best by words and the nearest by meaning; each is scored in every way, and the best are read and compared word
by word. Without a model, or before the vectors are made, words alone answer, and the answer says so.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from hindbrain.domain.anchor import LEGACY, AnchorKind
from hindbrain.domain.errors import Busy, StoreUnavailable
from hindbrain.domain.evidence import Evidence
from hindbrain.engines.ranking import coverage
from hindbrain.engines.retrieval import (
    Candidate,
    Scored,
    Signs,
    best_of_each,
    distinct,
    fused,
    late_likeness,
    leading,
    names_in,
    rarity,
    relevance,
    telling,
    trust,
)
from hindbrain.engines.text import fold, query_terms, terms
from hindbrain.policy.recall import QUERY_TERMS
from hindbrain.policy.retrieval import (
    ENOUGH,
    FLOOR,
    FLOOR_NEAR,
    FLOOR_ROWS,
    LATE_ROWS,
    LOOKUP_ROWS,
    NEAR_CANDIDATES,
    NEARNESS,
    QUIET_WEIGHT,
    SEATED_ROWS,
    WEIGHTS,
    WIDEST,
    WORD_CANDIDATES,
)
from hindbrain.services.brains import OpenBrain
from hindbrain.services.embedder import Embedder
from hindbrain.services.embedding import Embedding, IndexState
from hindbrain.services.explaining import BELOW_FLOOR, NOTHING_RELEVANT, REPEATS, Trace, Tried, evidence_tried, ranks
from hindbrain.services.routing import Gap, gap
from hindbrain.stores.port import Found, Seat, Voice, Where
from hindbrain.stores.vector_port import Shelf

if TYPE_CHECKING:
    from hindbrain.engines.minilm import Question

__all__ = ["LAG", "Gathered", "Hit", "Retrieval", "Search", "Served"]

_BESIDE = 4  # threads that look words up while the model computes; who finds none free does it in its own
LAG = "vectors_lag"  # a gap that closes by itself within a moment
_ASKED = 32  # questions whose vectors are kept: one question is asked of several shelves and brains
_SPARE = 5  # rows that are read beyond those wanted: some may say the same
_EVERYTHING = Where()


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """By which means a brain answered, and what of it could not be found by them."""

    stamp: str | None  # of the embedder whose vectors were asked; None: by words only
    pending: int = 0  # rows that are found by words only
    state: str = "ready"
    reason: str | None = None
    fix: str | None = None

    def gaps(self, name: str) -> list[Gap]:
        """What has to be said about it: an index that is missing or behind is named, never hidden."""
        if self.stamp is None:
            text = f"searched by words only: {self.reason or f'{name} has no vectors yet'}"
            return [gap("no_meaning", text, self.fix or "hindbrain model status")]
        if self.pending:
            text = f"{self.pending} rows of {name} have no vectors yet and were searched by words only"
            return [gap(LAG, text, "hindbrain model embed")]
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A row of evidence that answers, with its score and what that is made of."""

    evidence: Evidence
    turn: int
    score: float  # beside the others of this answer: the best has 1
    cosine: float | None  # to the question, whatever else there is
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a question found: at most as many rows as were asked for, and none when nothing is relevant."""

    hits: tuple[Hit, ...]
    found: int  # rows that were compared
    exists: int  # rows there are
    relevance: float  # below zero: nothing relevant
    served: Served

    @property
    def relevant(self) -> bool:
        return self.relevance >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The candidates of one shelf."""

    query: str
    words: tuple[str, ...]
    found: Found
    cosines: Mapping[int, float]
    served: Served
    question: "Question | None" = None
    rows: int = 0  # that the filters let through
    narrowed: bool = False  # by what they say, not only by where they were seen
    trust: float = 1.0
    scores: Mapping[int, float] = field(default_factory=dict)  # turn -> BM25

    def without(self, names: Collection[str]) -> "Gathered":
        """The same candidates, judged by the question's other words: who speaks is not among what is said, so a speaker's name
        is found in hardly any text, and would weigh more than all the rest."""
        kept = tuple(word for word in self.words if word not in names)
        if not kept or len(kept) == len(self.words):
            return self
        return replace(self, words=kept, trust=trust(max(self.found.scores, default=0.0), self.weight(kept)))

    def outside(self, turns: Collection[int]) -> "Gathered":
        """Return the candidates without some rows."""
        scores = {turn: score for turn, score in self.scores.items() if turn not in turns}
        return replace(self, scores=scores, cosines={turn: near for turn, near in self.cosines.items() if turn not in turns})

    def weight(self, words: Sequence[str]) -> float:
        """How much some words tell together."""
        return sum(rarity(self.found.frequencies.get(word, 0), self.found.total) for word in words)

    @property
    def turns(self) -> list[int]:
        """Of all candidates."""
        return [*self.scores, *(turn for turn in self.cosines if turn not in self.scores)]

    def leading(self, turns: Collection[int], limit: int, priors: Mapping[int, float] | None = None) -> list[int]:
        """The best of these candidates by words and meaning, and by what else is known of them."""
        prior = priors or {}
        rows = [(turn, self.scores.get(turn, 0.0), self.cosines.get(turn), prior.get(turn, 0.0)) for turn in turns]
        return leading(rows, words=self.trust, limit=limit)


class Retrieval:
    """Asks one open brain at a time."""

    def __init__(self, embedder: Embedder, embedding: Embedding) -> None:
        self._embedder = embedder
        self._embedding = embedding
        self._asked: OrderedDict[tuple[str, str], Question] = OrderedDict()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_BESIDE, thread_name_prefix="retrieval")

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _beside(self, work: Callable[[], Found]) -> Callable[[], Found]:
        """Begin a lookup on another thread: neither the database nor the model needs the interpreter while it computes. What is
        given back waits for the result, or does the work itself when no thread was free."""
        doing = self._pool.submit(work)
        return cache(lambda: work() if doing.cancel() else doing.result())

    # -- candidates --------------------------------------------------------------------------------------------------

    def gather(
        self,
        opened: OpenBrain,
        shelf: Shelf,
        query: str,
        *,
        by_words: int = WORD_CANDIDATES,
        by_meaning: int = NEAR_CANDIDATES,
        within: int = LOOKUP_ROWS,
        where: Where | None = None,
    ) -> Gathered:
        """The best by words and the nearest by meaning, each with both scores. Filters come before everything else."""
        words = tuple(query_terms(query)[:QUERY_TERMS])
        filtered = where if where is not None and where != _EVERYTHING else None
        finding: Callable[[], Found] = partial(
            opened.store.find, words, limit=by_words, within=within, shelf=shelf, where=filtered
        )
        cosines: dict[int, float] = {}
        among = None
        try:
            state = self._state(opened)
            if state.serving_stamp is not None:
                finding = self._beside(finding)
            served, question = self._question(opened, state, query)
            if question is not None and served.stamp is not None:
                among = opened.store.turns(filtered) if filtered is not None else None
                vectors, asked = opened.store.vectors, question.vector.tolist()
                near = vectors.nearest(served.stamp, shelf, asked, limit=by_meaning, among=among)
                cosines = dict(zip(near.turns, near.cosines, strict=True))
                more = [turn for turn in finding().turns if turn not in cosines]
                cosines |= vectors.cosines(served.stamp, shelf, asked, more)
        except (Busy, StoreUnavailable) as failure:
            # Vectors are derived, and the words answer without them: what was found is told, and what was not asked.
            why = f"its vectors did not answer: {failure.message}"
            served, question, cosines = Served(stamp=None, state="unreachable", reason=why, fix="hindbrain doctor"), None, {}
        found = finding()
        gathered = Gathered(
            query=query,
            words=words,
            found=found,
            cosines=cosines,
            served=served,
            question=question,
            rows=len(among) if among is not None else found.total,
            narrowed=filtered is not None and replace(filtered, anchor_kind=None, anchor_ids=None) != _EVERYTHING,
            scores=dict(zip(found.turns, found.scores, strict=True)),
        )
        return replace(gathered, trust=trust(max(found.scores, default=0.0), gathered.weight(words)))

    def _state(self, opened: OpenBrain) -> IndexState:
        """How far the vectors of this brain are, after a little time was lent to them."""
        state = self._embedding.state(opened)
        if state.pending:
            with suppress(Busy, StoreUnavailable):  # a disk without room for more vectors has room for the question
                state = self._embedding.lend(opened) or state
        return state

    def _question(self, opened: OpenBrain, state: IndexState, query: str) -> "tuple[Served, Question | None]":
        """The vectors of a question for the vectors that this brain has."""
        stamp = state.serving_stamp
        if stamp is None or not query.strip():
            return _by_words(state), None
        key = (stamp, query)
        with self._lock:
            if (known := self._asked.get(key)) is not None:
                self._asked.move_to_end(key)
        question = known or self._embedder.query(query, stamp=stamp)
        if question is None:  # it could not be loaded; now its standing says why
            return _by_words(self._embedding.state(opened)), None
        with self._lock:
            self._asked[key] = question
            while len(self._asked) > _ASKED:
                self._asked.popitem(last=False)
        return Served(stamp=stamp, pending=state.pending, state=state.state.value), question

    # -- evidence ----------------------------------------------------------------------------------------------------

    def search(
        self,
        opened: OpenBrain,
        query: str,
        *,
        where: Where | None = None,
        limit: int = 10,
        anchors: Sequence[str] = (),
        floor: bool = True,
        trace: Trace | None = None,
    ) -> Search:
        """The rows of evidence that answer, best first. `anchors` are the caller's own, from near to far; without `floor` the
        best rows come back even when nothing is relevant."""
        wide = 1
        while True:
            found, cut = self._searched(opened, query, where, limit, anchors, wide, floor=floor, trace=trace)
            # One text, said a hundred times, may have pushed everything else out: then look further.
            if not cut or len(found.hits) >= min(limit, ENOUGH) or wide >= WIDEST:
                return found
            wide *= 4

    def _searched(
        self,
        opened: OpenBrain,
        query: str,
        where: Where | None,
        limit: int,
        anchors: Sequence[str],
        wide: int,
        *,
        floor: bool,
        trace: Trace | None,
    ) -> tuple[Search, bool]:
        """What so many candidates give, and whether rows were left out because others had said the same."""
        by_words, by_meaning = wide * WORD_CANDIDATES, wide * NEAR_CANDIDATES
        gathered = self.gather(opened, Shelf.EVIDENCE, query, where=where, by_words=by_words, by_meaning=by_meaning)
        if opened.brain.root is None and (withheld := opened.store.withheld()):
            gathered = gathered.outside(withheld)
        turns = gathered.turns
        most = wide * SEATED_ROWS
        seats = opened.store.seats(turns if len(turns) <= most else gathered.leading(turns, most))
        asked = set(gathered.words)
        names = {speaker: terms(speaker) for speaker in {seat.voice.speaker for seat in seats.values()} if speaker}
        named = {speaker for speaker, own in names.items() if not asked.isdisjoint(own)}
        gathered = gathered.without({term for own in names.values() for term in own})
        priors = _priors(seats, anchors, named)
        chosen = [
            Candidate(
                turn=turn,
                lexical=gathered.scores.get(turn, 0.0),
                cosine=gathered.cosines.get(turn),
                prior=priors[turn],
                message=seats[turn].message if seats[turn].thread is not None else "",
                thread=seats[turn].thread or "",
                position=seats[turn].position,
            )
            for turn in gathered.leading(seats, wide * LATE_ROWS, priors)
        ]
        self._compare_words(opened, gathered, chosen, seats)
        scored = fused(chosen, words=gathered.trust)
        ranked = best_of_each(scored)
        near = [one for one in ranked if not floor or one.candidate.lexical > 0 or (one.candidate.cosine or 0.0) >= FLOOR.row]
        kept, rows = self._read(opened, near, max(limit, 0))
        weight = self._relevance(opened, gathered, ranked[:FLOOR_ROWS], speaker=bool(named))
        shown = kept if weight >= 0 or not floor else []
        if trace is not None:
            trace.put("evidence", opened.brain.name, _tried(opened, gathered, scored, near, rows, kept, shown))
        search = Search(
            hits=tuple(
                Hit(
                    evidence=rows[one.candidate.turn],
                    turn=one.candidate.turn,
                    score=one.score,
                    cosine=one.candidate.cosine,
                    parts=one.parts._asdict(),
                )
                for one in shown
            ),
            found=len(seats),
            exists=gathered.found.total,
            relevance=round(weight, 4),
            served=gathered.served,
        )
        return search, len(shown) == len(kept) < len(near) and len(ranked) < len(turns)

    @staticmethod
    def _read(opened: OpenBrain, ranked: Sequence[Scored], limit: int) -> tuple[list[Scored], dict[int, Evidence]]:
        """The first rows that say something of their own, with what they say."""
        read = limit + _SPARE
        while True:
            rows = opened.store.evidence_at([one.candidate.turn for one in ranked[:read]])
            there = [one for one in ranked[:read] if one.candidate.turn in rows]
            said = {turn: fold(row.content) for turn, row in rows.items()}
            kept = distinct(there, said, limit)
            if len(kept) >= limit or read >= len(ranked):
                return kept, rows
            read *= 2

    def _compare_words(
        self, opened: OpenBrain, gathered: Gathered, chosen: Sequence[Candidate], seats: Mapping[int, Seat]
    ) -> None:
        """Give short rows their likeness token by token, the turns beside them included."""
        if gathered.question is None or gathered.served.stamp is None:
            return
        question, stamp = gathered.question, gathered.served.stamp
        dims = question.late.shape[1] if question.late.ndim == 2 else 0
        if not dims or not len(question.late):
            return
        from hindbrain.engines.minilm import directions

        coded = opened.store.vectors.late(stamp, Shelf.EVIDENCE, [one.turn for one in chosen])
        tokens = {turn: len(raw) // dims for turn, raw in coded.items()}
        places = {(seat.thread, seat.position): one.turn for one in chosen if (seat := seats[one.turn]).thread}
        beside: dict[int, list[int]] = {}
        for (thread, position), turn in places.items():
            before, after = places.get((thread, position - 1)), places.get((thread, position + 1))
            if before is not None or after is not None:
                beside[turn] = [other for other in (before, after) if other is not None]
        states = directions(b"".join(coded.values()), dims)
        likeness = late_likeness(question.late, late_weights(gathered), states, tokens, beside)
        for one in chosen:
            one.late = likeness.get(one.turn)

    @staticmethod
    def _relevance(opened: OpenBrain, gathered: Gathered, best: Sequence[Scored], *, speaker: bool) -> float:
        """How much is about the question. Where vectors lag, either way of finding is enough."""
        found, words = gathered.found, gathered.words
        said = opened.store.evidence_words([one.candidate.turn for one in best])
        covered = max((coverage(words, (), own, found.frequencies, found.total) for own in said.values()), default=0.0)
        whole = gathered.weight(words)
        unknown = [word for word in words if not found.frequencies.get(word, 0)]
        named = {term for name in names_in(gathered.query) for term in terms(name)}
        nearest = sorted(gathered.cosines.values(), reverse=True)[:FLOOR_NEAR]
        signs = Signs(
            covered=covered,
            near=sum(nearest) / len(nearest) if nearest else None,
            unknown=sum(rarity(0, found.total) for _ in unknown) / whole if whole > 0 else 0.0,
            stranger=not named.isdisjoint(unknown),
            speaker=speaker,
            rows=gathered.rows,
            narrowed=gathered.narrowed,
            best=nearest[0] if nearest else 1.0,
        )
        judged = relevance(signs)
        return max(judged, relevance(replace(signs, near=None))) if gathered.served.pending else judged


def late_weights(gathered: Gathered) -> list[float]:
    """How much each token of a question weighs: as much as its word is rare; a word that is not looked for says little."""
    if gathered.question is None:
        return []
    found, asked = gathered.found, set(gathered.words)
    weights = []
    for word in gathered.question.words:
        own = [term for term in terms(word) if term in asked]
        told = (telling(found.frequencies.get(term, 0), found.total) for term in own)
        weights.append(max(told, default=QUIET_WEIGHT))
    return weights


def _tried(
    opened: OpenBrain,
    gathered: Gathered,
    scored: Sequence[Scored],
    near: Sequence[Scored],
    read: Mapping[int, Evidence],
    kept: Sequence[Scored],
    shown: Sequence[Scored],
) -> list[Tried]:
    """What became of each row that was compared, for somebody who asks why."""
    late = {one.candidate.turn: one.candidate.late for one in scored if one.candidate.late is not None}
    by = {"words": ranks(gathered.scores), "meaning": ranks(gathered.cosines), "late": ranks(late)}
    places = {one.candidate.turn for one in near}, {one.candidate.turn for one in kept}, {one.candidate.turn for one in shown}
    out: dict[int, str] = {}
    for one in scored:
        turn = one.candidate.turn
        if turn in places[1] and turn not in places[2]:
            out[turn] = NOTHING_RELEVANT
        elif turn not in places[0]:
            out[turn] = BELOW_FLOOR if one.candidate.lexical <= 0 else REPEATS
        elif turn not in places[1] and turn in read:
            out[turn] = REPEATS
    names = opened.store.keys(Shelf.EVIDENCE, [one.candidate.turn for one in scored])
    return evidence_tried(opened.brain.name, scored, names, by, out)


def _by_words(state: IndexState) -> Served:
    return Served(stamp=None, pending=state.pending, state=state.state.value, reason=state.reason, fix=state.fix)


def _priors(seats: Mapping[int, Seat], anchors: Sequence[str], named: Collection[str]) -> dict[int, float]:
    """What is known of rows beside their text: who said it, and how near to the caller it was seen."""
    known: dict[Voice, float] = {}
    priors = {}
    for turn, seat in seats.items():
        voice = seat.voice
        if (prior := known.get(voice)) is None:
            prior = _nearness(voice, anchors)
            if voice.speaker in named:
                prior += WEIGHTS.speaker
            if voice.role is not None and voice.role != "user":
                prior += WEIGHTS.assistant
            known[voice] = prior
        priors[turn] = prior
    return priors


def _nearness(voice: Voice, anchors: Sequence[str]) -> float:
    """Worktree before repository before what came from an older store before what belongs to no project."""
    if voice.anchor_id == LEGACY.id:
        return NEARNESS["legacy"]
    if voice.anchor_kind == AnchorKind.GLOBAL or (anchors and voice.anchor_id not in anchors):
        return NEARNESS["global"]
    return NEARNESS[voice.anchor_kind]
