"""Packs: the doctrine written where a host looks for it. Shows what it would write unless it is told to."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.domain.ledger import Act
from hindbrain.engines.pack import blocked, compact, is_ours, reference
from hindbrain.policy.doctrine import DOCTRINE_VERSION, HOSTS
from hindbrain.services.brains import Brains
from hindbrain.services.routing import Router
from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import SHARED, make_directory
from hindbrain.stores.home import Home

__all__ = ["Packs"]


class Packs:
    """The doctrine pack of each host."""

    def __init__(self, home: Home, brains: Brains, router: Router, clock: Callable[[], int]) -> None:
        self._home = home
        self._brains = brains
        self._router = router
        self._clock = clock

    def pack(
        self, caller: Caller, *, host: str, out: str | None, whole: bool, yes: bool, operations: Sequence[tuple[str, str]]
    ) -> dict[str, Any]:
        """Show the pack, plan its files, and with `out` and `yes` write them."""
        told = HOSTS[host]
        short, long = compact(host), reference(operations)
        texts = {told.path: short, told.reference: long}
        planned = {name: self._planned(out, name, text, shared=told.shared and name == told.path) for name, text in texts.items()}
        if yes and out is None:
            raise InvalidParams(
                "nothing says where to write", fix="name a directory with out; without yes only the plan is shown"
            )
        writes = yes and out is not None
        if writes:
            brain = self._router.write_route(caller)
            for name, text in planned.items():
                place = Path(str(out), name)
                make_directory(place.parent, mode=SHARED)
                write_text(place, text, mode=0o644)
            with self._brains.use(brain) as opened, opened.store.writing() as writer:
                payload: dict[str, str | int] = {"host": host, "files": len(planned), "doctrine": DOCTRINE_VERSION}
                writer.append(
                    Act(
                        act="pack.written",
                        subject="pack",
                        actor=caller.agent,
                        channel=caller.channel,
                        at=self._clock(),
                        payload=payload,
                    )
                )
        shown = long if whole else short
        done = "Wrote" if writes else "Would write"
        plan = f"{done} {', '.join(planned)}" + (f" below {out}." if out else "; name a directory with out, and yes to do it.")
        return {
            "ok": True,
            "schema": "hindbrain-pack-v0",
            "host": host,
            "doctrine": DOCTRINE_VERSION,
            "writes": writes,
            "files": [{"path": name, "bytes": len(text.encode())} for name, text in planned.items()],
            "text": shown,
            "rendered": f"{shown}\n{plan}",
        }

    def _planned(self, out: str | None, name: str, text: str, *, shared: bool) -> str:
        """What a file is to hold. A file that is somebody else's is left alone, but for our block in a shared one."""
        if out is None:
            return text
        base = Path(out)
        if not base.is_dir():
            raise InvalidParams(f"{out[:200]} is not a directory", fix="choose a directory that exists")
        place = base / name
        self._home.refuse_target(place)
        real = os.path.realpath(place)
        if not real.startswith(os.path.realpath(base).rstrip("/") + "/") or place.is_symlink():
            raise PathRefused(f"{name} leads out of {out[:200]}", fix="remove the link, or choose another directory")
        try:
            before = place.read_text(encoding="utf-8") if place.exists() else None
        except (OSError, UnicodeDecodeError) as wrong:
            raise InvalidParams(f"{place} cannot be read", fix="choose another directory") from wrong
        if before is None:
            return text
        if shared:
            return blocked(before, text)
        if not is_ours(before):
            raise InvalidParams(f"{place} exists and is no pack of ours", fix="move it away, or choose another directory")
        return text
