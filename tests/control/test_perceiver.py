"""R1: what a person typed becomes one TaskSpec, with nothing added and nothing lost."""

import ast
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.domain.errors import BoundaryViolation
from hindbrain.domain.experience import Level, Pair
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import ClarificationAnswer
from hindbrain.domain.task import TaskSpec
from hindbrain.engines.perceiving import Exchange, chat_answer, first_sentence, heard_of, perceived
from hindbrain.services.control import perceiver as module
from hindbrain.services.control.perceiver import Perceived, Perceiver, Reading
from tests.support.experience import Lab, megram
from tests.support.planning import Spoken
from tests.support.roles import RecordingVoice, heard

SPEC, ASKED = MessageType.TASK_SPEC, MessageType.CLARIFICATION_REQUEST


class Ear:
    """A perceiver, and what it said."""

    def __init__(self, **more: object) -> None:
        self.voice = RecordingVoice(Role.PERCEIVER)
        self.perceiver = Perceiver(self.voice, **more)  # type: ignore[arg-type]

    def told(self, text: str, **more: object) -> TaskSpec:
        found = self.perceiver.perceive(text, task_id="tsk_1", **more)  # type: ignore[arg-type]
        assert found.spec is not None
        assert self.voice.last(SPEC) == found.spec
        return found.spec

    def answer(self, *answers: str) -> None:
        request = self.voice.last(ASKED)
        self.perceiver.hear(heard(ClarificationAnswer(task_id="tsk_1", request_id=request.request_id, answers=answers)))


def test_ctl_017_a_perceiver_without_a_voice_is_not_made():
    with pytest.raises(BoundaryViolation):
        Perceiver(None)  # type: ignore[arg-type]


def test_ctl_004_ctl_033_free_text_becomes_one_task_spec_to_the_planner():
    ear = Ear()
    ear.told("list big files")
    (only,) = ear.voice.log
    assert (only.type, only.to, only.task_id) == (SPEC, Role.PLANNER, "tsk_1")


def test_ctl_034_ctl_038_a_task_spec_has_its_fields_and_no_criteria():
    spec = msgspec.to_builtins(Ear().told('count lines in "src/a.py" until 2026-03-01'))
    assert set(spec) == {"task_id", "intent", "constraints", "raw_input", "x"}
    assert spec["constraints"] == {"scope": "src/a.py", "deadline": "2026-03-01"}
    for extra in ("success_criteria", "priority"):
        with pytest.raises(msgspec.ValidationError, match=extra):
            msgspec.convert(spec | {extra: []}, TaskSpec)


def test_ctl_035_ctl_041_what_is_vague_stays_vague():
    spec = Ear().told("clean up the recent stuff")
    assert "recent" in spec.intent
    assert (spec.constraints.scope, spec.constraints.deadline) == (None, None)
    assert Ear().told("summarise last week's logs").intent == "summarise last week's logs"


def test_ctl_035_ctl_041_a_model_that_adds_a_path_or_a_date_is_not_followed():
    made_up = Spoken(Reading(intent="Delete /tmp/cache from 2026-01-02."))
    assert Ear(mind=made_up).told("clean up the recent stuff").intent == "clean up the recent stuff"
    faithful = Spoken(Reading(intent="Remove recent clutter. And more.", task_class="Clean Up"))
    spec = Ear(mind=faithful).told("clean up the recent stuff")
    assert (spec.intent, spec.x.task_class) == ("Remove recent clutter.", "clean")


def test_ctl_036_the_words_of_the_person_are_kept_byte_for_byte():
    ear = Ear()
    ear.perceiver.perceive("  ?\t ", task_id="tsk_1")
    ear.answer("count  the lines in a.txt ")
    spec = ear.voice.last(SPEC)
    assert spec.raw_input == "  ?\t "
    assert [(one.q, one.a) for one in spec.x.clarifications] == [
        (ear.voice.last(ASKED).questions[0], "count  the lines in a.txt ")
    ]
    assert spec.intent == "count the lines in a.txt"
    assert Ear().told(" a\u00a0b  c\r\n").raw_input == " a\u00a0b  c\r\n"


