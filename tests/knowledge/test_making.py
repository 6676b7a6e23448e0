"""Cards come to be: distilled, created, raised, edited. Every one begins as a candidate (MIND-029 to 121, 271 to 280)."""

import sqlite3
from contextlib import closing
from itertools import product
from typing import Any

import pytest

from hindbrain.domain.card import Rank, Status, check_move, slugged
from hindbrain.domain.errors import IllegalMove
from hindbrain.operations import REGISTRY
from tests.support.evidence_sources import jsonl
from tests.support.scholar import Scholar, knowledge_of
from tests.support.world import World

FIFTEEN = (
    *("statement", "content", "tier", "status", "domain", "field", "supporting_refs", "counterexample_refs", "teaching_refs"),
    *("verification_refs", "scope_constraints", "trigger_hints", "anchor_kind", "anchor_id", "parent_anchor_id"),
)


def arguments(scholar: Scholar, **more: Any) -> dict[str, Any]:
    given = {"statement": "Bound every retry.", "content": "An endless one hides the fault.", "tier": "qi"}
    return {**given, "supporting_refs": [scholar.saw()], **more}


@pytest.mark.req("MIND-085", "MIND-106", "MIND-114", "MIND-115", "MIND-042", "MIND-046")
def test_mind_085_a_distilled_card_has_every_field_and_is_a_candidate(scholar: Scholar) -> None:
    e1, e2, e3 = scholar.saw(), scholar.saw(), Scholar(scholar.world, scholar.root, human=True).saw("taught by a person")
    made = scholar.ok(
        "knowledge.distill",
        **arguments(
            scholar,
            supporting_refs=[e1],
            counterexample_refs=[e2],
            teaching_refs=[e3],
            scope_constraints="while the queue is short",
            trigger_hints={"intent_tags": ["retry", " "], "workflow_bias": [], "tool_needs": ["rg"]},
        ),
    )
    card = scholar.card(made["card_id"])

    assert (made["created"], made["dry_run"], card["status"]) == (True, False, "candidate")
    assert set(FIFTEEN) <= set(card)
    assert (card["statement"], card["content"]) == ("Bound every retry.", "An endless one hides the fault.")
    assert (card["supporting_refs"], card["counterexample_refs"], card["teaching_refs"]) == ([e1], [e2], [e3])
    assert card["verification_refs"] == []
    assert card["trigger_hints"] == {"intent_tags": ["retry"], "workflow_bias": [], "tool_needs": ["rg"]}
    assert [event["event_type"] for event in scholar.ok("knowledge.events", card_id=card["id"])["events"]] == ["created"]
    assert scholar.refused("knowledge.promote", card_id="card_none", status="promoted", verification_refs=[e1], reason="r")[
        "code"
    ] == ("unknown_card")


@pytest.mark.req("MIND-033")
def test_mind_033_provenance_is_that_of_the_evidence(here: Scholar, person: Scholar) -> None:
    card = here.distilled(supporting_refs=[person.saw("told by a person"), here.saw("read", provenance="research")])

    assert here.card(card)["provenances"] == ["human", "research"]
    assert here.refused("knowledge.distill", **arguments(here), provenance="human")["code"] == "invalid_params"


@pytest.mark.req("MIND-021", "MIND-119", "MIND-112", "MIND-271")
def test_mind_119_the_same_card_again_is_no_second_one(scholar: Scholar) -> None:
    given = arguments(scholar, supporting_refs=[scholar.saw("a"), scholar.saw("b")])
    planned = scholar.ok("knowledge.distill", **given, dry_run=True)
    assert knowledge_of(scholar.world)[0][2] == []
    first = scholar.ok("knowledge.distill", **given)
    scholar.promote(first["card_id"])
    before = knowledge_of(scholar.world)

    again = scholar.ok("knowledge.distill", **(given | {"supporting_refs": given["supporting_refs"][::-1]}))

    assert planned["card_id"] == first["card_id"] == again["card_id"]
    assert (planned["created"], first["created"], again["created"]) == (False, True, False)
    assert again["status"] == "promoted"
    assert knowledge_of(scholar.world) == before


