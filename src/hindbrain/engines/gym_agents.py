"""Scripted agents: what each would look at next. Pure and without chance, so that the gym itself can be measured offline.

All see the same things in what they look at; they differ in what they look at and in which order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["AGENTS", "Action", "View", "disciplined", "graph_happy", "greedy_reader", "sweeping"]

_DOCUMENTS = (".md", ".toml", ".txt", ".cfg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One use of a tool: list, read, search, ask, impact, probe, test, or stop."""

    kind: str
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What an agent knows when it decides."""

    task: str
    queries: tuple[str, ...]
    files: tuple[str, ...] | None = None  # None: nothing was listed yet
    read: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    hits: tuple[str, ...] = ()  # files the graph named, best first
    probed: frozenset[str] = frozenset()
    examples: tuple[str, ...] = ()  # documents that were read and hold examples
    suspected: frozenset[str] = frozenset()  # files in which something was found
    tested: bool = False
    calls_left: int = 0
    files_left: int = 0

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(one for one in self.files or () if one.endswith(".py") and not _test(one))

    @property
    def documents(self) -> tuple[str, ...]:
        return tuple(one for one in self.files or () if one.endswith(_DOCUMENTS))

    @property
    def unprobed(self) -> str | None:
        """A document whose examples stand open before the reader."""
        return next((one for one in self.examples if one not in self.probed), None)


_STOP = Action(kind="stop")


def greedy_reader(view: View) -> Action:
    """Lists, then reads source after source in the order of the listing, then the rest; runs the examples it comes across."""
    if view.calls_left <= 0:
        return _STOP
    if view.files is None:
        return Action(kind="list", target=".")
    if view.unprobed is not None:
        return Action(kind="probe", target=view.unprobed)
    rest = (*view.sources, *view.documents, *(one for one in view.files if _test(one)))
    unread = next((one for one in rest if one not in view.read), None)
    if unread is not None and view.files_left > 0:
        return Action(kind="read", target=unread)
    return _STOP if view.tested else Action(kind="test", target="tests")


def graph_happy(view: View) -> Action:
    """Asks the graph, asks it again in nearly the same words, asks for the surroundings of the best hit, and reads one file."""
    if view.calls_left <= 0:
        return _STOP
    turn = len(view.asked) + len(view.read) + len(view.probed)
    if view.unprobed is not None:
        return Action(kind="probe", target=view.unprobed)
    step = turn % 4
    query = view.queries[(turn // 4) % len(view.queries)]
    if step == 0:
        return Action(kind="ask", target=query)
    if step == 1:
        return Action(kind="ask", target=f"{query}.")  # the same question once more
    unread = next((one for one in view.hits if one not in view.read), None)
    if step == 2 and view.hits:
        return Action(kind="impact", target=view.hits[len(view.read) % len(view.hits)])
    if unread is not None and view.files_left > 0:
        return Action(kind="read", target=unread)
    return Action(kind="ask", target=view.task)


def disciplined(view: View) -> Action:
    """One look at the graph and one listing; the best hits as far as room for the contracts is left; then the contracts."""
    if view.calls_left <= 0:
        return _STOP
    if not view.asked and view.queries:
        return Action(kind="ask", target=view.queries[0])
    if view.files is None:
        return Action(kind="list", target=".")
    if view.unprobed is not None:
        return Action(kind="probe", target=view.unprobed)
    contracts = [one for one in view.documents if one not in view.read]
    ranked = [one for one in _ranked(view) if one not in view.read]
    # A contract costs its reading and its probe; what is left goes to sources.
    room = min(view.files_left - len(contracts), view.calls_left - 2 * len(contracts))
    if ranked and room > 0:
        return Action(kind="read", target=ranked[0])
    return sweeping(view)


def sweeping(view: View) -> Action:
    """Contracts with their examples, then sources of which nothing is known yet, then the other sources, then the tests."""
    if view.calls_left <= 0:
        return _STOP
    if view.files is None:
        return Action(kind="list", target=".")
    if view.unprobed is not None:
        return Action(kind="probe", target=view.unprobed)
    sources = sorted(_ranked(view), key=lambda one: one in view.suspected)
    unread = next((one for one in (*view.documents, *sources) if one not in view.read), None)
    if unread is not None and view.files_left > 0:
        return Action(kind="read", target=unread)
    return _STOP if view.tested else Action(kind="test", target="tests")


def _ranked(view: View) -> tuple[str, ...]:
    """Sources as the graph ranks them, then the others."""
    known = tuple(one for one in view.hits if one in view.sources)
    return (*known, *(one for one in view.sources if one not in known))


def _test(path: str) -> bool:
    return path.startswith(("tests/", "test_")) or "/test_" in path


AGENTS: Mapping[str, Callable[[View], Action]] = {
    "greedy-reader": greedy_reader,
    "graph-happy": graph_happy,
    "disciplined": disciplined,
}
