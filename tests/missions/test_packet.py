"""Proof packets: what they hold, how small they stay, and that no byte of one can be changed unseen."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import msgspec
import pytest

from hindbrain.domain.handover import LedgerPlace, ProofPacket, ProvEdge
from hindbrain.domain.mission import MissionEvent
from hindbrain.engines.course import coursed
from hindbrain.engines.mission_chain import DIGEST, canonical, genesis
from hindbrain.engines.mission_packet import packed, packet_bytes, verify_packet
from hindbrain.engines.moments import stamped
from hindbrain.engines.provenance import prov_edges, prov_json
from hindbrain.policy.missions import NON_CLAIMS
from tests.support.missions import chained, claimed, event, guard, spec
from tests.support.world import START_MS

NOW = stamped(START_MS + 60_000)
SHA = "sha256:" + "ab" * 32


def work(more: Sequence[MissionEvent] = ()) -> tuple[MissionEvent, ...]:
    """A hunt: a look at the graph, a read, a run, one claim proven and one rejected, a hand-over and the end."""
    read = event("file_read", "src/a.py", target_digest=SHA)
    ran = event(
        "test_run", "tests/test_a.py", outcome="failed", actor="agent:a1", payload={"command": "pytest", "exit_status": 1}
    )
    return chained(
        (
            event("context_guard", ".", actor="runtime", payload={"guard": msgspec.to_builtins(guard())}),
            event("graph_query", payload={"query": "who closes?"}, target="who closes?", tool="seek"),
            read,
            ran,
            *more,
            claimed("a.py closes twice", verify=False, claim_id="clm_good", verdict="candidate"),
            claimed("a.py closes twice", claim_id="clm_good", targets=("src/a.py",), evidence_refs=(read.event_id,)),
            claimed(
                "the tests pass",
                claim_id="clm_bad",
                verdict="rejected",
                evidence_grade="direct",
                evidence_refs=(ran.event_id,),
                missing=(f"event {ran.event_id} failed with exit status 1",),
            ),
            event("handoff", "hnd_1", actor="runtime", payload={"handoff_id": "hnd_1"}),
            event("close", "msn_01TEST", actor="runtime", payload={"status": "closed"}),
        )
    )


def packet(events: Sequence[MissionEvent], **more: Any) -> ProofPacket:
    return packed(coursed(spec(), events), events, stamp=NOW, **more)


def told(events: Sequence[MissionEvent]) -> list[dict[str, Any]]:
    return [json.loads(msgspec.json.encode(one)) for one in events]


def test_aol_101_aol_300_a_packet_lists_claims_gaps_non_claims_digest_and_direct_classes() -> None:
    events = work()
    place = LedgerPlace(brain_id="b-1", seq=12, hash="cd" * 32)

    made = packet(events, gaps=("the parser was not looked at",), ledger=place, children={"msn_child": SHA})

    assert [one.claim_id for one in made.verified_claims] == ["clm_good"]
    assert [(one.claim_id, one.missing) for one in made.rejected_claims] == [
        ("clm_bad", (f"event {events[3].event_id} failed with exit status 1",))
    ]
    assert "the parser was not looked at" in made.gaps
    assert made.event_digest == events[-1].hash
    assert (made.event_count, made.first_seq, made.last_seq) == (len(events), 1, len(events))
    assert made.direct_evidence_classes == {"direct_source": 1, "direct_test": 1}
    assert made.ledger == place
    assert made.children == {"msn_child": SHA}
    assert made.policy_version == spec().policy_version


def test_aol_093_aol_116_direct_and_graph_evidence_stay_apart_and_counters_are_those_of_the_course() -> None:
    made = packet(work())

    counters = made.counters
    assert made.graph_evidence_classes == {"graph_orientation": 1}
    assert set(made.direct_evidence_classes).isdisjoint(made.graph_evidence_classes)
    assert (counters.tool_calls, counters.files_read, counters.direct_evidence_count, counters.graph_call_count) == (3, 1, 2, 1)
    assert (counters.claims_verified, counters.claims_rejected) == (1, 1)
    assert counters.first_good_finding_ms is not None
    assert 0 < counters.first_good_finding_ms <= counters.duration_ms


def test_aol_003_aol_110_a_packet_says_what_it_does_not_claim_and_that_it_is_not_signed() -> None:
    said = packet(work()).non_claims

    assert {text for name, text in NON_CLAIMS.items() if name >= "AOL-308"} <= set(said)
    assert any("not who wrote it" in line and "not signed" in line for line in said)


def test_aol_036_a_close_by_force_says_so_with_its_reason_and_how_the_controller_saw_the_end() -> None:
    end = {"status": "closed", "forced": True, "reason": "out of time", "control": {"directive": "abandon", "replans": 2}}
    events = chained((event("close", "msn_01TEST", payload=end),))

    made = packet(events)

    assert (made.forced, made.forced_reason, made.control) == (True, "out of time", {"directive": "abandon", "replans": 2})


def test_aol_101_a_claim_that_nobody_judged_is_a_gap() -> None:
    events = chained((claimed("b.py is slow", verify=False, claim_id="clm_open", verdict="candidate"),))

    assert any("clm_open" in line and "candidate" in line for line in packet(events).gaps)


def test_aol_109_the_packet_of_an_empty_mission_has_the_genesis() -> None:
    made = packet(())

    assert made.event_digest == DIGEST + genesis("msn_01TEST")
    assert verify_packet(packet_bytes(made), []) == ()


def test_aol_103_a_packet_stays_small_and_says_what_was_left_out() -> None:
    reads = [event("file_read", f"src/module_{number}.py", target_digest=SHA, tool=f"tool-{number}") for number in range(500)]
    claims = [
        claimed(f"module {number} " + "leaks " * 60, targets=(one.target,), evidence_refs=(one.event_id,))
        for number, one in enumerate(reads[:60])
    ]
    events = work((*reads, *claims))

    raw = packet_bytes(made := packet(events))

    assert len(raw) <= 16 * 1024
    assert made.left_out["evidence_graph"] > 0
    assert len(made.verified_claims) + made.left_out.get("verified_claims", 0) == 61
    assert made.full_file == "events.jsonl"
    assert made.non_claims
    assert verify_packet(raw, told(events)) == ()


def test_aol_103_a_cut_graph_keeps_what_the_claims_rest_on() -> None:
    events = work([event("file_read", f"src/m{number}.py", target_digest=SHA) for number in range(300)])

    made = packet(events)

    kept = {(one.subject, one.relation, one.object) for one in made.evidence_graph}
    assert ("claim:clm_good", "wasDerivedFrom", f"file:src/a.py@{SHA}") in kept
    assert (f"event:{events[2].event_id}", "used", f"file:src/a.py@{SHA}") in kept
    assert made.left_out["evidence_graph"] > 100


def test_aol_103_even_endless_texts_fit() -> None:
    asked = spec(task="find it " * 5000, repo="/srv/" + "deep/" * 100)
    wide = guard(ingest_roots=tuple(f"/srv/root-{number}" for number in range(3000)), reason="x" * 3000)
    events = chained((event("context_guard", ".", payload={"guard": msgspec.to_builtins(wide)}), claimed("leaks " * 2000)))

    made = packed(coursed(asked, events), events, stamp=NOW, summary="said " * 5000, gaps=["gap " * 500] * 40)

    assert len(packet_bytes(made)) <= 16 * 1024
    assert len(made.summary) <= 1200


def test_aol_106_any_changed_byte_of_a_packet_is_found() -> None:
    raw = packet_bytes(packet(work()))
    assert verify_packet(raw) == ()

    for place in range(0, len(raw), 7):
        for changed in (raw[place] ^ 1, ord(" ")):
            if changed != raw[place]:
                assert verify_packet(raw[:place] + bytes([changed]) + raw[place + 1 :]), f"byte {place}"
    for other in (raw + b"\n", raw[:-1], b" " + raw, raw.replace(b":", b": ", 1), b"", b"{}", b"NaN", b"\xff", b"[" * 100_000):
        assert verify_packet(other)


def resealed(raw: bytes, **changes: Any) -> bytes:
    """A packet somebody changed and sealed again: its own digest holds."""
    value = msgspec.convert({**json.loads(raw), **changes, "packet_digest": ""}, ProofPacket)
    rest = {name: inner for name, inner in msgspec.to_builtins(value).items() if name != "packet_digest"}
    digest = DIGEST + hashlib.sha256(canonical(rest)).hexdigest()
    return packet_bytes(msgspec.structs.replace(value, packet_digest=digest))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"event_digest": SHA}, "another digest"),
        ({"event_count": 3}, "counts 3 events"),
        ({"verified_claims": []}, "verified is not in it"),
    ],
)
def test_aol_101_a_packet_that_was_sealed_again_is_found_out_by_the_events(changes: dict[str, Any], why: str) -> None:
    events = work()
    forged = resealed(packet_bytes(packet(events)), **changes)

    assert verify_packet(forged) == ()
    assert any(why in line for line in verify_packet(forged, told(events)))


def test_aol_101_a_forged_claim_is_found_in_the_packet_itself_or_by_the_events() -> None:
    events = work()
    raw = packet_bytes(packet(events))
    bad = json.loads(raw)["rejected_claims"][0]

    bare = resealed(raw, verified_claims=[{**bad, "verdict": "verified_for_mission", "evidence_refs": []}])
    told_so = resealed(raw, verified_claims=[{**bad, "verdict": "verified_for_mission"}], rejected_claims=[])

    assert any("without direct evidence" in line for line in verify_packet(bare))
    assert any("not in the events" in line for line in verify_packet(told_so, told(events)))


def test_aol_101_changed_events_are_named_by_number() -> None:
    events = work()
    changed = told(events)
    changed[2]["target"] = "src/z.py"

    assert verify_packet(packet_bytes(packet(events)), changed) == ("event 3: its content is not what was written",)


# -- provenance ------------------------------------------------------------------------------------------------------


def test_aol_102_aol_320_the_graph_says_who_did_what_with_which_file_and_what_came_of_it() -> None:
    events = work()
    guarded, asked, read, ran, _, proven, refused, handed, closed = (one.event_id for one in events)

    found = {(one.subject, one.relation, one.object) for one in prov_edges(spec(), events)}

    file = f"file:src/a.py@{SHA}"
    assert {
        (f"event:{read}", "wasAssociatedWith", "agent:a1"),
        (f"event:{guarded}", "wasAssociatedWith", "agent:runtime"),
        ("agent:runtime", "actedOnBehalfOf", "agent:a1"),
        (f"event:{read}", "used", file),
        ("claim:clm_good", "wasGeneratedBy", f"event:{proven}"),
        ("claim:clm_good", "wasDerivedFrom", file),
        ("claim:clm_good", "wasAttributedTo", "agent:a1"),
        (f"event:{proven}", "wasInformedBy", f"event:{read}"),
        ("claim:clm_bad", "wasGeneratedBy", f"event:{refused}"),
        (f"event:{refused}", "wasInformedBy", f"event:{ran}"),
        ("handoff:hnd_1", "wasGeneratedBy", f"event:{handed}"),
        ("packet:msn_01TEST", "wasGeneratedBy", f"event:{closed}"),
        ("packet:msn_01TEST", "wasDerivedFrom", "claim:clm_good"),
    } <= found
    assert ("packet:msn_01TEST", "wasDerivedFrom", "claim:clm_bad") not in found
    assert not any(subject == f"event:{asked}" and relation == "used" for subject, relation, _ in found)


def test_aol_102_every_edge_names_the_event_that_it_comes_from() -> None:
    events = work()
    known = {one.event_id for one in events}

    edges = prov_edges(spec(), events)

    assert edges
    assert all(isinstance(one, ProvEdge) and one.event_id in known for one in edges)


def test_aol_104_the_export_is_prov_json_as_the_standard_has_it() -> None:
    odd = event("file_read", 'src/o dd:"name"@2.py', target_digest=SHA)
    events = work((odd, event("human_statement", "ship it", actor="operator")))

    made = prov_json(spec(), events)

    edges = prov_edges(spec(), events)
    assert len(made["activity"]) == len(events)
    assert len(made["used"]) == sum(one.relation == "used" for one in edges)
    assert len(made["wasDerivedFrom"]) == sum(one.relation == "wasDerivedFrom" for one in edges)
    assert len(made["agent"]) == 3
    if find_spec("prov") is not None:  # a reader of the standard, where one is installed
        document = import_module("prov.model").ProvDocument.deserialize(content=json.dumps(made), format="json")
        kinds = Counter(record.get_type().localpart for record in document.get_records())
        assert (kinds["Activity"], kinds["Agent"]) == (len(events), 3)
        assert kinds["Usage"] == len(made["used"])


def test_aol_104_both_ends_of_every_relation_are_described() -> None:
    made = prov_json(spec(), work())

    known = {name for section in ("entity", "activity", "agent") for name in made[section]}
    relations = set(made) - {"prefix", "entity", "activity", "agent"}
    ends = {end for relation in relations for one in made[relation].values() for end in one.values()}
    assert ends <= known
    assert relations == {
        *("used", "wasGeneratedBy", "wasDerivedFrom", "wasAssociatedWith"),
        *("wasAttributedTo", "wasInformedBy", "actedOnBehalfOf"),
    }
