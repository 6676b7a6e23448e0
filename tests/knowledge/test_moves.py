"""Cards move: through the gate, down on evidence, outward step by step (MIND-070 to 072, 122 to 165, 282 to 285)."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hindbrain.operations import REGISTRY
from hindbrain.operations.registry import Effect
from hindbrain.policy.cards import GATES
from tests.support.scholar import Scholar, knowledge_of
from tests.support.world import World, git

BAD = ("none", "malformed", "missing", "deleted", "card")


@pytest.mark.req("MIND-140", "MIND-142", "MIND-045", "MIND-030")
def test_mind_140_the_table_of_gates_is_exact_and_needs_no_brain(world: World) -> None:
    answer = world.at(world.directory("nowhere")).call("knowledge.policy")

    told = [
        (
            one["tier"],
            one["target_status"],
            *(one["requirements"][f"min_{role}_refs"] for role in ("supporting", "verification", "teaching")),
        )
        for one in answer["policy"]
    ]
    assert told == [
        ("dao_tian", "canonical", 3, 2, 1),
        ("dao_ren", "promoted", 2, 1, 0),
        ("shu", "promoted", 1, 1, 0),
        ("qi", "promoted", 1, 1, 0),
    ]
    assert [one["requirements"]["reviewer_required"] for one in answer["policy"]] == [True, False, False, False]
    assert all(one["requirements"]["counterexamples_block"] for one in answer["policy"])
    assert len({one["meaning"] for one in answer["policy"]}) == 4
    assert not world.home.path.joinpath("brains").exists()


@pytest.mark.req("MIND-122", "MIND-046", "MIND-283")
def test_mind_122_a_card_is_activated_by_evidence_that_it_was_checked(scholar: Scholar) -> None:
    card, check = scholar.distilled(), scholar.saw("checked again")

    answer = scholar.promote(card, verification_refs=[check], reason="seen twice")

    assert (answer["old_status"], answer["new_status"], answer["gate"]["allowed"]) == ("candidate", "promoted", True)
    assert answer["verification_refs"] == [check]
    events = scholar.ok("knowledge.events", card_id=card)["events"]
    assert [(one["event_type"], one["from_status"], one["to_status"]) for one in events] == [
        ("created", None, "candidate"),
        ("promoted", "candidate", "promoted"),
    ]
    assert events[-1]["reason"] == "seen twice"


@pytest.mark.req("MIND-123", "MIND-283")
def test_mind_123_a_closed_gate_says_what_is_missing_and_leaves_nothing(scholar: Scholar) -> None:
    card = scholar.distilled("A law.", tier="dao_ren", supporting_refs=[scholar.saw()])
    check, second = scholar.saw(), scholar.saw()
    before = knowledge_of(scholar.world)

    error = scholar.refused("knowledge.promote", card_id=card, status="promoted", verification_refs=[check], reason="r")

    assert (error["code"], error["gate"]["reasons"]) == ("gate_closed", ["supporting: have 1, need 2"])
    assert knowledge_of(scholar.world) == before
    scholar.ok("knowledge.link", card_id=card, evidence_id=second, role="supporting")
    assert scholar.promote(card, verification_refs=[check])["new_status"] == "promoted"


@pytest.mark.req("MIND-143", "MIND-144", "MIND-145", "MIND-282")
def test_mind_145_the_gate_counts_each_role_and_changes_nothing(here: Scholar, person: Scholar) -> None:
    below = here.promoted("In a field.", tier="dao_ren", domain="global")
    law = {"statement": "Everywhere.", "content": "It held.", "domain": "global", "scope_constraints": "all"}
    top = person.ok("knowledge.raise", card_id=below, to="dao_tian", supporting_refs=[here.saw()], **law)["card_id"]
    before = knowledge_of(here.world)

    closed = here.ok("knowledge.gate", card_id=top)
    by_person = person.ok("knowledge.gate", card_id=top, reviewer="alex")
    by_agent = here.ok("knowledge.gate", card_id=top, reviewer="alex")

    assert (closed["target_status"], closed["allowed"], len(closed["reasons"])) == ("canonical", False, 4)
    assert closed["evidence_counts"] == {"supporting": 1, "verification": 0, "counterexample": 0, "teaching": 0}
    assert [closed["requirements"][f"min_{role}_refs"] for role in ("supporting", "verification", "teaching")] == [3, 2, 1]
    assert (len(by_person["reasons"]), len(by_agent["reasons"])) == (3, 4)
    assert here.ok("knowledge.gate", card_id=here.distilled("A tool."))["target_status"] == "promoted"
    assert [row[:5] for row in knowledge_of(here.world)][1:] == [row[:5] for row in before][1:]
    assert "alex" not in str(knowledge_of(here.world))


@pytest.mark.req("MIND-141")
def test_mind_141_one_table_feeds_policy_gate_and_promote(here: Scholar, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from hindbrain.domain.card import Rank

    ordinary, opt_in = here.distilled(), here.created("By hand.")
    monkeypatch.setitem(GATES, Rank.QI, replace(GATES[Rank.QI], supporting=5))

    assert here.ok("knowledge.policy")["policy"][3]["requirements"]["min_supporting_refs"] == 5
    for card in (ordinary, opt_in):
        assert "supporting: have 1, need 5" in here.ok("knowledge.gate", card_id=card)["reasons"]
        error = here.refused("knowledge.promote", card_id=card, status="promoted", verification_refs=[here.saw()], reason="r")
        assert "need 5" in error["message"]


@pytest.mark.req("MIND-146", "MIND-147", "MIND-101")
def test_mind_146_a_counterexample_closes_the_gate_until_a_person_lets_it_pass(here: Scholar, person: Scholar) -> None:
    card, check = here.distilled(counterexample_refs=[here.saw("it failed once")]), here.saw()
    given: dict[str, Any] = {"card_id": card, "status": "promoted", "verification_refs": [check], "reason": "r"}

    assert "counterexamples" in here.refused("knowledge.promote", **given)["message"]
    assert here.refused("knowledge.promote", **given, allow_counterexamples=True)["code"] == "human_needed"
    assert here.refused("knowledge.promote", **given, allow_counterexamples=True, reviewer="alex")["code"] == "human_needed"
    person.ok("knowledge.promote", **given, allow_counterexamples=True, reviewer="alex")
    newest = here.ok("knowledge.events", card_id=card)["events"][-1]
    assert newest["metadata"] == {"verification_refs": [check], "reviewer": "alex", "counterexamples_allowed": True}
    bare = here.distilled("Nothing.", counterexample_refs=[here.saw()], supporting_refs=[here.saw()])
    here.ok("knowledge.unlink", card_id=bare, evidence_id=here.card(bare)["supporting_refs"][0], role="supporting")
    assert not person.ok("knowledge.gate", card_id=bare, allow_counterexamples=True)["allowed"]
    here.demote(card)
    person.ok("knowledge.promote", **given, allow_counterexamples=True)
    assert here.card(card)["verification_refs"] == [check]


@pytest.mark.req("MIND-148", "MIND-149", "MIND-134", "MIND-324")
def test_mind_148_a_universal_law_needs_a_person_on_the_human_channel(here: Scholar, person: Scholar) -> None:
    law = here.canonical("Evidence precedes assertion.")
    for name in ("codex:maker", "human:founder"):
        given = {"card_id": law, "status": "demoted", "evidence_refs": [here.saw()], "reason": "r", "reason_type": "obsolete"}
        assert here.world.at(here.root, name).call("knowledge.demote", **given)["error"]["code"] == "human_needed"
    here.demote(law)
    (against,) = here.card(law)["counterexample_refs"]
    here.ok("knowledge.unlink", card_id=law, evidence_id=against, role="counterexample")
    given: dict[str, Any] = {"card_id": law, "status": "canonical", "verification_refs": [here.saw()], "reason": "again"}

    for name in ("codex:maker", "human:founder", "founder"):
        agent = here.world.at(here.root, name)
        for more in ({}, {"reviewer": "ann"}, {"reviewer": "human:founder"}):
            error = agent.call("knowledge.promote", **given, **more)["error"]
            assert error["code"] == "human_needed"
            assert error["command"][:4] == ["hindbrain", "knowledge", "promote", law]
    here.ok("adoption.record", track="evaluator", signal="used", feature="advisory_gate", evaluator_id="eval_policy")
    assert "evaluator" in person.refused("knowledge.promote", **given, reviewer="eval_policy")["message"]
    assert person.ok("knowledge.promote", **given, reviewer="ann")["new_status"] == "canonical"
    assert here.ok("knowledge.events", card_id=law)["events"][-1]["channel"] == "human"


@pytest.mark.req("MIND-150")
def test_mind_150_a_target_without_a_policy_is_closed(here: Scholar, person: Scholar) -> None:
    card = here.promoted()

    gate = person.ok("knowledge.gate", card_id=card, target_status="canonical", reviewer="ann")
    error = person.refused("knowledge.promote", card_id=card, status="canonical", verification_refs=[here.saw()], reason="r")

    assert (gate["allowed"], "no policy" in gate["reasons"][0]) == (False, True)
    assert error["code"] == "illegal_move"


@pytest.mark.req("MIND-151", "MIND-026", "CONF-05")
def test_mind_151_deleted_evidence_closes_the_gate_by_name(scholar: Scholar) -> None:
    seen = scholar.saw("soon gone")
    card = scholar.distilled(supporting_refs=[seen, scholar.saw()])
    scholar.ok("memory.delete", evidence_id=seen)

    gate = scholar.ok("knowledge.gate", card_id=card)

    assert any(seen in reason for reason in gate["reasons"])
    error = scholar.refused("knowledge.promote", card_id=card, status="promoted", verification_refs=[scholar.saw()], reason="r")
    assert (error["code"], seen in error["message"]) == ("gate_closed", True)
    scholar.ok("memory.restore", evidence_id=seen)
    assert scholar.promote(card)["new_status"] == "promoted"


@pytest.mark.req("MIND-139")
def test_mind_139_what_the_system_says_of_itself_verifies_nothing(here: Scholar) -> None:
    card = here.distilled()
    own = here.saw("the card was helpful", provenance="runtime", tags=["self-report"])

    error = here.refused("knowledge.promote", card_id=card, status="promoted", verification_refs=[own], reason="r")

    assert "verification: have 0, need 1" in error["gate"]["reasons"]


def bad_refs(scholar: Scholar) -> dict[str, list[str]]:
    gone = scholar.saw("soon deleted")
    scholar.ok("memory.delete", evidence_id=gone)
    return dict(zip(BAD, ([], ["abc"], ["ev_missing"], [gone], [scholar.distilled("Another card.")]), strict=True))


@pytest.mark.req("MIND-153", "MIND-154", "MIND-155", "MIND-126")
def test_mind_153_lifecycle_takes_only_living_evidence(scholar: Scholar) -> None:
    refs = bad_refs(scholar)
    cards = [scholar.distilled(), scholar.created("By hand.")]
    active = [scholar.promoted("One."), scholar.promoted("Two.")]
    before = knowledge_of(scholar.world)
    said = set()
    for (name, given), card, up in product(refs.items(), (0, 1), (True, False)):
        if up:
            error = scholar.refused(
                "knowledge.promote", card_id=cards[card], status="promoted", verification_refs=given, reason="r"
            )
        else:
            error = scholar.refused(
                "knowledge.demote",
                card_id=active[card],
                status="demoted",
                evidence_refs=given,
                reason="r",
                reason_type="contradicted",
            )
        said.add((name, error["code"]))
    assert said == {
        ("none", "invalid_params"),
        ("malformed", "invalid_params"),
        ("missing", "unknown_evidence"),
        ("deleted", "unknown_evidence"),
        ("card", "not_evidence"),
    }
    assert knowledge_of(scholar.world) == before


@pytest.mark.req("MIND-137")
def test_mind_137_a_retired_card_is_shown_with_its_history(scholar: Scholar) -> None:
    card = scholar.promoted("Bound every retry.")
    scholar.demote(card, status="retired")

    shown = scholar.ok("knowledge.get", card_id=card)

    assert [move["to_status"] for move in shown["history"]] == ["candidate", "promoted", "retired"]
    assert all(move["actor"] for move in shown["history"])
    assert "promoted -> retired by " in shown["rendered"]


@pytest.mark.req("MIND-125", "MIND-126", "MIND-284", "MIND-137", "MIND-285")
def test_mind_125_a_card_is_demoted_or_retired_on_evidence(scholar: Scholar) -> None:
    first, second = scholar.promoted("Bound the retry."), scholar.promoted("Cap the retry.")
    against = scholar.saw("the retry was the fault")
    wrong = scholar.refused(
        "knowledge.demote", card_id=first, status="demoted", evidence_refs=[against], reason="r", reason_type="bored"
    )

    scholar.demote(first, evidence_refs=[against])
    scholar.demote(second, evidence_refs=[against], status="retired", reason_type="obsolete")

    assert all(name in wrong["fix"] for name in ("contradicted", "obsolete", "superseded", "out_of_scope", "unsafe"))
    told = [scholar.ok("knowledge.events", card_id=card)["events"][-1] for card in (first, second)]
    assert [event["event_type"] for event in told] == ["demoted", "retired"]
    assert told[0]["metadata"]["reason_type"] == "contradicted"
    assert scholar.card(first)["counterexample_refs"] == [against]
    assert [card["id"] for card in scholar.ok("knowledge.list", status="retired")["cards"]] == [second]
    assert scholar.shown("retry", include_cards=True) == {}
    assert scholar.ok("knowledge.retrieve", query="retry")["cards"] == []


@pytest.mark.req("MIND-136", "MIND-269")
def test_mind_136_retired_is_final_and_a_demoted_card_can_come_back(here: Scholar, person: Scholar) -> None:
    card = here.promoted()
    here.demote(card)
    person.promote(card, allow_counterexamples=True)
    assert [event["event_type"] for event in here.ok("knowledge.events", card_id=card)["events"]] == [
        "created",
        "promoted",
        "demoted",
        "promoted",
    ]
    assert len({event["id"] for event in here.ok("knowledge.events", card_id=card)["events"]}) == 4
    here.demote(card, status="retired")
    before = knowledge_of(here.world)
    refs = here.card(card)["verification_refs"]
    error = person.refused("knowledge.promote", card_id=card, status="promoted", verification_refs=refs, reason="r")
    assert (error["code"], "retired" in error["message"]) == ("illegal_move", True)
    assert knowledge_of(here.world) == before
    successor = here.distilled("Bound it differently.", supersedes=card)
    assert here.card(successor)["supersedes"] == card


@pytest.mark.req("MIND-127", "MIND-162", "MIND-070")
def test_mind_127_moves_change_neither_words_nor_what_is_cited(scholar: Scholar) -> None:
    card = scholar.distilled("Bound every retry.", tier="qi")

    def said() -> dict[str, Any]:
        keys = ("statement", "content", "supporting_refs", "tier", "field", "importance", "trigger_hints")
        return {key: scholar.card(card)[key] for key in keys}

    def scope() -> tuple[str, str]:
        found = scholar.card(card)
        return found["anchor_kind"], found["status"]

    before, steps = said(), []
    scholar.promote(card)
    steps.append((said() == before, *scope()))
    scholar.ok("knowledge.publish", card_id=card, to="repo", reason="holds for all checkouts")
    steps.append((said() == before, *scope()))
    scholar.demote(card)
    steps.append((said() == before, *scope()))

    assert steps == [(True, "worktree", "promoted"), (True, "repo", "promoted"), (True, "repo", "demoted")]


@pytest.mark.req("MIND-130", "MIND-152", "MIND-389")
def test_mind_130_nothing_but_promote_makes_a_candidate_active(here: Scholar) -> None:
    card = here.distilled("One step from active.")
    here.ok("knowledge.link", card_id=card, evidence_id=here.saw(), role="verification")
    assert here.ok("knowledge.gate", card_id=card)["allowed"]
    for _ in range(100):
        here.ok("adoption.record", track="card_context", signal="accepted", feature="include_cards", card_id=card, note="n")
    advice = {"evaluator_id": "e", "subject_kind": "qi", "subject_id": card, "proposed_action": "promote"}
    outcome = {"track": "card_context", "signal": "accepted", "feature": "include_cards", "card_id": card, "note": "n"}
    finding = {"summary": "One step from active was seen again."}
    report = {"report_id": "r", "title": "t", "sources": ["s"], "findings": [finding]}
    report |= {"candidate_insights": [{"statement": "One step from active.", "finding_refs": [0]}]}
    given: dict[str, dict[str, Any]] = {
        "adoption.prepare": outcome,
        "adoption.check": outcome,
        "adoption.gate": {"candidate": "card-context-default"},
        "adoption.readiness": {"candidate": "card-context-default"},
        "defaults.propose": {"candidate": "card-context", "rollback_criteria": ["c"]},
        "knowledge.advise": advice,
        "knowledge.get": {"card_id": card},
        "knowledge.gate": {"card_id": card},
        "knowledge.events": {"card_id": card},
        "knowledge.retrieve": {"query": "one step"},
        "research.validate": {"report": report},
        "context": {"query": "one step", "include_cards": True},
        "brief": {"query": "one step"},
        "north": {"task": "one step"},
    }
    families = ("knowledge.", "adoption.", "defaults.", "research.", "maintenance.", "release.")
    others = ("context", "brief", "north", "wake", "review", "doctor")
    reports = [name for name, one in REGISTRY.items() if one.effect is Effect.READ and name.startswith((*families, *others))]
    assert set(given) <= set(reports)
    for name in reports:
        here.ok(name, **given.get(name, {}))
    assert Scholar(here.world, here.root, human=True).ok("research.ingest", report=report, execute=True)["writes"] is True

    assert here.status(card) == "candidate"
    assert [event["event_type"] for event in here.ok("knowledge.events", card_id=card)["events"]] == ["created", "linked"]


# -- outward ------------------------------------------------------------------------------------------------------------


def at_worktree(scholar: Scholar, statement: str = "Bound every retry.", **more: Any) -> str:
    return scholar.promoted(statement, tier="qi", anchor="worktree", **more)


@pytest.mark.req("MIND-156", "MIND-163", "MIND-164", "MIND-071")
def test_mind_156_a_card_is_published_to_its_repository_with_one_event(scholar: Scholar) -> None:
    card = at_worktree(scholar)
    before = scholar.card(card)

    answer = scholar.ok("knowledge.publish", card_id=card, to="repo", reason="every checkout needs it")

    assert (answer["new_anchor_kind"], answer["new_anchor_id"], answer["new_parent_anchor_id"]) == (
        "repo",
        before["parent_anchor_id"],
        None,
    )
    assert answer["rendered"] == f"published {card}: worktree:{before['anchor_id']} -> repo:{before['parent_anchor_id']}"
    newest = scholar.ok("knowledge.events", card_id=card)["events"][-1]
    assert (newest["event_type"], newest["reason"]) == ("published_anchor", "every checkout needs it")
    assert newest["metadata"]["old_anchor"]["id"] == before["anchor_id"]
    assert newest["metadata"]["new_anchor"]["id"] == before["parent_anchor_id"]


@pytest.mark.req("MIND-157", "MIND-158", "MIND-165")
def test_mind_158_only_one_step_outward_is_allowed_and_only_for_active_cards(here: Scholar, person: Scholar) -> None:
    for status in ("candidate", "demoted", "retired"):
        card = here.distilled(f"Not active: {status}.", anchor="worktree")
        if status != "candidate":
            here.demote(card, status="retired") if status == "retired" else (here.promote(card), here.demote(card))
        assert here.refused("knowledge.publish", card_id=card, to="repo", reason="r")["code"] == "illegal_move"
    assert here.refused("knowledge.publish", card_id=here.saw(), to="repo", reason="r")["code"] == "unknown_card"
    for start, to in product(("worktree", "repo", "global"), repeat=2):
        card = here.promoted(f"From {start} to {to}.", tier="dao_ren", domain="global", anchor=start)
        if (start, to) == ("repo", "global"):
            assert here.refused("knowledge.publish", card_id=card, to=to, reason="r")["code"] == "human_needed"
        answer = person.call("knowledge.publish", card_id=card, to=to, reason="r")
        assert answer["ok"] is ((start, to) in (("worktree", "repo"), ("repo", "global"))), (start, to)


@pytest.mark.req("MIND-159")
def test_mind_159_the_repository_is_named_or_known_or_derived(world: World) -> None:
    plain = Scholar(world, world.directory("plain"))
    plain.ok("ingest", path=plain.root, project_root=plain.root)
    card = at_worktree(plain)
    assert plain.card(card)["parent_anchor_id"] is None

    error = plain.refused("knowledge.publish", card_id=card, to="repo", reason="r")
    named = plain.ok("knowledge.publish", card_id=card, to="repo", reason="r", target_anchor_id="repo://r")

    assert all(way in error["fix"] for way in ("target_anchor_id", "parent", "cwd"))
    assert named["new_anchor_id"] == "repo://r"
    assert plain.refused("knowledge.publish", card_id=at_worktree(plain, "B."), to="repo", reason="r", target_anchor_id="x")[
        "code"
    ] == ("invalid_params")


@pytest.mark.req("MIND-160", "MIND-161", "MIND-071")
def test_mind_161_a_project_card_becomes_everybodys_only_by_a_person(any_world: World) -> None:
    here = Scholar(any_world, any_world.brain("app"))
    person, other = Scholar(any_world, here.root, human=True), Scholar(any_world, any_world.brain("other"))
    card = here.promoted("Bound every retry.", tier="shu")
    evidence = here.card(card)["supporting_refs"][0]

    assert "domain global" in here.refused("knowledge.publish", card_id=card, to="global", reason="r")["message"]
    assert here.refused("knowledge.publish", card_id=card, to="global", reason="r", as_global=True)["code"] == "human_needed"
    assert other.shown("retry") == {}
    person.ok("knowledge.publish", card_id=card, to="global", reason="holds everywhere", as_global=True)

    published = other.card(card)
    assert (published["domain"], published["anchor_id"], published["status"]) == ("global", "global://default", "promoted")
    assert other.shown("retry") == here.shown("retry") == {"shu": ["Bound every retry."]}
    assert other.ok("memory.get", evidence_id=evidence)["content"] == here.ok("memory.get", evidence_id=evidence)["content"]
    assert [event["event_type"] for event in here.ok("knowledge.events", card_id=card)["events"]] == [
        "created",
        "promoted",
        "published_anchor",
        "published_anchor",
    ]
    assert [one["id"] for one in here.ok("knowledge.list")["cards"]] == [card]
    other.demote(card, evidence_refs=[other.saw("it did not hold here")])
    assert here.shown("retry") == {}


@pytest.mark.req("MIND-055", "MIND-069", "MIND-072")
def test_mind_055_mind_072_a_checkouts_lesson_stays_there_until_it_is_published(world: World) -> None:
    root = world.brain("app")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    linked = str(world.place / "linked")
    git(root, "worktree", "add", "-q", linked)
    here, there = Scholar(world, root), Scholar(world, linked)
    card = at_worktree(here, "Retry of the branch.")
    shared = here.promoted("Retry of the repository.", tier="qi", anchor="repo")

    assert here.shown("retry") == {"qi": ["Retry of the branch.", "Retry of the repository."]}
    assert there.shown("retry") == {"qi": ["Retry of the repository."]}
    here.ok("knowledge.publish", card_id=card, to="repo", reason="r")
    assert sorted(there.shown("retry")["qi"]) == ["Retry of the branch.", "Retry of the repository."]
    assert there.card(shared)["anchor_id"] == there.card(card)["anchor_id"]


@pytest.mark.req("CONF-01", "CONF-02")
def test_conf_01_no_agent_takes_evidence_of_a_project_to_all_of_them(any_world: World) -> None:
    here, other = Scholar(any_world, any_world.brain("a")), Scholar(any_world, any_world.brain("b"))
    person = Scholar(any_world, here.root, human=True)
    secret = here.saw("project falcon pays two thousand")
    law = here.promoted("A law.", tier="dao_ren", domain="global", anchor="repo")
    shared = here.promoted("Shared already.", tier="dao_ren", domain="global")
    words = {"statement": "Everywhere.", "content": "It held.", "domain": "global"}
    acts: list[tuple[str, dict[str, Any]]] = [
        ("knowledge.distill", {**words, "tier": "dao_ren", "supporting_refs": [secret]}),
        ("knowledge.create", {**words, "tier": "qi", "anchor": "global", "supporting_refs": [secret]}),
        ("knowledge.raise", {**words, "card_id": law, "to": "dao_tian", "scope_constraints": "all", "supporting_refs": [secret]}),
        ("knowledge.link", {"card_id": shared, "evidence_id": secret, "role": "supporting"}),
        ("knowledge.publish", {"card_id": law, "to": "global", "reason": "r"}),
        (
            "knowledge.demote",
            {"card_id": shared, "status": "demoted", "evidence_refs": [secret], "reason": "r", "reason_type": "obsolete"},
        ),
    ]
    before = knowledge_of(any_world)
    for name, arguments in acts:
        assert here.refused(name, **arguments)["code"] == "human_needed", name
    assert knowledge_of(any_world) == before
    assert "falcon" not in str(other.ok("memory.search", query="project falcon pays", floor=False)["results"])
    person.ok("knowledge.link", card_id=shared, evidence_id=secret, role="supporting")
    assert "falcon" in str(other.ok("memory.search", query="project falcon pays", floor=False)["results"])


@pytest.mark.req("MIND-059", "MIND-060")
def test_mind_059_a_repository_that_moved_keeps_its_cards(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    here = Scholar(any_world, root)
    here.promoted("Retry of the repository.", tier="shu")
    here.promoted("Retry of the checkout.", tier="qi", anchor="worktree")
    shown = here.shown("retry")
    assert len(shown) == 2
    moved = str(any_world.place / "moved")
    Path(root).rename(moved)

    there = Scholar(any_world, moved)
    assert any_world.human(moved).call("rebind", old=root, new=moved)["ok"]

    assert there.shown("retry") == shown
    assert [item["text"] for item in there.ok("north", task="retry")["knowledge"]] == [
        text for found in shown.values() for text in found
    ]
    there.promoted("Retry after the move.", tier="shu")
    assert len(there.shown("retry")["shu"]) == 2


@pytest.mark.req("MIND-059")
def test_mind_059_cards_that_were_imported_speak_in_their_new_repository(any_world: World) -> None:
    here = Scholar(any_world, any_world.brain("app"))
    here.promoted("Retry of the repository.", tier="shu")
    here.promoted("Retry of the checkout.", tier="qi", anchor="worktree")
    here.ok("export", target=str(any_world.place / "out.tar.gz"))
    there = Scholar(any_world, any_world.brain("new"), human=True)

    there.ok("import", source=str(any_world.place / "out.tar.gz"))

    assert there.shown("retry") == here.shown("retry")