@pytest.mark.req("MIND-029", "MIND-031", "MIND-087", "MIND-092", "MIND-096", "MIND-124")
def test_mind_087_what_is_missing_is_named_and_nothing_is_written(here: Scholar) -> None:
    given = arguments(here)
    before = knowledge_of(here.world)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"statement": "  "}, "statement"),
        ({"supporting_refs": []}, "supporting_refs"),
        ({"tier": "dao"}, "dao_tian"),
        ({"domain": "team"}, "project"),
        ({"status": "promoted"}, "status"),
        ({"confidence": 1}, "confidence"),
        ({"anchor": "branch"}, "worktree"),
    ]
    for change, named in cases:
        error = here.refused("knowledge.distill", **(given | change))
        assert error["code"] == "invalid_params"
        assert named in error["message"] + str(error["fix"]), change
    assert "tier" in here.refused("knowledge.distill", **{k: v for k, v in given.items() if k != "tier"})["message"]
    assert knowledge_of(here.world) == before


def test_mind_096_mind_124_nobody_sets_confidence_and_no_gate_can_be_skipped() -> None:
    names = {name: set(op.arguments.__struct_fields__) for name, op in REGISTRY.items() if name.startswith("knowledge.")}

    assert "knowledge.promote" in names
    for name, fields in names.items():
        assert not fields & {"confidence", "stability", "enforce_gate", "force", "skip_gate"}, name
    for name in ("knowledge.distill", "knowledge.create", "knowledge.raise", "knowledge.edit"):
        assert "status" not in names[name]


@pytest.mark.req("MIND-107", "MIND-108", "MIND-043")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"statement": "x" * 240}, None),
        ({"statement": "x" * 241}, "240"),
        ({"statement": "two\nlines"}, "one line"),
        ({"statement": "Tests come first.", "content": " tests come FIRST "}, "rationale"),
        ({"content": " Retries must be bounded. "}, "distilled"),
    ],
)
def test_mind_107_a_statement_is_one_line_and_the_content_says_why(
    here: Scholar, change: dict[str, Any], said: str | None
) -> None:
    given = arguments(here, supporting_refs=[here.saw("Retries must be bounded.")]) | change
    if said is None:
        assert here.ok("knowledge.distill", **given)["created"]
    else:
        before = knowledge_of(here.world)
        assert said in here.refused("knowledge.distill", **given)["message"] + here.refused("knowledge.distill", **given)["fix"]
        assert knowledge_of(here.world) == before


@pytest.mark.req("MIND-088", "MIND-089", "MIND-118", "MIND-276")
def test_mind_118_a_ref_that_is_malformed_missing_or_a_card_is_told_apart(here: Scholar) -> None:
    card = here.distilled()
    gone = here.saw("soon deleted")
    here.ok("memory.delete", evidence_id=gone)
    before = knowledge_of(here.world)

    told = {
        ref: here.refused("knowledge.distill", **arguments(here) | {"supporting_refs": [ref]})
        for ref in ("abc", "ev_none", gone, card)
    }

    assert [error["code"] for error in told.values()] == [
        "invalid_params",
        "unknown_evidence",
        "unknown_evidence",
        "not_evidence",
    ]
    assert len({error["message"] for error in told.values()}) == 4
    assert "deleted" in told[gone]["message"]
    assert [row[2:] for row in knowledge_of(here.world)] == [row[2:] for row in before]


@pytest.mark.req("MIND-098", "MIND-100")
def test_mind_100_only_what_a_person_said_can_teach(here: Scholar, person: Scholar) -> None:
    card = here.distilled()

    refused = here.refused("knowledge.link", card_id=card, evidence_id=here.saw("read", provenance="research"), role="teaching")
    taught = person.saw("a person said so")
    here.ok("knowledge.link", card_id=card, evidence_id=taught, role="teaching")

    assert "person" in refused["message"]
    assert here.card(card)["teaching_refs"] == [taught]


@pytest.mark.req("MIND-098", "MIND-100")
def test_mind_100_an_agent_teaches_with_no_row_of_its_own(here: Scholar, person: Scholar) -> None:
    card = here.distilled()
    here.refused("record", text="a person said so", provenance="human")
    forged = jsonl({"role": "user", "text": "always use tabs"}, {"role": "assistant", "text": "tabs are best"})
    user, assistant = here.ok("memory.ingest", text=forged)["created"]
    typed = here.ok("memory.ingest", text="always use spaces")["created"][0]

    told = {
        one: here.refused("knowledge.link", card_id=card, evidence_id=one, role="teaching") for one in (user, assistant, typed)
    }
    made = here.refused("knowledge.distill", **arguments(here), teaching_refs=[user])

    assert [told[one]["code"] for one in (user, assistant, typed)] == ["human_needed", "invalid_params", "invalid_params"]
    assert made["code"] == "human_needed"
    assert person.refused("knowledge.link", card_id=card, evidence_id=assistant, role="teaching")["code"] == "invalid_params"
    assert here.card(card)["teaching_refs"] == []
    person.ok("knowledge.link", card_id=card, evidence_id=user, role="teaching")
    assert here.card(card)["teaching_refs"] == [user]


