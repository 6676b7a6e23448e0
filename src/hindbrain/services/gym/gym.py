"""The gym: runs rounds lane by lane, scores what was recorded, lets judges rule and compares. A round that was interrupted goes
on where it stopped."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from hindbrain import __version__
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import Busy, HumanNeeded, InvalidParams, ModelUnavailable, RoundBlocked
from hindbrain.domain.gym import LaneResult, Report, Round, RoundLane, Wish
from hindbrain.domain.gym_fixture import LANES, Arm, Finding, GymFamily, LaneRun
from hindbrain.engines.gym_findings import standings
from hindbrain.engines.gym_report import reported
from hindbrain.engines.hygiene import redacted
from hindbrain.engines.moments import stamped
from hindbrain.policy.missions import BUDGETS, POLICY_VERSION
from hindbrain.services.gateway import Gateway
from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.injecting import injected
from hindbrain.services.gym.judging import Extra, Think, by_file, by_model, by_reproduction
from hindbrain.services.gym.lanes import Lanes
from hindbrain.services.gym.ports import Opener
from hindbrain.services.gym.preflight import Preflight
from hindbrain.services.gym.rounds import RoundDirectory, Rounds
from hindbrain.services.gym.telling import GymTelling
from hindbrain.services.missions.log import new_id
from hindbrain.stores.home import Home
from hindbrain.stores.locks import try_lock
from hindbrain.stores.ordinary_file import open_ordinary

__all__ = ["Gym"]

Progress = Callable[[int, int, str], None]
_DEFAULT_LANES = ("direct", "graph", "mission")
_MOST_LANES = 1_000
_PLAIN = frozenset({"direct", "agent"})  # lanes that are not bound to anything


class Gym:
    """Rounds of one home."""

    def __init__(
        self,
        home: Home,
        gateway: Gateway,
        *,
        opener: Opener,
        clock: Callable[[], int],
        think: Think | None = None,
        fixtures: Fixtures | None = None,
    ) -> None:
        self.fixtures = fixtures or Fixtures()
        self.rounds = Rounds(home)
        self._gateway, self._opener, self._clock, self._think = gateway, opener, clock, think
        self._preflight = Preflight(self.fixtures, opener)

    @property
    def telling(self) -> GymTelling:
        """The same as answers."""
        return GymTelling(self)

    @property
    def bundled(self) -> tuple[str, ...]:
        """The bug hunts that come with Hindbrain: what a change of policy is measured by."""
        hunts = (name for name in self.fixtures.names() if self.fixtures.info(name).family is GymFamily.SEEDED_BUG_HUNT)
        return tuple(hunts)

    # -- running -----------------------------------------------------------------------------------------------------

    def begin(self, wish: Wish) -> RoundDirectory:
        """Make a round. Nothing runs yet."""
        names = tuple(dict.fromkeys(wish.fixtures)) or self.bundled
        lanes = tuple(dict.fromkeys(wish.lanes)) or _DEFAULT_LANES
        self._check(wish, lanes)
        infos = tuple(self.fixtures.info(name) for name in names)
        planned = tuple(
            RoundLane(lane_id=f"{name}.{lane}.{number}", fixture=name, lane=lane, arm=_arm(lane, wish), number=number)
            for name in names
            for lane in lanes
            for number in range(1, wish.repeats + 1)
        )
        if len(planned) > _MOST_LANES:
            raise InvalidParams(f"{len(planned)} lanes are too many", fix=f"ask for at most {_MOST_LANES} in one round")
        now = self._clock()
        asked = Round(
            round_id=new_id("rnd", now),
            created_at=stamped(now),
            version=__version__,
            policy_version=POLICY_VERSION,
            lanes=planned,
            fixtures=infos,
            budget=wish.budget,
            change=redacted(wish.change.strip()),
            agent_command=wish.agent_command,
        )
        prompts = {f"{name}.{lane}": self.fixtures.prompt(name, lane, _arm(lane, wish)) for name in names for lane in lanes}
        return self.rounds.make(asked, {name: self.fixtures.key(name) for name in names}, prompts, wish.out)

    def run(self, place: RoundDirectory, *, time_limit_s: float, progress: Progress) -> Report:
        """Run the lanes that have no result yet. An interruption leaves a round that says so and can go on."""
        with _alone(place):
            if problems := self._preflight.problems(place):
                place.stand("incomplete", problems[0])
                raise RoundBlocked(
                    f"the round cannot run: {'; '.join(problems)}",
                    fix="mend what is missing, then go on with gym run --round",
                    problems=list(problems),
                )
            asked = place.stand("open")
            waiting = [one for one in asked.lanes if one.lane_id not in place.done()]
            done = len(asked.lanes) - len(waiting)
            try:
                for number, lane in enumerate(waiting, done):
                    progress(number, len(asked.lanes), f"{lane.fixture}: {lane.lane}")
                    place.add(self._lane(asked, lane, time_limit_s))
            except BaseException as ended:
                place.stand("incomplete", f"stopped by {type(ended).__name__}")
                place.write(self.report(place))
                raise
            place.stand("complete")
            progress(len(asked.lanes), len(asked.lanes), "scoring")
            made = self.report(place)
            place.write(made)
            return made

    def _lane(self, asked: Round, lane: RoundLane, time_limit_s: float) -> LaneResult:
        """One lane in a directory of its own, far from the round's key, which is gone afterwards."""
        room = Path(tempfile.mkdtemp(prefix="hindbrain-gym-"))
        try:
            lanes = Lanes(fixtures=self.fixtures, opener=self._opener, clock=self._clock)
            run = lanes.run(
                lane.fixture,
                lane.lane,
                room / "lane",
                budget=asked.budget,
                agent_command=asked.agent_command if lane.lane == "agent" else None,
                arm=lane.arm if lane.lane == "agent" else None,
                time_limit_s=time_limit_s,
            )
            info = self.fixtures.info(lane.fixture)
            wrong = () if lane.lane in _PLAIN else injected(self.fixtures, info, self._opener, room, agent=run.agent)
            leaked = self.fixtures.scan(lane.fixture, room / "lane" / "workspace")
            return LaneResult(lane_id=lane.lane_id, run=_masked(run), injected=wrong, leaked=leaked)
        finally:
            shutil.rmtree(room, ignore_errors=True)

    def _check(self, wish: Wish, lanes: Sequence[str]) -> None:
        for text in (wish.change, wish.agent_command or "", wish.out or ""):
            self._gateway.check_text(text)
        if unknown := [one for one in lanes if one not in LANES]:
            raise InvalidParams(f"there is no lane {unknown[0][:40]!r}", fix=f"use one of: {', '.join(LANES)}")
        if wish.budget is not None and wish.budget not in BUDGETS:
            raise InvalidParams(f"there is no budget {wish.budget[:40]!r}", fix=f"use one of: {', '.join(BUDGETS)}")
        if ("agent" in lanes) != bool(wish.agent_command):
            raise InvalidParams(
                "the lane agent and an agent command go together", fix="give --lanes agent --agent-command 'PROGRAM … {prompt}'"
            )
        if wish.arm is not None and "agent" not in lanes:
            raise InvalidParams("an arm is chosen for the lane agent; the others have theirs", fix="leave --arm out")
        arms = [_arm(one, wish) for one in lanes]
        if double := [one for one in lanes if arms.count(_arm(one, wish)) > 1]:
            raise InvalidParams(
                f"{' and '.join(double)} are of one arm, and a report never mixes two agents in an arm",
                fix="run them as rounds of their own, then hold one against the other: gym compare",
            )
        if wish.agent_command and redacted(wish.agent_command) != wish.agent_command:
            raise InvalidParams("the agent command holds a secret", fix="let the command read it from its environment")

    # -- reading -----------------------------------------------------------------------------------------------------

    def report(self, place: RoundDirectory) -> Report:
        """Score what was recorded, now."""
        return reported(place.asked(), place.keys(), place.results(), place.rulings())

    # -- judging -----------------------------------------------------------------------------------------------------

    def judge(self, caller: Caller, place: RoundDirectory, *, judge: str, path: str | None) -> tuple[Report, Report, int]:
        """Let a judge rule on the extra findings: the report before, the report after, and how many rulings were made."""
        with _alone(place):
            before = self.report(place)
            waiting = list(self._extras(place, every=judge == "human"))
            at = stamped(self._clock())
            if judge == "human":
                made = by_file(self._file(caller, path), waiting, at=at)
            elif judge == "model":
                if self._think is None:
                    raise ModelUnavailable("no model is set", fix="set model_provider, or judge by reproduction")
                made = by_model(self.fixtures, waiting, self._think, at=at)
            else:
                made = by_reproduction(self.fixtures, waiting, at=at)
            place.rule(replace(one, why=redacted(one.why)) for one in made)
            after = self.report(place)
            place.write(after)
            return before, after, len(made)

    def _extras(self, place: RoundDirectory, *, every: bool) -> Iterator[Extra]:
        """Findings that the key does not know and nobody has ruled on; for a person, also those that others ruled on."""
        keys, rulings = place.keys(), place.rulings()
        for result in place.results():
            own = [one for one in rulings if one.lane_id == result.lane_id]
            found: dict[str, Finding] = {one.finding_id: one for one in result.run.findings}
            for one in standings(keys[result.run.fixture], result.run.findings, own):
                if one.standing == "extra_unadjudicated" or (every and one.standing.startswith("extra")):
                    yield result, found[one.finding_id]

    def _file(self, caller: Caller, path: str | None) -> bytes:
        if path is None:
            raise InvalidParams("a person's rulings come in a file", fix="give --file PATH")
        if caller.channel is not Channel.HUMAN:
            raise HumanNeeded("rulings of a person are a person's to give", fix="ask one to run gym judge in a terminal")
        try:
            with open_ordinary(path) as file:
                return file.read()
        except OSError as missing:
            raise InvalidParams(
                f"the file of rulings cannot be read: {missing.strerror}", fix="name a file that exists"
            ) from None


def _arm(lane: str, wish: Wish) -> Arm:
    return wish.arm if lane == "agent" and wish.arm is not None else LANES[lane].arm


def _masked(run: LaneRun) -> LaneRun:
    """What an agent wrote, without secrets."""
    return replace(
        run,
        note=redacted(run.note),
        findings=tuple(
            replace(
                one,
                statement=redacted(one.statement),
                reproduction=redacted(one.reproduction) if one.reproduction is not None else None,
            )
            for one in run.findings
        ),
    )


@contextmanager
def _alone(place: RoundDirectory) -> Iterator[None]:
    """One process at a time works on a round."""
    handle = try_lock(place.path / ".lock")
    if handle is None:
        raise Busy("another process works on this round", fix="wait until it is done")
    try:
        yield
    finally:
        os.close(handle)
