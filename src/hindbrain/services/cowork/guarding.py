"""Guarding commits: what is staged is compared with what other agents reserved. The hook asks; without it nothing is held up."""

from collections.abc import Mapping, Sequence
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import NotReady
from hindbrain.engines.commit_guard import KEPT, hook_script, is_hook_script, verdict
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.reserving import Reserving
from hindbrain.stores.commit_hook import CommitHook, staged

__all__ = ["Guarding"]


class Guarding:
    """The guard of commits in a repository."""

    def __init__(self, buses: Buses, reserving: Reserving, *, environ: Mapping[str, str], program: str, home: str | None) -> None:
        self._buses = buses
        self._reserving = reserving
        self._environ = environ
        self._program = program
        self._home = home

    def install(self, caller: Caller) -> dict[str, Any]:
        """Put the hook into the repository of the caller. A hook that is there runs first, as before."""
        hook = self._hook(caller)
        done = hook.install(hook_script(self._program, self._home))
        more = f"; the hook that was there runs first, as {KEPT}" if hook.chained else ""
        verb = {"installed": "guards commits now", "updated": "guards commits anew"}.get(done, "guarded commits already")
        return _answer(hook, done, f"{hook.path} {verb}{more}")

    def uninstall(self, caller: Caller) -> dict[str, Any]:
        """Take the hook away. The one that was there before is again what it was, byte for byte."""
        hook = self._hook(caller)
        done = hook.uninstall()
        said = {
            "removed": f"{hook.path} guards no commits any more",
            "foreign": f"{hook.path} is not the hook that Hindbrain wrote, and stays as it is",
            "absent": "there is no such hook",
        }
        return _answer(hook, done, said[done])

    def check(self, caller: Caller, *, paths: Sequence[str] | None, agent_id: str | None) -> dict[str, Any]:
        """Whether what is staged, or what is named, is held by somebody else. A person is nobody of the bus."""
        repository, held = self._reserving.held(caller)
        asked = list(paths) if paths is not None else staged(self._buses.of(caller).root)
        if asked is None:
            raise NotReady("git does not say what is staged here", fix="run it in a checkout of git, or name the paths")
        return verdict(held, asked, agent_id, project=repository.root)

    def _hook(self, caller: Caller) -> CommitHook:
        return CommitHook(self._buses.of(caller).root, environ=self._environ, kept=KEPT, ours=is_hook_script)


def _answer(hook: CommitHook, done: str, rendered: str) -> dict[str, Any]:
    return {
        "ok": True,
        "schema": "hindbrain-cowork-guard-hook-v0",
        "hook": str(hook.path),
        "outcome": done,
        "installed": hook.installed,
        "chained": hook.chained,
        "rendered": rendered,
    }
