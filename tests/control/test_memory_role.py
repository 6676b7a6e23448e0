"""R5 on the bus: data for who may ask, and an error in words for what went wrong."""

import pytest

from hindbrain.domain.errors import BoundaryViolation, StoreUnavailable
from hindbrain.domain.experience import Level, Pair, Writer
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import MemoryQuery, MemoryResponse, PotentialsNote
from hindbrain.services.control.memory_role import Memory
from tests.support.experience import Lab, megram
from tests.support.roles import RecordingVoice, heard

ANSWER = MessageType.MEMORY_RESPONSE
PAIR = Pair(space="intent:count_the_lines", entity="env:local")


class Broken:
    """A reader whose store is gone."""

    def answer(self, query: MemoryQuery, *, by: Role) -> MemoryResponse:
        raise StoreUnavailable("the store is locked", fix="wait")

    def query_space(self, space: str, *, by: Role) -> PotentialsNote:
        raise OSError("no such device")


def asked(reader: object, **query: object) -> MemoryResponse:
    voice = RecordingVoice(Role.MEMORY)
    Memory(voice, reader=reader).hear(heard(MemoryQuery(query_id="q1", **query), task_id="tsk_1", seq=7))  # type: ignore[arg-type]
    (said,) = voice.log
    assert (said.to, said.task_id, said.correlation) == (Role.PLANNER, "tsk_1", "cor_7")
    assert isinstance(said.record, MemoryResponse)
    return said.record


def test_ctl_017_a_memory_without_a_voice_is_not_made():
    with pytest.raises(BoundaryViolation):
        Memory(None, reader=Broken())  # type: ignore[arg-type]


def test_ctl_068_exp_045_answers_are_data_and_hold_no_words_but_what_was_stored():
    lab = Lab()
    lab.put(megram("best_practice", pair=PAIR, content="use glob", f=1.0, sigma=1.0, level=Level.C, writer=Writer.DREAMER))
    lab.put(megram("accept", pair=PAIR, content="Succeeded."))
    rules = asked(lab.experience, kind="C", space=PAIR.space, entity=PAIR.entity)
    recent = asked(lab.experience, kind="recent", space=PAIR.space, entity=PAIR.entity, n=3)
    assert [(one.content, one.sigma) for one in rules.sops] == [("use glob", 1.0)]
    assert [one.content for one in recent.megrams] == ["Succeeded."]
    for answer in (rules, recent):
        assert (answer.query_id, answer.error) == ("q1", None)
        told = {*(one.content for one in answer.sops), *(one.content for one in answer.megrams)}
        assert told <= {"use glob", "Succeeded."}


def test_exp_035_a_question_without_an_entity_is_about_the_whole_space():
    lab = Lab()
    for target in ("a", "b", "c"):
        lab.times(1, "change_approach", pair=Pair(space="tool:run", entity=f"path:{target}"))
    one = asked(lab.experience, kind="MK", space="tool:run", entity="path:a").potentials
    every = asked(lab.experience, kind="MK", space="tool:run").potentials
    assert one is not None
    assert every is not None
    assert (one.attention, one.decision) == (0.85, -0.85)
    assert (every.attention, every.decision) == (2.55, -2.55)


def test_ctl_057_exp_050_what_goes_wrong_is_answered_and_nothing_found_is_no_error():
    assert "the store is locked" in (asked(Broken(), kind="C", space="s", entity="e").error or "")
    assert "no such device" in (asked(Broken(), kind="MK", space="tool:run").error or "")
    nothing = asked(Lab().experience, kind="recent_global", n=5)
    assert (nothing.megrams, nothing.error) == ((), None)


def test_ctl_031_it_answers_questions_and_hears_nothing_else():
    voice = RecordingVoice(Role.MEMORY)
    role = Memory(voice, reader=Broken())
    assert role.hears == {MessageType.MEMORY_QUERY}
    role.hear(heard(MemoryResponse(query_id="q1")))
    assert voice.log == []
    assert voice.said(ANSWER) == []
