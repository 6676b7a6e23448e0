"""Running gates: wave by wave up to the one that is asked for, in a fresh directory of the home whose files stay as evidence; and
the acceptance, which is made of gates and of recorded rounds."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from hindbrain import __version__
from hindbrain.domain.errors import HindbrainError, UnknownRound
from hindbrain.domain.typed import decoded
from hindbrain.domain.wave import Condition, GateResult, Run
from hindbrain.engines.gym_compare import accepted
from hindbrain.policy.waves import ACCEPTANCE, GATES_KEPT, WAVES
from hindbrain.services.gates.bench import Bench, NotShown, Shown
from hindbrain.services.gates.kernel_gates import KERNEL_GATES
from hindbrain.services.gates.plane_gates import PLANE_GATES
from hindbrain.services.gym.gym import Gym
from hindbrain.services.gym.ports import Opener
from hindbrain.services.missions.log import new_id
from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import make_directory
from hindbrain.stores.home import Home
from hindbrain.stores.installation import started_as

__all__ = ["GATES", "Gates"]

Progress = Callable[[int, int, str], None]
_HERE = Path(__file__).resolve()
_NAME = "operating-layer.light.md"
_STRATEGY = (_HERE.parents[2] / "strategy" / _NAME, _HERE.parents[4] / "docs" / "strategy" / _NAME)  # installed, or a checkout
_DIRECTORY, _RESULTS = "gates", "results.json"
GATES: Mapping[str, Callable[[Bench], Shown]] = {**KERNEL_GATES, **PLANE_GATES}


class Gates:
    """Gates of one home."""

    def __init__(
        self,
        home: Home,
        gym: Gym,
        *,
        opener: Opener,
        clock: Callable[[], int],
        gates: Mapping[str, Callable[[Bench], Shown]] = GATES,
    ) -> None:
        self._home, self._gym, self._opener, self._clock, self._gates = home, gym, opener, clock, gates

    def run(self, wave: int, progress: Progress) -> tuple[Path, tuple[GateResult, ...]]:
        """The gates of every wave up to this one, in order. One that does not open keeps no other from being looked at."""
        due = [(number, name) for number in range(1, wave + 1) for name in WAVES[number].gates]
        place = self._place()
        bench = Bench(place, self._opener, self._gym.fixtures, _STRATEGY)
        made = []
        try:
            for number, (at, name) in enumerate(due):
                progress(number, len(due), f"gate {at}: {name}")
                made.append(_result(bench, at, name, self._gates[name]))
        finally:
            bench.close()
        progress(len(due), len(due), "done")
        told = Run(version=__version__, build=started_as(), gates=tuple(made))
        write_text(place / _RESULTS, msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n")
        return place, tuple(made)

    def conditions(self) -> tuple[Condition, ...]:
        """The seven conditions of acceptance, each by recorded gates of this very build or by a recorded round."""
        shown = self._recorded()
        return tuple(self._condition(name, shown) for name in ACCEPTANCE)

    def _recorded(self) -> dict[tuple[int, str], GateResult]:
        """What each gate showed when it was last run by this build."""
        shown: dict[tuple[int, str], GateResult] = {}
        for place in sorted((self._home.path / _DIRECTORY).glob(f"gat_*/{_RESULTS}")):
            try:
                told = decoded(place.read_bytes(), Run)
            except msgspec.MsgspecError:  # nobody wrote that to its end: it shows nothing
                continue
            if (told.version, told.build) == (__version__, started_as()):
                shown |= {(one.wave, one.name): one for one in told.gates}
        return shown

    def _condition(self, name: str, shown: dict[tuple[int, str], GateResult]) -> Condition:
        needed = ACCEPTANCE[name]
        if not needed.gates:
            return self._recall(name)
        lacking = [f"gate {wave} {gate} was not run by this build" for wave, gate in needed.gates if (wave, gate) not in shown]
        if lacking:
            says = f"{lacking[0]}: hindbrain gate {max(wave for wave, _ in needed.gates)}"
            return Condition(row=needed.row, name=name, met=False, says=says)
        results = [shown[one] for one in needed.gates]
        closed = [f"gate {one.wave} {one.name}: {one.says}" for one in results if not one.passed]
        evidence = tuple(dict.fromkeys(path for one in results for path in one.evidence))
        return Condition(row=needed.row, name=name, met=not closed, says="; ".join(closed) or needed.says, evidence=evidence)

    def _recall(self, name: str) -> Condition:
        """The newest whole round in which both arms were measured."""
        row = ACCEPTANCE[name].row
        for round_id in sorted(self._gym.rounds.names(), reverse=True):
            try:
                place = self._gym.rounds.open(round_id)
                report = self._gym.report(place)
            except UnknownRound:  # a directory that holds no whole round shows nothing
                continue
            found = accepted(report.lanes)
            if report.complete and (found.not_worse or found.worse):
                evidence = (str(place.path / "report.json"),)
                return Condition(row=row, name=name, met=found.met, says=found.says, evidence=evidence)
        says = "no whole round with both arms is recorded here: hindbrain gym run --lanes trained,mission"
        return Condition(row=row, name=name, met=False, says=says)

    def _place(self) -> Path:
        above = self._home.path / _DIRECTORY
        make_directory(above)
        for old in sorted(one for one in above.iterdir() if one.name.startswith("gat_"))[: -(GATES_KEPT - 1)]:
            shutil.rmtree(old)
        place = above / new_id("gat", self._clock())
        place.mkdir(mode=0o700)
        return place


def _result(bench: Bench, wave: int, name: str, gate: Callable[[Bench], Shown]) -> GateResult:
    try:
        shown = gate(bench)
    except NotShown as closed:
        return GateResult(wave=wave, name=name, passed=False, says=str(closed), evidence=(str(bench.path),))
    except (HindbrainError, OSError, LookupError, TypeError, ValueError, AttributeError) as failed:  # it could not even be tried
        says = f"{type(failed).__name__}: {failed}"
        return GateResult(wave=wave, name=name, passed=False, says=says, evidence=(str(bench.path),))
    return GateResult(wave=wave, name=name, passed=True, says=shown.says, evidence=tuple(map(str, shown.evidence)))
