"""The two repositories of the tour: their files, commit by commit, as git keeps them."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from hindbrain.domain.errors import StoreUnavailable
from hindbrain.stores.git import change

__all__ = ["COMMITS", "HARBOR", "TIDE", "Commit", "begin", "commit", "line_of"]

HARBOR, TIDE = "harbor-shop", "tide-client"
_SUFFIX = ".txt"  # no checker of this project takes the files for its own
_PEOPLE = {"mira": "Mira Holt <mira@harbor.example>", "jonas": "Jonas Brandt <jonas@harbor.example>"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit: on which day, by whom, and the directory that holds its new and changed files."""

    repository: str
    number: int
    day: float
    author: str
    message: str


COMMITS = (
    Commit(repository=HARBOR, number=1, day=-23.2, author="mira", message="Begin the shop: products, a basket, a front door"),
    Commit(repository=TIDE, number=1, day=-20.4, author="jonas", message="Begin the client: one typed call, one session"),
    Commit(repository=HARBOR, number=2, day=-17.6, author="mira", message="Keep orders in SQLite, and say how we deploy"),
    Commit(repository=HARBOR, number=3, day=-13.3, author="jonas", message="Charge orders, with retries and a worker"),
    Commit(repository=TIDE, number=2, day=-8.5, author="jonas", message="Cache answers and try again when it may help"),
    Commit(repository=TIDE, number=3, day=2.4, author="mira", message="A cart and a list of products"),
    Commit(repository=HARBOR, number=4, day=3.3, author="mira", message="Believe a webhook by its signature only"),
    Commit(repository=HARBOR, number=5, day=11.5, author="jonas", message="Try four times and no more, and park what fails"),
    Commit(repository=TIDE, number=4, day=14.6, author="mira", message="Show prices, and say when nothing came in time"),
    Commit(repository=HARBOR, number=6, day=18.4, author="mira", message="Count money in whole cents"),
)


def begin(root: Path) -> None:
    """An empty repository."""
    root.mkdir(parents=True)
    _git(root, "init", "-q", "-b", "main")


def commit(root: Path, made: Commit, at_ms: int) -> None:
    """Lay out the files of a commit and commit them, with all that lies there, as of a time."""
    source = resources.files("hindbrain.surfaces.demo") / "files" / made.repository / str(made.number)
    with resources.as_file(source) as directory:
        for path in sorted(directory.rglob(f"*{_SUFFIX}")):
            target = root / path.relative_to(directory).with_name(path.name.removesuffix(_SUFFIX))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    name, _, mail = _PEOPLE[made.author].rstrip(">").partition(" <")
    when = f"{at_ms // 1000} +0000"
    who = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", name), ("EMAIL", mail), ("DATE", when))
    }
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", made.message, environ=who)


def line_of(path: Path, text: str) -> int:
    """The first line of a file that holds a text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def _git(root: Path, *words: str, environ: Mapping[str, str] | None = None) -> None:
    done = change(str(root), *words, environ=environ)
    if done is None:
        raise StoreUnavailable("the tour needs git", fix="install git, then run it again")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[:300]
        raise StoreUnavailable(f"git {words[0]} failed: {said}", fix="look at git, then run the tour again")