def test_ctl_037_the_intent_is_one_sentence_of_the_request():
    spec = Ear().told('Rename "Mr. X. Y" to Z. It has to be done today! Tell me after.')
    assert spec.intent == 'Rename "Mr. X. Y" to Z.'
    assert first_sentence("1. Count a.txt\n2. Sort b.txt") == "Count a.txt"


def test_ctl_039_the_perceiver_knows_no_tool_no_planner_and_writes_nothing(tmp_path, monkeypatch):
    source = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    known = {node.module for node in ast.walk(source) if isinstance(node, ast.ImportFrom)}
    foreign = ("policy.tools", "control.tools", "planner", "engines.planning", "engines.ways", "stores", "executor")
    assert not [name for name in known if name and any(one in name for one in foreign)]
    monkeypatch.chdir(tmp_path)
    ear = Ear()
    first, second = ear.told("list big files"), ear.told("list big files")
    assert first == second
    assert list(tmp_path.iterdir()) == []


def test_ctl_040_at_most_two_rounds_of_questions():
    ear = Ear()
    ear.perceiver.perceive("x", task_id="tsk_1")
    ear.answer("y")
    ear.answer("z")
    assert len(ear.voice.said(ASKED)) == 2
    assert len(ear.voice.said(SPEC)) == 1


def test_ctl_040_an_empty_answer_means_go_on():
    ear = Ear()
    ear.perceiver.perceive("x", task_id="tsk_1")
    ear.answer("  ")
    assert len(ear.voice.said(ASKED)) == 1
    assert ear.voice.last(SPEC).intent == "x"


def test_ctl_040_questions_of_a_model_come_in_one_turn():
    mind = Spoken(Reading(intent="Deploy.", questions=("Where?", "Which version?")), Reading(intent="Deploy."))
    ear = Ear(mind=mind)
    found = ear.perceiver.perceive("deploy the thing", task_id="tsk_1")
    assert found.questions == ("Where?", "Which version?")
    ear.answer("staging", "newest")
    assert [(one.q, one.a) for one in ear.voice.last(SPEC).x.clarifications] == [
        ("Where?", "staging"),
        ("Which version?", "newest"),
    ]


def test_ctl_040_an_answer_to_another_question_is_not_heard():
    ear = Ear()
    ear.perceiver.perceive("x", task_id="tsk_1")
    ear.perceiver.hear(heard(ClarificationAnswer(task_id="tsk_1", request_id="other", answers=("count a.txt",))))
    assert ear.voice.said(SPEC) == []


def test_ctl_042_only_the_newest_five_exchanges_are_passed_on_each_cut():
    mind = Spoken(Reading(intent="Go on."))
    history = [Exchange(said=f"task {number}", result="r" * 400) for number in range(6)]
    Ear(mind=mind).told("list big files", history=history)
    prompt = mind.asked[0][2]
    assert [f"task {number}" in prompt for number in range(6)] == [False, True, True, True, True, True]
    assert "r" * 300 in prompt
    assert "r" * 301 not in prompt
    assert len(heard_of(history)) == 5


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("in French", ("Show the weather of Lyon", "in French")),
        ("shorter", ("Show the weather of Lyon", "shorter")),
        ("wrong, that is the old one", ("Show the weather of Lyon", "wrong")),
        ("translate it", ("Show the weather of Lyon", "translate it")),
    ],
)
def test_ctl_042_a_reaction_means_the_task_before_with_the_change(text, parts):
    intent = Ear().told(text, history=[Exchange(said="Show the weather of Lyon.", result="sunny")]).intent
    assert all(part in intent for part in parts)
    assert (
        Ear().told("count the lines in a.txt", history=[Exchange(said="Show the weather.", result="")]).intent
        == "count the lines in a.txt"
    )


