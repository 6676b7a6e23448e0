"""`hindbrain demo`: makes the world, opens the Hall on it, and leaves nothing behind that nobody asked to keep."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import InternalError, PathRefused
from hindbrain.stores.home import Home
from hindbrain.stores.locks import try_lock
from hindbrain.surfaces import client, output
from hindbrain.surfaces.client import OwnerAddress, OwnerGone, Who
from hindbrain.surfaces.demo.repositories import HARBOR
from hindbrain.surfaces.demo.world import World, build_world
from hindbrain.surfaces.hall_opening import open_hall
from hindbrain.surfaces.stopping import stop_owner

__all__ = ["take_the_tour"]

_PULSE_S = 30.0  # so often the owner is called, so that it does not end for want of visitors
_ASK_S = 10.0
_PAUSE_S = 0.02
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_GOAL = "Run 'rm docs/deploy.md'"  # in a copy of the project, and only once a person allows it


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The directory of a world, and whether it was there before."""

    path: Path
    ours: bool

    @property
    def home(self) -> str:
        return str(self.path / "home")

    def remove(self) -> None:
        """Take away what was made. A directory that was there before stays, empty as it was."""
        if self.path.is_dir():
            for entry in [self.path] if self.ours else list(self.path.iterdir()):
                shutil.rmtree(entry)


def take_the_tour(read: Mapping[str, Any], given: Mapping[str, Any]) -> int:
    """Run the command and return its exit code."""
    place = _placed(read.get("home") or given.get("home"))
    stays = not output.wants_json(given) and os.isatty(0) and os.isatty(1)
    _alone()
    ready = False  # from then on whoever ends it ends a tour, and not the making of one
    with _interruptible():
        try:
            world = _built(place)
            shown = _opened(world, browser=not read.get("no_open"))
            if not stays:
                return output.present(_told(world, shown), given)
            ready = True
            output.write(
                f"{_what(world)}\n\n{shown['rendered']}\n\nCtrl-C ends the tour{'' if read.get('keep') else ' and removes it'}."
            )
            _stay(place.home)
        except KeyboardInterrupt:
            if not ready:
                _ended(place, keep=False)
                output.tell("\nThe tour was ended before it was ready. Nothing of it is left.")
                return 130
        except PathRefused:
            raise  # somebody else has begun there: what lies in it is not ours to remove
        except BaseException:
            _ended(place, keep=ready and bool(read.get("keep")))
            raise
        _ended(place, keep=bool(read.get("keep")))
    left = f"The world stays in {place.path}.\nOpen it again: hindbrain --home {place.home} hall"
    output.tell(left if read.get("keep") else "The tour is over. Nothing of it is left.")
    return 0


def _placed(chosen: str | None) -> _Place:
    if chosen is None:
        return _Place(path=Path(tempfile.mkdtemp(prefix="hindbrain-demo-")).resolve(), ours=True)
    path = Path(chosen).expanduser().resolve()
    try:
        path.mkdir(mode=0o700, parents=True)  # whoever makes it removes it: of two tours at once only one does
        return _Place(path=path, ours=True)
    except FileExistsError:
        if not path.is_dir() or any(path.iterdir()):
            raise PathRefused(f"{path} is not empty", fix="name a directory that is empty or not there yet") from None
        return _Place(path=path, ours=False)


def _alone() -> None:
    """What is set for the person's own home, such as a database or a model, has no say in the tour; nor is its port taken."""
    for name in [name for name in os.environ if name.startswith("HINDBRAIN_")]:
        del os.environ[name]
    os.environ["HINDBRAIN_PORT"] = "0"


@contextmanager
def _interruptible() -> Iterator[None]:
    """A closed terminal and a request to end count as Ctrl-C: the world is removed then too."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {one: signal.signal(one, interrupt) for one in _ENDS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _built(place: _Place) -> World:
    if not os.isatty(2):
        return build_world(place.path)
    from hindbrain.surfaces import progress

    with progress.bar("The tour") as advance:
        return build_world(place.path, progress=advance)


def _opened(world: World, *, browser: bool) -> dict[str, Any]:
    """The owner is up, a task waits for a person, and the Hall is shown."""
    home = str(world.home)
    Home(world.home).config_file.write_text(
        "port = 0\n", encoding="utf-8"
    )  # whoever starts the next owner takes no usual port either
    address = client.ensure_owner(home)
    who = Who(str(world.roots[HARBOR]), "codex:agent")
    asked = client.call(address, client.read_token(home), "run", {"goal": _GOAL, "wait_s": 0}, who)
    if not asked["ok"]:
        raise InternalError(
            f"the last task of the world did not begin: {asked.get('error')}", fix="look at owner.log in its home"
        )
    return open_hall(home, browser=browser)


def _what(world: World) -> str:
    return (
        f"A small world is ready in {world.directory}:\n"
        f"the repositories {' and '.join(world.roots)}, and three weeks of work by several agents."
    )


def _told(world: World, shown: dict[str, Any]) -> dict[str, Any]:
    """The answer where nobody stays to end it."""
    end = f"hindbrain --home {world.home} stop"
    rendered = f"{_what(world)}\n\n{shown['rendered']}\n\nEnd it: {end}\nThen delete the directory {world.directory}."
    return {
        "ok": True,
        "schema": "hindbrain-demo-v0",
        "directory": str(world.directory),
        "home": str(world.home),
        "roots": {name: str(root) for name, root in world.roots.items()},
        "url": shown["url"],
        "opened": shown["opened"],
        "owner": shown["owner"],
        "ids": world.ids,
        "end": end,
        "rendered": rendered,
    }


def _stay(home: str) -> None:
    """Wait for Ctrl-C, or for somebody who stops the owner."""
    token = client.read_token(home)
    while (address := client.find_owner(home)) is not None:
        _called(address, token)
        time.sleep(_PULSE_S)
    output.tell("The owner of the tour was stopped.")


def _called(address: OwnerAddress, token: str) -> None:
    try:
        client.request(address, token, "GET", "/api/health", {}, b"", _ASK_S)
    except OwnerGone:
        return  # the next look tells whether it is gone for good


def _ended(place: _Place, *, keep: bool) -> None:
    """Stop the owner and remove the world. A second Ctrl-C does not leave half of it."""
    for one in _ENDS:
        signal.signal(one, signal.SIG_IGN)
    deadline = time.monotonic() + client.START_S
    while stop_owner(place.home) is None and _starting(place.home) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)  # an owner that is still starting would go on in a directory that is gone
    if not keep:
        place.remove()


def _starting(home: str) -> bool:
    """Whether an owner is on its way: it holds this lock from before its first line to its end."""
    if not Path(home).is_dir():
        return False
    handle = try_lock(Home(Path(home)).start_lock)
    if handle is not None:
        os.close(handle)
    return handle is None
