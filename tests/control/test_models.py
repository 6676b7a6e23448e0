"""Models behind the roles: chains, repairs, limits, caps and what is written down, against a real server and a real store."""

import logging
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.errors import ConfigInvalid, ModelFailed
from hindbrain.domain.ledger import breaks
from hindbrain.domain.message import Role
from hindbrain.domain.task import ExecutionResult
from hindbrain.providers.port import LIMITS, Limits, Pace
from hindbrain.services.control.bus import Bus
from hindbrain.services.control.costs import Asked, Costs, Denied, left_of, task_cost
from hindbrain.services.control.journal import Journal
from hindbrain.services.control.model_plan import ModelPlan, Price
from hindbrain.services.control.models import Models, json_schema
from hindbrain.settings import Settings
from hindbrain.stores.port import ModelCall
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.support.model_server import ModelServer, anthropic, hang, openai, serving, status

KEY = "sk-planted-7c1e09b2aa41"
T0 = 1_700_000_000_000
DAY = 86_400_000
FAST = Limits(connect_s=1, first_byte_s=0.4, total_s=1)  # for who does not answer


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    steps: list[str]


class Brain:
    """A brain with its journal, and a clock that is set by hand."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store = SqliteStore(directory, BRAIN)
        self.journal = Journal(self.store)
        self.at = T0

    def plan(self, server: ModelServer | None, **values: Any) -> ModelPlan:
        set_up = {"model_provider": "openai", "model_base_url": f"{server.url}/v1", "model_name": "m"} if server else {}
        return ModelPlan.read(Settings(set_up | values))

    def models(self, server: ModelServer | None = None, *, limits: Limits = LIMITS, **values: Any) -> Models:
        plan = self.plan(server, **values)
        costs = Costs(
            self.store, self.journal, caps=plan.caps, clock=lambda: self.at, salt="salt", keep_prompts=plan.keep_prompts
        )
        return Models(plan, costs, environ={"K": KEY}, limits=limits, pace=Pace(wait=lambda _: None, jitter=lambda: 0.0))

    def calls(self, **where: Any) -> list[Any]:
        assert self.journal.drain(20)
        return list(self.store.model_calls(**where))

    def close(self) -> None:
        self.journal.close()
        self.store.close()


@pytest.fixture
def brain(tmp_path: Path) -> Iterator[Brain]:
    made = Brain(tmp_path / "brain")
    yield made
    made.close()


def think(models: Models, role: Role = Role.PLANNER, task: str = "t1", **more: Any) -> Any:
    return models.think(role, task_id=task, system="be brief", user="count the files", **{"max_tokens": 100} | more)


def test_ctl_300_ctl_310_a_thought_comes_with_its_value_and_its_call_is_written_down(brain: Brain) -> None:
    with serving(openai('<think>hm</think>Sure:\n```json\n{"steps": ["find"]}\n```', usage=(30, 12))) as server:
        thought = think(brain.models(server), schema=Plan)

    assert (thought.data, thought.provider, thought.model, thought.tier) == (Plan(steps=["find"]), "openai", "m", 2)
    (call,) = brain.calls()
    assert (call.task_id, call.role, call.provider, call.model, call.outcome) == ("t1", "R2", "openai", "m", "answered")
    assert (call.prompt_tokens, call.completion_tokens) == (30, 12)
    assert "count the files" in call.prompt
    assert '{"steps": ["find"]}' in call.reply
    entries = list(brain.store.entries(limit=100))
    assert [(one.act, one.subject) for one in entries] == [("control.model_call", "task:t1"), ("control.model_answer", "task:t1")]
    assert not any("count the files" in one.payload or "find" in one.payload for one in entries)
    assert breaks(entries, head=brain.store.head()) == []


def test_ctl_310_with_digests_no_word_of_a_call_is_kept(brain: Brain) -> None:
    with serving(openai("seventeen mountains")) as server:
        think(brain.models(server, model_prompts="digest"))

    (call,) = brain.calls()
    assert len(call.prompt) == len(call.reply) == 64
    brain.close()
    held = b"".join(path.read_bytes() for path in brain.directory.rglob("*") if path.is_file())
    assert b"seventeen mountains" not in held
    assert b"count the files" not in held


def test_ctl_310_a_secret_in_a_prompt_is_not_kept(brain: Brain) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    with serving(openai(f"you said\n{secret}\nwell")) as server:
        brain.models(server).think(Role.EXECUTOR, task_id="t", system="s", user=f"first\naws_key = {secret}\nlast", max_tokens=9)

    (call,) = brain.calls()
    assert secret not in call.prompt + call.reply
    assert "first" in call.prompt
    assert "well" in call.reply


def test_ctl_305_the_next_provider_answers_and_the_call_names_it(brain: Brain) -> None:
    with serving(status(401)) as first, serving(anthropic("yes")) as second:
        models = brain.models(
            model_provider="openai, anthropic", model_base_url=f"{first.url}/v1, {second.url}", model_name="a, b"
        )
        thought = think(models)

    assert (thought.provider, thought.model) == ("anthropic", "b")
    assert [(call.provider, call.outcome) for call in brain.calls()] == [("openai", "refused"), ("anthropic", "answered")]


def test_ctl_305_ctl_307_a_reply_of_the_wrong_shape_is_mended_once(brain: Brain) -> None:
    with serving(openai('{"steps": 5}'), openai('{"steps": ["ok"]}')) as server:
        thought = think(brain.models(server), schema=Plan)
        repair = server.asked[1].body["messages"][1]["content"]

    assert thought.data == Plan(steps=["ok"])
    assert '{"steps": 5}' in repair
    assert "steps" in repair.split("cannot be used", 1)[1].split("\n", 1)[0]
    assert [call.outcome for call in brain.calls()] == ["unusable", "answered"]


@pytest.mark.parametrize("reply", ['{"steps": 5}', "no value", '{"steps": ["a"', '{"steps": [], "more": 1}'])
def test_ctl_305_a_second_wrong_reply_ends_with_that_provider(brain: Brain, reply: str) -> None:
    with serving(openai(reply)) as server:
        assert think(brain.models(server), schema=Plan) is None
        assert len(server.asked) == 2


def test_ctl_305_a_schema_is_in_the_prompt_for_endpoints_that_know_none(brain: Brain) -> None:
    with serving(anthropic('{"steps": []}')) as server:
        models = brain.models(model_provider="anthropic", model_base_url=server.url, model_name="m")
        think(models, schema=Plan)
        assert '"steps"' in server.asked[0].body["system"]
    assert json_schema(Plan)["type"] == "object"


@pytest.mark.parametrize("answer", [status(500), hang(), openai("x", end=False)], ids=["server", "timeout", "cut"])
def test_ctl_305_without_an_answer_rules_stand_in_unless_they_are_not_to(brain: Brain, answer: Any) -> None:
    with serving(answer) as server:
        assert think(brain.models(server, limits=FAST)) is None
        with pytest.raises(ModelFailed) as failed:
            think(brain.models(server, limits=FAST, model_fallback="none"))
    assert failed.value.fix
    assert failed.value.details["role"] == "R2"


def test_ctl_306_each_role_is_answered_by_the_model_of_its_tier(brain: Brain) -> None:
    with serving(openai("yes")) as server:
        models = brain.models(server, model_name="", model_name_brain="big", model_name_tool="small")
        for role in Role:
            think(models, role)
        asked = [one.body["model"] for one in server.asked]

    assert [(call.role, call.model) for call in brain.calls()] == [
        ("R1", "big"),
        ("R2", "big"),
        ("R3", "small"),
        ("R4a", "small"),
        ("R4b", "big"),
        ("R5", "small"),
    ]
    assert len(asked) == 6


def test_ctl_135_a_mind_with_a_weaker_judge_is_not_made(brain: Brain) -> None:
    with serving(openai("yes")) as server, pytest.raises(ConfigInvalid):
        brain.models(server, model_tiers="R4b=tool")


def test_ctl_309_beyond_the_limit_of_calls_the_roles_go_by_their_rules(brain: Brain) -> None:
    with serving(openai("yes")) as server:
        models = brain.models(server, model_calls_per_task=1, model_fallback="none")
        assert think(models, Role.PERCEIVER).text == "yes"
        assert [think(models, role) for role in (Role.PLANNER, Role.EXECUTOR)] == [None, None]
        assert think(models, task="t2").text == "yes"
        assert len(server.asked) == 2


def test_ctl_309_the_limit_is_sixty_calls_unless_set(brain: Brain) -> None:
    costs = Costs(brain.store, brain.journal, caps=brain.plan(None).caps, clock=lambda: brain.at, salt="s")
    asked = Asked(task_id="t", role="R3", provider="p", model="m", price=Price(), system="", user="u", max_tokens=1)

    begun = [isinstance(costs.begin(asked), ModelCall) for _ in range(62)]

    assert begun == [True] * 60 + [False] * 2


def test_ctl_309_a_call_that_might_pass_a_cap_is_not_made(brain: Brain) -> None:
    """The most a call may cost is known before: two bytes a token of its prompt, and max_tokens."""
    worst = len("be briefcount the files") // 2 + 1 + 100
    with serving(openai("yes", usage=(10, 90))) as server:
        models = brain.models(server, model_tokens_per_task=100 + worst)
        assert think(models).text == "yes"  # costs 100, though it might have cost more
        assert think(models).text == "yes"
        assert think(models) is None
        assert len(server.asked) == 2
        assert think(brain.models(server, model_tokens_per_task=worst - 1), task="t9") is None


def test_ctl_309_money_is_capped_for_a_task_and_for_a_day(brain: Brain) -> None:
    prices = {"model_price_in": "1000", "model_price_out": "10000"}  # the answer below costs 0.01 + 0.90
    with serving(openai("yes", usage=(10, 90))) as server:
        task = brain.models(server, **prices, model_cap_per_task="1.90")
        assert [think(task) is not None for _ in range(3)] == [True, False, False]
        day = brain.models(server, **prices, model_cap_per_day="2.00")
        assert think(day, task="t2") is not None
        assert think(day, task="t3") is None
        brain.at += DAY
        assert think(day, task="t3") is not None
    assert [call.cost_micros for call in brain.calls()] == [910_000, 910_000, 910_000]


def test_ctl_309_a_cap_holds_for_all_who_ask_at_once_and_for_every_process(brain: Brain) -> None:
    """Each process has a store and a journal of its own; together they may make three calls."""
    other = Brain(brain.directory)
    with serving(openai("yes")) as server:
        minds = [one.models(server, model_calls_per_task=3, model_stream=False) for one in (brain, other) for _ in range(2)]
        got: list[Any] = []
        threads = [threading.Thread(target=lambda mind=mind: got.extend(think(mind) for _ in range(3))) for mind in minds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(server.asked) == 3
    other.close()
    assert sum(one is not None for one in got) == 3


def test_ctl_309_a_process_that_died_in_the_middle_leaves_the_most_the_call_may_have_cost(brain: Brain) -> None:
    plan = brain.plan(None, model_tokens_per_day=150)
    costs = Costs(brain.store, brain.journal, caps=plan.caps, clock=lambda: brain.at, salt="s")
    asked = Asked(task_id="t", role="R2", provider="p", model="m", price=Price(), system="", user="ab" * 10, max_tokens=100)

    costs.begin(asked)

    assert brain.store.model_spend().tokens == 110
    assert left_of(brain.store, plan.caps, at=brain.at) == {"day_micros": None, "day_tokens": 40}
    assert isinstance(costs.begin(asked), Denied)


@pytest.mark.parametrize(
    ("answer", "tokens"), [(status(401), 0), (openai("x", finish="length"), 18), (openai("x", end=False), 112)]
)
def test_ctl_014_a_call_that_failed_costs_what_it_may_have_cost(brain: Brain, answer: Any, tokens: int) -> None:
    with serving(answer) as server:
        think(brain.models(server))
    (call,) = brain.calls()
    assert call.prompt_tokens + call.completion_tokens == tokens


def test_ctl_013_ctl_014_a_task_knows_what_each_role_cost_and_how_long_its_row_of_calls_was(brain: Brain) -> None:
    """One retry and one replan: R1 R2 R3 R4a, then R3 R4a again, then R4b, then R2 and R4b of the next round."""
    script = [Role.PERCEIVER, Role.PLANNER, Role.EXECUTOR, Role.AGENT_VALIDATOR, Role.EXECUTOR, Role.AGENT_VALIDATOR]
    script += [Role.META_VALIDATOR, Role.PLANNER, Role.META_VALIDATOR]
    with serving(*(openai("yes", usage=(100 + place, 10 + place)) for place in range(len(script)))) as server:
        models = brain.models(server)
        for role in script:
            think(models, role)
            brain.at += 5_000
    bus = Bus(brain.store, brain.journal, clock=lambda: brain.at, salt="s")
    result = msgspec.convert(
        {
            "subtask_id": "s1",
            "status": "completed",
            "tool_calls": [
                {"call_id": f"c{n}", "tool": "glob", "input": {}, "event_id": "e", "rendered": "r", "elapsed_ms": 40 + n}
                for n in range(3)
            ],
        },
        ExecutionResult,
    )
    bus.publish(Role.EXECUTOR, Role.AGENT_VALIDATOR, result, task_id="t1")
    brain.calls()

    cost = task_cost(brain.store, "t1")

    assert cost.sequential_llm_calls == 9
    assert cost.total_tokens == sum(110 + 2 * place for place in range(9))
    assert (cost.tool_call_count, cost.tool_elapsed_ms) == (3, 123)
    planner = next(one for one in cost.by_role if one.role == "R2")
    assert (planner.calls, planner.prompt_tokens, planner.completion_tokens) == (2, 101 + 107, 11 + 17)
    assert sum(one.calls for one in cost.by_role) == 9


def test_ctl_013_calls_side_by_side_count_once_in_the_row(brain: Brain) -> None:
    costs = Costs(brain.store, brain.journal, caps=brain.plan(None).caps, clock=lambda: brain.at, salt="s")
    asked = Asked(task_id="t", role="R3", provider="p", model="m", price=Price(), system="", user="u", max_tokens=1)
    for start, elapsed in ((0, 100), (10, 100), (50, 30), (120, 10)):
        brain.at = T0 + start
        costs.settle(costs.begin(asked), asked, outcome="answered", reply="r", usage=None, elapsed_ms=elapsed)  # type: ignore[arg-type]
    assert len(brain.calls()) == 4

    assert task_cost(brain.store, "t").sequential_llm_calls == 2


def test_ctl_308_a_planted_key_appears_nowhere(brain: Brain, caplog: pytest.LogCaptureFixture) -> None:
    """The server repeats the key in all it says, and a prompt holds it: it is in no answer, log, error, row or file."""
    caplog.set_level(logging.DEBUG)
    echoed = {"error": {"message": f"key {KEY} is bad", "key": KEY}}
    answers = [
        (openai(f"your key is {KEY}"), LIMITS),
        (status(400, echoed), LIMITS),
        (status(401, echoed), LIMITS),
        (status(500, echoed), LIMITS),
        (hang(after=KEY.encode()), FAST),
    ]
    shown: list[str] = []
    for answer, limits in answers:
        with serving(answer) as server:
            models = brain.models(server, limits=limits, model_key_env="K", model_fallback="none", model_stream=False)
            try:
                thought = models.think(Role.PLANNER, task_id="t", system=f"s {KEY}", user=f"u {KEY}", max_tokens=9)
                shown.append(repr(thought))
            except ModelFailed as failed:
                shown += [str(failed), str(failed.answer()), repr(failed.__cause__), repr(failed.__context__)]
            assert all(one.headers["authorization"] == f"Bearer {KEY}" for one in server.asked)
            assert not any(KEY in str(one.body) for one in server.asked)
    assert "your key is [key]" in shown[0]
    assert len(shown) > 4
    shown += [repr(one) for one in brain.calls()] + [repr(one) for one in brain.store.entries(limit=1000)] + [caplog.text]
    assert not [text for text in shown if KEY in text]
    brain.close()
    held = [path for path in brain.directory.rglob("*") if path.is_file()]
    assert held
    assert not [path for path in held if KEY.encode() in path.read_bytes()]


def test_ctl_308_a_key_that_is_not_set_is_said_by_its_name_and_nothing_is_sent(brain: Brain) -> None:
    with serving(openai("yes")) as server:
        with pytest.raises(ModelFailed, match="OTHER_KEY"):
            think(brain.models(server, model_key_env="OTHER_KEY", model_fallback="none"))
        assert server.asked == []
    assert brain.calls() == []


def test_ctl_311_without_a_provider_no_connection_is_made(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: Any, **more: Any) -> Any:
        raise AssertionError("a socket was made")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, forbidden)
    models = brain.models()

    assert [think(models, role) for role in Role] == [None] * len(Role)
    assert {models.tier(role) for role in Role} == {0}
    assert brain.calls() == []