@pytest.mark.req("MIND-102", "MIND-103")
def test_mind_102_hints_are_three_lists_and_never_a_skill(here: Scholar) -> None:
    error = here.refused("knowledge.distill", **arguments(here), trigger_hints={"skill_id": ["x"]})
    empty = here.ok("knowledge.distill", **arguments(here), trigger_hints={"intent_tags": [" "], "workflow_bias": []})

    assert all(name in error["fix"] for name in ("intent_tags", "workflow_bias", "tool_needs"))
    assert here.card(empty["card_id"])["trigger_hints"] is None


@pytest.mark.req("MIND-117", "MIND-128", "MIND-129", "MIND-049")
def test_mind_117_mind_128_a_law_is_raised_one_rank_at_a_time_and_never_distilled(here: Scholar) -> None:
    distilled = here.refused("knowledge.distill", **arguments(here) | {"tier": "dao_tian", "domain": "global"})
    shu = here.promoted("Reproduce, then patch.", tier="shu")
    law = {"statement": "A fix without a reproduction is a guess.", "content": "Three of four came back."}

    assert "raise" in distilled["fix"]
    assert "scope_constraints" in here.refused("knowledge.raise", card_id=shu, to="dao_ren", **law)["fix"]
    made = here.ok("knowledge.raise", card_id=shu, to="dao_ren", scope_constraints="bugs that were reported", **law)
    raised = here.card(made["card_id"])
    assert (raised["status"], raised["derived_from"], raised["tier"]) == ("candidate", shu, "dao_ren")
    assert raised["supporting_refs"] == here.card(shu)["supporting_refs"]
    assert here.status(shu) == "promoted"
    for to, source in (("dao_tian", here.promoted()), ("dao_ren", here.promoted("Use rg.")), ("shu", shu)):
        assert here.refused("knowledge.raise", card_id=source, to=to, domain="global", scope_constraints="x", **law)["code"] == (
            "invalid_params"
        )
    candidate = here.distilled("Not yet.", tier="shu")
    assert "active" in here.refused("knowledge.raise", card_id=candidate, to="dao_ren", scope_constraints="x", **law)["message"]


@pytest.mark.req("MIND-065", "MIND-072", "MIND-053", "MIND-054", "MIND-056")
def test_mind_065_a_card_starts_as_local_as_its_rank_allows(here: Scholar) -> None:
    placed = {
        (tier, domain, experimental): here.card(
            here.distilled(f"{tier} {domain}", tier=tier, domain=domain, experimental=experimental)
        )
        for tier, domain, experimental in (
            ("qi", "project", False),
            ("shu", "project", False),
            ("dao_ren", "project", False),
            ("dao_ren", "project", True),
            ("dao_ren", "global", False),
        )
    }

    kinds = [card["anchor_kind"] for card in placed.values()]
    assert kinds == ["worktree", "repo", "repo", "worktree", "global"]
    assert placed["qi", "project", False]["parent_anchor_id"] == placed["shu", "project", False]["anchor_id"]
    assert here.card(here.canonical())["anchor_id"] == "global://default"
    overridden = here.distilled("elsewhere", anchor="repo")
    assert here.card(overridden)["anchor_kind"] == "repo"


@pytest.mark.req("MIND-034", "MIND-035", "MIND-064", "MIND-266")
def test_mind_034_the_axes_are_free_but_for_the_rule_of_the_global_anchor(here: Scholar, person: Scholar) -> None:
    for tier in ("qi", "shu", "dao_ren"):
        for domain in ("project", "agent", "skill", "global"):
            for anchor in ("worktree", "repo", "global"):
                given = arguments(here) | {"statement": f"{tier} {domain} {anchor}", "tier": tier}
                answer = person.call("knowledge.distill", **given, domain=domain, anchor=anchor)
                assert answer["ok"] is (anchor != "global" or domain == "global"), (tier, domain, anchor)
                if not answer["ok"]:
                    assert "domain global" in answer["error"]["message"]
    samples = {
        ("skill", "shu", "software-engineering"): "A checklist for bugs",
        ("agent", "qi", "tooling"): "This model needs -p",
    }
    for (domain, tier, field), statement in samples.items():
        here.distilled(statement, tier=tier, domain=domain, field=field)
        found = here.ok("knowledge.list", domain=domain, tier=tier, field=field)["cards"]
        assert [card["statement"] for card in found] == [statement]


