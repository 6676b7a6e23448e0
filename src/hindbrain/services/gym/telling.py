"""Telling: rounds, reports, judges and comparisons as the answers of their operations."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.gym import Report, Wish
from hindbrain.domain.gym_fixture import LANES, Arm
from hindbrain.engines.gym_compare import compared, tuned
from hindbrain.engines.gym_html import page
from hindbrain.engines.gym_markdown import comparison_text, report_text, tuning_text
from hindbrain.services.gym.rounds import RoundDirectory

if TYPE_CHECKING:
    from hindbrain.services.gym.gym import Gym

__all__ = ["GymTelling"]

Progress = Callable[[int, int, str], None]


class GymTelling:
    """What callers are told."""

    def __init__(self, gym: "Gym") -> None:
        self._gym = gym

    def fixtures(self) -> dict[str, Any]:
        """Fixtures, lanes and the rounds so far."""
        infos = [self._gym.fixtures.info(name) for name in self._gym.fixtures.names()]
        lines = [f"{one.name:12} {one.family.value:24} {one.seeded:2} planted  {one.title}" for one in infos]
        lanes = [f"{one.name:12} {one.arm.value:26} {one.says}" for one in LANES.values()]
        return {
            "ok": True,
            "schema": "hindbrain-gym-fixtures-v1",
            "fixtures": [
                {"name": one.name, "family": one.family.value, "title": one.title, "seeded": one.seeded, "digest": one.digest}
                for one in infos
            ],
            "lanes": [_plain(one) for one in LANES.values()],
            "rounds": list(self._gym.rounds.names()),
            "rendered": "\n".join(["fixtures", *lines, "", "lanes", *lanes]),
        }

    def run(
        self, caller: Caller, asked: Mapping[str, Any], *, name: str | None, time_limit_s: float, progress: Progress
    ) -> dict[str, Any]:
        """A round, new or gone on with."""
        place = self._place(caller, name) if name is not None else self._gym.begin(Wish(**asked))
        made = self._gym.run(place, time_limit_s=time_limit_s, progress=progress)
        return {
            "ok": True,
            "schema": "hindbrain-gym-run-v1",
            "round_id": made.round_id,
            "path": str(place.path),
            "complete": made.complete,
            "report": _summary(made),
            "files": place.files(),
            "rendered": f"{report_text(made)}\nThe round is in {place.path}; open {place.files()['html']} for the charts.",
        }

    def report(self, caller: Caller, name: str, *, form: str) -> dict[str, Any]:
        """A recorded round, scored now."""
        made = self._gym.report(self._place(caller, name))
        text = _text(made, form)
        return {
            "ok": True,
            "schema": "hindbrain-gym-report-v1",
            "round_id": made.round_id,
            "complete": made.complete,
            "report": _summary(made),
            "format": form,
            "text": text,
            "rendered": text,
        }

    def judge(self, caller: Caller, name: str, *, judge: str, path: str | None) -> dict[str, Any]:
        """What a judge ruled."""
        before, after, made = self._gym.judge(caller, self._place(caller, name), judge=judge, path=path)
        was, now = (sum(one.extra_unadjudicated for one in told.arms) for told in (before, after))
        return {
            "ok": True,
            "schema": "hindbrain-gym-judge-v1",
            "round_id": after.round_id,
            "judge": judge,
            "rulings": made,
            "extra_unadjudicated_before": was,
            "extra_unadjudicated": now,
            "report": _summary(after),
            "rendered": f"{made} rulings by {judge}: {was} extra findings waited, {now} wait now",
        }

    def compare(self, caller: Caller, a: str, b: str) -> dict[str, Any]:
        """One round, or one lane of it, against another."""
        (left, first), (right, second) = (self._side(caller, one) for one in (a, b))
        told = compared(left, right, arms=_pairs(left, right, first, second), bundled=self._gym.bundled)
        return {"ok": True, **_plain(told), "rendered": comparison_text(told)}

    def candidates(self, caller: Caller, baseline: str, rounds: Sequence[str], *, lane: str) -> dict[str, Any]:
        """Recorded changes, ranked."""
        base, *others = (self._gym.report(self._place(caller, one)) for one in (baseline, *rounds))
        told = tuned(base, others, arm=_arm(lane), bundled=self._gym.bundled)
        return {"ok": True, **_plain(told), "rendered": tuning_text(told)}

    def _place(self, caller: Caller, name: str) -> RoundDirectory:
        """A round by its id; by its directory only for a process of the user."""
        return self._gym.rounds.open(name)

    def _side(self, caller: Caller, text: str) -> tuple[Report, Arm | None]:
        name, _, lane = text.rpartition(":")
        if not name or lane not in LANES:
            name, lane = text, ""
        return self._gym.report(self._place(caller, name)), _arm(lane) if lane else None


def _arm(lane: str) -> Arm:
    if lane not in LANES:
        raise InvalidParams(f"there is no lane {lane[:40]!r}", fix=f"use one of: {', '.join(LANES)}")
    return LANES[lane].arm


def _pairs(left: Report, right: Report, first: Arm | None, second: Arm | None) -> list[tuple[Arm, Arm]]:
    """Which arms are held against each other: those that were named, else every arm that both have."""
    chosen = first or second
    if chosen is not None:
        return [(first or chosen, second or chosen)]
    shared = [one.arm for one in left.arms if one.arm in {other.arm for other in right.arms}]
    if not shared:
        raise InvalidParams("the rounds have no arm in common", fix="name lanes: ROUND:direct against ROUND:mission")
    return [(one, one) for one in shared]


def _text(made: Report, form: str) -> str:
    if form == "html":
        return page(made)
    return report_text(made) if form == "markdown" else msgspec.json.format(msgspec.json.encode(made)).decode() + "\n"


def _summary(made: Report) -> dict[str, Any]:
    """The report without its lanes' findings, which can be long."""
    told = _plain(made)
    for lane in told["lanes"]:
        lane.pop("findings")
    return told


def _plain(value: Any) -> dict[str, Any]:
    """A record as it goes over every wire."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return found
