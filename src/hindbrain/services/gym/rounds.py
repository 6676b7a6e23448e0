"""Rounds on disk: a directory with what was asked, the private key, the prompts, the streams, the results and the report. A lane
is done when its result stands there; everything else can be made again from it."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from hindbrain.domain.errors import InvalidParams, UnknownRound
from hindbrain.domain.gym import JudgeRuling, LaneResult, Report, Round
from hindbrain.domain.gym_fixture import AnswerKey
from hindbrain.domain.mission import MissionEvent
from hindbrain.domain.typed import decoded
from hindbrain.engines.gym_html import page
from hindbrain.engines.gym_markdown import report_text
from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import make_directory
from hindbrain.stores.home import Home

__all__ = ["NOTES", "RoundDirectory", "Rounds"]

_ROUND, _KEY, _RULINGS = "round.json", "operator-only/answer-key.json", "operator-only/rulings.json"
_PROMPTS, _STREAMS, _RESULTS = "lane-prompts", "event-streams", "lane-results"
_REPORTS = {"json": "report.json", "markdown": "report.md", "html": "report.html"}
NOTES = "notes.md"
Kind = TypeVar("Kind")
_ID = re.compile(r"rnd_[0-9A-Z]{26}")
_LANE = re.compile(r"[a-z][a-z0-9-]{0,40}\.[a-z]{1,20}\.[1-9][0-9]{0,3}")
_NOTES = """# Notes of round {round_id}

What was changed, what was seen, and what a reader has to know. The numbers are in report.md.