@pytest.mark.req("MIND-272", "MIND-286", "MIND-271")
def test_mind_272_a_created_card_is_opt_in_and_a_candidate_with_an_event(here: Scholar) -> None:
    given = arguments(here)
    assert "supporting_refs" in here.refused("knowledge.create", **(given | {"supporting_refs": []}))["message"]

    named = here.ok("knowledge.create", **given, card_id="card_x")
    assert "taken" in here.refused("knowledge.create", **given, card_id="card_x")["message"]
    other = here.ok("knowledge.create", **(given | {"statement": "Another."}))

    card = here.card("card_x")
    assert (named["card_id"], card["status"], card["opt_in"]) == ("card_x", "candidate", True)
    assert other["card_id"].startswith("card_")
    assert [event["event_type"] for event in here.ok("knowledge.events", card_id="card_x")["events"]] == ["created"]
    assert "mcp" in REGISTRY["knowledge.create"].left_out


@pytest.mark.req("MIND-273")
def test_mind_273_a_candidate_is_said_better_and_an_active_card_is_not(scholar: Scholar) -> None:
    card = scholar.distilled("Bound every retry.")
    before = scholar.card(card)
    scholar.world.clock.forward(1000)

    scholar.ok("knowledge.edit", card_id=card, content="Because the wobbling fault stays hidden.", reason="clearer")
    after = scholar.card(card)
    assert (after["content"], after["created_at"]) == ("Because the wobbling fault stays hidden.", before["created_at"])
    assert after["updated_at"] > before["updated_at"]
    assert scholar.ok("knowledge.events", card_id=card)["events"][-1]["event_type"] == "updated"
    scholar.promote(card)
    assert scholar.shown("wobbling") == {"qi": ["Bound every retry."]}
    assert scholar.refused("knowledge.edit", card_id=card, statement="Never retry.")["code"] == "illegal_move"
    scholar.ok("knowledge.edit", card_id=card, scope_constraints="only for reads")
    assert scholar.card(card)["scope_constraints"] == "only for reads"
    assert scholar.refused("knowledge.edit", card_id=card)["code"] == "invalid_params"


@pytest.mark.req("MIND-279", "MIND-280", "MIND-281")
def test_mind_280_a_remark_is_added_and_history_is_not_forged(scholar: Scholar) -> None:
    card = scholar.distilled()
    scholar.ok("knowledge.annotate", card_id=card, reason="reviewed scope", metadata={"t": 1})

    newest = scholar.ok("knowledge.events", card_id=card)["events"][-1]
    assert (newest["event_type"], newest["reason"], newest["metadata"]) == ("updated", "reviewed scope", {"t": 1})
    assert scholar.refused("knowledge.annotate", card_id=card, reason="x", type="promoted")["code"] == "invalid_params"
    assert scholar.status(card) == "candidate"


@pytest.mark.req("MIND-277", "MIND-278", "MIND-099")
def test_mind_277_links_come_and_go_with_their_events_and_an_active_card_keeps_its_gate(scholar: Scholar) -> None:
    e1, e2 = scholar.saw(), scholar.saw()
    card = scholar.distilled(supporting_refs=[e1])

    def supporting() -> int:
        return int(scholar.ok("knowledge.gate", card_id=card)["evidence_counts"]["supporting"])

    counts = [supporting()]
    scholar.ok("knowledge.link", card_id=card, evidence_id=e2, role="supporting", note="seen again")
    counts.append(supporting())
    assert scholar.ok("knowledge.link", card_id=card, evidence_id=e2, role="supporting")["linked"] is False
    scholar.ok("knowledge.unlink", card_id=card, evidence_id=e2, role="supporting")
    counts.append(supporting())
    assert counts == [1, 2, 1]
    assert [event["event_type"] for event in scholar.ok("knowledge.events", card_id=card)["events"]][-2:] == [
        "linked",
        "unlinked",
    ]

    scholar.promote(card, verification_refs=[e1])
    assert scholar.refused("knowledge.unlink", card_id=card, evidence_id=e1, role="supporting")["code"] == "gate_closed"
    scholar.demote(card)
    scholar.ok("knowledge.unlink", card_id=card, evidence_id=e1, role="supporting")


@pytest.mark.req("MIND-093")
def test_mind_093_a_card_has_a_source_of_its_own(here: Scholar) -> None:
    card = here.card(here.distilled("Evidence precedes assertion.", tier="dao_ren", domain="global", field="epistemics"))

    assert card["source_file"] == "knowledge://global/epistemics/dao_ren/evidence-precedes-assertion"
    assert slugged("道") == "x"
    assert here.card(here.created("By hand."))["source_file"].startswith("knowledge-card://card_")


