"""The doctrine pack: what it teaches, how small it stays, and where it is written."""

import dataclasses
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hindbrain.domain.misdelivery import Misdelivery
from hindbrain.domain.mission import DissentProtocol, EventType, MissionMode
from hindbrain.engines.mission_report import reported
from hindbrain.engines.pack import blocked, compact, doctrine_text, reference
from hindbrain.operations import REGISTRY, input_schema
from hindbrain.operations.pack import taught
from hindbrain.policy import doctrine
from hindbrain.policy.doctrine import BLOCK, DOCTRINE, HOSTS, PACK_BYTES, PACK_LINES
from hindbrain.policy.mission_routes import RULES
from tests.architecture.source import ROOT
from tests.docs.test_policy_notes import A_ROUND, NOTES, digest, unnoted
from tests.support.world import World

PACKS = ROOT / "docs" / "reference" / "packs"
KEYS = ("router", "when", "short_audit", "direct_proof", "light", "memory", "handover", "recovery", "dissent")


def section(key: str) -> str:
    """A section as it stands in the pack that is written."""
    title = next(one.title for one in DOCTRINE if one.key == key)
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", compact("generic"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def examples(text: str) -> list[dict[str, Any]]:
    return [json.loads(one) for one in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]


def test_aol_181_the_pack_teaches_to_operate_and_has_these_sections() -> None:
    assert tuple(one.key for one in DOCTRINE) == KEYS
    assert all(section(key).strip() for key in KEYS)
    named = set(
        re.findall(r"`((?:mission|light|hosts|update)\.[a-z_]+|recovery_playbook|doctor|session_handshake)`", doctrine_text())
    )
    assert len(named) > 10
    assert named <= set(REGISTRY), named - set(REGISTRY)


def test_med_391_the_pack_has_the_etiquette_of_promotion_and_the_class_of_misdelivery() -> None:
    text = section("memory")

    assert all(word in text for word in ("Makers propose", "Orchestrators", "`promote`", "reason"))
    assert "`memory_misdelivery`" in text
    assert all(f"`{kind.value}`" in text for kind in Misdelivery)


def test_aol_182_a_short_mode_router() -> None:
    assert all(f"`{mode.value}`" in section("router") for mode in MissionMode)
    assert "short_audit (short), trained_audit (normal, deep)" in section("router")


def test_aol_183_when_to_use_it_and_when_not() -> None:
    use, _, leave = section("when").partition("Use none")

    assert all(word in use for word in ("broad review", "bug hunt", "risky refactor", "release check", "believe"))
    assert "trivial exact edit" in leave
    assert "compiler" in leave


def test_aol_184_aol_185_aol_186_when_a_short_audit_direct_proof_and_l1ght() -> None:
    assert "small or local" in section("short_audit")
    assert "one orienting question" in section("short_audit")
    assert "target is known" in section("direct_proof")
    assert "do not ask the graph" in section("direct_proof")
    assert "become part of the graph" in section("light")
    assert "No L1GHT for" in section("light")


def test_aol_187_one_example_each_of_a_dead_path_and_a_hand_over_that_would_be_taken() -> None:
    dead, handed = examples(section("handover"))

    read = reported(None, None, dead)
    assert (read.event_type, read.target) == (EventType.DEAD_PATH, "src/cache.py")
    assert set(handed) <= set(input_schema(REGISTRY["mission.handoff"])["properties"])


def test_aol_188_host_session_and_runtime_problems() -> None:
    said = section("recovery").lower()

    for problem in ("wrong workspace", "retrieval is empty", "old binary", "missing tools", "dead transport", "rebind"):
        assert problem in said
    assert "never by a plan" in said


def test_aol_189_dissent_with_its_three_fields() -> None:
    (example,) = examples(section("dissent"))

    assert set(example["payload"]) == set(DissentProtocol().required_fields)
    assert reported(None, None, example).event_type is EventType.DISSENT


@pytest.mark.parametrize("host", HOSTS)
def test_aol_017_aol_190_the_pack_is_small_and_the_routing_is_elsewhere(host: str) -> None:
    text = compact(host)

    assert len(text.encode()) <= 6 * 1024 == PACK_BYTES
    assert text.count("\n") <= 120 == PACK_LINES
    assert HOSTS[host].reference in text
    whole = reference(taught())
    assert all(f"{name}, {rule.name}" in whole for name, rule in RULES.items())
    assert "mission.verify" in whole


