"""A mind for tests of the sensors: it answers what it was given, or fails, and counts how often it was asked."""

from collections.abc import Mapping
from typing import Any

from hindbrain.domain.message import Role
from hindbrain.services.control.ports import Thought

__all__ = ["Judge"]


class Judge:
    """Implements `Mind`. An exception is raised, None is no model, anything else is the data of the answer."""

    def __init__(self, *answers: Any, tiers: Mapping[Role, int] | None = None) -> None:
        self._answers = list(answers)
        self._tiers = tiers or {}
        self.asked: list[dict[str, Any]] = []

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
        self.asked.append({"role": role, "task_id": task_id, "system": system, "user": user, "schema": schema})
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return None if answer is None else Thought(text="", data=answer, provider="test", model="test", tier=1)

    def tier(self, role: Role) -> int:
        return self._tiers.get(role, 0)
