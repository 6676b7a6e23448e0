"""MiniLM: what stands between a text and its vectors, over arrays. The model itself is a function that is handed in.

A vector is kept as int8 codes: its direction, scaled so that its largest value is 127. The length of a code says nothing;
whoever compares divides by it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hindbrain.engines.wordpiece import Tokens, WordPiece
from hindbrain.policy.embedding import LATE_STOP_WORDS

__all__ = ["Encoder", "Floats", "Question", "Run", "Unit", "codes", "directions", "meaningful", "mixed", "projection"]

Floats = npt.NDArray[np.float32]
Run = Callable[[npt.NDArray[np.int64]], tuple[Floats, Floats]]  # token ids -> state of each token, vector of the text


@dataclass(frozen=True, slots=True)
class Unit:
    """The vectors of a text that is kept: one of length 1, and one row for each token that says something."""

    vector: Floats
    late: Floats


@dataclass(frozen=True, slots=True)
class Question:
    """The vectors of a question, and from which word each row of `late` comes, so that rare words can weigh more."""

    vector: Floats
    late: Floats
    words: tuple[str, ...]  # one for each row of `late`, in lower case without accents


class Encoder:
    """One model with its vocabulary and its projection of token states. Threads may share it if they may share `run`."""

    def __init__(self, run: Run, tokenizer: WordPiece, project: Floats) -> None:
        self._run = run
        self._tokenizer = tokenizer
        self._project = project

    @property
    def late_dims(self) -> int:
        return int(self._project.shape[1])

    def unit(self, text: str, *, late: bool) -> Unit:
        """Vectors of a text to keep; `late` says whether its token states are wanted."""
        vector, states, _ = self._encoded(text)
        return Unit(vector, states if late else states[:0])

    def question(self, text: str) -> Question:
        """Vectors of a text to ask with."""
        return Question(*self._encoded(text))

    def _encoded(self, text: str) -> tuple[Floats, Floats, tuple[str, ...]]:
        tokens = self._tokenizer.tokens(text)
        states, vector = self._run(np.array(tokens.ids, dtype=np.int64))
        kept = meaningful(tokens)
        late = _unit_rows(states[kept] @ self._project)
        return vector, late, tuple(tokens.words[tokens.sources[place]] for place in kept)


def meaningful(tokens: Tokens) -> list[int]:
    """The places of the tokens that carry meaning: no marks, signs or words that stand in every sentence."""
    return [
        place
        for place, source in enumerate(tokens.sources)
        if source >= 0 and (word := tokens.words[source]) not in LATE_STOP_WORDS and any(map(str.isalnum, word))
    ]


def projection(states: Floats, dims: int) -> Floats:
    """The directions in which token states differ most, as columns. The same states give the same directions on every run."""
    rows = _unit_rows(states).astype(np.float64)
    _, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    chosen = vectors[:, ::-1][:, :dims]
    # A direction and its opposite are the same to the algebra; the largest component decides which one is meant.
    signs = np.sign(chosen[np.abs(chosen).argmax(axis=0), np.arange(chosen.shape[1])])
    found: Floats = (chosen * signs).astype(np.float32)
    return found


def codes(vectors: Floats) -> bytes:
    """Int8 codes of one vector, or of the rows of a matrix one after another."""
    rows = np.atleast_2d(vectors)
    top = np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0.0), np.float32(1e-12))
    found: bytes = np.round(rows * (np.float32(127) / top)).astype(np.int8).tobytes()
    return found


def directions(coded: bytes, dims: int) -> Floats:
    """The vectors of some codes, each of length 1."""
    return _unit_rows(np.frombuffer(coded, dtype=np.int8).reshape(-1, dims).astype(np.float32))


def mixed(own: Floats, neighbours: Sequence[Floats], share: float) -> Floats:
    """A turn with a share of the turns beside it, of length 1 again: a short turn often says what it is about next door."""
    total = own.copy()
    for one in neighbours:
        total += np.float32(share) * one
    found: Floats = total / np.maximum(np.linalg.norm(total), np.float32(1e-12))
    return found


def _unit_rows(rows: Floats) -> Floats:
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
    found: Floats = (rows / lengths).astype(np.float32)
    return found
