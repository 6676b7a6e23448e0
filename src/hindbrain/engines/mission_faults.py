"""Mission faults: which of the nine diagnoses a call showed, and which it would have shown if they still held. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hindbrain.engines.course import Course
from hindbrain.policy.recovery import LOOKED_FOR, RECOVERY_STEPS

__all__ = ["Fault", "Sight", "is_step", "sight"]

_MODES = {"wrong_workspace_binding": "wrong_workspace", "degraded_host_tool_surface": "missing_recovery_tools"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A runtime mismatch, by the name of its diagnosis."""

    name: str
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one look saw: faults, and those for which it looked."""

    faults: tuple[Fault, ...] = ()
    looked_for: frozenset[str] = frozenset()

    def new(self, course: Course) -> tuple[Fault, ...]:
        """Faults that are not written down yet: each is, once."""
        return tuple({one.name: one for one in self.faults if one.name not in course.open_faults}.values())

    def over(self, course: Course) -> tuple[str, ...]:
        """Faults that stood and were not seen again by a look for them."""
        shown = {one.name for one in self.faults}
        return tuple(name for name in course.open_faults if name in self.looked_for and name not in shown)


def sight(name: str, given: Mapping[str, Any], answer: Mapping[str, Any]) -> Sight:
    """What a call of one of our tools showed of the runtime itself."""
    if name == "doctor":
        told = [one for one in answer.get("diagnoses") or () if isinstance(one, Mapping)]
        looked = frozenset(fault for fault, argument in LOOKED_FOR.items() if not argument or given.get(argument))
        faults = tuple(Fault(name=str(one["diagnosis"]), evidence=one.get("evidence") or {}) for one in told)
        return Sight(faults=faults, looked_for=looked if "diagnoses" in answer else frozenset())
    if (diagnosis := answer.get("diagnosis")) and not answer.get("writes"):
        return Sight(faults=(Fault(name=str(diagnosis), evidence=answer.get("evidence") or {}),))
    envelope = answer.get("agent_runtime_contract") or {}
    mode = envelope.get("trust_mode") or answer.get("verdict") or answer.get("trust_mode")
    if isinstance(mode, str) and mode in _MODES:
        evidence = {"trust_mode": mode, "scope": str(given.get("scope") or "")[:200]}
        return Sight(faults=(Fault(name=_MODES[mode], evidence=evidence),))
    return Sight()


def is_step(course: Course, name: str, answer: Mapping[str, Any]) -> bool:
    """Whether a call is a step of a recovery that is under way: one that changed something, or one that was not taken yet."""
    if name not in RECOVERY_STEPS or (answer.get("ok") is False and "error" in answer):
        return False
    if RECOVERY_STEPS[name]:
        return bool(answer.get("writes"))
    return (bool(course.open_faults) or course.stale_build) and name not in course.repairs