@pytest.mark.parametrize("host", HOSTS)
def test_aol_191_the_pack_of_each_host_is_the_one_on_the_page(host: str) -> None:
    assert (PACKS / f"{host}.md").read_text(encoding="utf-8") == compact(host), "run: make reference"


def test_aol_191_a_skill_and_a_rules_file_begin_as_their_hosts_read_them() -> None:
    for host, keys in (("claude", {"name", "description"}), ("cursor", {"description", "alwaysApply"})):
        front = compact(host).split("---\n")[1].strip().split("\n")
        assert {line.partition(": ")[0] for line in front} == keys
        assert all(line.count(": ") == 1 for line in front)  # a second one would end the value for a YAML reader
    assert compact("codex").startswith(BLOCK[0])
    assert compact("gemini").startswith(BLOCK[0])


def test_aol_191_a_pack_is_written_only_when_confirmed(world: World) -> None:
    x = world.brain("x")
    for given in ({}, {"out": x}, {"host": "claude"}):
        shown = world.at(x).call("pack", **given)
        assert (shown["ok"], shown["writes"]) == (True, False)
    assert not world.at(x).call("pack", yes=True)["ok"]
    assert not Path(x, ".claude").exists()

    done = world.at(x).call("pack", host="claude", out=".", yes=True)

    assert done["writes"], done
    assert Path(x, ".claude/skills/hindbrain-missions/SKILL.md").read_text() == compact("claude")
    assert Path(x, ".claude/skills/hindbrain-missions/reference.md").read_text() == reference(taught())
    assert world.at(x).call("pack", host="claude", out=".", yes=True)["writes"]  # again is an update
    assert "pack.written" in [entry["act"] for entry in world.at(x).call("ledger.show")["entries"]]


def test_aol_191_what_is_the_users_own_stays(world: World) -> None:
    x = world.brain("x")
    Path(x, "AGENTS.md").write_text("# Ours\n\nBe kind.\n")
    Path(x, "hindbrain-missions.md").write_text("my own notes\n")

    world.at(x).call("pack", host="codex", out=x, yes=True)
    world.at(x).call("pack", host="codex", out=x, yes=True)
    kept = Path(x, "AGENTS.md").read_text()
    refused = world.at(x).call("pack", host="generic", out=x, yes=True)

    assert kept == "# Ours\n\nBe kind.\n\n" + compact("codex")
    assert not refused["ok"]
    assert Path(x, "hindbrain-missions.md").read_text() == "my own notes\n"
    assert blocked("a\n" + compact("codex") + "b\n", compact("codex")) == "a\n" + compact("codex") + "b\n"


def test_aol_191_a_link_or_the_home_is_not_written_through(world: World) -> None:
    x = world.brain("x")
    outside = world.directory("outside")
    Path(x, ".cursor").symlink_to(outside)

    for given in ({"host": "cursor", "out": x}, {"out": str(world.home.path)}):
        assert not world.at(x).call("pack", yes=True, **given)["ok"]
    assert list(Path(outside).iterdir()) == []


def test_aol_190_the_reference_is_shown_when_asked_for(world: World) -> None:
    x = world.brain("x")

    assert world.at(x).call("pack", reference=True)["text"] == reference(taught())
    assert world.at(x).call("pack")["text"] == compact("generic")


def test_aol_192_doctrine_changes_only_with_a_note_that_cites_a_round() -> None:
    notes = NOTES.read_text(encoding="utf-8")
    tables = {name: getattr(doctrine, name) for name in doctrine.__all__}
    first = dataclasses.replace(doctrine.DOCTRINE[0], text="Use the graph for everything.")
    other: Any = SimpleNamespace(
        **{**tables, "DOCTRINE": (first, *doctrine.DOCTRINE[1:])}, __all__=doctrine.__all__, __name__=doctrine.__name__
    )

    assert unnoted(doctrine, doctrine.DOCTRINE_VERSION, notes) == []
    assert len(unnoted(other, doctrine.DOCTRINE_VERSION, notes)) == 1
    line = f"- `{digest(other)}` policy/doctrine.py version 3: round {A_ROUND}: recall rose on three fixtures"
    assert unnoted(other, "3", f"{notes}\n{line}\n") == []
    for nothing_measured in ("", "round catalog: ", "round r12: "):
        assert len(unnoted(other, "3", f"{notes}\n{line.replace(f'round {A_ROUND}: ', nothing_measured)}\n")) == 1
