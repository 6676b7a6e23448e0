"""Skills: procedures that have proven themselves, and critiques that rest on an event."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.errors import HygieneRefused, InvalidParams
from hindbrain.domain.experience import EventKind as Befell
from hindbrain.domain.experience import Level, Megram, MegramEvent, MegramId, Writer
from hindbrain.domain.mission import EventType, MissionEvent, Outcome
from hindbrain.domain.skill import Skill, SkillText
from hindbrain.engines.skills import offered
from hindbrain.policy.experience import Rules
from hindbrain.services.brains import Brains
from hindbrain.services.experience.drafts import Draft as Lesson
from hindbrain.services.experience.drafts import made
from hindbrain.services.experience.room import ExperienceRoom
from hindbrain.services.gateway import Gateway
from hindbrain.services.missions.log import Draft
from hindbrain.services.missions.skills import Skills
from hindbrain.services.registered_places import RegisteredPlaces
from hindbrain.services.routing import Router
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from tests.support.missions import MissionDesk
from tests.support.world import World

CHECK = "pytest tests/test_cache.py -q"
_NUMBERS = itertools.count(1)


class Library(MissionDesk):
    """A brain with a mission, rules of experience and skills."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        home = Home(place / "home")
        settings = Settings({})
        brains = Brains(home, settings, lambda *_: self.opened.store, lambda _: None, None)
        gateway = Gateway(self.clock)
        self.room = ExperienceRoom(brains, Router(brains, RegisteredPlaces(home), self.clock), gateway, self.clock, Rules())
        self.skills = Skills(self.room, self.log, gateway, self.clock)
        self.begin()
        self.ground = self.add("msn_01TEST", "note", "it worked").event_id

    def close(self) -> None:
        if hasattr(self, "room"):
            self.room.rest(self.opened)
        super().close()

    def rule(self, entity: str = "path:src/cache.py", *, level: Level = Level.C, sigma: float = 1.0) -> MegramId:
        lesson = Lesson(
            space="intent:fix_a_cache",
            entity=entity,
            content="Prefer: clear the cache before the test.",
            state="best_practice",
            level=level,
            f=1.0,
            sigma=sigma,
            k=0.0 if level is Level.C else 0.05,
        )
        megram = made(lesson, Writer.DREAMER, now=self.clock())
        experience = self.room.of(self.opened)
        with self.opened.store.writing() as writer:
            experience.deposit(writer, megram)
        return megram.id

    def skill(self, name: str = "clear the cache", rule: MegramId | None = None, **more: Any) -> Skill:
        given: dict[str, Any] = {
            "precondition": "a test of the cache fails",
            "steps": ("clear it", "run the test"),
            "check": CHECK,
        }
        text = SkillText(name=name, **{**given, **more})
        number = next(_NUMBERS)
        return self.skills.add(
            self.opened,
            self.caller(),
            rule_id=rule or self.rule(f"path:src/cache_{number}.py"),
            text=text,
            mission_id="msn_01TEST",
            evidence=(self.ground,),
        )

    def ran(self, outcome: str = "passed", command: str = CHECK, source: str = "runtime") -> MissionEvent:
        self.clock.forward(1000)
        with self.log.turn(self.opened, self.caller(), "msn_01TEST") as turn:
            draft = Draft(
                event_type=EventType.TEST_RUN,
                source=source,
                target=command,
                outcome=Outcome(outcome),
                payload={"command": command, "exit_status": 0 if outcome == "passed" else 1},
            )
            return turn.add(draft)

    def use(self, skill: Skill, outcome: str = "passed") -> Skill:
        event = self.ran(outcome)
        return self.skills.used(
            self.opened, self.caller(), skill_id=skill.skill_id, mission_id="msn_01TEST", event_id=event.event_id
        )

    def offered(self, intent: str = "a test of the cache fails") -> list[str]:
        return [one.name for one in self.skills.offered(self.opened, intent)]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made_ = Library(tmp_path)
    yield made_
    made_.close()


