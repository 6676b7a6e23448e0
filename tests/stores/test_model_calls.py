"""Calls of models, on each store."""

from dataclasses import replace

from hindbrain.stores.port import BrainStore, ModelCall, Spend
from tests.stores.values import act


def call(seq: int, *, task: str | None = "t1", at: int = 10, cost: int = 5) -> ModelCall:
    return ModelCall(
        seq=seq,
        at=at,
        task_id=task,
        role="R2",
        provider="openai",
        model="m",
        prompt_tokens=100,
        completion_tokens=20,
        elapsed_ms=0,
        cost_micros=cost,
        outcome="begun",
        prompt="asked",
        reply="",
    )


def kept(store: BrainStore, *calls: ModelCall) -> None:
    with store.writing() as writer:
        for one in calls:
            writer.append(act("control.model_call"))
            writer.put_model_call(one)


def test_ctl_310_calls_are_kept_in_order_and_found_by_task_and_time(store: BrainStore) -> None:
    first, second, third = call(1), call(2, task=None, at=20), call(3, task="t2", at=30)
    kept(store, first, second, third)

    assert store.model_calls() == (first, second, third)
    assert store.model_calls(task_id="t1") == (first,)
    assert store.model_calls(after=1, limit=1) == (second,)
    assert store.model_calls(since=20) == (second, third)


def test_ctl_310_a_call_is_settled_once(store: BrainStore) -> None:
    kept(store, call(1))
    done = replace(call(1), prompt_tokens=7, completion_tokens=3, elapsed_ms=40, cost_micros=2, outcome="answered", reply="yes")
    with store.writing() as writer:
        answers = [writer.settle_model_call(one) for one in (done, replace(done, cost_micros=0), replace(done, seq=9))]

    assert answers == [True, False, False]
    assert store.model_calls() == (done,)


def test_ctl_309_what_was_spent_is_summed_within_the_transaction_that_asks(store: BrainStore) -> None:
    assert store.model_spend() == Spend()
    kept(store, call(1), call(2, task="t2", at=20, cost=7))
    with store.writing() as writer:
        writer.append(act("control.model_call"))
        writer.put_model_call(call(3, at=20, cost=1))
        seen = (writer.model_spend(), writer.model_spend(task_id="t1"), writer.model_spend(since=20))

    assert seen == (
        Spend(calls=3, tokens=360, cost_micros=13),
        Spend(calls=2, tokens=240, cost_micros=6),
        Spend(calls=2, tokens=240, cost_micros=8),
    )
    assert (store.model_spend(), store.model_spend(task_id="t1"), store.model_spend(since=20)) == seen


def test_ctl_310_the_words_of_a_task_can_be_forgotten_and_what_it_cost_stays(store: BrainStore) -> None:
    kept(store, call(1), call(2, task="t2"))
    with store.writing() as writer:
        writer.append(act("control.forget"))
        assert writer.erase_model_texts(["t1", "t1", "t7"]) == 1

    assert [one.prompt for one in store.model_calls()] == ["", "asked"]
    assert store.model_spend(task_id="t1").cost_micros == 5
