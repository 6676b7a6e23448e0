"""Tuning of the controller: a proposal from recorded tasks, kept as a file beside the brain, and the person who applies it."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HumanNeeded, InvalidParams
from hindbrain.domain.ledger import Act
from hindbrain.domain.stored import stored_json
from hindbrain.engines.tuning import Proposal, proposed
from hindbrain.policy.control import TUNED, Params, altered, in_force
from hindbrain.policy.tuning import ACT_APPLIED, ACT_UNDONE, APPLIED_KEY
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.control.params import Parameters, applied, digest_of
from hindbrain.services.control.trails import trails
from hindbrain.services.gateway import Gateway
from hindbrain.services.routing import Router
from hindbrain.stores.atomic import write_text
from hindbrain.stores.home import Home

__all__ = ["Tuning"]

_SCHEMA = "hindbrain-tuning-proposal-v0"
_PREFIX = "tun_"


class Tuning:
    """`control.tune` and `control.apply_tuning`."""

    def __init__(
        self,
        home: Home,
        brains: Brains,
        router: Router,
        gateway: Gateway,
        clock: Callable[[], int],
        *,
        base: Callable[[], Params],
    ) -> None:
        self._home = home
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._clock = clock
        self._base = base

    def propose(self, caller: Caller, *, since: int | None, task_class: str) -> dict[str, Any]:
        """Replay what was recorded and keep what it speaks for. Nothing that is in force changes."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            self._check(opened, task_class)
            params = Parameters(self._base(), opened.store).of(task_class)
            found = trails(opened.store, since=since, task_class=task_class or None)
            proposal = proposed(found, params)
            told = _told(proposal, params, task_class, since)
            if proposal.values:
                told |= self._kept(opened, told)
        return {"ok": True, "schema": _SCHEMA, **told, "rendered": _rendered(told)}

    def apply(self, caller: Caller, *, proposal: str) -> dict[str, Any]:
        """Put the numbers of a proposal in force, for the tasks it is about."""
        self._person(caller)
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            told = self._read(opened, proposal)
            task_class, values = told["task_class"], told["values"]
            altered(Parameters(self._base(), opened.store).of(task_class), values)
            self._write(opened, caller, ACT_APPLIED, task_class, values)
            now = in_force(Parameters(self._base(), opened.store).of(task_class))
        return self._answer(task_class, applied=values, now=now)

    def undo(self, caller: Caller, *, task_class: str) -> dict[str, Any]:
        """Take back what was applied to a class of tasks, or to all of them."""
        self._person(caller)
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            if task_class not in applied(opened.store):
                raise InvalidParams(
                    f"nothing was applied to {task_class or 'all tasks'!r}", fix="name a class that a proposal was applied to"
                )
            self._write(opened, caller, ACT_UNDONE, task_class, None)
            now = in_force(Parameters(self._base(), opened.store).of(task_class))
        return self._answer(task_class, applied={}, now=now)

    @staticmethod
    def _answer(task_class: str, *, applied: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
        lines = [f"{key}={now[key]}" + ("  (applied)" if key in applied else "") for key in TUNED]
        return {
            "ok": True,
            "schema": "hindbrain-tuning-v0",
            "writes": True,
            "task_class": task_class,
            "applied": dict(applied),
            "in_force": dict(now),
            "rendered": "\n".join([f"in force for {task_class or 'all tasks'}:", *lines]),
        }

    @staticmethod
    def _person(caller: Caller) -> None:
        if caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                f"the numbers of the controller are a person's to set; this call came by the channel {caller.channel.value}",
                fix="show the proposal to a person, who applies it in a terminal",
            )

    def _check(self, opened: OpenBrain, task_class: str) -> None:
        self._gateway.check_text(task_class)
        self._gateway.check_hygiene(opened, [task_class], site="control.tune")

    # -- the proposal ------------------------------------------------------------------------------------------------

    def _kept(self, opened: OpenBrain, told: dict[str, Any]) -> dict[str, Any]:
        """Write the proposal under an id that is its digest: what is applied is what was shown."""
        body = json.dumps(told, ensure_ascii=False, sort_keys=True, indent=1)
        name = _PREFIX + hashlib.sha256(body.encode()).hexdigest()[:16]
        directory = opened.directory / "tuning"
        self._home.make(directory)
        path = directory / f"{name}.json"
        write_text(path, body + "\n")
        return {"proposal": name, "file": str(path)}

    def _read(self, opened: OpenBrain, name: str) -> dict[str, Any]:
        digits = name.removeprefix(_PREFIX)
        path = opened.directory / "tuning" / f"{name}.json"
        fix = "run hindbrain control tune and use the id it gives"
        if not name.startswith(_PREFIX) or len(digits) != 16 or not digits.isalnum() or not path.is_file():
            raise InvalidParams(f"there is no proposal {name[:40]!r} in this brain", fix=fix)
        body = path.read_text(encoding="utf-8").rstrip("\n")
        if hashlib.sha256(body.encode()).hexdigest()[:16] != digits:
            raise InvalidParams(f"the file of {name} is not what was proposed", fix=fix)
        found: dict[str, Any] = json.loads(body)
        return found

    # -- in the brain ------------------------------------------------------------------------------------------------

    def _write(self, opened: OpenBrain, caller: Caller, act: str, task_class: str, values: Mapping[str, Any] | None) -> None:
        """The numbers and the entry that gives them, together. The entry names no class and no number: it knows them again."""
        self._gateway.salt(opened)
        with opened.store.writing() as writer:
            standing: dict[str, Any] = stored_json(opened.store.meta(APPLIED_KEY) or "{}", "meta")
            earlier = standing.pop(task_class, {"values": {}})["values"]
            merged = {**earlier, **values} if values is not None else {}
            payload: dict[str, str | int] = {"numbers": digest_of(opened.store, task_class, merged), "count": len(merged)}
            entry = writer.append(
                Act(
                    act=act,
                    subject=APPLIED_KEY,
                    actor=caller.agent,
                    channel=caller.channel,
                    at=self._clock(),
                    payload=dict(payload),
                )
            )
            if merged:
                standing[task_class] = {"values": merged, "seq": entry.seq}
            writer.set_meta(APPLIED_KEY, json.dumps(standing, ensure_ascii=False, sort_keys=True))


def _told(proposal: Proposal, params: Params, task_class: str, since: int | None) -> dict[str, Any]:
    current = in_force(params)
    return {
        "writes": bool(proposal.values),
        "task_class": task_class,
        "since": since,
        "tasks": proposal.before.tasks,
        "rounds": proposal.before.rounds,
        "values": dict(proposal.values),
        "in_force": {key: current[key] for key in TUNED},
        "before": proposal.before.told(),
        "after": proposal.after.told(),
        "proposal": None,
        "file": None,
    }


def _rendered(told: Mapping[str, Any]) -> str:
    lines = [f"{told['tasks']} tasks, {told['rounds']} rounds replayed"]
    if not told["values"]:
        return "\n".join([*lines, "the numbers in force did as well as any that were tried; nothing is proposed"])
    lines += [f"{key}: {told['in_force'][key]} -> {value}" for key, value in told["values"].items()]
    for name in ("decision_changes", "false_success_rate", "lost_results", "wasted_rounds"):
        lines.append(f"{name.replace('_', ' ')}: {told['before'][name]} -> {told['after'][name]}")
    return "\n".join([*lines, f"nothing has changed; a person applies it: hindbrain control apply-tuning {told['proposal']}"])
