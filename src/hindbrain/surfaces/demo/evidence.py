"""Evidence of the tour: a conversation, a log, a document, a research report, and what agents saw with their own eyes."""

import json
from datetime import UTC, datetime

from hindbrain.surfaces.demo.repositories import HARBOR, TIDE
from hindbrain.surfaces.demo.stage import Scene, Stage

__all__ = ["SCENES"]

_TURNS = (
    ("Mira", "A customer was charged twice this morning. Order 51c2, two charges of 24.50."),
    ("Jonas", "Both with the same key? Then the provider should have answered with the first one."),
    ("Mira", "No, the second has none. It came from the old image that still ran beside the new one."),
    ("Jonas", "So the old image sends no key, and the new one does. The retry itself is innocent."),
    ("Mira", "Let us end the old image before the traffic moves, not after. I write it into the deploy page."),
    ("Jonas", "And every charge has a key, or it is not sent at all."),
)

# Seconds after the worker began, and what it wrote.
_LOG = (
    (0, "worker started, queue 0 of 200"),
    (38, "charge order=51c2 key=none status=201 ms=412"),
    (39, "charge order=51c2 key=51c2 status=201 ms=388"),
    (39, "order 51c2 moved to paid"),
    (308, "charge order=77ab key=77ab status=503 ms=8001 try=1"),
    (317, "charge order=77ab key=77ab status=503 ms=8000 try=2"),
    (326, "charge order=77ab key=77ab status=201 ms=640 try=3"),
    (833, "queue 200 of 200, job refused"),
)

_REPORT = {
    "report_id": "retry-practice-2026-10",
    "title": "How services retry calls that cost money",
    "sources": ["https://example.org/papers/jitter", "https://example.org/talks/idempotency"],
    "findings": [
        {"summary": "Full jitter empties a queue of failed calls faster than doubling alone, and with fewer calls."},
        {"summary": "Providers keep an idempotency key for a day; a retry after that charges again."},
        {"summary": "Most double charges come from two versions that run side by side, not from the retry itself."},
    ],
    "candidate_insights": [{"statement": "Retry with full jitter and a key that outlives the retry.", "findings": [0, 1]}],
}

# What agents saw, by the name under which cards cite it.
_SEEN = (
    (1.8, HARBOR, "claude-code:agent", "seen-key-once",
        "With a key a second charge of order 77ab answered with the first one's id.", ["payments"]),
    (2.1, HARBOR, "codex:agent", "seen-key-test",
        "A test sent the same key forty times; the provider shows one charge.", ["payments", "check"]),
    (3.9, HARBOR, "codex:agent", "seen-key-day", "After 26 hours the same key made a second charge.", ["payments"]),
    (4.6, HARBOR, "claude-code:agent", "seen-wal-copy",
        "A copy made with cp lacked the last eleven orders; the log beside it had them.", ["database"]),
    (4.8, HARBOR, "codex:agent", "seen-wal-backup", "A copy made with .backup had every order.", ["database", "check"]),
    (6.9, HARBOR, "gemini:reviewer", "seen-bounded",
        "With a bound on retries the queue was empty again after two minutes.", ["queue"]),
    (7.1, HARBOR, "codex:agent", "seen-unbounded",
        "Without a bound the queue stayed full for forty minutes after the outage.", ["queue"]),
    (8.6, HARBOR, "claude-code:agent", "seen-unbounded-lost", "A bounded retry lost the last webhook of an order.", ["queue"]),
    (9.8, HARBOR, "codex:agent", "seen-jitter",
        "With jitter the provider answered 503 for nine seconds instead of fifty.", ["queue", "check"]),
    (13.9, HARBOR, "claude-code:agent", "seen-sign",
        "Somebody asked who built the image of Thursday, and nobody could tell.", ["release"]),
    (14.1, HARBOR, "codex:agent", "seen-sign-check",
        "The signed image of Tuesday named its builder at once.", ["release", "check"]),
    (2.9, TIDE, "claude-code:agent", "seen-double-add",
        "Two clicks on a slow line put four ropes into the basket instead of two.", ["basket"]),
    (3.1, TIDE, "codex:agent", "seen-single-add",
        "Without a retry the slow line puts two ropes into the basket.", ["basket", "check"]),
    (5.6, TIDE, "cursor:agent", "seen-cache-stale",
        "The list showed a lamp as in stock forty seconds after the last one was sold.", ["cache"]),
    (16.1, TIDE, "codex:agent", "seen-format",
        "In a browser set to Dutch the price reads 24,50 with the sign before it.", ["format"]),
)  # fmt: skip


