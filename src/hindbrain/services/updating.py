"""Updating: whether a newer release is to be had, putting it in place, and going back. A copy and a record come first."""

import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import InvalidState
from hindbrain.domain.handshake import Change
from hindbrain.engines.recovery_plane import planned, step
from hindbrain.services.handshakes import Handshakes
from hindbrain.stores.home import Home
from hindbrain.stores.install_tree import InstallTree, own_tree
from hindbrain.stores.installation import installed
from hindbrain.stores.release_source import Offer, offered, parts

__all__ = ["Updating"]

_KEPT = 3  # copies of installations
_PROOF = ("version", "build", "host_handshake")


class Updating:
    """Updates of the program of one home."""

    def __init__(
        self,
        home: Home,
        handshakes: Handshakes,
        clock: Callable[[], int],
        *,
        source: str,
        program: Path | None = None,
    ) -> None:
        self._copies = home.path / "recovery" / "updates"
        self._handshakes = handshakes
        self._clock = clock
        self._source = source
        self._program = program

    def check(self) -> dict[str, Any]:
        """Whether the source has a newer release. Without a source nobody knows, and that is no error."""
        here, offer = self._here(), offered(self._source)
        state = _state(here, offer)
        steps = []
        if state == "stale":
            steps = [step(f"put {offer.version} in place of {here[0]}", "hindbrain update apply --yes", mutating=True)]
            if offer.wheel is None:
                steps = [step(f"install {offer.version}", f"python -m pip install 'hindbrain=={offer.version}'", mutating=True)]
            steps.append(step("end the owner; the next client starts the installed one", "hindbrain stop", mutating=True))
        text = {
            "unknown": f"Not known: {offer.problem}.",
            "current": f"{here[0]} is what {offer.source} has.",
            "stale": f"{here[0]} is installed, {offer.source} has {offer.version}.",
        }[state]
        return planned(
            "hindbrain-update-check-v0",
            diagnosis="stale_package" if state == "stale" else None,
            evidence={"installed": here[0], "build": here[1], "offered": offer.version, "source": offer.source},
            plan=steps,
            proof_required=("version",),
            state=state,
            source=offer.source,
            latest=offer.version or "unknown",
            problem=offer.problem,
            rendered=text,
        )

    def apply(self, *, yes: bool) -> dict[str, Any]:
        """Put the release of the source in place. The installation is copied and the way back written down first."""
        offer, tree = offered(self._source), self._tree
        here = (tree.version, tree.build)
        state = _state(here, offer)
        if state == "unknown":
            raise InvalidState(f"no release is known: {offer.problem}", fix="set update_source, then hindbrain update check")
        if state == "stale" and offer.wheel is None:
            raise InvalidState(
                f"{offer.source} names {offer.version} and has no wheel of it",
                fix=f"install it yourself: python -m pip install 'hindbrain=={offer.version}'",
            )
        steps = []
        if state == "stale":
            steps = [
                step(f"copy the installation of {here[0]} into the home"),
                step(f"unpack {offer.wheel} in place of it", mutating=True),
                step("end the owner; the next client starts the installed one", "hindbrain stop", mutating=True),
                step("start a new session of each host and look", "hindbrain hosts status"),
            ]
        made = None
        if yes and state == "stale" and offer.wheel is not None:
            made = self._applied(tree, offer, here)
        now = (tree.version, tree.build)
        return planned(
            "hindbrain-update-apply-v0",
            diagnosis="stale_package" if state == "stale" else None,
            evidence={"was": list(here), "now": list(now), "wheel": offer.wheel, "tree": str(tree.base)},
            plan=steps,
            mutating=True,
            proof_required=_PROOF,
            writes=made is not None,
            state="current" if made is not None else state,
            change_id=made.change_id if made else None,
            backup=made.backup if made else None,
            rendered=_said(made is not None, state, f"{here[0]} → {offer.version}", "hindbrain update apply --yes"),
        )

    def _applied(self, tree: InstallTree, offer: Offer, here: tuple[str, str]) -> Change:
        change_id = f"chg_{secrets.token_hex(6)}"
        copy = self._copies / change_id
        tree.copied(copy)
        made = Change(
            change_id=change_id,
            kind="update.apply",
            at=self._clock(),
            backup=str(copy),
            was_version=here[0],
            was_build=here[1],
            version=offer.version,
        )
        self._handshakes.changed(made)
        tree.install(Path(str(offer.wheel)))
        for old in sorted((one for one in self._copies.iterdir()), key=os.path.getmtime)[:-_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        return made

    def rollback(self, *, yes: bool) -> dict[str, Any]:
        """Put the installation back that the last update replaced."""
        changes = self._handshakes.changes()
        undone = {one.undone for one in changes}
        last = next((one for one in reversed(changes) if one.kind == "update.apply" and one.change_id not in undone), None)
        if last is None or last.backup is None or not Path(last.backup, "hindbrain").is_dir():
            raise InvalidState("no copy of an earlier installation is kept", fix="install the version you want with pip")
        tree = self._tree
        here = (tree.version, tree.build)
        if yes:
            tree.restore(Path(last.backup))
            self._handshakes.changed(
                Change(
                    change_id=f"chg_{secrets.token_hex(6)}",
                    kind="update.rollback",
                    at=self._clock(),
                    was_version=here[0],
                    was_build=here[1],
                    version=tree.version,
                    build=tree.build,
                    undone=last.change_id,
                )
            )
        return planned(
            "hindbrain-update-rollback-v0",
            diagnosis=None,
            evidence={"was": list(here), "now": [tree.version, tree.build], "backup": last.backup, "of": last.change_id},
            plan=[
                step(f"put {last.was_version} back from its copy", "hindbrain update rollback --yes", mutating=True),
                step("end the owner; the next client starts the installed one", "hindbrain stop", mutating=True),
            ],
            mutating=True,
            proof_required=_PROOF,
            writes=yes,
            state="unknown",
            rendered=_said(yes, "stale", f"{here[0]} → {last.was_version}", "hindbrain update rollback --yes"),
        )

    @property
    def _tree(self) -> InstallTree:
        return own_tree() if self._program is None else InstallTree(self._program)

    def _here(self) -> tuple[str, str]:
        if self._program is not None:
            return self._tree.version, self._tree.build
        found = installed()
        return found.version, found.build


def _state(here: tuple[str, str], offer: Offer) -> str:
    if offer.version is None:
        return "unknown"
    if parts(here[0]) != parts(offer.version):
        return "stale" if parts(here[0]) < parts(offer.version) else "current"
    return "stale" if offer.build is not None and offer.build != here[1] else "current"


def _said(done: bool, state: str, what: str, command: str) -> str:
    if done:
        return f"Done: {what}. No host was rebound by this: start a new session of each, then hindbrain hosts status."
    return f"Would change {what}. Carry it out with: {command}" if state == "stale" else "Nothing to change."
