"""Parameters: the numbers in force. The built-in ones, then those of the settings, then what a person applied to this brain, for
all tasks and for the task's class."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hindbrain.domain.caller import Channel
from hindbrain.domain.stored import stored_json
from hindbrain.engines.slug import class_print
from hindbrain.policy.control import Params, altered
from hindbrain.policy.tuning import ACT_APPLIED, APPLIED_KEY
from hindbrain.services.gateway import recorded
from hindbrain.settings import Settings
from hindbrain.stores.port import BrainStore

__all__ = ["Parameters", "applied", "configured", "digest_of"]


def configured(settings: Settings) -> Params:
    """The numbers of the settings. Refuses those with which nothing could be decided."""
    return Params(
        alpha=settings.real("ggs.alpha"),
        beta=settings.real("ggs.beta"),
        lam=settings.real("ggs.lambda"),
        w1=settings.real("ggs.w1"),
        w2=settings.real("ggs.w2"),
        epsilon=settings.real("ggs.epsilon"),
        delta=settings.real("ggs.delta"),
        rho=settings.real("ggs.rho"),
        theta=settings.real("ggs.theta"),
        time_budget_ms=settings.number("ggs.time_budget_ms"),
        max_replans=settings.number("ggs.max_replans"),
        law2_rounds=settings.number("ggs.law2_rounds"),
        gradient_basis=settings.text("ggs.gradient_basis"),
        break_credit=settings.text("ggs.break_credit"),
        max_retries=settings.number("r4a.max_retries"),
        max_tool_calls=settings.number("r3.max_tool_calls"),
    )


def digest_of(store: BrainStore, task_class: str, values: Mapping[str, Any]) -> str:
    """What the ledger keeps of numbers that were applied."""
    return recorded(store.meta("salt") or "", json.dumps([task_class, dict(values)], ensure_ascii=False, sort_keys=True))


def applied(store: BrainStore) -> dict[str, dict[str, Any]]:
    """What a person applied to this brain: class -> numbers. Only what the ledger has a person's entry for: numbers that were put
    there by any other way count for nothing."""
    found: dict[str, dict[str, Any]] = {}
    for task_class, told in stored_json(store.meta(APPLIED_KEY) or "{}", "meta").items():
        entry = next(iter(store.entries(after=told["seq"] - 1, limit=1)), None)
        if (
            entry is not None
            and (entry.seq, entry.act, entry.channel) == (told["seq"], ACT_APPLIED, Channel.HUMAN.value)
            and stored_json(entry.payload, "ledger").get("numbers") == digest_of(store, task_class, told["values"])
        ):
            found[task_class] = told["values"]
    return found


class Parameters:
    """The numbers of one brain's tasks."""

    def __init__(self, base: Params, store: BrainStore, *, time_budget_ms: int | None = None) -> None:
        """`time_budget_ms` is what one run was given; it outweighs every setting."""
        self._base = base
        self._store = store
        self._time_budget_ms = time_budget_ms
        self._read: tuple[str | None, dict[str, dict[str, Any]]] = (None, {})

    def of_print(self, told: str) -> Params:
        """The numbers for tasks of a class that is known by its print only."""
        return self.of(next((name for name in self._applied() if name and class_print(name) == told), ""))

    def _applied(self) -> dict[str, dict[str, Any]]:
        written = self._store.meta(APPLIED_KEY)
        if written != self._read[0]:
            self._read = (written, applied(self._store))
        return self._read[1]

    def of(self, task_class: str) -> Params:
        """The numbers for tasks of a class, now."""
        found, params = self._applied(), self._base
        for name in ("", task_class) if task_class else ("",):
            params = altered(params, found.get(name, {}))
        return replace(params, time_budget_ms=self._time_budget_ms) if self._time_budget_ms else params
