"""Costs: every call of a model as it is begun and settled, and the caps that no call passes.

A call is first written down with the most it may cost, in the transaction that reads what was spent: so a cap holds for all
processes of a brain, and a process that dies in the middle leaves the dearer truth."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import msgspec

from hindbrain.domain.caller import Channel
from hindbrain.domain.control import RoleCost, TaskCost
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import MessageType
from hindbrain.engines.hygiene import redacted
from hindbrain.policy.limits import DAY_MS
from hindbrain.policy.models import BYTES_PER_TOKEN, PROMPT_KEPT, UNBILLED
from hindbrain.providers.port import Usage
from hindbrain.services.control.journal import Journal
from hindbrain.services.control.model_plan import Caps, Price
from hindbrain.services.gateway import recorded
from hindbrain.stores.model_call_port import BEGUN, ModelCall, Spend
from hindbrain.stores.port import BrainStore, Writer

__all__ = ["Asked", "Costs", "Denied", "calls_of", "day_of", "left_of", "task_cost"]

_WAIT_S = 30.0  # for the store to take the beginning of a call; without that none is made
_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A call before it is made."""

    task_id: str | None
    role: str
    provider: str
    model: str
    price: Price
    system: str
    user: str
    max_tokens: int

    @property
    def worst(self) -> Usage:
        """The most tokens it may cost."""
        size = len((self.system + self.user).encode("utf-8", "replace"))
        return Usage(prompt_tokens=-(-size // BYTES_PER_TOKEN), completion_tokens=self.max_tokens, estimated=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """A call that is not made, and why."""

    reason: str


def day_of(at: int) -> int:
    """When the day of a time began, UTC."""
    return at - at % DAY_MS


class Costs:
    """The cost ledger of one brain."""

    def __init__(
        self,
        store: BrainStore,
        journal: Journal,
        *,
        caps: Caps,
        clock: Callable[[], int],
        salt: str,
        keep_prompts: bool = True,
        actor: str = "hindbrain",
    ) -> None:
        self._store = store
        self._journal = journal
        self._caps = caps
        self._clock = clock
        self._salt = salt
        self._keep = keep_prompts
        self._actor = actor

    def begin(self, asked: Asked) -> ModelCall | Denied:
        """Write down that a call is made, unless it would pass a cap."""
        at = self._clock()
        ticket = self._journal.put(lambda writer: self._begun(writer, asked, at))
        if not ticket.wait(_WAIT_S):
            return Denied(reason=f"the call could not be written down: {ticket.error or 'the store is busy'}")
        value = ticket.value
        return value if isinstance(value, ModelCall | Denied) else Denied(reason="the call could not be written down")

    def settle(self, call: ModelCall, asked: Asked, *, outcome: str, reply: str, usage: Usage | None, elapsed_ms: int) -> None:
        """Write down what became of it; this waits for nobody."""
        used = usage or (Usage() if outcome in UNBILLED else asked.worst)
        done = replace(
            call,
            prompt_tokens=used.prompt_tokens,
            completion_tokens=used.completion_tokens,
            elapsed_ms=elapsed_ms,
            cost_micros=asked.price.micros(used.prompt_tokens, used.completion_tokens),
            outcome=outcome,
            reply=self._text(reply),
        )
        at, digest = self._clock(), recorded(self._salt, reply)
        self._journal.put(lambda writer: self._settled(writer, done, digest, at))

    def _begun(self, writer: Writer, asked: Asked, at: int) -> ModelCall | Denied:
        worst = asked.worst
        micros = asked.price.micros(worst.prompt_tokens, worst.completion_tokens)
        wanted = Spend(calls=1, tokens=worst.prompt_tokens + worst.completion_tokens, cost_micros=micros)
        passed = self._passed(writer, asked.task_id, wanted, at)
        if passed is not None:
            return Denied(reason=passed)
        prompt = self._prompt(asked)
        names = {"role": asked.role, "provider": asked.provider, "model": asked.model}
        entry = writer.append(
            self._act(
                "control.model_call",
                asked.task_id,
                at,
                {**names, "max_tokens": asked.max_tokens, "prompt": recorded(self._salt, asked.system + "\n" + asked.user)},
            )
        )
        call = ModelCall(
            seq=entry.seq,
            at=at,
            task_id=asked.task_id,
            **names,
            prompt_tokens=worst.prompt_tokens,
            completion_tokens=worst.completion_tokens,
            elapsed_ms=0,
            cost_micros=micros,
            outcome=BEGUN,
            prompt=prompt,
            reply="",
        )
        writer.put_model_call(call)
        return call

    def _passed(self, writer: Writer, task_id: str | None, wanted: Spend, at: int) -> str | None:
        """The cap that a call would pass."""
        caps = self._caps
        if task_id is not None:
            task = writer.model_spend(task_id=task_id)
            if _over(caps.task_calls, task.calls, wanted.calls):
                return f"the task has made {task.calls} calls, and {caps.task_calls} is the most"
            if _over(caps.task_tokens, task.tokens, wanted.tokens):
                return f"the call might pass the {caps.task_tokens} tokens of the task"
            if _over(caps.task_micros, task.cost_micros, wanted.cost_micros):
                return f"the call might pass the {caps.task_micros / 1e6:.2f} of the task"
        day = writer.model_spend(since=day_of(at))
        if _over(caps.day_tokens, day.tokens, wanted.tokens):
            return f"the call might pass the {caps.day_tokens} tokens of the day"
        if _over(caps.day_micros, day.cost_micros, wanted.cost_micros):
            return f"the call might pass the {caps.day_micros / 1e6:.2f} of the day"
        return None

    def _settled(self, writer: Writer, done: ModelCall, digest: str, at: int) -> None:
        if not writer.settle_model_call(done):
            return
        payload: dict[str, str | int | bool | None] = {
            "call": done.seq,
            "outcome": done.outcome,
            "prompt_tokens": done.prompt_tokens,
            "completion_tokens": done.completion_tokens,
            "elapsed_ms": done.elapsed_ms,
            "cost_micros": done.cost_micros,
            "reply": digest,
        }
        writer.append(self._act("control.model_answer", done.task_id, at, payload))

    def _act(self, act: str, task_id: str | None, at: int, payload: dict[str, str | int | bool | None]) -> Act:
        return Act(act=act, subject=f"task:{task_id or '-'}", actor=self._actor, channel=Channel.RUNTIME, at=at, payload=payload)

    def _prompt(self, asked: Asked) -> str:
        if not self._keep:
            return recorded(self._salt, asked.system + "\n" + asked.user)
        return json.dumps({"system": self._text(asked.system), "user": self._text(asked.user)}, ensure_ascii=False)

    def _text(self, text: str) -> str:
        """A text as it is kept: without secrets, of a bounded length; or its digest only."""
        if not self._keep:
            return recorded(self._salt, text) if text else ""
        plain = text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
        return redacted(plain[:PROMPT_KEPT])


def _over(cap: int, spent: int, wanted: int) -> bool:
    return cap > 0 and spent + wanted > cap


def left_of(store: BrainStore, caps: Caps, *, at: int, task_id: str | None = None) -> dict[str, int | None]:
    """What the caps still allow at a time; None where there is no cap."""
    day = store.model_spend(since=day_of(at))
    found = {"day_micros": _rest(caps.day_micros, day.cost_micros), "day_tokens": _rest(caps.day_tokens, day.tokens)}
    if task_id is None:
        return found
    task = store.model_spend(task_id=task_id)
    return found | {
        "task_micros": _rest(caps.task_micros, task.cost_micros),
        "task_tokens": _rest(caps.task_tokens, task.tokens),
        "task_calls": _rest(caps.task_calls, task.calls),
    }


def _rest(cap: int, spent: int) -> int | None:
    return max(cap - spent, 0) if cap else None


def calls_of(store: BrainStore, *, task_id: str | None = None, since: int = 0) -> Iterator[ModelCall]:
    """Every call, page by page."""
    after = 0
    while page := store.model_calls(after=after, limit=_PAGE, task_id=task_id, since=since):
        yield from page
        after = page[-1].seq


def task_cost(store: BrainStore, task_id: str) -> TaskCost:
    """What a task cost: by role, and the time in calls that had to wait for each other."""
    calls = list(calls_of(store, task_id=task_id))
    tools, tool_ms = _tools(store, task_id)
    return TaskCost(
        by_role=tuple(_by_role(calls)),
        total_tokens=sum(call.prompt_tokens + call.completion_tokens for call in calls),
        sequential_llm_calls=_sequential(calls),
        tool_call_count=tools,
        tool_elapsed_ms=tool_ms,
    )


def _by_role(calls: list[ModelCall]) -> Iterator[RoleCost]:
    for role in sorted({call.role for call in calls}):
        own = [call for call in calls if call.role == role]
        yield RoleCost(
            role=role,
            calls=len(own),
            prompt_tokens=sum(call.prompt_tokens for call in own),
            completion_tokens=sum(call.completion_tokens for call in own),
            elapsed_ms=sum(call.elapsed_ms for call in own),
        )


def _sequential(calls: Iterable[ModelCall]) -> int:
    """The longest row of calls of which each began after the one before had ended: what ran side by side counts once."""
    ended, number = -1, 0
    for call in sorted(calls, key=lambda one: (one.at + one.elapsed_ms, one.seq)):
        if call.at >= ended:
            number, ended = number + 1, call.at + call.elapsed_ms
    return number


def _tools(store: BrainStore, task_id: str) -> tuple[int, int]:
    """How many tool calls the attempts of a task made, and how long they took."""
    count: Counter[str] = Counter()
    after = 0
    while page := store.messages(after=after, limit=_PAGE, task_id=task_id):
        after = page[-1].seq
        for message in page:
            if message.type == MessageType.EXECUTION_RESULT.value:
                made = msgspec.json.decode(message.body)["payload"].get("tool_calls", [])
                count["calls"] += len(made)
                count["ms"] += sum(one.get("elapsed_ms", 0) for one in made)
    return count["calls"], count["ms"]
