"""Missions with ten thousand events: what one more event costs, and what asking for the next move does.

    .venv/bin/python benchmarks/missions.py                                  # a mission of 10,000 events
    .venv/bin/python benchmarks/missions.py --events 1000 --check            # smaller; ends with 1 when a limit is passed

One brain on disk, with the settings that a user has. The mission is filled through its log, as its operations fill it, and is
then asked in two ways: by a session in this process, and through an owner over its socket. `event` is mission.event of a file
that is read (with its digest), `next` is mission.next. Limits: 5 ms for an event, 20 ms for a move, at the median; the 95th
percentile stands beside it. A mission of 100 events is measured first: the difference is what a long one costs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[1]))

from hindbrain.app import App, EmbeddedSession, Session, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.domain.mission import EventType
from hindbrain.services.missions.log import Draft
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

EVENT_MS, NEXT_MS = 5.0, 20.0
FILES = 400  # of the repository; events go over them in turn
SHORT = 100
REST_S = 40.0  # how long a fresh owner may take to come to rest


def repository(place: Path) -> Path:
    """A small repository in git, with a file for each turn."""
    root = place / "repo"
    for number in range(FILES):
        path = root / "src" / f"part{number % 20}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def call_{number}(value: int) -> int:\n    return value + {number}\n", encoding="utf-8")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        ("-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", "-C", os.fspath(root), *words], check=True, capture_output=True)
    return root


def target(number: int) -> str:
    return f"src/part{number % FILES % 20}/file{number % FILES}.py"


def filled(app: App, session: EmbeddedSession, mission_id: str, events: int) -> float:
    """Bring a mission to so many events: reads, searches and questions to the graph, in batches of one transaction. Seconds."""
    log, house = app.house.mission_log, app.house
    kinds = (EventType.FILE_READ, EventType.LITERAL_SEARCH, EventType.FILE_READ, EventType.GRAPH_QUERY)
    begun = time.perf_counter()
    with house.brains.use(house.router.write_route(session.caller)) as opened:
        done = 0
        while done < events:
            with log.turn(opened, session.caller, mission_id) as turn:
                if turn.course.seq >= events:
                    break
                for _ in range(min(500, events - turn.course.seq)):
                    number = turn.course.seq
                    kind = kinds[number % len(kinds)]
                    payload = {} if kind is EventType.FILE_READ else {"query": f"where is call_{number} used"}
                    named = target(number) if kind is EventType.FILE_READ else None
                    turn.add(Draft(event_type=kind, actor=turn.agent, source="agent", target=named, payload=payload))
                done = turn.course.seq
    return time.perf_counter() - begun


def timed(rounds: int, act: Callable[[int], dict[str, Any]]) -> list[float]:
    took = []
    for number in range(rounds + 5):
        begun = time.perf_counter()
        answer = act(number)
        spent = (time.perf_counter() - begun) * 1000
        assert answer["ok"], answer
        if number >= 5:  # the first ones make things warm
            took.append(spent)
    return took


def row(name: str, events: int, took: list[float], limit: float) -> bool:
    ordered = sorted(took)
    middle, slow = median(took), ordered[int(len(ordered) * 0.95)]
    kept = middle <= limit
    print(f"{name:34} {events:7,} {len(took):6,} {middle:9.3f} {slow:9.3f} {limit:8.1f}  {'ok' if kept else 'OVER'}")
    return kept


def measured(name: str, session: Session, mission_id: str, events: int, rounds: int) -> bool:
    """An event and a move, by turns of their own."""
    reads = timed(
        rounds,
        lambda number: session.call("mission.event", event_type="file_read", target=target(number), mission_id=mission_id),
    )
    moves = timed(rounds, lambda number: session.call("mission.next", mission_id=mission_id))
    held = [row(f"event, {name}", events, reads, EVENT_MS), row(f"next, {name}", events, moves, NEXT_MS)]
    return all(held)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--check", action="store_true", help="end with 1 when a limit is passed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = repository(Path(place))
        home = Home(Path(place) / "home")
        caller = local_caller(root=root, agent="bench", channel=Channel.AGENT)
        app = App(home, Settings({}))
        session = EmbeddedSession(app, caller)
        made = session.call("ingest", path=os.fspath(root), project_root=os.fspath(root))
        assert made["ok"], made
        print(f"{'':34} {'events':>7} {'calls':>6} {'median':>9} {'p95':>9} {'limit':>8}  ms")
        held = []
        for events in (SHORT, options.events):
            started = session.call("mission.start", task="find what call_7 breaks", mode="bug_hunt", budget="deep")
            assert started["ok"], started
            name = started["mission_id"]
            seconds = filled(app, session, name, events)
            held.append(measured("session in this process", session, name, events, options.rounds))
        session.close()
        print(f"filled with {options.events:,} events in {seconds:.1f} s; {home_size(home):.1f} MB in the home")
        held.append(owned(home, root, name, options.events, options.rounds))
    return 1 if options.check and not all(held) else 0


def home_size(home: Home) -> float:
    return sum(path.stat().st_size for path in home.path.rglob("*") if path.is_file()) / 1e6


def rested(session: Session, mission_id: str) -> float:
    """Wait until a fresh owner has done what it does when it wakes: until calls stop becoming faster. Seconds."""
    begun, best = time.perf_counter(), float("inf")
    while time.perf_counter() - begun < REST_S:
        now = median(timed(20, lambda _: session.call("mission.status", mission_id=mission_id, events=0)))
        if now > best * 0.9 and time.perf_counter() - begun > REST_S / 4:
            break
        best = min(best, now)
    return time.perf_counter() - begun


def owned(home: Home, root: Path, mission_id: str, events: int, rounds: int) -> bool:
    """The same through an owner that this call starts and ends."""
    import hindbrain

    os.environ["HINDBRAIN_MODE"] = "owner"
    os.environ["HINDBRAIN_PORT"] = "0"
    try:
        session = hindbrain.open(home=home.path, root=root, agent="bench")
        begun = time.perf_counter()
        answer = session.call("mission.status", mission_id=mission_id, events=0)
        assert answer["ok"], answer
        print(f"the owner reads the mission for the first time in {(time.perf_counter() - begun) * 1000:.0f} ms")
        print(f"it is at rest after {rested(session, mission_id):.1f} s")
        held = measured("through the owner", session, mission_id, events, rounds)
        session.close()
        return held
    finally:
        subprocess.run(
            [sys.executable, "-m", "hindbrain", "stop"],
            check=False,
            capture_output=True,
            env={**os.environ, "HINDBRAIN_HOME": os.fspath(home.path)},
        )


if __name__ == "__main__":
    sys.exit(main())
