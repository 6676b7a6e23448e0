"""Checking a bus: who is silent, what is pending, which panes are gone. Looks only: it repairs nothing and writes nothing."""

from collections.abc import Callable, Mapping
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import PENDING, TMUX, Agent
from hindbrain.domain.errors import CallerRootUnknown, HindbrainError, RepositoryChanged
from hindbrain.engines.deliveries import replayed
from hindbrain.engines.presence import presence
from hindbrain.services.cowork.panes import Panes
from hindbrain.services.cowork.place import Buses

__all__ = ["Checking"]


class Checking:
    """The doctor of a bus."""

    def __init__(self, buses: Buses, panes: Panes, clock: Callable[[], int]) -> None:
        self._buses = buses
        self._panes = panes
        self._clock = clock

    def report(self, caller: Caller, *, now: int | None, probe_tmux: bool, project_root: str | None) -> dict[str, Any]:
        """The state of a bus, with a warning for each thing that somebody should look at."""
        at = self._clock() if now is None else now
        with self._buses.of(caller, project_root).look() as look:
            agents, channels, sessions = look.agents(), look.channels(), look.sessions()
            log = look.history()
        silent = {name: presence(one.last_seen_at, at) for name, one in agents.items()}
        stale = [name for name, state in silent.items() if state == "stale"]
        unseen = [name for name, state in silent.items() if state == "never_seen"]
        pending = sum(one.status == PENDING for one in replayed(log))
        tmux = self._probed(agents, probe_tmux)
        warnings = [] if agents else ["no registered agents"]
        warnings += [f"stale agents: {', '.join(stale)}"] if stale else []
        warnings += [f"never-seen agents: {', '.join(unseen)}"] if unseen else []
        warnings += [f"pending deliveries: {pending}"] if pending else []
        warnings += [f"tmux agent without target: {one['agent_id']}" for one in tmux if one["status"] == "missing_target"]
        warnings += [f"failed probe: {one['agent_id']}: {one['detail']}" for one in tmux if one["status"] == "failed"]
        warnings += [f"unreadable lines of the log: {log.skipped}"] if log.skipped else []
        status = "warning" if warnings else "ok"
        counts = f"{len(agents)} agent(s), {len(channels)} channel(s), {len(sessions)} session(s), {pending} pending"
        return {
            "ok": True,
            "schema": "hindbrain-cowork-doctor-v0",
            "status": status,
            "agent_count": len(agents),
            "channel_count": len(channels),
            "session_count": len(sessions),
            "stale_agents": len(stale),
            "never_seen_agents": len(unseen),
            "pending_deliveries": pending,
            "warnings": warnings,
            "tmux": tmux,
            "rendered": "\n".join([f"{status}: {counts}", *(f"- {one}" for one in warnings)]),
        }

    def agent_count(self, caller: Caller) -> int:
        """Return how many agents are registered in the caller's checkout; 0 where nobody ever registered."""
        try:
            bus = self._buses.of(caller)
        except (CallerRootUnknown, RepositoryChanged):
            return 0  # agents of the repository that was here before are not agents of this one
        if not bus.files.exists:
            return 0
        with bus.look() as look:
            return len(look.agents())

    def section(self, caller: Caller) -> dict[str, Any] | None:
        """A few numbers for the one doctor; None where the project has no bus."""
        try:
            if not self._buses.of(caller).files.exists:
                return None
            found = self.report(caller, now=None, probe_tmux=False, project_root=None)
        except CallerRootUnknown:
            return None  # who stands nowhere has no bus
        except HindbrainError as broken:
            return {"status": "warning", "warnings": [broken.message]}
        return {name: found[name] for name in ("status", "agent_count", "stale_agents", "pending_deliveries", "warnings")}

    def _probed(self, agents: Mapping[str, Agent], probe: bool) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for name, agent in agents.items():
            if agent.transport != TMUX:
                continue
            target, detail = (agent.tmux_target or "").strip(), None
            if not target:
                status = "missing_target"
            elif not probe:
                status = "not_probed"
            else:
                detail = self._panes.probe(target)
                status = "ok" if detail is None else "failed"
            found.append({"agent_id": name, "tmux_target": target or None, "status": status, "detail": detail})
        return found
