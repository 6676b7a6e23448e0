"""Operations on scopes: which fields are recommended."""

from dataclasses import asdict
from typing import Any

from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.fields import FIELDS
from hindbrain.services.call import Call

__all__ = ["fields"]


@operation("scope.fields", effect=Effect.READ)
def fields(call: Call) -> dict[str, Any]:
    """List the recommended fields: names for what evidence and cards are about. Any other name stays valid."""
    entries = [
        asdict(one) | {"domains": [domain.value for domain in one.domains], "examples": list(one.examples)} for one in FIELDS
    ]
    shown = [f"{one['field']} ({', '.join(one['domains'])}): {one['description']}" for one in entries]
    return {"ok": True, "schema": "hindbrain-fields-v0", "entries": entries, "rendered": "\n".join(shown)}
