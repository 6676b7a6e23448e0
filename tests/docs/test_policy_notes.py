"""A table that decides about other people's work changes by what was measured: every guarded table stands in the policy notes
with its digest, its version and the round it rests on."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from enum import Enum
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec

from hindbrain.domain.mission import MissionMode, Route
from hindbrain.policy import doctrine, mission_routes, missions
from hindbrain.services.missions.log import new_id
from tests.architecture.source import ROOT

# Module -> the version under which its tables are known.
GUARDED: dict[ModuleType, str] = {
    missions: missions.POLICY_VERSION,
    mission_routes: missions.POLICY_VERSION,
    doctrine: doctrine.DOCTRINE_VERSION,
}
NOTES = ROOT / "docs" / "policy-notes.md"
# Tables that the requirement catalog itself gives. Every later version cites a round of the gym.
FROM_CATALOG = {
    ("policy/missions.py", "1"),
    ("policy/mission_routes.py", "1"),
    ("policy/doctrine.py", "1"),
    ("policy/doctrine.py", "2"),
}
_ROUND = re.compile(r"rnd_[0-9A-HJKMNP-TV-Z]{26}")
_LINE = re.compile(r"^- `([0-9a-f]{12})` (policy/\w+\.py) version (\S+): round ([\w.-]+): (\S.+)$", re.MULTILINE)


def plain(value: Any) -> Any:
    """A table as data, in an order that does not depend on the run."""
    match value:
        case Enum():
            return value.value
        case Mapping():
            return [[plain(key), plain(inner)] for key, inner in value.items()]
        case frozenset() | set():
            return sorted(map(plain, value), key=repr)
        case list() | tuple():
            return [plain(one) for one in value]
        case msgspec.Struct():
            return plain(msgspec.structs.asdict(value))
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return plain({one.name: getattr(value, one.name) for one in dataclasses.fields(value)})
        case _:
            return value


def digest(module: Any) -> str:
    """Over the tables of a module, not over its words: a comment may change freely."""
    tables = {name: getattr(module, name) for name in sorted(module.__all__) if not callable(getattr(module, name))}
    return hashlib.sha256(json.dumps(plain(tables)).encode()).hexdigest()[:12]


def unnoted(module: Any, version: str, notes: str) -> list[str]:
    """What the notes do not say about a module's tables as they are."""
    file = f"policy/{module.__name__.rpartition('.')[2]}.py"
    lines = [found for found in _LINE.findall(notes) if found[1] == file and found[2] == version]
    if [one[0] for one in lines] == [digest(module)]:
        cited = lines[0][3]
        if (cited == "catalog" and (file, version) in FROM_CATALOG) or _ROUND.fullmatch(cited):
            return []
        return [f"{file} version {version} cites {cited}: cite the id of a gym round (rnd_...)"]
    if lines and lines[-1][0] != digest(module):
        return [
            f"{file} is not what version {version} names: give it a new version and a line with `{digest(module)}` and its round"
        ]
    return [f"{file} needs exactly one line for version {version}: - `{digest(module)}` {file} version {version}: round ID: why"]


def test_aol_140_aol_293_every_policy_table_is_noted_with_the_round_it_rests_on() -> None:
    notes = NOTES.read_text(encoding="utf-8")

    assert [line for module, version in GUARDED.items() for line in unnoted(module, version, notes)] == []


A_ROUND = new_id("rnd", 1_783_209_431_408)  # as the gym names its rounds


def _changed(**tables: Any) -> Any:
    names = {name: getattr(missions, name) for name in missions.__all__}
    return SimpleNamespace(**{**names, "__all__": missions.__all__, "__name__": missions.__name__, **tables})


def test_aol_140_aol_293_a_table_that_changed_without_a_note_is_found() -> None:
    """One number of one route, one route of one mode, a word of a table that is read by its order."""
    notes = NOTES.read_text(encoding="utf-8")
    streak = {**missions.GRAPH_STREAK, next(iter(missions.GRAPH_STREAK)): 3}
    hunt = dataclasses.replace(missions.MODES[MissionMode.BUG_HUNT], phases=())

    assert unnoted(_changed(), missions.POLICY_VERSION, notes) == []
    for changed in (
        _changed(GRAPH_STREAK=streak),
        _changed(MODES={**missions.MODES, MissionMode.BUG_HUNT: hunt}),
        _changed(BUDGETS=dict(reversed(list(missions.BUDGETS.items())))),
    ):
        (told,) = unnoted(changed, missions.POLICY_VERSION, notes)
        assert "new version" in told
        said = f"{notes}\n- `{digest(changed)}` policy/missions.py version 2: round {A_ROUND}: the gate held\n"
        assert unnoted(changed, "2", said) == []
        for taste in ("", "round catalog: ", "round taste: ", f"round {A_ROUND[:-1]}: "):
            assert unnoted(changed, "2", said.replace(f"round {A_ROUND}: ", taste)) != [], taste
        assert unnoted(changed, missions.POLICY_VERSION, said) != []  # one version, one table


def test_aol_140_aol_141_there_is_a_policy_for_each_mode_under_one_version() -> None:
    assert set(missions.MODES) == set(MissionMode)
    assert set(missions.GRAPH_STREAK) == set(Route)
    assert missions.POLICY_VERSION.isdigit()
