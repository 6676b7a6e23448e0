"""The runner: carries a call from the event loop to a worker thread, within a time limit, and knows what is going on."""

import contextlib
import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import anyio
import anyio.from_thread
import anyio.to_thread

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, InternalError, TimedOut
from hindbrain.services.events import Event, Events
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.surfaces.long_poll import WAITING, polled

__all__ = ["Activity", "Progress", "Runner", "Served", "Watched", "defect_lines"]

LOG = logging.getLogger("hindbrain.runner")

Progress = Callable[[int, int, str], None]

# Calls wait for disk and locks, not for the processor: more threads than cores, few enough to keep SQLite's queue short.
WORKERS = 32
_EXTENDED_S = 0.5  # how often the time limit of a call that tells its progress is moved


class Served(Protocol):
    """What a surface needs of the app."""

    home: Home
    settings: Settings
    events: Events

    def call(
        self, operation: str, arguments: Mapping[str, Any], *, caller: Caller, progress: Progress | None = None
    ) -> dict[str, Any]: ...

    def manifest(self) -> dict[str, Any]: ...

    def end_session(self, session: str) -> None: ...

    def roots_changed(self, caller: Caller) -> None: ...

    def shaken(self, caller: Caller, **told: Any) -> None: ...

    def hears(self, caller: Caller) -> Callable[[Event], bool]: ...

    def listening(self) -> AbstractContextManager[None]: ...


class CallerLeft(BaseException):
    """Raised inside a call that nobody waits for. As with an interrupt from the keyboard, what was committed stays."""


