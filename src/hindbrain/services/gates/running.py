"""Running gates: wave by wave up to the one that is asked for, in a fresh directory of the home whose files stay as evidence; and
the acceptance, which is made of gates and of recorded rounds."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from hindbrain.domain.errors import HindbrainError, UnknownRound
from hindbrain.domain.wave import Condition, GateResult
from hindbrain.engines.gym_compare import accepted
from hindbrain.policy.waves import ACCEPTANCE, GATES_KEPT, WAVES
from hindbrain.services.gates.bench import Bench, NotShown
from hindbrain.services.gates.kernel_gates import KERNEL_GATES
from hindbrain.services.gates.plane_gates import PLANE_GATES
from hindbrain.services.gym.gym import Gym
from hindbrain.services.gym.ports import Opener
from hindbrain.services.missions.log import new_id
from hindbrain.stores.home import Home

__all__ = ["Gates"]

Progress = Callable[[int, int, str], None]
_HERE = Path(__file__).resolve()
_NAME = "operating-layer.light.md"
_STRATEGY = (_HERE.parents[2] / "strategy" / _NAME, _HERE.parents[4] / "docs" / "strategy" / _NAME)  # installed, or a checkout
_GATES = {**KERNEL_GATES, **PLANE_GATES}


class Gates:
    """Gates of one home."""

    def __init__(self, home: Home, gym: Gym, *, opener: Opener, clock: Callable[[], int]) -> None:
        self._home, self._gym, self._opener, self._clock = home, gym, opener, clock

    def run(self, wave: int, progress: Progress) -> tuple[Path, tuple[GateResult, ...]]:
        """The gates of every wave up to this one, in order. One that does not open keeps no other from being looked at."""
        return self._run([(number, name) for number in range(1, wave + 1) for name in WAVES[number].gates], progress)

    def accept(self, progress: Progress) -> tuple[Path, tuple[Condition, ...]]:
        """The seven conditions, each by its gates or by a recorded round."""
        wanted = [gate for one in ACCEPTANCE.values() for gate in one.gates]
        place, results = self._run(wanted, progress)
        shown = {(one.wave, one.name): one for one in results}
        return place, tuple(self._condition(name, shown) for name in ACCEPTANCE)

    def _condition(self, name: str, shown: dict[tuple[int, str], GateResult]) -> Condition:
        needed = ACCEPTANCE[name]
        if not needed.gates:
            return self._recall(name)
        results = [shown[one] for one in needed.gates]
        closed = [f"gate {one.wave} {one.name}: {one.says}" for one in results if not one.passed]
        evidence = tuple(dict.fromkeys(path for one in results for path in one.evidence))
        return Condition(row=needed.row, name=name, met=not closed, says="; ".join(closed) or needed.says, evidence=evidence)

    def _recall(self, name: str) -> Condition:
        """The newest whole round in which both arms were measured."""
        row = ACCEPTANCE[name].row
        for round_id in sorted(self._gym.rounds.names(), reverse=True):
            try:
                place = self._gym.rounds.open(round_id, paths=False)
                report = self._gym.report(place)
            except UnknownRound:  # a directory that holds no whole round shows nothing
                continue
            found = accepted(report.lanes)
            if report.complete and (found.not_worse or found.worse):
                return Condition(row=row, name=name, met=found.met, says=found.says, evidence=(place.path / "report.json",))
        says = "no whole round with both arms is recorded here: hindbrain gym run --lanes trained,mission"
        return Condition(row=row, name=name, met=False, says=says)

    def _run(self, wanted: Iterable[tuple[int, str]], progress: Progress) -> tuple[Path, tuple[GateResult, ...]]:
        due = list(dict.fromkeys(wanted))
        place = self._place()
        bench = Bench(place, self._opener, self._gym.fixtures, _STRATEGY)
        made = []
        try:
            for number, (wave, name) in enumerate(due):
                progress(number, len(due), f"gate {wave}: {name}")
                made.append(_result(bench, wave, name))
        finally:
            bench.close()
        progress(len(due), len(due), "done")
        return place, tuple(made)

    def _place(self) -> Path:
        above = self._home.path / "gates"
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in sorted(one for one in above.iterdir() if one.name.startswith("gat_"))[: -(GATES_KEPT - 1)]:
            shutil.rmtree(old)
        place = above / new_id("gat", self._clock())
        place.mkdir(mode=0o700)
        return place


def _result(bench: Bench, wave: int, name: str) -> GateResult:
    try:
        shown = _GATES[name](bench)
    except NotShown as closed:
        return GateResult(wave=wave, name=name, passed=False, says=str(closed), evidence=(bench.path,))
    except (HindbrainError, OSError, LookupError, TypeError, ValueError, AttributeError) as failed:  # it could not even be tried
        return GateResult(wave=wave, name=name, passed=False, says=f"{type(failed).__name__}: {failed}", evidence=(bench.path,))
    return GateResult(wave=wave, name=name, passed=True, says=shown.says, evidence=shown.evidence)
