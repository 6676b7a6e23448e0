"""What memory gave becomes what a plan is told."""

from typing import Any

import pytest

from hindbrain.domain.notes import MegramNote, PotentialsNote, RuleNote
from hindbrain.engines.calibration import Recalled, calibrated, forbidden_by, mentions, must_not_list, told
from hindbrain.policy.experience import quantized

SPACE, ENTITY = "intent:count_the_lines", "env:local"


def rule(content: str, sigma: float = 1.0, id: str = "r1") -> RuleNote:  # noqa: A002 - the name of the field
    return RuleNote(id=id, space=SPACE, entity=ENTITY, content=content, sigma=sigma)


def episode(state: str, content: str, *, day: int = 1, level: str = "M") -> MegramNote:
    f, sigma, k = quantized(state)
    return MegramNote(
        id=f"m-{state}-{day}-{content[:8]}",
        level=level,  # type: ignore[arg-type]
        created_at=f"2026-01-{day:02}T00:00:00.000Z",
        space=SPACE,
        entity=ENTITY,
        content=content,
        state=state,
        f=f,
        sigma=sigma,
        k=k,
    )


def sums(action: str) -> PotentialsNote:
    return PotentialsNote(attention=1.0, decision=0.0, action=action)  # type: ignore[arg-type]


def recalled(**more: Any) -> Recalled:
    return Recalled(space=SPACE, entity=ENTITY, **more)


def test_ctl_062_a_hint_is_given_only_without_rules_and_episodes():
    bare = calibrated([recalled(potentials=sums("Exploit"))])
    ruled = calibrated([recalled(potentials=sums("Exploit"), sops=(rule("Prefer: glob"),))])
    lived = calibrated([recalled(potentials=sums("Exploit"), recent=(episode("accept", "Succeeded. Tools: glob *"),))])
    assert "it went well" in told(bare)
    assert "it went well" not in told(ruled) + told(lived)
    assert "- Prefer: glob" in told(ruled)
    assert "- Succeeded. Tools: glob *" in told(lived)


def test_ctl_063_each_action_has_its_effect():
    texts = {
        action: told(calibrated([recalled(potentials=sums(action))])) for action in ("Exploit", "Avoid", "Caution", "Ignore")
    }
    assert texts["Exploit"].startswith("SHOULD PREFER:\n- ")
    assert texts["Avoid"].startswith("MUST NOT:\n- ")
    assert texts["Caution"].startswith("TAKE CARE")
    assert texts["Ignore"] == told(calibrated([])) == ""
    assert calibrated([recalled(potentials=sums("Caution"))]).caution
    faded = calibrated([recalled(potentials=sums("Ignore"), recent=(episode("accept", "Succeeded."),))])
    assert told(faded) == ""


@pytest.mark.parametrize(("sigma", "prefer"), [(1.0, True), (0.0, False), (-1.0, False)])
def test_ctl_064_the_sign_of_a_rule_says_where_it_goes(sigma, prefer):
    found = calibrated([recalled(sops=(rule("use glob", sigma),))])
    assert (found.prefer, found.must_not) == ((("use glob",), ()) if prefer else ((), ("use glob",)))


def test_ctl_065_good_ends_are_preferred_bad_ones_forbidden_and_others_are_not_told():
    found = calibrated(
        [
            recalled(
                recent=(
                    episode("accept", "good a", day=5),
                    episode("abandon", "bad", day=4),
                    episode("change_path", "dead end", day=3),
                    episode("success", "good b", day=2),
                )
            )
        ]
    )
    assert found.prefer == ("good a", "good b")
    assert found.must_not == ("bad",)


def test_ctl_062_at_most_three_episodes_the_newest():
    found = calibrated([recalled(recent=tuple(episode("accept", f"day {day}", day=day) for day in (3, 9, 5, 7)))])
    assert found.prefer == ("day 9", "day 7", "day 5")