class Activity:
    """What keeps an owner alive: open connections, running calls, and the time of the last of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = clock()
        self._open = 0
        self._running = 0

    def touch(self) -> None:
        """A call came in."""
        self._last = self._clock()

    @contextmanager
    def connection(self) -> Iterator[None]:
        """One request, stream or bridge that is open."""
        with self._counted("_open"):
            yield

    @contextmanager
    def call(self) -> Iterator[None]:
        """One call on a worker thread; it counts until the thread is done, also when nobody waits for it any more."""
        with self._counted("_running"):
            yield

    @contextmanager
    def _counted(self, name: str) -> Iterator[None]:
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)
        try:
            yield
        finally:
            with self._lock:
                setattr(self, name, getattr(self, name) - 1)
                self._last = self._clock()

    @property
    def running(self) -> int:
        return self._running

    def idle_s(self) -> float:
        """Seconds since anything happened; zero while anything is open."""
        with self._lock:
            return 0.0 if self._open or self._running else self._clock() - self._last


class Watched:
    """An app whose calls are counted, whichever surface makes them, so that a stopping owner can wait for them."""

    def __init__(self, served: Served, activity: Activity) -> None:
        self.home = served.home
        self.settings = served.settings
        self.events = served.events
        self._served = served
        self._activity = activity

    def call(
        self, operation: str, arguments: Mapping[str, Any], *, caller: Caller, progress: Progress | None = None
    ) -> dict[str, Any]:
        with self._activity.call():
            return self._served.call(operation, arguments, caller=caller, progress=progress)

    def manifest(self) -> dict[str, Any]:
        return self._served.manifest()

    def end_session(self, session: str) -> None:
        self._served.end_session(session)

    def roots_changed(self, caller: Caller) -> None:
        with self._activity.call():
            self._served.roots_changed(caller)

    def shaken(self, caller: Caller, **told: Any) -> None:
        with self._activity.call():
            self._served.shaken(caller, **told)

    def hears(self, caller: Caller) -> Callable[[Event], bool]:
        return self._served.hears(caller)

    def listening(self) -> AbstractContextManager[None]:
        return self._served.listening()


class Runner:
    """Runs operations for the asynchronous surfaces. The core stays synchronous."""

    def __init__(self, served: Served, activity: Activity) -> None:
        self._served = served
        self._activity = activity
        self._limit_s = served.settings.number("call_timeout_s")
        self._threads = anyio.CapacityLimiter(WORKERS)

    async def answer(
        self,
        operation: str,
        arguments: Mapping[str, Any],
        caller: Callable[[], Caller],
        *,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """The answer of one call, or timed_out. One that took too long goes on to its own end; one whose caller left stops where
        it next tells how far it is. One that waits for mail has a time of its own."""
        if operation == WAITING:
            return await polled(self._served, arguments, lambda asked: self._run(operation, asked, caller, progress))
        return await self._run(operation, arguments, caller, progress)

    async def _run(
        self,
        operation: str,
        arguments: Mapping[str, Any],
        caller: Callable[[], Caller],
        progress: Progress | None,
    ) -> dict[str, Any]:
        left = threading.Event()
        limit = anyio.CancelScope()
        extended = time.monotonic()

        def told(done: int, total: int, text: str) -> None:
            nonlocal extended
            if left.is_set():
                raise CallerLeft
            if time.monotonic() - extended > _EXTENDED_S:  # who tells how far it is has not got stuck
                extended = time.monotonic()
                with contextlib.suppress(RuntimeError):  # the loop has ended, and with it every limit
                    anyio.from_thread.run_sync(self._extend, limit)
            if progress is not None:
                progress(done, total, text)

        def work() -> dict[str, Any]:
            with self._activity.call(), contextlib.suppress(CallerLeft):
                return self._answered(operation, arguments, caller, told)
            LOG.info("%s stopped: its caller left", operation[:80])
            return {}  # nobody reads it

        self._activity.touch()
        try:
            self._extend(limit)
            with limit:
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)
        except anyio.get_cancelled_exc_class():
            left.set()
            raise
        return TimedOut(
            f"{operation[:80]} took longer than {self._limit_s} s",
            fix="look at what it changed before calling it again: it may still finish",
        ).answer()

    async def roots_changed(self, caller: Callable[[], Caller]) -> None:
        """Tell the core of other roots, in a worker thread. Nobody waits for it; what goes wrong is in the log."""

        def tell() -> None:
            try:
                self._served.roots_changed(caller())
            except Exception as defect:  # noqa: BLE001 - the last place: a notice has no answer that could carry an error
                LOG.error("a notice of changed roots was not followed: %s", "; ".join(defect_lines(defect)))

        self._activity.touch()
        await anyio.to_thread.run_sync(tell, limiter=self._threads)

    async def shaken(self, caller: Callable[[], Caller], **told: Any) -> None:
        """Have a handshake recorded, in a worker thread. A session does not fail for it; what goes wrong is in the log."""

        def tell() -> None:
            try:
                self._served.shaken(caller(), **told)
            except Exception as defect:  # noqa: BLE001 - the last place: whoever shook hands waits for no answer to it
                LOG.error("a handshake was not recorded: %s", "; ".join(defect_lines(defect)))

        await anyio.to_thread.run_sync(tell, limiter=self._threads)

    def _extend(self, limit: anyio.CancelScope) -> None:
        limit.deadline = anyio.current_time() + self._limit_s

    def _answered(
        self, operation: str, arguments: Mapping[str, Any], caller: Callable[[], Caller], progress: Progress | None
    ) -> dict[str, Any]:
        try:
            return self._served.call(operation, arguments, caller=caller(), progress=progress)
        except HindbrainError as failure:
            return failure.answer()
        except Exception as defect:  # noqa: BLE001 - the last place before the wire: a defect becomes an answer and a log entry
            LOG.error("defect in %s: %s", operation[:80], "; ".join(defect_lines(defect)))
            return InternalError(
                f"{operation[:80]} failed inside Hindbrain ({type(defect).__name__})",
                fix="see owner.log in the home, then run: hindbrain doctor",
            ).answer()


def defect_lines(defect: BaseException) -> list[str]:
    """Where a defect happened, without its message: messages quote arguments, and arguments are people's memory."""
    frames = traceback.extract_tb(defect.__traceback__)
    places = [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} in {frame.name}" for frame in frames]
    return [type(defect).__name__, *places]