def test_aol_193_a_skill_is_a_rule_with_steps_and_a_check(library: Library) -> None:
    rule = library.rule()
    skill = library.skill(rule=rule, script="rm -rf .cache")

    told = msgspec.json.decode(msgspec.json.encode(skill))
    assert (told["rule_id"], told["rule"]) == (rule, "Prefer: clear the cache before the test.")
    assert (told["name"], told["precondition"]) == ("clear the cache", "a test of the cache fails")
    assert (told["steps"], told["script"], told["check"]) == (["clear it", "run the test"], "rm -rf .cache", CHECK)
    assert (told["evidence"], told["successes"], told["failures"]) == ([library.ground], 0, 0)
    assert msgspec.convert(told, Skill) == skill


@pytest.mark.parametrize(
    ("level", "sigma"), [(Level.M, 1.0), (Level.K, 1.0), (Level.C, -1.0)], ids=["an episode", "task knowledge", "a warning"]
)
def test_aol_193_only_a_rule_that_says_what_to_do_becomes_a_skill(library: Library, level: Level, sigma: float) -> None:
    with pytest.raises(InvalidParams, match="no rule"):
        library.skill(rule=library.rule(level=level, sigma=sigma))


@pytest.mark.parametrize("wrong", [{"steps": ()}, {"check": " "}, {"precondition": ""}])
def test_aol_193_what_cannot_be_done_or_checked_is_no_skill(library: Library, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams):
        library.skill(**wrong)


def test_aol_193_a_secret_is_not_written_into_a_skill(library: Library) -> None:
    with pytest.raises(HygieneRefused):
        library.skill(steps=("export TOKEN=ghp_" + "a1B2c3D4e5F6" * 3,))


def test_aol_194_aol_327_a_skill_is_offered_after_three_verified_uses(library: Library) -> None:
    skill = library.skill()
    library.use(skill)
    assert (library.use(skill).successes, library.offered()) == (2, [])

    assert library.use(skill).successes == 3
    assert library.offered() == ["clear the cache"]


def test_aol_194_the_check_must_have_passed_the_last_time(library: Library) -> None:
    skill = library.skill()
    for outcome in ("passed", "passed", "passed", "failed"):
        skill = library.use(skill, outcome)

    assert (skill.successes, skill.failures, skill.trusted) == (3, 1, True)
    assert library.offered() == []
    library.use(skill)
    assert library.offered() == ["clear the cache"]


def test_aol_194_what_the_agent_tells_or_another_command_is_no_verified_use(library: Library) -> None:
    skill = library.skill()
    said = library.ran(source="agent")
    other = library.ran(command="true")
    for event in (said, other):
        with pytest.raises(InvalidParams):
            library.skills.used(
                library.opened, library.caller(), skill_id=skill.skill_id, mission_id="msn_01TEST", event_id=event.event_id
            )
    assert next(iter(library.skills.known(library.opened))).successes == 0


def test_aol_194_one_event_is_one_use(library: Library) -> None:
    skill, event = library.skill(), library.ran()
    for _ in range(3):
        skill = library.skills.used(
            library.opened, library.caller(), skill_id=skill.skill_id, mission_id="msn_01TEST", event_id=event.event_id
        )
    assert skill.successes == 1


def test_aol_194_aol_327_failures_make_a_skill_bankrupt_and_hide_it(library: Library) -> None:
    skill = library.skill()
    for _ in range(3):
        skill = library.use(skill)
    for _ in range(4):  # together more than the skill and its successes
        skill = library.use(skill, "failed")
    assert not skill.trusted

    library.use(skill)
    assert library.offered() == []


