"""The shape of an error: a stable code, a message, a safe next step. Which errors there are is in `errors`."""

from typing import Any, ClassVar

__all__ = ["HindbrainError", "Refusal"]

Fix = str | dict[str, Any] | None


class HindbrainError(Exception):
    """Base of every error that reaches a caller."""

    code: ClassVar[str] = "internal"
    http_status: ClassVar[int] = 400
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, fix: Fix = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.details = details

    def answer(self) -> dict[str, Any]:
        """The one shape of an error, on every surface."""
        return {"ok": False, "error": {"code": self.code, "message": self.message, "fix": self.fix, **self.details}}


class Refusal(HindbrainError):
    """A write that the house turns away. An operation that declares a refusal shape answers it flat, not as an error."""

    http_status = 409

    def refused(self, shape: dict[str, Any]) -> dict[str, Any]:
        return {"ok": False, **shape, "refused": self.code, "reason": self.message, "fix": self.fix, **self.details}
