"""What is told of models: which are set and can be reached, and what their calls cost. Never shows a key."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import ConfigInvalid, UnknownTask
from hindbrain.domain.message import Role
from hindbrain.policy.limits import DAY_MS
from hindbrain.policy.models import TIERS
from hindbrain.services.brains import Brains
from hindbrain.services.control.costs import calls_of, day_of, left_of
from hindbrain.services.control.model_chain import Keys, chain_of, keys_of
from hindbrain.services.control.model_plan import ModelPlan, Spec
from hindbrain.services.routing import Router
from hindbrain.stores.port import ModelCall

__all__ = ["ModelReport"]

_TASKS_SHOWN = 20


class ModelReport:
    """Reads the plan and the cost ledger."""

    def __init__(
        self, brains: Brains, router: Router, plan: Callable[[], ModelPlan], environ: Mapping[str, str], clock: Callable[[], int]
    ) -> None:
        self._brains = brains
        self._router = router
        self._read = plan
        self._environ = environ
        self._clock = clock

    @property
    def _plan(self) -> ModelPlan:
        return self._read()

    def models(self, *, check: bool) -> dict[str, Any]:
        """The providers in their order, the tier of each role, and whether a call would get through."""
        plan = self._plan
        try:
            keys, wrong = keys_of(plan, self._environ), None
        except ConfigInvalid as refused:
            keys, wrong = Keys({}), refused.message
        providers = [self._told(spec, place, keys, wrong, check=check) for place, spec in enumerate(plan.chain)]
        tiers = {role.value: plan.tier(role) for role in Role if role in plan.roles}
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-control-models-v0",
            "providers": providers,
            "tiers": tiers,
            "fallback": "rules" if plan.fallback else "none",
            "stream": plan.stream,
            "prompts": "keep" if plan.keep_prompts else "digest",
            "caps": _caps(plan),
        }
        return answer | {"rendered": _models_text(answer)}

    def cost(self, caller: Caller, *, task_id: str | None, days: int, tier: str | None) -> dict[str, Any]:
        """What calls cost by role, task and day, and what the caps still allow."""
        brain = self._router.named(caller, tier)
        now = self._clock()
        since = 0 if task_id is not None else day_of(now) - (days - 1) * DAY_MS
        with self._brains.use(brain) as opened:
            calls = list(calls_of(opened.store, task_id=task_id, since=since))
            left = left_of(opened.store, self._plan.caps, task_id=task_id, at=now)
            known = task_id is None or bool(calls) or bool(opened.store.messages(task_id=task_id, limit=1))
        if not known:
            raise UnknownTask(f"{brain.display_name} has no task {task_id}", fix="leave task_id out to see what there is")
        tasks = _sums(calls, lambda call: call.task_id or "-")
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-control-cost-v0",
            "brain": brain.name,
            "task_id": task_id,
            "total": _sum(calls),
            "by_role": _sums(calls, lambda call: call.role),
            "by_model": _sums(calls, lambda call: f"{call.provider}/{call.model}"),
            "by_day": _sums(calls, lambda call: datetime.fromtimestamp(call.at / 1000, UTC).date().isoformat()),
            "by_task": tasks[-_TASKS_SHOWN:],
            "tasks_left_out": max(len(tasks) - _TASKS_SHOWN, 0),
            "left": left,
        }
        return answer | {"rendered": _cost_text(answer)}

    def _told(self, spec: Spec, place: int, keys: Keys, wrong: str | None, *, check: bool) -> dict[str, Any]:
        named = f"file {spec.key_file}" if spec.key_file else f"variable {spec.key_env}" if spec.key_env else None
        told: dict[str, Any] = {
            "provider": spec.kind,
            "address": spec.base_url or spec.words[0],
            "models": {name: spec.models.get(tier) for name, tier in TIERS.items()},
            "key": None if named is None else {"from": named, "found": keys.get(place) is not None},
        }
        if check:
            reason = wrong if spec.key_file and wrong else self._reached(place, keys)
            told |= {"reachable": reason is None, "reason": reason}
        return told

    def _reached(self, place: int, keys: Keys) -> str | None:
        """Why a call would not get through. Whoever is asked sees the key that is meant for it, and no prompt."""
        spec = self._plan.chain[place]
        tier = max(spec.models)
        link = chain_of(self._plan, tier, keys=keys, environ=self._environ)[
            sum(one.serves(tier) for one in self._plan.chain[:place])
        ]
        reason = link.lacks or link.provider.reachable()
        return keys.out_of(reason) if reason else None


def _caps(plan: ModelPlan) -> dict[str, int | None]:
    caps = plan.caps
    return {
        "task_calls": caps.task_calls or None,
        "task_tokens": caps.task_tokens or None,
        "day_tokens": caps.day_tokens or None,
        "task_micros": caps.task_micros or None,
        "day_micros": caps.day_micros or None,
    }


def _sum(calls: Iterable[ModelCall]) -> dict[str, int]:
    found = list(calls)
    return {
        "calls": len(found),
        "prompt_tokens": sum(call.prompt_tokens for call in found),
        "completion_tokens": sum(call.completion_tokens for call in found),
        "elapsed_ms": sum(call.elapsed_ms for call in found),
        "cost_micros": sum(call.cost_micros for call in found),
    }


def _sums(calls: list[ModelCall], by: Callable[[ModelCall], str]) -> list[dict[str, Any]]:
    """The sums by a name, in the order in which the names came up."""
    groups: dict[str, list[ModelCall]] = {}
    for call in calls:
        groups.setdefault(by(call), []).append(call)
    return [{"name": name, **_sum(held)} for name, held in groups.items()]


def _money(micros: int) -> str:
    return f"{micros / 1e6:.4f}"


def _models_text(answer: Mapping[str, Any]) -> str:
    if not answer["providers"]:
        return "No model is set: the control loop goes by its rules, and nothing leaves this machine. See model_provider."
    lines = []
    for place, one in enumerate(answer["providers"], 1):
        models = ", ".join(f"{tier} {name}" for tier, name in one["models"].items() if name)
        key = one["key"]
        held = "no key" if key is None else f"key from {key['from']}" + ("" if key["found"] else " (not found)")
        lines.append(f"{place}. {one['provider']} at {one['address']}: {models}; {held}")
        if "reachable" in one:
            lines.append("   can be reached" if one["reachable"] else f"   cannot be used: {one['reason']}")
    served = {0: "rules", 1: "tool", 2: "brain"}
    lines.append("Roles: " + ", ".join(f"{role} {served[tier]}" for role, tier in answer["tiers"].items()))
    otherwise = "rules stand in" if answer["fallback"] == "rules" else "the step ends with model_failed"
    lines.append(f"Without an answer {otherwise}; of prompts and replies is kept: {answer['prompts']}.")
    return "\n".join(lines)


def _cost_text(answer: Mapping[str, Any]) -> str:
    total = answer["total"]
    if not total["calls"]:
        lines = ["No model was asked."]
    else:
        tokens = f"{total['prompt_tokens']} + {total['completion_tokens']} tokens"
        lines = [f"{total['calls']} calls, {tokens}, {total['elapsed_ms'] / 1000:.1f} s, {_money(total['cost_micros'])}"]
        for title, key in (("role", "by_role"), ("model", "by_model"), ("day", "by_day"), ("task", "by_task")):
            for row in answer[key]:
                used = row["prompt_tokens"] + row["completion_tokens"]
                lines.append(f"  {title} {row['name']}: {row['calls']} calls, {used} tokens, {_money(row['cost_micros'])}")
    words = {
        "day_micros": "money today",
        "day_tokens": "tokens today",
        "task_micros": "money of the task",
        "task_tokens": "tokens of the task",
        "task_calls": "calls of the task",
    }
    left = [
        f"{_money(value) if key.endswith('micros') else value} {words[key]}"
        for key, value in answer["left"].items()
        if value is not None
    ]
    lines.append("Left: " + (", ".join(left) if left else "no cap is set") + ".")
    return "\n".join(lines)
