"""The data sets that retrieval is measured on: conversations, questions, and what each metric counts. Reads files, asks nothing.

Every set becomes stores of messages with questions about them; a hit is a message (LoCoMo turns, BEAM messages, PrefEval
statements) or the session that a message lies in (LoCoMo sessions, LongMemEval).
"""

import datetime
import gzip
import hashlib
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["SETS", "Message", "Metric", "Question", "Store", "beam", "haystack", "load", "locomo", "longmemeval", "prefeval"]

HAYSTACK = 48  # sessions of one LongMemEval question
PREFERENCES = 50  # statements of one simulated user


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a store. `id` is unique in it; `session` is what neighbours and session metrics go by."""

    id: str
    session: str
    text: str
    role: str | None = None
    speaker: str | None = None
    said_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: the messages or sessions that answer it, and the sessions it is asked of when not of all."""

    text: str
    gold: frozenset[str]
    kind: str = ""
    sessions: frozenset[str] = frozenset()  # gold sessions
    among: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """What is taken in together, and what is asked of it."""

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure of a set: from the messages that came back, best first, to a share between 0 and 1."""

    name: str
    at: int
    score: Callable[[Question, Sequence[Message]], float]
    goal: float | None = None  # per cent
    sessions: bool = False  # ranks sessions, so that more messages have to be asked for


def _read(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        return json.load(handle)


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        yield from map(json.loads, handle)


def _ranked_sessions(found: Sequence[Message]) -> list[str]:
    return list(dict.fromkeys(message.session for message in found))


def _share(k: int) -> Callable[[Question, Sequence[Message]], float]:
    return lambda question, found: len(question.gold & {m.id for m in found[:k]}) / len(question.gold)


def _capped_share(k: int) -> Callable[[Question, Sequence[Message]], float]:
    return lambda question, found: len(question.gold & {m.id for m in found[:k]}) / min(k, len(question.gold))


def _session_share(k: int) -> Callable[[Question, Sequence[Message]], float]:
    return lambda question, found: len(question.sessions & set(_ranked_sessions(found)[:k])) / len(question.sessions)


def _session_any(k: int) -> Callable[[Question, Sequence[Message]], float]:
    return lambda question, found: float(bool(question.sessions & set(_ranked_sessions(found)[:k])))


# -- LoCoMo ------------------------------------------------------------------------------------------------------------

_TURN = re.compile(r"D:?(\d+):0*(\d+)")
_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def _when(text: str) -> int | None:
    """`1:56 pm on 8 May, 2023` in milliseconds."""
    try:
        told = datetime.datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y")
    except ValueError:
        return None
    return int(told.replace(tzinfo=datetime.UTC).timestamp() * 1000)


def locomo(data: Path) -> list[Store]:
    """Conversations of two people; evidence are turns. Malformed or dangling evidence is dropped, as the README says."""
    return [_conversation(one) for one in _read(data / "locomo" / "locomo7.json.gz")]


def _conversation(one: dict[str, Any]) -> Store:
    talk, messages = one["conversation"], []
    for key, turns in talk.items():
        if not re.fullmatch(r"session_\d+", key):
            continue
        at = _when(talk.get(f"{key}_date_time", ""))
        for turn in turns:
            number, place = _TURN.match(turn["dia_id"]).groups()  # type: ignore[union-attr]
            messages.append(Message(id=f"D{number}:{place}", session=key, text=turn["text"], speaker=turn["speaker"], said_at=at))
    session_of = {message.id: message.session for message in messages}
    questions = []
    for asked in one["qa"]:
        named = {f"D{a}:{b}" for text in asked.get("evidence", ()) for a, b in _TURN.findall(text)}
        if gold := frozenset(named & session_of.keys()):
            sessions = frozenset(session_of[turn] for turn in gold)
            questions.append(Question(text=asked["question"], gold=gold, sessions=sessions, kind=_KINDS[asked["category"]]))
    return Store(name=one["sample_id"], messages=tuple(messages), questions=tuple(questions))


# -- LongMemEval -------------------------------------------------------------------------------------------------------


def longmemeval(data: Path) -> list[Store]:
    """Every session in one store; each question also knows the 48 sessions of its own haystack."""
    base = data / "longmemeval_pool"
    messages: list[Message] = []
    mine: list[str] = []
    for session in _lines(base / "sessions.jsonl.gz"):
        mine.append(session["sid"])
        messages += (
            Message(id=f"{session['sid']}:{at}", session=session["sid"], text=text, role="user")
            for at, text in enumerate(session["turns"])
        )
    fillers: list[str] = []
    for session in _lines(base / "fillers.jsonl.gz"):
        fillers.append(session["sid"])
        messages += (
            Message(id=f"{session['sid']}:{at}", session=session["sid"], text=turn["content"], role=turn["role"])
            for at, turn in enumerate(session["turns"])
        )
    questions = tuple(
        Question(
            text=one["question"],
            gold=frozenset(one["gold"]),
            sessions=frozenset(one["gold"]),
            kind=one["type"],
            among=haystack(one["id"], one["gold"], mine, fillers),
        )
        for one in _lines(base / "questions.jsonl.gz")
        if not one["id"].endswith("_abs")
    )
    return [Store(name="pool", messages=tuple(m for m in messages if m.text.strip()), questions=questions)]


def haystack(question: str, gold: Sequence[str], mine: Sequence[str], fillers: Sequence[str]) -> frozenset[str]:
    """Its gold sessions, and half fillers, half other questions' sessions up to 48; the question's id is the seed."""
    rng = random.Random(question)
    room = HAYSTACK - len(gold)
    others = [sid for sid in mine if sid not in gold]
    chosen = rng.sample(list(fillers), min(room // 2, len(fillers)))
    return frozenset([*gold, *chosen, *rng.sample(others, room - len(chosen))])


# -- BEAM --------------------------------------------------------------------------------------------------------------

_MARKER = re.compile(r"\s*->->.*$", re.DOTALL)


def beam(data: Path, *, size: str = "100K") -> list[Store]:
    """Long chats with an assistant; evidence are messages, a long one is found by its best chunk."""
    found = sorted((data / "beam").glob(f"{size}_*.json.gz"), key=lambda path: int(path.name.split("_")[1].split(".")[0]))
    return [_chat(path) for path in found]


def _chat(path: Path) -> Store:
    raw = _read(path)
    messages: dict[str, Message] = {}
    for batch in raw["chat"]:
        for turn in batch["turns"]:
            for one in turn:
                text = _MARKER.sub("", one["content"]) if one["role"] == "user" else one["content"]
                key = str(one["id"])
                messages.setdefault(key, Message(id=key, session=f"batch{batch['batch_number']}", text=text, role=one["role"]))
    questions = []
    for kind, asked in raw["probing_questions"].items():
        for one in asked:
            gold = frozenset(map(str, _flat(one.get("source_chat_ids", ())))) & messages.keys()
            if gold and kind != "abstention":
                sessions = frozenset(messages[key].session for key in gold)
                questions.append(Question(text=one["question"], gold=frozenset(gold), sessions=sessions, kind=kind))
    kept = tuple(message for message in messages.values() if message.text.strip())
    return Store(name=path.name.removesuffix(".json.gz"), messages=kept, questions=tuple(questions))


def _flat(ids: Any) -> Iterable[int]:
    """Ids may be nested by the role of the fact."""
    if isinstance(ids, Mapping):
        ids = list(ids.values())
    if isinstance(ids, list | tuple):
        for one in ids:
            yield from _flat(one)
    else:
        yield int(ids)


# -- PrefEval ----------------------------------------------------------------------------------------------------------


def prefeval(data: Path) -> list[Store]:
    """Users with 50 stored preferences each, drawn from all topics; the right one is to be found by a question that shares
    hardly a word with it. The last user is filled up with statements of others, about whom nothing is asked twice."""
    rows = sorted(_lines(data / "prefeval" / "explicit.jsonl.gz"), key=lambda row: hashlib.sha1(row["id"].encode()).hexdigest())
    stores = []
    for start in range(0, len(rows), PREFERENCES):
        asked = rows[start : start + PREFERENCES]
        held = asked + rows[: PREFERENCES - len(asked)]
        messages = tuple(Message(id=row["id"], session=row["id"], text=row["preference"], role="user") for row in held)
        questions = tuple(
            Question(text=row["question"], gold=frozenset([row["id"]]), sessions=frozenset([row["id"]]), kind=row["topic"])
            for row in asked
        )
        stores.append(Store(name=f"user{start // PREFERENCES + 1}", messages=messages, questions=questions))
    return stores


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A set with its metrics; `haystacks` asks every question of its own sessions only."""

    name: str
    load: Callable[[Path], list[Store]]
    metrics: tuple[Metric, ...] = field(default=())
    haystacks: bool = False