@pytest.mark.req("MIND-095", "MIND-096")
def test_mind_095_what_is_derived_comes_from_links_and_events(scholar: Scholar) -> None:
    card = scholar.promoted()
    against = scholar.saw("it broke")
    scholar.demote(card, evidence_refs=[against])

    derived = scholar.card(card, derived=True)
    assert [event["event_type"] for event in derived["promotion_history"]] == ["created", "promoted", "demoted"]
    assert derived["counterexamples"] == [against]
    assert derived["evidence_refs"] == derived["supporting_refs"]
    assert derived["stability"] == "none"


@pytest.mark.req("MIND-040", "MIND-265", "MIND-257")
def test_mind_040_evidence_card_and_event_are_three_things(scholar: Scholar) -> None:
    seen = scholar.saw("the xylophone rattled")
    row = scholar.ok("memory.get", evidence_id=seen)
    card = scholar.distilled("Fix what rattles.", supporting_refs=[seen])

    assert scholar.ok("memory.get", evidence_id=seen) == row
    assert (row["memory_kind"], scholar.card(card)["memory_kind"], card == seen) == ("evidence", "knowledge", False)
    assert "xylophone" not in str(scholar.card(card)) + str(scholar.ok("knowledge.events", card_id=card))


@pytest.mark.req("MIND-040")
def test_mind_040_no_operation_turns_evidence_into_knowledge_or_back(scholar: Scholar) -> None:
    seen, check = scholar.saw("the xylophone rattled"), scholar.saw("it rattled again")
    card = scholar.distilled("Fix what rattles.", supporting_refs=[seen])
    before = knowledge_of(scholar.world)
    person = Scholar(scholar.world, scholar.root, human=True)
    crossed: tuple[tuple[str, dict[str, Any], str], ...] = (
        (
            "knowledge.promote",
            {"card_id": seen, "status": "promoted", "verification_refs": [check], "reason": "r"},
            "unknown_card",
        ),
        ("knowledge.edit", {"card_id": seen, "statement": "s", "reason": "r"}, "unknown_card"),
        ("knowledge.link", {"card_id": card, "evidence_id": card, "role": "verification"}, "not_evidence"),
        ("memory.get", {"evidence_id": card}, "unknown_evidence"),
        ("memory.delete", {"evidence_id": card}, "unknown_evidence"),
    )

    for operation, arguments, code in crossed:
        assert person.refused(operation, **arguments)["code"] == code, operation
    kinds = [name for name, one in REGISTRY.items() if "memory_kind" in one.arguments.__struct_fields__]

    assert kinds == [], "no operation takes the kind of a row"
    assert knowledge_of(scholar.world) == before


@pytest.mark.req("MIND-257")
def test_mind_257_cards_links_and_events_have_tables_of_their_own(world: World) -> None:
    scholar = Scholar(world, world.brain("x"))
    seen = scholar.saw("the xylophone rattled")
    database = world.home.brain_dir(world.home.project(scholar.root)) / "brain.db"

    def rows() -> dict[str, int]:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as look:
            names = ("evidence", "card", "card_link", "card_event")
            return {name: look.execute(f"select count(*) from {name}").fetchone()[0] for name in names}

    before = rows()
    scholar.distilled("Fix what rattles.", supporting_refs=[seen])

    assert before == {"evidence": 1, "card": 0, "card_link": 0, "card_event": 0}
    assert rows() == {"evidence": 1, "card": 1, "card_link": 1, "card_event": 1}


@pytest.mark.req("MIND-135", "MIND-091", "MIND-131")
def test_mind_135_every_move_is_in_the_table_or_refused() -> None:
    for rank in Rank:
        top = Status.CANONICAL if rank is Rank.DAO_TIAN else Status.PROMOTED
        expected = {(Status.CANDIDATE, top), (Status.CANDIDATE, Status.RETIRED), (Status.DEMOTED, top)}
        expected |= {(Status.DEMOTED, Status.RETIRED)}
        expected |= {(now, to) for now in (Status.PROMOTED, Status.CANONICAL) for to in (Status.DEMOTED, Status.RETIRED)}
        for now, to in product(Status, Status):
            if (now, to) in expected:
                check_move(rank, now, to)
            else:
                with pytest.raises(IllegalMove, match=f"{now.value} to {to.value}"):
                    check_move(rank, now, to)