def test_ctl_067_what_must_not_be_done_in_order_and_without_doubles():
    found = calibrated([recalled(sops=(rule("touch the lock file", -1.0), rule("touch the lock file", -1.0, id="r2")))])
    assert must_not_list(found, ["run", "run"], ["a.txt", "a.txt"]) == (
        "touch the lock file",
        "use the tool run",
        "use the target a.txt",
    )
    assert told(found, ["run"], ["a.txt"]) == "MUST NOT:\n- touch the lock file\n- use the tool run\n- use the target a.txt"


def test_ctl_069_ten_entries_of_four_hundred_characters():
    found = calibrated([recalled(sops=tuple(rule(f"{number} " + "x" * 900, id=f"r{number}") for number in range(50)))])
    assert [text.split()[0] for text in found.prefer] == [str(number) for number in range(10)]
    assert {len(text) for text in found.prefer} == {400}


def test_exp_005_a_rule_against_a_law_is_kept_back_and_named():
    found = calibrated([recalled(sops=(rule("Delete the cache without asking for confirmation"), rule("use glob", id="r2")))])
    assert found.prefer == ("use glob",)
    assert found.law_conflicts == ("law_conflict: rule r1 against law 1",)
    assert found.sop_ids == ("r2",)


def test_exp_006_two_newest_episodes_outweigh_a_rule_for_this_task():
    sop = rule("Prefer: Succeeded. Tools: glob *.md")
    against = (
        episode("abandon", "Failed. Tools tried: glob *.md", day=9),
        episode("abandon", "Failed. Tools tried: glob", day=8),
    )
    found = calibrated([recalled(sops=(sop,), recent=against)], tools=("glob", "read"))
    assert sop.content not in told(found)
    assert "MUST NOT:\n- Failed. Tools tried: glob *.md" in told(found)
    assert [(one.id, one.sigma) for one in found.overridden] == [("r1", 1.0)]


@pytest.mark.parametrize(
    "recent",
    [
        (episode("abandon", "Failed. Tools tried: glob", day=9),),
        (episode("accept", "ok", day=9), episode("abandon", "glob", day=8), episode("abandon", "glob", day=7)),
        (episode("abandon", "Tools tried: read a", day=9), episode("abandon", "Tools tried: read b", day=8)),
        (episode("abandon", "glob", day=9, level="K"), episode("abandon", "glob", day=8)),
    ],
)
def test_exp_006_less_than_that_leaves_the_rule(recent):
    found = calibrated([recalled(sops=(rule("use glob"),), recent=recent)], tools=("glob", "read"))
    assert "use glob" in found.prefer
    assert found.overridden == ()


def test_exp_006_a_constraint_is_outweighed_by_two_good_ends():
    good = (episode("accept", "Succeeded. Tools: run ls", day=9), episode("success", "Succeeded. Tools: run ls", day=8))
    found = calibrated([recalled(sops=(rule("Do not: run ls", -1.0),), recent=good)], tools=("run",))
    assert found.must_not == ()
    assert [one.sigma for one in found.overridden] == [-1.0]


def test_ctl_074_a_memory_forbids_the_act_it_names_and_no_other():
    found = calibrated([recalled(recent=(episode("abandon", "Failed. Tools tried: read notes.txt, glob *.md. Gap: none"),))])
    acts = [
        ("read", "notes.txt"),
        ("read", "otes.txt"),
        ("read", "notes"),
        ("glob", "*.md"),
        ("run", "notes.txt"),
        ("glob", "a/*.md"),
    ]
    assert [(one.tool, one.target) for one in forbidden_by(found, acts)] == [("read", "notes.txt"), ("glob", "*.md")]
    long = "cat " + "x" * 200
    assert mentions(f"Tools: {('run ' + long)[:120]}. Result: 1", "run", long)


def test_exp_099_an_insight_is_told_by_its_lesson():
    text = '{"lesson": "Use glob for names.", "tags": ["glob", "files"], "category": "procedure"}'
    assert calibrated([recalled(recent=(episode("accept", text),))]).prefer == ("Use glob for names.",)
