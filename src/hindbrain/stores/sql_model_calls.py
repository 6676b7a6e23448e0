"""SQL calls of models: the cost ledger, in statements that both databases understand."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from operator import attrgetter

from hindbrain.domain.brain import BrainId
from hindbrain.stores.model_call_port import BEGUN, ModelCall, Spend
from hindbrain.stores.sql_rows import COLUMNS, Row, Session, TextIndex, insert

__all__ = ["ModelCallReads", "ModelCallWriter", "call_values"]

_NAMES = COLUMNS["model_call"][1:]
_SETTLED = ("prompt_tokens", "completion_tokens", "elapsed_ms", "cost_micros", "outcome", "reply")
_SUM = (
    "select count(*), coalesce(sum(prompt_tokens + completion_tokens), 0), coalesce(sum(cost_micros), 0) from model_call "
    "where brain_id = ? and at >= ?"
)

call_values: Callable[[ModelCall], Row] = attrgetter(*_NAMES)
_settled_values: Callable[[ModelCall], Row] = attrgetter(*_SETTLED)


def _asked_for(task_id: str | None) -> tuple[str, tuple[object, ...]]:
    return ("", ()) if task_id is None else (" and task_id = ?", (task_id,))


def _spend(rows: Sequence[Row]) -> Spend:
    calls, tokens, cost = rows[0]
    return Spend(calls=int(calls), tokens=int(tokens), cost_micros=int(cost))


class ModelCallWriter:
    """The part of a write transaction that keeps calls of models."""

    _session: Session
    _index: TextIndex
    _brain: BrainId
    erased: bool

    def put_model_call(self, call: ModelCall) -> None:
        self._session.rows(insert("model_call"), (self._brain, *call_values(call)))

    def settle_model_call(self, call: ModelCall) -> bool:
        changed = ", ".join(f"{name} = ?" for name in _SETTLED)
        made = self._session.rows(
            f"update model_call set {changed} where brain_id = ? and seq = ? and outcome = ? returning seq",
            (*_settled_values(call), self._brain, call.seq, BEGUN),
        )
        return bool(made)

    def model_spend(self, *, since: int = 0, task_id: str | None = None) -> Spend:
        said, values = _asked_for(task_id)
        return _spend(self._session.rows(_SUM + said, (self._brain, since, *values)))

    def erase_model_texts(self, task_ids: Sequence[str]) -> int:
        gone = 0
        for task_id in dict.fromkeys(task_ids):
            gone += len(
                self._session.rows(
                    "update model_call set prompt = '', reply = '' where brain_id = ? and task_id = ? returning seq",
                    (self._brain, task_id),
                )
            )
        if gone:
            self._index.erasing(self._session, None)
            self.erased = True
        return gone


class ModelCallReads(ABC):
    """The reads of calls."""

    brain_id: BrainId

    @abstractmethod
    def _asked(self, statement: str, values: Sequence[object]) -> list[Row]: ...

    def model_calls(
        self, *, after: int = 0, limit: int = 1000, task_id: str | None = None, since: int = 0
    ) -> tuple[ModelCall, ...]:
        said, values = _asked_for(task_id)
        found = self._asked(
            f"select {', '.join(_NAMES)} from model_call where brain_id = ? and seq > ? and at >= ?{said} order by seq limit ?",
            (self.brain_id, after, since, *values, max(limit, 0)),
        )
        return tuple(ModelCall(**dict(zip(_NAMES, row, strict=True))) for row in found)

    def model_spend(self, *, since: int = 0, task_id: str | None = None) -> Spend:
        said, values = _asked_for(task_id)
        return _spend(self._asked(_SUM + said, (self.brain_id, since, *values)))