def _pool(goals: Mapping[int, float]) -> tuple[Metric, ...]:
    found = (Metric(name=f"any@{k}", at=k, score=_session_any(k), goal=goals.get(k), sessions=True) for k in (1, 5, 10))
    return (*found, Metric(name="share@5", at=5, score=_session_share(5), sessions=True))


SETS: dict[str, DataSet] = {
    "locomo": DataSet(
        name="locomo",
        load=locomo,
        metrics=(
            Metric(name="turn R@5", at=5, score=_share(5)),
            Metric(name="turn R@10", at=10, score=_share(10), goal=83.0),
            Metric(name="session R@5", at=5, score=_session_share(5), sessions=True),
            Metric(name="session R@10", at=10, score=_session_share(10), goal=95.0, sessions=True),
        ),
    ),
    "longmemeval48": DataSet(name="longmemeval48", load=longmemeval, metrics=_pool({5: 97.4}), haystacks=True),
    "longmemeval": DataSet(name="longmemeval", load=longmemeval, metrics=_pool({5: 85.0})),
    "beam": DataSet(
        name="beam",
        load=beam,
        metrics=(
            Metric(name="R@5", at=5, score=_capped_share(5)),
            Metric(name="R@10", at=10, score=_capped_share(10), goal=62.0),
            Metric(name="R@20", at=20, score=_capped_share(20)),
        ),
    ),
    "prefeval": DataSet(
        name="prefeval",
        load=prefeval,
        metrics=(
            Metric(name="R@1", at=1, score=_share(1)),
            Metric(name="R@5", at=5, score=_share(5), goal=85.0),
        ),
    ),
}


def load(name: str, data: Path) -> list[Store]:
    """The stores of a set by its name."""
    return SETS[name].load(data)
