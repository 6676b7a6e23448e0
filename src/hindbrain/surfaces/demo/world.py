"""The world of the tour: two repositories and a home with three weeks of memory in it. Builds it, and knows what it holds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hindbrain.domain.errors import PathRefused
from hindbrain.surfaces.demo import claims, cowork, evidence, experience, knowledge, letters, missions, repositories
from hindbrain.surfaces.demo.repositories import COMMITS, HARBOR, TIDE, Commit
from hindbrain.surfaces.demo.stage import Scene, Stage

__all__ = ["World", "build_world", "scenes"]

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A finished world. `ids` has the notable things by name."""

    directory: Path
    home: Path
    roots: dict[str, Path]
    ids: dict[str, str]


def build_world(directory: Path, *, progress: Progress | None = None) -> World:
    """Make the world in an empty or new directory. No owner runs when it is done."""
    place = directory.resolve()
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise PathRefused(f"{place} is not empty", fix="name a directory that is empty or not there yet")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    roots = {name: place / name for name in (HARBOR, TIDE)}
    stage = Stage(home=place / "home", roots=roots)
    script = sorted(scenes(), key=lambda scene: scene.day)
    try:
        for number, scene in enumerate(script):
            if progress is not None:
                progress(number, len(script), scene.name)
            stage.settle()
            stage.clock.set(stage.clock.moment(scene.day))
            scene.play(stage)
    finally:
        stage.close()
    return World(directory=place, home=stage.home, roots=roots, ids=stage.ids)


def scenes() -> list[Scene]:
    """Everything that happens, chapter by chapter; the day of a scene says when."""
    chapters = (claims, evidence, knowledge, missions, experience, letters, cowork)
    return [
        *(Scene(day=made.day, name=f"{made.repository}: {made.message}", play=_committed(made)) for made in COMMITS),
        *(scene for chapter in chapters for scene in chapter.SCENES),
    ]


def _committed(made: Commit) -> Callable[[Stage], None]:
    """A commit, and the graph that follows it once there is a brain."""

    def play(stage: Stage) -> None:
        root = stage.roots[made.repository]
        if made.number == 1:
            repositories.begin(root)
        repositories.commit(root, made, stage.clock())
        if made.day > claims.BORN:
            stage.agent(made.repository).call("ingest", path=str(root), project_root=str(root))

    return play
