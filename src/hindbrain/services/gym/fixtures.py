"""Fixtures: what is kept of each, the repositories made from it, and the scan that finds a key where none may be."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.gym_fixture import LANES, AnswerKey, Arm, FixtureInfo, GymFamily, Seed
from hindbrain.domain.mission import MissionMode
from hindbrain.engines.gym_prompt import prompted
from hindbrain.services.gym.repository import committed, digest, files, listed

__all__ = ["Fixtures", "Made"]

_HERE = Path(__file__).resolve()
_PLACES = (_HERE.parents[2] / "gym_fixtures", _HERE.parents[4] / "gym" / "fixtures")  # installed, or a checkout
_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A copy of a fixture."""

    root: Path
    repositories: Mapping[str, Path]
    heads: Mapping[str, str]
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planted:
    """A fixture's repositories as texts: (message, files) for each commit, and where each seed stands."""

    repositories: Mapping[str, tuple[tuple[str, Mapping[str, str]], ...]]
    seeds: tuple[Seed, ...]


class Fixtures:
    """The fixtures below some directories; by default those that come with Hindbrain."""

    def __init__(self, places: tuple[Path, ...] | None = None) -> None:
        self._places = _PLACES if places is None else places

    def names(self) -> tuple[str, ...]:
        """Every fixture there is."""
        found = {path.parent.name for place in self._places if place.is_dir() for path in place.glob("*/fixture.toml")}
        return tuple(sorted(found))

    def info(self, name: str) -> FixtureInfo:
        """What an operator may know of a fixture."""
        told = self._told(name)
        return FixtureInfo(
            name=name,
            family=GymFamily(told["family"]),
            title=told["title"],
            mode=MissionMode(told["mode"]),
            budget=told["budget"],
            task=told["task"],
            repositories=tuple(one["name"] for one in told["repository"]),
            digest=self._lock(name),
            seeded=len(_read(self._place(name) / "seeds.toml").get("seed", ())),
            queries=tuple(told.get("queries", ())),
            request=told.get("request", {}),
        )

    def key(self, name: str) -> AnswerKey:
        """The private key."""
        told = _read(self._place(name) / "seeds.toml")
        return AnswerKey(
            fixture=name,
            family=self.info(name).family,
            digest=self._lock(name),
            seeds=self._planted(name, repaired=False).seeds,
            expects=told.get("expects", {}),
        )

    def prompt(self, name: str, lane: str, arm: Arm | None = None) -> str:
        """What the agent of a lane is told: the task, where it works, how it reports, and the way of working of its arm."""
        if lane not in LANES:
            raise InvalidParams(f"there is no lane {lane!r}", fix=f"use one of: {', '.join(LANES)}")
        return prompted(self.info(name), arm or LANES[lane].arm)

    def make(self, name: str, directory: Path, *, repaired: bool = False) -> Made:
        """Make the repositories below a new directory; the planted ones have to be what the lock says."""
        directory.mkdir(parents=True)
        planted = self._planted(name, repaired=repaired)
        heads = {one: committed(directory / one, steps) for one, steps in planted.repositories.items()}
        made = Made(
            root=directory,
            repositories={one: directory / one for one in planted.repositories},
            heads=heads,
            digest=digest(directory),
        )
        if not repaired and made.digest != self._lock(name):
            raise InvalidParams(
                f"fixture {name} is not the one that was locked: {made.digest}",
                fix="install Hindbrain again, or lock the changed fixture with tools/gym_lock.py",
            )
        return made

    def digest(self, directory: Path) -> str:
        """The digest of a workspace as it is now."""
        return digest(directory)

    def texts(self, name: str, *, repaired: bool = False) -> dict[str, str]:
        """The last state of all files, by `repository/path`."""
        planted = self._planted(name, repaired=repaired)
        return {f"{one}/{path}": text for one, steps in planted.repositories.items() for path, text in _laid(steps).items()}

    def has_repair(self, name: str) -> bool:
        """Whether it is known what a repaired version looks like."""
        return bool(_read(self._place(name) / "seeds.toml").get("seed"))

    def scan(self, name: str, directory: Path) -> tuple[str, ...]:
        """What of the key stands in a lane's directory: its ids and its statements, wherever they are."""
        key = self.key(name)
        words = {word for seed in key.seeds for word in (seed.seed_id, seed.statement)}
        words |= {"answer-key.json", "seeds.toml"}
        found = []
        for path in listed(directory):
            if any(word in path for word in words):
                found.append(f"{path} is named like the key")
            text = (directory / path).read_bytes().decode("utf-8", "replace")
            found += [f"{path} holds {word!r}" for word in sorted(words) if word in text]
        return tuple(found)

    # -- within ------------------------------------------------------------------------------------------------------

    def _place(self, name: str) -> Path:
        if _NAME.fullmatch(name):
            for place in self._places:
                if (place / name / "fixture.toml").is_file():
                    return place / name
        raise InvalidParams(f"there is no fixture {name[:60]!r}", fix=f"use one of: {', '.join(self.names())}")

    def _told(self, name: str) -> dict[str, Any]:
        return _read(self._place(name) / "fixture.toml")

    def _lock(self, name: str) -> str:
        path = self._place(name) / "fixture.lock"
        return path.read_text(encoding="utf-8").strip() if path.is_file() else ""

    def _planted(self, name: str, *, repaired: bool) -> _Planted:
        place, told = self._place(name), self._told(name)
        repositories: dict[str, list[tuple[str, dict[str, str]]]] = {}
        for one in told["repository"]:
            repositories[one["name"]] = [
                (message, files(place / folder)) for message, folder in zip(one["messages"], one["commits"], strict=True)
            ]
        first = told["repository"][0]["name"]
        seeds = []
        for raw in _read(place / "seeds.toml").get("seed", ()):
            steps = repositories[raw.get("repository", first)]
            texts = next(step for _, step in reversed(steps) if raw["path"] in step)
            text = texts[raw["path"]]
            if text.count(raw["good"]) != 1:
                raise InvalidParams(f"seed {raw['id']} has no single place in {raw['path']}", fix="mend the fixture's seeds.toml")
            if repaired:
                continue
            texts[raw["path"]] = text.replace(raw["good"], raw["bad"])
            seeds.append(raw)
        found = tuple(_seed(raw, _laid(repositories[raw.get("repository", first)]), first) for raw in seeds)
        return _Planted(repositories={one: tuple(steps) for one, steps in repositories.items()}, seeds=found)


def _seed(raw: Mapping[str, Any], texts: Mapping[str, str], first: str) -> Seed:
    before, bad = texts[raw["path"]].split(raw["bad"], 1)[0], raw["bad"]
    start = before.count("\n") + 1
    return Seed(
        seed_id=raw["id"],
        repository=raw.get("repository", first),
        path=raw["path"],
        first_line=start,
        last_line=start + bad.rstrip("\n").count("\n"),
        kind=raw["kind"],
        statement=raw["statement"],
        symbol=raw.get("symbol", ""),
        also=tuple(raw.get("also", ())),
        reproduction=raw.get("reproduction"),
    )


def _laid(steps: "tuple[tuple[str, Mapping[str, str]], ...] | list[tuple[str, dict[str, str]]]") -> dict[str, str]:
    """The files after the last commit."""
    return {path: text for _, texts in steps for path, text in texts.items()}


@cache
def _parsed(path: Path, stamp: int) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _read(path: Path) -> dict[str, Any]:
    return _parsed(path, path.stat().st_mtime_ns) if path.is_file() else {}
