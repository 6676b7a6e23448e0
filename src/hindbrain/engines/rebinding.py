"""Rebinding: whether a host really is bound anew. Pure: records in, a verdict out. A plan or an edited file proves nothing."""

from collections.abc import Iterable, Sequence

from hindbrain.domain.handshake import Change, Handshake
from hindbrain.policy.hosts import HOSTS

__all__ = ["changed_at", "host_of", "latest", "proof"]


def host_of(client_name: str, agent: str | None) -> str | None:
    """The known host behind a client: by the agent id that its configuration sets, else by its own name."""
    role = (agent or "").partition(":")[0].lower()
    said = "-".join(client_name.lower().split())
    for name in (role, said):
        for host in HOSTS:
            if name == host.name or (name is said and said.startswith(host.name)):
                return host.name
    return None


def latest(records: Iterable[Handshake], host: str) -> Handshake | None:
    """The newest handshake of a host."""
    return max(reversed([one for one in records if one.host == host]), key=lambda one: one.at, default=None)


def changed_at(changes: Sequence[Change], host: str, *, entry: str | None, file_at: int | None) -> int:
    """When what a host starts was last changed. An entry that is as we wrote it changed then; another one with its file."""
    ours = [one for one in changes if one.host in (None, host)]
    last = max((one.at for one in ours), default=0)
    written = next((one for one in reversed(ours) if one.kind == "hosts.apply"), None)
    if entry is not None and file_at is not None and (written is None or written.written != entry):
        return max(last, file_at)
    return last


def proof(
    records: Sequence[Handshake], host: str, *, since: int, build: str, workspace: str | None
) -> tuple[Handshake | None, str]:
    """The handshake that shows a rebind, or why there is none: a new session after the change, of this build, in this workspace.

    A bridge repeats the handshake of a running session to a new owner: the session is as old as its first record."""
    of_host = [one for one in records if one.host == host]
    if not of_host:
        return None, "no handshake of this host is on record"
    old = {one.session_id for one in of_host if one.at <= since}
    new = [one for one in of_host if one.session_id not in old]
    if not new:
        return None, "no session of this host began after the last change"
    right = [one for one in new if one.build_id == build]
    if not right:
        return None, f"its new sessions met build {new[-1].build_id}, not {build}"
    here = [one for one in right if workspace is None or one.workspace_root == workspace]
    if not here:
        return None, f"its new sessions are in {right[-1].workspace_root or 'no workspace'}, not in {workspace}"
    return max(here, key=lambda one: one.at), ""
