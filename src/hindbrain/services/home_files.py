"""Home files: documents, mirrors and the model of a home, compared with what they should be. Databases have their own checks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hindbrain.domain.brain import fingerprint
from hindbrain.services.boot import boot_text, show_boot
from hindbrain.services.brains import OpenBrain
from hindbrain.services.embedder import Embedder, ModelState
from hindbrain.services.missions.files import MissionFiles
from hindbrain.stores.documents import DamagedDocument, Remedy, damaged_documents, mend
from hindbrain.stores.home import Home
from hindbrain.stores.model import first_damage

__all__ = ["OTHER_BRAIN", "FileProblem", "HomeFiles"]

_MISSIONS = 50  # whose files are compared with the store, the latest first; a mission writes its own again when it goes on
_FIX = "hindbrain doctor --fix"
OTHER_BRAIN = "(another brain)"  # a directory of the home that no known root explains


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """A file that is not what it should be, what is to be done, and the repair when there is a safe one."""

    kind: str
    path: Path
    why: str
    fix: str
    repair: Callable[[], None] | None = None
    action: str = ""
    brain: str | None = None  # whose file it is; None for a file of the whole home


class HomeFiles:
    """Looks at the files of one home."""

    def __init__(self, home: Home, missions: MissionFiles, embedder: Embedder) -> None:
        self._home = home
        self._missions = missions
        self._embedder = embedder

    def of_home(self) -> Iterator[FileProblem]:
        """What belongs to no single brain."""
        for one in damaged_documents(self._home):
            yield self._document(one)
        if self._embedder.standing().state is ModelState.DAMAGED:
            return  # each brain says so: it is searched by words only
        if (model := self._embedder.installed()) is not None and (why := first_damage(model)) is not None:
            yield FileProblem(kind="model_damaged", path=model.path, why=why, fix="hindbrain model install --force")
        elif model is None and (left := self._embedder.target.stamps()):
            why = f"it names no model that is there; {', '.join(left)} is installed"
            path = self._embedder.target.path / "current"
            yield FileProblem(kind="model_damaged", path=path, why=why, fix="hindbrain model install")

    def of_brain(self, opened: OpenBrain) -> Iterator[FileProblem]:
        """Mirrors of rows: they are written again from the database."""
        for mission, names in self._missions.damaged(opened, most=_MISSIONS).items():
            place = self._missions.directory(opened, mission).path
            yield FileProblem(
                kind="mirror_damaged",
                path=place,
                why=f"{', '.join(names)} do not say what brain.db says",
                fix=_FIX,
                repair=lambda mission=mission: _ignore(self._missions.rebuild(opened, mission)),  # type: ignore[misc]
                action="write the files of the mission again",
            )
        path, expected = opened.directory / "boot_memory_state.json", boot_text(opened)
        if path.exists() or path.is_symlink():
            try:
                same = path.read_text(encoding="utf-8") == expected
            except (OSError, UnicodeDecodeError):
                same = False
            if not same:
                yield FileProblem(
                    kind="mirror_damaged",
                    path=path,
                    why="it does not say what brain.db says",
                    fix=_FIX,
                    repair=lambda: show_boot(opened),
                    action="write boot memory again",
                )

    def _document(self, one: DamagedDocument) -> FileProblem:
        if one.document.remedy is Remedy.KEEP:
            fix = f"restore {one.path.name} from a copy, or move it away; nothing is written over it"
            return FileProblem(kind="file_damaged", path=one.path, why=one.why, fix=fix, brain=self._owner(one.path))
        return FileProblem(
            kind="file_damaged",
            path=one.path,
            why=one.why,
            fix=_FIX,
            repair=lambda: mend(self._home, one),
            action="remove what cannot be read",
            brain=self._owner(one.path),
        )

    def _owner(self, path: Path) -> str | None:
        """The brain that a file of the home belongs to, by the name of its directory; None for a file of the whole home."""
        parts = path.relative_to(self._home.path).parts
        if len(parts) < 3 or parts[0] not in ("brains", "runtime"):
            return None
        roots = (brain.root for brain in self._home.projects() if brain.root is not None)
        return next((root for root in roots if fingerprint(root) == parts[1]), OTHER_BRAIN)


def _ignore(_names: tuple[str, ...]) -> None:
    """A repair has no result of its own."""