def test_ctl_043_the_same_request_has_one_class_and_the_id_it_was_given():
    ear = Ear()
    one = ear.perceiver.perceive("check the disk space", task_id="tsk_a").spec
    other = ear.perceiver.perceive("check the disk space", task_id="tsk_b").spec
    assert one is not None
    assert other is not None
    assert one.x.task_class == other.x.task_class == "check_disk_space"
    assert (one.task_id, other.task_id) == ("tsk_a", "tsk_b")


def test_ctl_044_small_talk_is_answered_without_a_task():
    ear = Ear()
    found = ear.perceiver.perceive("who are you", task_id="tsk_1")
    assert found.answer
    assert ear.voice.log == []
    mind = Spoken(Reading(intent="-", answer="Paris."))
    ear = Ear(mind=mind)
    assert ear.perceiver.perceive("what is the capital of France?", task_id="tsk_1") == Perceived(answer="Paris.")
    assert len(mind.asked) == 1
    assert ear.voice.log == []


@pytest.mark.parametrize("text", ["hello, count the files", "hi " + "x" * 100, "who are you in a.txt", "list big files"])
def test_ctl_044_whoever_asks_for_something_gets_a_task(text):
    assert chat_answer(text) is None
    assert Ear(mind=Spoken(Reading(intent="Do it.", answer="No."))).told(text)


@given(st.text(min_size=1, max_size=200).filter(lambda text: text.strip()))
def test_ctl_045_without_a_model_every_input_becomes_a_valid_task_spec(text):
    voice = RecordingVoice(Role.PERCEIVER)
    ear = Perceiver(voice)
    found = ear.perceive(text, task_id="tsk_1")
    while found.spec is None and found.answer is None:
        request = voice.last(ASKED)
        ear.hear(heard(ClarificationAnswer(task_id="tsk_1", request_id=request.request_id, answers=())))
        found = Perceived(spec=voice.last(SPEC))
    if found.spec is not None:
        assert found.spec.raw_input == text
        assert found.spec.intent
        assert "\n" not in found.spec.intent
        assert found.spec.x.task_class


def test_ctl_045_rules_read_scope_deadline_and_class():
    seen = perceived('Please find "alpha beta" in docs/notes.md before 2026-02-30, at the latest 2026-03-01T10:00Z.')
    assert seen.constraints.scope == "alpha beta"
    assert seen.constraints.deadline == "2026-03-01T10:00Z"
    assert seen.task_class == "find_alpha_beta"
    assert perceived("find docs/notes.md or 'x y'").constraints.scope == "docs/notes.md"
    assert perceived("always use tabs").declarative
    assert not perceived("use tabs here").declarative


def test_exp_047_the_perceiver_reads_the_global_pair_and_the_newest_lessons_and_nothing_else():
    lab = Lab()
    lab.put(
        megram(
            "declared",
            pair=Pair(space="global:user", entity="env:local"),
            content="Speaks French.",
            f=1.0,
            sigma=1.0,
            level=Level.C,
        ),
        megram("accept", pair=Pair(space="intent:other_task", entity="env:local"), content="Succeeded elsewhere."),
    )
    mind = Spoken(Reading(intent="List big files."))
    Ear(mind=mind, lessons=lab.experience).told("list big files")
    assert "Speaks French." in mind.asked[0][2]
    assert "Succeeded elsewhere." in mind.asked[0][2]
    assert lab.notes == []
    with pytest.raises(BoundaryViolation):
        lab.experience.query_c("intent:other_task", "env:local", by=Role.PERCEIVER)
    for role in (Role.EXECUTOR, Role.AGENT_VALIDATOR):
        with pytest.raises(BoundaryViolation):
            lab.experience.query_mk("global:user", "env:local", by=role)
