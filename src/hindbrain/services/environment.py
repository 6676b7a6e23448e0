"""The environment: which program runs, on which interpreter and databases, and whether they fit each other. Changes nothing."""

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hindbrain import __version__
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.policy.hosts import SERVER
from hindbrain.services.brains import Brains
from hindbrain.services.routing import Router
from hindbrain.stores.home import Home
from hindbrain.stores.installation import executables, program
from hindbrain.stores.schema_look import SUPPORTED, SchemaLook, library, schema_of

__all__ = ["Environment"]

DATABASE = "brain.db"
_RESTART = "restart long-running MCP clients and shells: they still start an older Hindbrain than the one that wrote the database"


class Environment:
    """A look at what a call would run on. The doctor takes it before anything is opened."""

    def __init__(self, home: Home, brains: Brains, router: Router, environ: Mapping[str, str], *, served: bool) -> None:
        self._home = home
        self._brains = brains
        self._router = router
        self._environ = environ
        self._served = served  # a server keeps the rows; there is no file to look at

    def report(self, caller: Caller) -> dict[str, Any]:
        """Versions, databases, programs and libraries, with what does not fit and what to do about it."""
        own = self._router.route(caller).brain
        looks = {brain.name: self._look(brain) for brain in self._all()}
        mine = looks.get(own.name) if own is not None else None
        db = mine or self._look(self._home.medulla())
        warnings = [one for look in looks.values() for one in _warned(look)]
        recommendations = [_RESTART] if any(look.error is None and not look.compatible for look in looks.values()) else []
        if any(look.error is not None for look in looks.values()):
            recommendations.append("restore the newest backup of brain.db")
        return {
            "current_version": __version__,
            "supported_schema_version": SUPPORTED,
            "db": db.told(),
            "databases": {name: look.told() for name, look in looks.items()},
            "install": self._install(),
            "python": _python(),
            "recommendations": recommendations,
            "warnings": warnings,
        }

    def _all(self) -> Iterator[Brain]:
        if self._served:
            return
        yield from self._brains.all()
        if self._brains.has_medulla():
            yield self._home.medulla()

    def _look(self, brain: Brain) -> SchemaLook:
        return schema_of(self._home.brain_dir(brain) / DATABASE)

    def _install(self) -> dict[str, Any]:
        started = program()
        first = next((one for one in executables(self._environ) if not one.shadowed), None)
        # A program of the same virtual environment is the same program, however this process was started.
        same = first is not None and (
            first.real == started or os.path.dirname(os.path.realpath(first.path)) == os.path.dirname(sys.executable)
        )
        warnings = []
        if first is None:
            warnings.append(f"no {SERVER} is on the search path")
        elif not same:
            warnings.append(f"{first.path} is first on the search path, and another one runs: {started}")
        return {
            "current_exe": started,
            "path_hindbrain": first.path if first else None,
            "path_matches_current_exe": same if first else None,
            "warnings": warnings,
        }


def _warned(look: SchemaLook) -> list[dict[str, Any]]:
    if look.error is not None:
        return [_told("database_unreadable", f"{look.path}: {look.error}", "restore the newest backup of brain.db")]
    if not look.compatible:
        text = f"{look.path} has schema version {look.version}; this release knows up to {SUPPORTED}"
        return [_told("schema_newer", text, _RESTART)]
    return []


def _told(kind: str, text: str, fix: str | None) -> dict[str, Any]:
    return {"kind": kind, "text": text, "fix": fix}


def _python() -> dict[str, Any]:
    return {
        "version": platform.python_version(),
        "interpreter": sys.executable,
        "package": str(Path(__file__).resolve().parents[1]),
        **library(),
    }