def test_aol_194_a_skill_goes_with_the_trust_of_its_rule(library: Library) -> None:
    rule = library.rule()
    skill = library.skill(rule=rule)
    for _ in range(3):
        library.use(skill)
    assert library.offered()

    with library.opened.store.writing() as writer:
        writer.put_megram_event(MegramEvent(megram_id=rule, kind=Befell.DEMOTED, at=library.clock(), level=Level.K, k=0.05))
    assert library.offered() == []


def test_aol_195_at_most_five_are_offered_by_match_and_potential(library: Library) -> None:
    for number in range(5):
        skill = library.skill(f"cache skill {number}")
        for _ in range(3 + (number == 3)):
            library.use(skill)
    best = library.skill("flush the slow cache")
    for _ in range(3):
        library.use(best)

    found = library.skills.offered(library.opened, "flush the slow cache: its test fails")

    assert len(found) == 5
    assert found[0].name == "flush the slow cache"
    assert found[1].name == "cache skill 3"  # as fitting as the others, and used once more
    assert all(one.evidence and one.successes >= 3 for one in found)
    assert library.offered("paint the fence") == []


def test_aol_195_aol_327_of_twenty_skills_five_are_offered(library: Library) -> None:
    skill = library.skill()
    for _ in range(3):
        skill = library.use(skill)
    many = [msgspec.structs.replace(skill, skill_id=f"{number:02d}", potential=float(number)) for number in range(20)]

    assert [one.skill_id for one in offered(many, "the cache test fails")] == ["19", "18", "17", "16", "15"]


def critique(library: Library, event_id: str, mission_id: str = "msn_01TEST") -> Megram:
    return library.skills.critique(
        library.opened,
        library.caller(),
        text="The graph was asked four times before one file was read.",
        mission_id=mission_id,
        event_id=event_id,
        space="intent:fix_a_cache",
        entity="path:src",
    )


def test_aol_196_aol_326_a_critique_is_a_constraint_with_the_event_that_grounds_it(library: Library) -> None:
    kept = critique(library, library.ground)

    held = library.opened.store.megrams([kept.id])[kept.id].megram
    assert (held.category, held.source_event_id, held.mission_id) == ("constraint", library.ground, "msn_01TEST")
    assert held.sigma < 0


@pytest.mark.parametrize("event_id", ["", " ", "evt_unknown"])
def test_aol_196_aol_326_a_critique_without_its_event_is_not_kept(library: Library, event_id: str) -> None:
    before = library.opened.store.level_counts()

    with pytest.raises(InvalidParams):
        critique(library, event_id)

    assert library.opened.store.level_counts() == before


def test_aol_193_aol_194_aol_195_aol_196_skills_through_the_operations(world: World) -> None:
    x = world.brain("x")
    rule = world.human(x).call("experience.remember", text="Prefer: clear the cache.", level="C")["megram_id"]
    agent = world.at(x)
    agent.call("mission.start", task="a test of the cache fails", mode="review")
    ground = agent.call("mission.event", event_type="note", target="package.json")["event_id"]
    given: dict[str, Any] = {"precondition": "a test of the cache fails", "check": "true", "steps": ["clear it"]}
    skill = agent.call("skill.add", rule=rule, name="clear the cache", evidence=[ground], **given)["skill"]

    for number in range(3):
        offered_ = agent.call("skill.list", intent="the cache test fails")["skills"]
        assert (offered_, number) == ([], number)
        event = agent.call("mission.run", command=["true"])["event_id"]
        assert agent.call("skill.used", skill_id=skill["skill_id"], event_id=event)["skill"]["successes"] == number + 1

    assert [one["name"] for one in agent.call("skill.list", intent="the cache test fails")["skills"]] == ["clear the cache"]
    agent.call("mission.abandon", reason="enough")
    begun = agent.call("mission.start", task="a test of the cache fails again", mode="review")
    assert [(one["name"], len(one["evidence"])) for one in begun["skills"]] == [("clear the cache", 4)]
    refused = agent.call("skill.critique", text="too many questions", event_id="evt_nothing")
    assert refused["error"]["code"] == "invalid_params"
