"""Preflight: whether a round can run and can be trusted. Looks at its directory, its prompts, what was recorded so far, and the
tools that its lanes cannot do without."""

import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.gym import Round
from hindbrain.policy.gym import NEEDED
from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.ports import Opener
from hindbrain.services.gym.rounds import RoundDirectory

__all__ = ["Preflight"]


class Preflight:
    """Finds what is wrong and mends nothing."""

    def __init__(self, fixtures: Fixtures, opener: Opener) -> None:
        self._fixtures, self._opener = fixtures, opener

    def problems(self, place: RoundDirectory) -> tuple[str, ...]:
        """Everything that blocks the round, in words."""
        if lacking := place.lacks():
            return tuple(f"the round has no {one}" for one in lacking)
        try:
            asked = place.asked()
            keys = place.keys()
        except HindbrainError as broken:
            return (broken.message,)
        shape = [f"the key of {one.name} is missing" for one in asked.fixtures if one.name not in keys]
        return (*shape, *self._locks(asked), *self._prompts(asked, place), *_recorded(asked, place), *self._tools(asked))

    def _locks(self, asked: Round) -> Iterator[str]:
        for one in asked.fixtures:
            try:
                now = self._fixtures.info(one.name).digest
            except HindbrainError as gone:
                yield gone.message
                continue
            if now != one.digest:
                yield f"fixture {one.name} is not the one that the round was made for"

    def _prompts(self, asked: Round, place: RoundDirectory) -> Iterator[str]:
        found = place.prompts()
        for name in dict.fromkeys(f"{one.fixture}.{one.lane}" for one in asked.lanes):
            if name not in found:
                yield f"lane-prompts/{name}.md is missing"
        with tempfile.TemporaryDirectory(prefix="hindbrain-gym-") as room:
            for name, text in found.items():
                fixture = name.split(".")[0]
                alone = Path(room, name)
                alone.mkdir()
                (alone / "prompt.md").write_text(text, encoding="utf-8")
                if fixture in {one.name for one in asked.fixtures}:
                    yield from (f"lane-prompts/{name}.md: {said}" for said in self._fixtures.scan(fixture, alone))

    def _tools(self, asked: Round) -> Iterator[str]:
        lanes = dict.fromkeys(one.lane for one in asked.lanes)
        if shutil.which("git") is None:
            yield "the gym needs git, and there is none"
        if "agent" in lanes:
            words = shlex.split(asked.agent_command or "")
            if not words or shutil.which(words[0]) is None:
                yield f"the agent command does not start: {words[0] if words else 'it is empty'}"
        needed = {name for lane in lanes for name in NEEDED.get(lane, ())}
        if needed:
            yield from (f"the operation {name} is not live" for name in sorted(needed - self._live()))

    def _live(self) -> frozenset[str]:
        """Operations that a session of a lane really answers with."""
        with tempfile.TemporaryDirectory(prefix="hindbrain-gym-") as room:
            root = Path(room, "root")
            root.mkdir()
            session = self._opener(Path(room, "home"), root, "preflight")
            try:
                answer = session.call("operations")
            finally:
                session.close()
        return frozenset(str(one["name"]) for one in answer.get("operations") or ())


def _recorded(asked: Round, place: RoundDirectory) -> Iterator[str]:
    """What stands there of lanes that ran: each has to be readable, one of this round, and in the order in which it happened."""
    digests = {one.name: one.digest for one in asked.fixtures}
    for lane in asked.lanes:
        if lane.lane_id not in place.done():
            continue
        try:
            run = place.result(lane.lane_id).run
        except HindbrainError as broken:
            yield f"{lane.lane_id}: {broken.message}"
            continue
        if (run.fixture, run.lane) != (lane.fixture, lane.lane) or run.digest_locked != digests[lane.fixture]:
            yield f"{lane.lane_id}: its result is not of this lane"
        if any(later.seq <= one.seq for one, later in zip(run.events, run.events[1:], strict=False)):
            yield f"{lane.lane_id}: its events are not in order"
