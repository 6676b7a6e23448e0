"""The chain of a mission: one form, one hash after the other, and the first event that does not hold."""

import json
from typing import Any

import msgspec
import pytest

from hindbrain.engines.mission_chain import DIGEST, canonical, digest_of, first_break, genesis
from tests.support.missions import chained, event

ONE: dict[str, Any] = {
    "actor": "agent:a1",
    "agent_confidence": 0.72,
    "duration_ms": 341,
    "event_id": "evt_1",
    "event_type": "file_read",
    "evidence_class": "direct_source",
    "mission_id": "msn_01TEST",
    "outcome": "hypothesis_supported",
    "phase": "verify",
    "schema": "hindbrain-mission-event-v1",
    "seq": 1,
    "target": "src/foo.py",
    "timestamp": "2026-01-01T00:00:00.000Z",
}
TWO: dict[str, Any] = {
    **ONE,
    "agent_confidence": 0.9,
    "duration_ms": 1200,
    "event_id": "evt_2",
    "event_type": "test_run",
    "evidence_class": "direct_test",
    "outcome": "failed",
    "seq": 2,
    "target": "tests/test_foo.py",
    "timestamp": "2026-01-01T00:00:01.000Z",
}
# The catalog's values were made when the product had another name, which stands in the first text and in every schema.
EARLIER = (
    "f5730c5edc2e08d7484eb706b5e959cf8e9e1f67a9655dc3fd96d0aa87df51d3",
    "dddcaa80ba36749112a1aa0668c7518f5a0a3f47a45745d30e150835eee65762",
    "3cf77303456c2b10a540aa9c4a5b71c812d91e15f435913f0d77ccde7a441883",
)
OURS = (
    "58771aab02086f8c8be07ab48fdbecef55c8280f4ce1da6435eccfec257b2137",
    "3f7cec5e0eda0781b1891b9f62330ef3f081f4c70c62f175d81c6d8924caf04f",
    "376f3429b3d80873e3ff641fad4dec5fe07db3cf6b4c59554ef72c803491567d",
)


@pytest.mark.parametrize(("product", "values"), [("brainstem", EARLIER), ("hindbrain", OURS)])
def test_aol_106_aol_107_the_vector_of_the_catalog_and_our_own(product: str, values: tuple[str, str, str]) -> None:
    first = genesis("msn_01TEST", product=product)
    second = digest_of(first, {**ONE, "schema": f"{product}-mission-event-v1"})
    third = digest_of(second, {**TWO, "schema": f"{product}-mission-event-v1"})

    assert (first, second, third) == values


def test_aol_105_the_form_is_one_whatever_the_order_of_keys_and_the_way_a_letter_is_written() -> None:
    turned = dict(reversed(ONE.items()))

    assert canonical(ONE) == canonical(turned)
    assert canonical({"a": "caf\u00e9"}) == canonical({"a": "cafe\u0301"}) == '{"a":"caf\u00e9"}'.encode()
    assert canonical({"b": 0.1 + 0.2, "a": [1, 2.0, -0.0, True, None]}) == b'{"a":[1,2.0,0.0,true,null],"b":0.3}'
    assert canonical({"a": 1e-12}) == b'{"a":0.0}'
    with pytest.raises(ValueError):
        canonical({"a": float("nan")})


def test_aol_105_hash_and_the_hash_before_are_left_out_of_what_is_hashed() -> None:
    assert digest_of("0" * 64, ONE) == digest_of("0" * 64, {**ONE, "hash": "x", "prev_hash": "y"})
    assert digest_of("0" * 64, ONE) != digest_of("0" * 64, {**ONE, "target": "src/bar.py"})


def test_aol_108_the_first_event_that_does_not_hold_is_named() -> None:
    events = [json.loads(msgspec.json.encode(one)) for one in chained(event("note", f"t{number}") for number in range(10))]
    assert first_break("msn_01TEST", events) is None

    changed = [dict(one) for one in events]
    changed[6]["outcome"] = "passed"
    missing = events[:3] + events[4:]
    swapped = [events[1], events[0], *events[2:]]
    foreign = [{**events[0], "mission_id": "msn_other"}, *events[1:]]

    found = [first_break("msn_01TEST", one) for one in (changed, missing, swapped, foreign)]
    assert [one[0] for one in found if one is not None] == [7, 4, 1, 1]


def test_aol_109_an_empty_mission_has_the_genesis_and_every_event_changes_the_digest() -> None:
    events = chained(event("note", "same") for _ in range(3))

    heads = [DIGEST + genesis("msn_01TEST"), *(one.hash for one in events)]

    assert len(set(heads)) == 4
    assert events[0].prev_hash == heads[0]
