"""Operations on boot memory."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot, CallerRootUnknown, HygieneRefused, InvalidParams, Rejected, UnknownClaim
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.boot import entry_text
from hindbrain.services.call import Call, Retrieved
from hindbrain.services.rendering import rendered

__all__ = ["boot_memory"]


@operation(
    "boot_memory",
    effect=Effect.WRITE,
    retrieval=True,
    positional=("action", "key", "value"),
    raises=(BrainlessRoot, CallerRootUnknown, HygieneRefused, Rejected, InvalidParams, UnknownClaim),
    refusal={"schema": "m1nd-boot-memory-v0"},
)
def boot_memory(
    call: Call,
    action: Literal["list", "get", "set", "delete"] = "list",
    key: Annotated[str | None, Meta(description="name of the value, e.g. deploy.target")] = None,
    value: Annotated[Any, Meta(description="any JSON value")] = None,
    tags: list[str] | None = None,
    source_refs: list[str] | None = None,
    tier: Annotated[str | None, Meta(description="project or medulla")] = None,
) -> Retrieved:
    """Keep small values by key: list, get, set or delete, in this project or in the medulla."""
    if action in ("get", "set", "delete") and not key:
        raise InvalidParams(f"{action} needs a key", fix="give key")
    if action in ("list", "get"):
        call.house.counters.add(call.house.router.route(call.caller).brain, "queries_processed")
        wide = call.house.fanout.allowed
        answer = call.house.boot.read(call.caller, key=key if action == "get" else None, tier=tier, may_go_wide=wide)
        entries = answer["entries"] if action == "list" else [answer["entry"], *answer["also"]]
        text, _ = rendered([entry_text(one) for one in entries], call.house.recall.tokens)
        return Retrieved(answer=answer | {"rendered": text or "no boot memory yet"}, candidates=len(entries))
    answer = call.house.boot.write(
        call.caller,
        key=key or "",
        value=value,
        tags=tags or (),
        source_refs=source_refs or (),
        tier=tier,
        delete=action == "delete",
    )
    return Retrieved(answer=answer, candidates=1)
