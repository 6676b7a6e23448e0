"""Models: the mind behind the roles. Asks the chain of a role's tier, mends one broken reply, and writes down every call.

Knows providers by their port, roles by their name."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from hindbrain.domain.errors import ModelFailed
from hindbrain.domain.message import Role
from hindbrain.domain.typed import converted
from hindbrain.engines.reply import NoValue, cleaned, first_value
from hindbrain.policy.models import TIERS
from hindbrain.providers.port import LIMITS, PACE, Limits, Pace, ProviderFailed, Reply
from hindbrain.services.control.costs import Asked, Costs, Denied
from hindbrain.services.control.model_chain import Keys, Link, chain_of, keys_of
from hindbrain.services.control.model_plan import ModelPlan
from hindbrain.services.control.ports import Thought

__all__ = ["Models", "json_schema"]

LOG = logging.getLogger("hindbrain.models")
_SHAPE = "Answer with one JSON value that fits this JSON Schema, and with nothing else:"
_STANDING = "The person set this for every task. The laws come before it:"
_REPAIR = "Your last answer cannot be used: {wrong}\nIt was:\n{reply}\n\nAnswer again, with nothing but the JSON value."
_REPEATED = 4000  # characters of a broken reply that are shown to who wrote it


class _Unusable(Exception):
    """A reply that does not fit its schema."""


class _Spent(Exception):
    """A cap or a limit is reached."""


def json_schema(schema: type[Any]) -> dict[str, Any]:
    """The JSON Schema of a type, with the type itself at the top: some endpoints read no reference there."""
    made: dict[str, Any] = msgspec.json.schema(schema)
    name = str(made.get("$ref", "")).removeprefix("#/$defs/")
    if not name:
        return made
    others = {key: value for key, value in made["$defs"].items() if key != name or _mentions(made["$defs"], name)}
    return {**made["$defs"][name], **({"$defs": others} if others else {})}


def _mentions(definitions: Mapping[str, Any], name: str) -> bool:
    return f'"#/$defs/{name}"' in msgspec.json.encode(definitions).decode()


class Models:
    """Implements `Mind`. One for each open brain; any thread may ask."""

    def __init__(
        self,
        plan: ModelPlan,
        costs: Costs,
        *,
        environ: Mapping[str, str],
        limits: Limits = LIMITS,
        pace: Pace = PACE,
        chains: Mapping[int, tuple[Link, ...]] | None = None,
        standing: Sequence[str] = (),
    ) -> None:
        """`standing` is what a person set for every task: it is part of every system prompt, below the laws."""
        plan.check()
        self._plan = plan
        self._costs = costs
        self._limits = limits
        self._standing = "\n".join((_STANDING, *(f"- {one}" for one in standing))) if standing else ""
        self._keys: Keys = keys_of(plan, environ)
        self._chains = chains or {
            tier: chain_of(plan, tier, keys=self._keys, environ=environ, limits=limits, pace=pace) for tier in TIERS.values()
        }

    def tier(self, role: Role) -> int:
        return self._plan.tier(role)

    def named(self, role: Role) -> str:
        return ", ".join(f"{link.provider.name} {link.provider.model}" for link in self._chains.get(self.tier(role), ()))

    def think(
        self,
        role: Role,
        *,
        task_id: str | None,
        system: str,
        user: str,
        schema: type[Any] | None = None,
        max_tokens: int = 2000,
        timeout_s: float = 120.0,
    ) -> Thought | None:
        chain = self._chains.get(self.tier(role), ())
        if not chain:
            return None
        shape = json_schema(schema) if schema is not None else None
        if self._standing:
            system = f"{system}\n\n{self._standing}"
        if shape is not None:
            system = f"{system}\n\n{_SHAPE}\n{msgspec.json.encode(shape).decode()}"
        system, user = self._keys.out_of(system), self._keys.out_of(user)
        wrong: list[str] = []
        for link in chain:
            try:
                return self._asked(link, role, task_id, system, user, schema, shape, max_tokens=max_tokens, timeout_s=timeout_s)
            except _Spent as spent:
                LOG.warning("%s goes on by its rules: %s", role.value, spent)
                return None
            except (ProviderFailed, _Unusable) as failed:
                reason = self._keys.out_of(str(failed))
                LOG.warning("%s got no answer of %s for %s: %s", link.provider.name, link.provider.model, role.value, reason)
                wrong.append(f"{link.provider.name}: {reason}")
        if self._plan.fallback:
            return None
        raise ModelFailed(
            f"no model answered {role.value}: {'; '.join(wrong)}",
            fix="look at control.models with check, or set model_fallback to rules",
            role=role.value,
        )

    def _asked(
        self,
        link: Link,
        role: Role,
        task_id: str | None,
        system: str,
        user: str,
        schema: type[Any] | None,
        shape: Mapping[str, Any] | None,
        *,
        max_tokens: int,
        timeout_s: float,
    ) -> Thought:
        """One provider: its answer, or the answer to why its first one could not be used."""
        if link.lacks is not None:
            raise ProviderFailed("no_key", link.lacks)
        said, mending, ends = user, False, time.monotonic() + timeout_s
        while True:
            asked = Asked(
                task_id=task_id,
                role=role.value,
                provider=link.provider.name,
                model=link.provider.model,
                price=link.price,
                system=system,
                user=said,
                max_tokens=max_tokens,
            )
            reply, wrong = self._called(link, asked, schema, shape, ends - time.monotonic())
            if wrong is None:
                text = cleaned(reply.text)
                return Thought(text=text, data=reply.data, provider=reply.provider, model=reply.model, tier=reply.tier)
            if mending:
                raise _Unusable(wrong)
            mending = True
            said = f"{user}\n\n{_REPAIR.format(wrong=wrong, reply=cleaned(reply.text)[:_REPEATED])}"

    def _called(
        self, link: Link, asked: Asked, schema: type[Any] | None, shape: Mapping[str, Any] | None, timeout_s: float
    ) -> tuple[Reply, str | None]:
        """One call, written down before and after: its reply, and what is wrong with it."""
        call = self._costs.begin(asked)
        if isinstance(call, Denied):
            raise _Spent(call.reason)
        began = time.monotonic()
        try:
            reply = link.provider.complete(
                asked.role, asked.system, asked.user, json_schema=shape, max_tokens=asked.max_tokens, timeout_s=timeout_s
            )
        except ProviderFailed as failed:
            spent = round((time.monotonic() - began) * 1000)
            self._costs.settle(call, asked, outcome=failed.kind, reply="", usage=failed.usage, elapsed_ms=spent)
            raise
        reply = replace(reply, text=self._keys.out_of(reply.text))
        data, wrong = _read(reply.text, schema, shape)
        outcome = "answered" if wrong is None else "unusable"
        self._costs.settle(call, asked, outcome=outcome, reply=reply.text, usage=reply.usage, elapsed_ms=reply.elapsed_ms)
        return replace(reply, data=data), wrong


def _read(text: str, schema: type[Any] | None, shape: Mapping[str, Any] | None) -> tuple[Any, str | None]:
    """The value in a reply, of its type; or what is wrong with it."""
    if schema is None or shape is None:
        return None, None if cleaned(text) else "it is empty"
    want = {"object": dict, "array": list}.get(str(shape.get("type")))
    try:
        return converted(first_value(text, want), schema), None
    except (NoValue, msgspec.ValidationError) as wrong:
        return None, str(wrong)