- change: {change}
"""


@dataclass(frozen=True, slots=True)
class RoundDirectory:
    """One round."""

    path: Path

    def asked(self) -> Round:
        """What the round asks for."""
        found = _read(self.path / _ROUND, Round)
        if any(not _LANE.fullmatch(one.lane_id) for one in found.lanes):
            raise UnknownRound(f"{self.path} names a lane that cannot be one", fix="run the round again: gym run")
        return found

    def keys(self) -> dict[str, AnswerKey]:
        """The private keys by fixture."""
        return _read(self.path / _KEY, dict[str, AnswerKey])

    def rulings(self) -> tuple[JudgeRuling, ...]:
        place = self.path / _RULINGS
        return _read(place, tuple[JudgeRuling, ...]) if place.is_file() else ()

    def done(self) -> frozenset[str]:
        """Lanes that have a result."""
        return frozenset(one.lane_id for one in self.asked().lanes if self._result(one.lane_id).is_file())

    def results(self) -> tuple[LaneResult, ...]:
        """Every result with its events."""
        return tuple(self.result(one.lane_id) for one in self.asked().lanes if self._result(one.lane_id).is_file())

    def result(self, lane_id: str) -> LaneResult:
        found = _read(self._result(lane_id), LaneResult)
        if found.lane_id != lane_id:
            raise UnknownRound(f"the result of {lane_id} is that of {found.lane_id}", fix="run the round again: gym run")
        events, before = self.stream(lane_id), self.stream(f"{lane_id}.parent")
        return replace(found, run=replace(found.run, events=events, parent_events=before))

    def stream(self, name: str) -> tuple[MissionEvent, ...]:
        """The events of a lane, one a line; none where there is no file."""
        place = self.path / _STREAMS / f"{name}.jsonl"
        if not place.is_file():
            return ()
        try:
            lines = place.read_text(encoding="utf-8").splitlines()
            return tuple(decoded(one, MissionEvent) for one in lines if one.strip())
        except (msgspec.MsgspecError, UnicodeDecodeError) as broken:
            raise UnknownRound(f"{place.name} holds what is no event: {broken}", fix="run the lane again") from None

    def prompts(self) -> dict[str, str]:
        """The prompts by `fixture.lane`."""
        return {one.stem: one.read_text(encoding="utf-8") for one in sorted((self.path / _PROMPTS).glob("*.md"))}

    def lacks(self) -> tuple[str, ...]:
        """What a round directory has and this one does not."""
        files = [one for one in (_ROUND, _KEY, NOTES) if not (self.path / one).is_file()]
        return (*files, *(f"{one}/" for one in (_PROMPTS, _STREAMS, _RESULTS) if not (self.path / one).is_dir()))

    def add(self, result: LaneResult) -> None:
        """Keep a lane. Its events are there before its result is."""
        for name, events in ((result.lane_id, result.run.events), (f"{result.lane_id}.parent", result.run.parent_events)):
            if events or name == result.lane_id:
                lines = "".join(f"{msgspec.json.encode(one).decode()}\n" for one in events)
                write_text(self.path / _STREAMS / f"{name}.jsonl", lines)
        kept = replace(result, run=replace(result.run, events=(), parent_events=()))
        write_text(self._result(result.lane_id), _pretty(kept))

    def rule(self, rulings: Iterable[JudgeRuling]) -> None:
        """Keep what a judge said, after what was said before."""
        write_text(self.path / _RULINGS, _pretty((*self.rulings(), *rulings)))

    def stand(self, state: Literal["open", "complete", "incomplete"], why: str = "") -> Round:
        """Say how far the round is."""
        now = replace(self.asked(), state=state, why=why)
        write_text(self.path / _ROUND, _pretty(now))
        return now

    def write(self, report: Report) -> dict[str, str]:
        """The report in its three forms; where each is."""
        texts = {"json": _pretty(report), "markdown": report_text(report), "html": page(report)}
        for form, name in self.files().items():
            write_text(Path(name), texts[form])
        return self.files()

    def files(self) -> dict[str, str]:
        """Where the report stands, by its form."""
        return {form: str(self.path / name) for form, name in _REPORTS.items()}

    def _result(self, lane_id: str) -> Path:
        return self.path / _RESULTS / f"{lane_id}.json"


class Rounds:
    """The rounds of a home, and those that were written elsewhere."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.place = home.path / "gym" / "rounds"

    def names(self) -> tuple[str, ...]:
        """Rounds of the home, oldest first."""
        return tuple(sorted(one.name for one in self.place.glob("rnd_*") if (one / _ROUND).is_file()))

    def make(self, asked: Round, keys: Mapping[str, AnswerKey], prompts: Mapping[str, str], out: str | None) -> RoundDirectory:
        """A new round, with all that is known before its first lane runs."""
        path = self._target(asked.round_id, out)
        for name in ("operator-only", _PROMPTS, _STREAMS, _RESULTS):
            (path / name).mkdir(mode=0o700)
        write_text(path / _KEY, _pretty(dict(keys)))
        for name, text in prompts.items():
            write_text(path / _PROMPTS / f"{name}.md", text)
        write_text(path / NOTES, _NOTES.format(round_id=asked.round_id, change=asked.change or "none"))
        write_text(path / _ROUND, _pretty(asked))
        return RoundDirectory(path)

    def open(self, name: str) -> RoundDirectory:
        """A round by its id, or by its directory."""
        if _ID.fullmatch(name):
            path = self.place / name
        elif os.path.isabs(name):
            path = Path(name)
        else:
            raise UnknownRound(f"{name[:80]!r} names no round", fix=f"use an id as gym run gives it: {self._known()}")
        if not (path / _ROUND).is_file():
            raise UnknownRound(f"there is no round {name[:80]!r}", fix=f"run one with gym run, or use one of: {self._known()}")
        return RoundDirectory(path)

    def _known(self) -> str:
        return ", ".join(self.names()[-3:]) or "none so far"

    def _target(self, round_id: str, out: str | None) -> Path:
        if out is None:
            path = self.place / round_id
            self._home.make(path)
            return path
        path = Path(out)
        try:
            make_directory(path)
        except FileExistsError:
            raise InvalidParams(f"{path} is a file", fix="name a directory that does not exist yet") from None
        if any(path.iterdir()):
            raise InvalidParams(f"{path} is not empty", fix="name a directory that does not exist yet")
        return path


def _read(path: Path, kind: type[Kind]) -> Kind:
    try:
        return decoded(path.read_bytes(), kind)
    except OSError as missing:
        raise UnknownRound(f"{path.name} of the round cannot be read: {missing.strerror}", fix="run it again: gym run") from None
    except msgspec.MsgspecError as broken:
        raise UnknownRound(f"{path.name} of the round is not what was written: {broken}", fix="run it again: gym run") from None


def _pretty(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), indent=2, ensure_ascii=False) + "\n"