def _told(stage: Stage) -> None:
    """The conversation of an incident, turn by turn."""
    began = stage.clock() - 900_000  # it was written down afterwards
    lines = [
        {"session": "incident-51c2", "id": f"m{number}", "speaker": who, "text": said, "time": began + number * 90_000}
        for number, (who, said) in enumerate(_TURNS, 1)
    ]
    stage.person(HARBOR).call(
        "memory.ingest",
        text="\n".join(json.dumps(one) for one in lines),
        source="incident-51c2.jsonl",
        source_format="jsonl",
        wing="incidents",
        room="51c2",
        tags=["payments", "incident"],
    )
    stage.ids["thread"] = "incident-51c2"
    rows = stage.agent(HARBOR).call("memory.list", thread="incident-51c2", limit=20)["rows"]
    stage.ids["conversation"] = min(rows, key=lambda row: int(row["position"]))["evidence_id"]


def _logged(stage: Stage) -> None:
    actor = stage.agent(HARBOR)
    began = stage.clock() // 1000 - 3600
    lines = [f"{datetime.fromtimestamp(began + after, UTC):%Y-%m-%dT%H:%M:%SZ} {said}" for after, said in _LOG]
    log = "\n".join(lines) + "\n"
    kept = actor.call("record", text=log, wing="logs", room="worker", tags=["log"], provenance="runtime", source="worker.log")
    stage.ids["log"] = kept["evidence_id"]
    actor.call("memory.ingest", path=str(stage.roots[HARBOR] / "docs" / "deploy.md"), wing="docs", field="deployment")
    stage.agent(TIDE).call("memory.ingest", path=str(stage.roots[TIDE] / "docs" / "errors.md"), wing="docs")


def _researched(stage: Stage) -> None:
    stage.agent(HARBOR).call("research.ingest", report=_REPORT, execute=True)


def _seen(day: float, repository: str, agent: str, name: str, text: str, tags: list[str]) -> Scene:
    def play(stage: Stage) -> None:
        kept = stage.agent(repository, agent).call(
            "record", text=text, wing="observations", room=tags[0], tags=tags, provenance="runtime"
        )
        stage.ids[name] = kept["evidence_id"]

    return Scene(day=day, name=f"{repository}: {text[:40]}", play=play)


def _doubtful(stage: Stage) -> None:
    kept = stage.agent(TIDE, "cursor:agent").call(
        "record", text="The build was red once and green the next time.", wing="observations", room="build"
    )
    stage.ids["deleted-evidence"] = kept["evidence_id"]


def _taken_away(stage: Stage) -> None:
    stage.agent(TIDE, "cursor:agent").call("memory.delete", evidence_id=stage.ids["deleted-evidence"], reason="it says nothing")


SCENES: tuple[Scene, ...] = (
    Scene(day=1.2, name="an incident is talked about", play=_told),
    Scene(day=1.25, name="a log and two documents", play=_logged),
    Scene(day=5.9, name="a research report", play=_researched),
    *(_seen(*one) for one in _SEEN),
    Scene(day=13.4, name="an observation that says nothing", play=_doubtful),
    Scene(day=16.6, name="an observation is taken back", play=_taken_away),
)
