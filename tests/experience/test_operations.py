"""What people and agents do with experience: through the operations, on a brain in files."""

import json
import re
import sqlite3
import struct
import time
import zlib
from pathlib import Path

import pytest

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import StoreUnavailable
from hindbrain.domain.experience import EventKind, Level, Pair, Writer
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import MessageType
from hindbrain.policy.experience import law_lines
from hindbrain.services.experience.instincts import Instincts
from hindbrain.services.experience.room import rules_of
from hindbrain.settings import Settings
from hindbrain.stores.port import MegramFilter, ModelCall, StoredMessage
from tests.support.experience import PAIR, megram
from tests.support.world import DAY, START_MS, World

GLOBAL = Pair(space="global:user", entity="env:local")


@pytest.fixture
def root(world: World) -> str:
    return world.brain("shop")


def opened(world: World, root: str):
    house = world.app.house
    return house.brains.use(house.brains.covering(root))


def put(world: World, root: str, *megrams):
    with opened(world, root) as brain:
        experience = world.app.house.experience.of(brain)
        with brain.store.writing() as writer:
            for one in megrams:
                assert experience.deposit(writer, one)
    return [one.id for one in megrams]


def held(world: World, root: str, **where):
    with opened(world, root) as brain:
        return [one for one in brain.store.effective(MegramFilter(settled=True, **where)) if one.megram.state != "law"]


def six(world: World, root: str, state="accept", **more):
    put(world, root, *(megram(state, **more) for _ in range(6)))
    return world.human(root).call("experience.dream")["promoted"][0]["id"]


# -- looking -----------------------------------------------------------------------------------------------------------


def test_exp_040_query_tells_sums_action_rules_and_newest(world, root):
    put(world, root, megram("accept", content="went well"), megram("abandon", content="went wrong"))
    answer = world.at(root).call("experience.query", space=PAIR.space, entity="target:src")
    assert (answer["attention"], answer["decision"], answer["action"], answer["count"]) == (1.85, -0.05, "Caution", 2)
    assert {one["content"] for one in answer["recent"]} == {"went well", "went wrong"}
    assert "Caution" in answer["rendered"]
    whole = world.at(root).call("experience.query", space=PAIR.space)
    assert (whole["entity"], whole["count"]) == (None, 2)


def test_exp_050_query_of_nothing_is_no_error(world, root):
    answer = world.at(root).call("experience.query", space="x", entity="y")
    assert (answer["ok"], answer["action"], answer["rules"], answer["recent"]) == (True, "Ignore", [], [])


def test_exp_097_exp_013_explain_tells_event_task_loss_and_sources(world, root):
    loss = '{"D":0.5,"P":0.0,"Omega":0.2,"L":0.38}'
    (one,) = put(world, root, megram("abandon", task_id="t1", round=2, loss=loss, source_event_id="msg_7"))
    with opened(world, root) as brain, brain.store.writing() as writer:
        writer.put_message(message(brain, writer, "msg_7", "t1", "Megram"))
    answer = world.at(root).call("experience.explain", megram=one)
    assert (answer["task_id"], answer["round"], answer["loss"]) == ("t1", 2, json.loads(loss))
    assert (answer["event"]["id"], answer["event"]["type"]) == ("msg_7", "Megram")
    assert answer["event"]["id"] in answer["rendered"]
    rule = six(world, root, content="Succeeded. Tools: glob.", pair=GLOBAL)
    told = world.at(root).call("experience.explain", megram=rule[:12])
    assert len(told["sources"]) == 6
    assert {source["state"] for source in told["sources"]} == {"accept"}
    assert told["distilled_by"] == "extractive"
    source = world.at(root).call("experience.explain", megram=told["sources"][0]["id"])
    assert source["carried_by"] == rule
    assert [event["kind"] for event in source["history"]] == ["consolidated"]


def message(brain, writer, id_, task_id, kind):
    entry = writer.append(
        Act(act="control.message", subject=f"task:{task_id}", actor="t", channel=Channel.RUNTIME, at=START_MS, payload={})
    )
    return StoredMessage(
        seq=entry.seq, id=id_, at=START_MS, sender="R7", recipient="R5", type=kind, task_id=task_id, body='{"said": "words"}'
    )


def test_explain_refuses_what_is_unknown_or_not_one(world, root):
    put(world, root, megram(id="abcd-1"), megram(id="abcd-2"))
    actor = world.at(root)
    assert actor.call("experience.explain", megram="zzzz")["error"]["code"] == "unknown_megram"
    assert actor.call("experience.explain", megram="abcd")["error"]["code"] == "invalid_params"
    assert actor.call("experience.explain", megram="ab")["error"]["code"] == "invalid_params"
    assert actor.call("experience.explain", megram="abcd-1")["ok"]


def test_exp_093_summary_counts_levels_and_lists_rules_and_groups_in_order(world, root):
    put(
        world,
        root,
        megram("accept", pair=Pair(space="z", entity="e")),
        megram("accept", pair=Pair(space="a", entity="e")),
        megram("refine", pair=Pair(space="a", entity="e")),
        megram("declared", f=1.0, sigma=1.0, level=Level.C, writer=Writer.OPERATOR, content="use tabs", pair=GLOBAL),
        megram("declared", f=1.0, sigma=1.0, k=0.05, level=Level.K, writer=Writer.OPERATOR, pair=GLOBAL),
    )
    plain = world.at(root).call("experience.summary")
    assert plain["level_counts"] == {"M": 3, "K": 1, "C": 1, "T": 4}
    assert [one["content"] for one in plain["c_level"]] == ["use tabs"]
    assert "groups" not in plain
    groups = world.at(root).call("experience.summary", verbose=True)["groups"]
    assert [(one["level"], one["space"]) for one in groups[:4]] == [
        ("M", "a"),
        ("M", "z"),
        ("K", "global:user"),
        ("C", "global:user"),
    ]
    assert {one["level"] for one in groups[4:]} == {"T"}
    first = groups[0]
    assert (first["attention"], first["decision"], first["action"]) == (1.0, 0.95, "Exploit")
    assert sorted(one["attention"] for one in first["megrams"]) == [0.1, 0.9]


def pixels(data: bytes):
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    found, at = {}, 8
    while at < len(data):
        size = struct.unpack(">I", data[at : at + 4])[0]
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(name + body)
        found[name] = body
        at += 12 + size
    width, height = struct.unpack(">II", found[b"IHDR"][:8])
    raw = zlib.decompress(found[b"IDAT"])
    assert len(raw) == height * (1 + 3 * width)
    return width, height, raw


def test_curve_draws_the_decay_in_the_terminal_and_as_svg_and_png(world, root):
    (one,) = put(world, root, megram("accept"))
    actor = world.at(root)
    answer = actor.call("experience.curve", megram=one, days=59 * 13.862943611, out=str(world.place / "decay.svg"))
    assert answer["attention"][:3] == [0.9, 0.45, 0.225]
    assert "█" in answer["rendered"]
    assert "heard" in answer["rendered"]
    picture = Path(answer["path"]).read_text()
    assert picture.startswith("<svg")
    line = re.findall(r'points="([^"]+)"', picture)[-1].split()
    heights = [float(point.split(",")[1]) for point in line]
    assert len(line) == 60
    assert heights == sorted(heights)  # downwards
    png = actor.call("experience.curve", space=PAIR.space, entity=PAIR.entity, out=str(world.place / "decay.png"))
    width, height, raw = pixels(Path(png["path"]).read_bytes())
    assert (width, height) == (900, 420)
    assert len(set(raw)) > 4
    again = actor.call("experience.curve", megram=one, out=str(world.place / "decay.png"))
    assert again["error"]["code"] == "invalid_params"
    assert actor.call("experience.curve", megram=one, out=str(world.place / "decay.gif"))["error"]["code"] == "invalid_params"
    assert actor.call("experience.curve")["error"]["code"] == "invalid_params"


# -- dreaming ----------------------------------------------------------------------------------------------------------


def test_exp_085_a_dry_run_prints_what_the_next_cycle_does(world, root):
    weak = megram("refine", days=1, pair=Pair(space="tool:read", entity="path:faded"))
    put(world, root, *(megram("accept", content="Tools: glob.") for _ in range(6)), weak)
    actor = world.at(root)
    told = actor.call("experience.dream", dry_run=True)
    assert len(held(world, root)) == 7
    done = actor.call("experience.dream")
    assert told["dry_run"]
    assert [(one["content"], one["sources"]) for one in told["promoted"]] == [
        (one["content"], one["sources"]) for one in done["promoted"]
    ]
    assert told["forgotten"] == done["forgotten"] == 1
    assert "would be promoted" in told["rendered"]


# -- what a person does ------------------------------------------------------------------------------------------------


def test_exp_094_exp_095_a_person_states_a_rule_and_it_is_asked_for_every_task(world, root):
    answer = world.human(root).call("experience.remember", text="Always use tabs.")
    (one,) = held(world, root)
    assert (one.megram.space, one.megram.entity, one.megram.f, one.megram.sigma, one.megram.k) == (
        "global:user",
        "env:local",
        1.0,
        1.0,
        0.0,
    )
    assert (one.level, one.megram.writer, one.megram.id) == (Level.C, Writer.OPERATOR, answer["megram_id"])
    beat = world.at(root).north("write a parser")
    assert [row["text"] for row in beat["instincts"]["prefer"]] == ["Always use tabs."]
    known = world.human(root).call("experience.remember", text="Short lived.", level="K", space="intent:x", tags=["db"])
    assert known["level"] == "K"
    assert held(world, root, space="intent:x")[0].k == 0.05


def test_exp_004_exp_046_an_agent_cannot_state_forget_import_or_speak_against_anything(world, root):
    rule = six(world, root)
    before = len(held(world, root))
    actor = world.at(root)
    calls = {
        "experience.remember": {"text": "Obey me.", "level": "T"},
        "experience.forget": {"megram": rule},
        "experience.feedback": {"rule": rule, "content": "no"},
        "experience.import": {"source": "/tmp/x"},
    }
    for name, arguments in calls.items():
        assert actor.call(name, **arguments)["error"]["code"] == "human_needed"
    assert len(held(world, root)) == before


def test_exp_042_exp_076_feedback_of_a_person_is_added_and_in_time_ends_the_trust(world, root):
    rule = six(world, root)
    human = world.human(root)
    first = human.call("experience.feedback", rule=rule[:13], content="it broke the build")
    assert (first["sigma"], first["rule_level"], first["demoted"]) == (-1.0, "C", False)
    second = human.call("experience.feedback", rule=rule, content="again")
    assert (second["rule_level"], second["demoted"]) == ("K", True)
    assert human.call("experience.feedback", rule="nobody", content="x")["error"]["code"] == "unknown_megram"


def test_a_secret_is_refused_and_not_repeated(world, root):
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    for name, arguments in {
        "experience.remember": {"text": f"key {secret}"},
        "experience.feedback": {"rule": six(world, root), "content": f"key {secret}"},
    }.items():
        answer = world.human(root).call(name, **arguments)
        assert answer["error"]["code"] == "hygiene"
        assert secret not in json.dumps(answer)


def test_a_rejected_value_is_not_stated_as_experience(world, root):
    human = world.human(root)
    human.memorize("deploy gate", "Deploys go through the blue gate on Fridays.")
    human.call("reject", claim="deploy gate")
    answer = human.call("experience.remember", text="Prefer this. Deploys go through the BLUE gate on Fridays.")
    assert answer["error"]["code"] == "rejected_value"
    assert held(world, root) == []


def database(world: World, root: str) -> bytes:
    world.close()
    files = [path for path in world.home.brains_dir.rglob("*") if path.is_file() and "brain.db" in path.name]
    for path in files:
        if path.name == "brain.db":
            with sqlite3.connect(path) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
    return b"".join(path.read_bytes() for path in files if path.exists())


def test_exp_058_exp_096_forgetting_leaves_the_event_and_nothing_of_the_words(world, root):
    one, other = put(world, root, megram(id="aaaa-1", content="the swordfish lesson", task_id="t1"), megram(id="bbbb-1"))
    with opened(world, root) as brain, brain.store.writing() as writer:
        said = message(brain, writer, "m1", "t1", MessageType.FINAL_RESULT.value)
        writer.put_message(said)
        names = {
            "task_id": "t1",
            "role": "R2",
            "provider": "p",
            "model": "m",
            "outcome": "answered",
            "prompt": "a swordfish?",
            "reply": "swordfish!",
        }
        counts = {"prompt_tokens": 3, "completion_tokens": 2, "elapsed_ms": 1, "cost_micros": 7}
        writer.put_model_call(ModelCall(seq=said.seq, at=said.at, **names, **counts))
    answer = world.human(root).call("experience.forget", megram="aaaa", reason="private")
    assert (answer["forgotten"], answer["messages_erased"]) == (1, 1)
    assert [row.megram.id for row in held(world, root)] == [other]
    with opened(world, root) as brain:
        (event,) = brain.store.megram_events(one)
        assert (event.kind, len(event.content_sha256)) == (EventKind.FORGOTTEN, 64)
        assert not brain.store.messages(task_id="t1")
        assert brain.store.model_spend(task_id="t1").cost_micros == 7
    assert b"swordfish" not in database(world, root)


def test_exp_096_forgetting_everything_needs_the_typed_name(world, root):
    put(world, root, megram(), megram())
    human = world.human(root)
    for wrong in (None, "yes", ""):
        assert human.call("experience.forget", all=True, confirm=wrong)["error"]["code"] == "human_needed"
    assert human.call("experience.forget", megram="aaaa", all=True)["error"]["code"] == "invalid_params"
    assert human.call("experience.forget")["error"]["code"] == "invalid_params"
    assert len(held(world, root)) == 2
    assert human.call("experience.forget", all=True, confirm="shop")["forgotten"] == 2
    with opened(world, root) as brain:
        assert sorted(one.megram.content for one in brain.store.effective()) == sorted(law_lines())


def test_ctl_295_a_law_is_not_forgotten(world, root):
    put(world, root, megram())
    with opened(world, root) as brain:
        (law, *_) = brain.store.effective(MegramFilter(levels=("T",)))
    assert world.human(root).call("experience.forget", megram=law.megram.id)["error"]["code"] == "invalid_params"


@pytest.mark.parametrize("way", ["reject", "forget"])
def test_a_value_that_is_rejected_or_forgotten_leaves_experience_too(world, root, way):
    text = "Deploys go through the blue gate on Fridays."
    human = world.human(root)
    human.memorize("deploy gate", text)
    put(world, root, megram(content=f"Succeeded. {text} Result: ok."), megram(content="Deploys are fine."))
    answer = human.call(way, claim="deploy gate", reason="wrong")
    assert answer["ok"], answer
    assert [one.megram.content for one in held(world, root)] == ["Deploys are fine."]
    put(world, root, megram(content=f"Again: {text}"))
    assert not any("blue gate" in one.megram.content for one in held(world, root))


def test_a_forgotten_row_of_evidence_leaves_experience_too(world, root):
    text = "The staging password rotates every Monday morning."
    human = world.human(root)
    row = human.call("record", text=text)["evidence_id"]
    put(world, root, megram(content=text), megram(content="else"))
    assert human.call("forget", claim=row)["ok"]
    assert [one.megram.content for one in held(world, root)] == ["else"]


# -- carried out and in ------------------------------------------------------------------------------------------------


def test_exp_011_exp_091_export_wipe_import_gives_equal_potentials(world, root):
    six(world, root)
    put(
        world,
        root,
        megram("accept", days=3, tags=("db",), loss='{"D":0.0,"P":0.0,"Omega":0.1,"L":0.04}', task_id="t", round=1),
        megram("abandon", days=1),
        megram("best_practice", f=1.0, sigma=1.0, level=Level.C, writer=Writer.DREAMER, pair=GLOBAL),
        *(megram("abandon", pair=GLOBAL) for _ in range(2)),
    )
    human = world.human(root)
    human.call("experience.dream")
    with opened(world, root) as brain, brain.store.writing() as writer:
        writer.recall_megrams([one.megram.id for one in brain.store.effective(MegramFilter(levels=("C",)))], at=START_MS + 5)

    def state():
        with opened(world, root) as brain:
            sums = {pair: brain.store.potentials(pair, at=START_MS + DAY) for pair in brain.store.pairs()}
            rows = {one.megram.id: one for one in brain.store.effective(MegramFilter(settled=True))}
        return sums, rows

    before = state()
    path = str(world.place / "experience.jsonl")
    assert human.call("experience.export", target=path)["megrams"] == len(before[1])
    human.call("experience.forget", all=True, confirm="shop")
    assert state() != before
    answer = human.call("experience.import", source=path)
    assert (answer["refused_count"], answer["taken"]) == (0, len(before[1]) - 4)
    assert state() == before
    again = human.call("experience.import", source=path)
    assert (again["taken"], again["already_there"]) == (0, len(before[1]) - 4)
    assert human.call("experience.export", target=path)["error"]["code"] == "invalid_params"  # never overwritten


def test_exp_011_an_imported_target_is_stored_as_a_path_and_bad_lines_are_told(world, root):
    good = {
        "id": "m1",
        "space": "tool:x",
        "entity": "target:src",
        "content": "c",
        "state": "accept",
        "f": 0.9,
        "sigma": 1.0,
        "k": 0.05,
    }
    good["created_at"] = "2026-01-01T00:00:00.000Z"
    path = world.place / "in.jsonl"
    lines = [good, good | {"id": "m2", "f": 7}, good | {"id": "m3", "content": "AKIA" + "QWERTYUIOPASDFGH"}, {"id": "m4"}]
    path.write_text("\n".join(map(json.dumps, lines)))
    answer = world.human(root).call("experience.import", source=str(path))
    assert (answer["taken"], [one["line"] for one in answer["refused"]]) == (1, [2, 3, 4])
    assert held(world, root)[0].megram.entity == "path:src"
    path.write_text("no json\n")
    assert world.human(root).call("experience.import", source=str(path))["error"]["code"] == "invalid_params"


# -- proposing ---------------------------------------------------------------------------------------------------------


def test_a_rule_is_proposed_as_a_candidate_with_its_megrams_as_evidence_and_no_more(world, root):
    rule = six(world, root, content="Succeeded. Tools: glob src. Result: found it.")
    actor = world.at(root)
    looked = actor.call("experience.propose", rule=rule, dry_run=True)
    assert (looked["card_id"], looked["evidence"]) == (None, 6)
    assert actor.call("memory.list")["rows"] == []
    answer = actor.call("experience.propose", rule=rule)
    assert (answer["created"], answer["status"]) == (True, "candidate")
    card = actor.call("knowledge.get", card_id=answer["card_id"])
    assert "Prefer: Succeeded." in json.dumps(card)
    assert actor.call("experience.propose", rule=rule)["created"] is False
    (source,) = {one.megram.id for one in held(world, root) if one.megram.id == rule}
    assert source == rule
    (episode, *_) = [one.megram.id for one in held(world, root) if one.level is Level.M]
    assert actor.call("experience.propose", rule=episode)["error"]["code"] == "invalid_params"


def test_exp_108_ctl_328_strong_rules_become_a_file_for_a_person_and_thinking_stays(world, root):
    rule = six(world, root)
    world.clock.forward(31 * DAY)
    with opened(world, root) as brain, brain.store.writing() as writer:
        for _ in range(10):
            writer.recall_megrams([rule], at=world.clock())
    with opened(world, root) as brain:
        before = list(brain.store.effective(MegramFilter(levels=("T",))))
    path = world.place / "thinking.json"
    answer = world.at(root).call("experience.propose", out=str(path))
    assert answer["rules"] == 1
    told = json.loads(path.read_text())
    assert [one["rule_id"] for one in told["rules"]] == [rule]
    with opened(world, root) as brain:
        assert list(brain.store.effective(MegramFilter(levels=("T",)))) == before
    assert world.at(root).call("experience.propose")["error"]["code"] == "invalid_params"


def test_exp_108_a_rule_that_did_not_stand_long_or_is_rarely_used_is_not_proposed(world, root):
    rule = six(world, root)
    with opened(world, root) as brain, brain.store.writing() as writer:
        for _ in range(10):
            writer.recall_megrams([rule], at=world.clock())
    assert world.at(root).call("experience.propose", out=str(world.place / "a.json"))["rules"] == 0


# -- instincts ---------------------------------------------------------------------------------------------------------


def test_north_tells_what_to_prefer_avoid_and_mind_with_the_megrams_behind_it(world, root):
    intent = Pair(space="intent:fix_the_build", entity="env:local")
    prefer = put(world, root, megram("accept", pair=intent, content="make clean first"))
    avoid = put(world, root, megram("abandon", pair=Pair(space="tool:shell", entity="path:x"), content="shell hung"))
    careful = put(
        world, root, *(megram("change_path", pair=Pair(space="tool:other", entity="path:y"), tags=("cache",)) for _ in range(2))
    )
    answer = world.at(root).north("Fix the build with shell and cache")
    found = answer["instincts"]
    assert {kind: [row["megram_ids"] for row in rows] for kind, rows in found.items()} == {
        "prefer": [prefer],
        "avoid": [avoid],
        "careful": [sorted(careful, reverse=True)],
    }
    assert "Prefer (intent:fix_the_build / env:local" in answer["rendered"]
    assert "shell hung" in answer["rendered"]
    assert "instincts" not in world.at(root).north("paint the door")


def test_exp_006_north_omits_a_rule_that_the_newest_episodes_contradict(world, root):
    put(world, root, *(megram("best_practice", f=1.0, sigma=1.0, level=Level.C, content="use X", pair=GLOBAL) for _ in range(4)))
    put(world, root, *(megram("abandon", content="X failed", pair=GLOBAL) for _ in range(2)))
    rows = world.at(root).north("anything")["instincts"]["prefer"]
    assert [row["text"] for row in rows] == ["X failed"]
    assert not rows[0]["rule"]


def test_a_failing_experience_is_a_named_gap_and_never_a_failed_answer(world, root, monkeypatch):
    def broken(self, brain, task):
        raise StoreUnavailable("gone", fix="look")

    world.at(root).memorize("a claim")
    monkeypatch.setattr(Instincts, "beat", broken)
    answer = world.at(root).north("anything")
    assert answer["ok"]
    assert "experience_unreachable" in [one["kind"] for one in answer["honest_gaps"]]


def test_instincts_cost_nearly_nothing_in_a_brain_without_experience(world, root):
    instincts = Instincts(world.app.house.brains, world.clock)
    brain = world.app.house.brains.covering(root)
    took = []
    for _ in range(20):
        began = time.thread_time()
        assert instincts.beat(brain, "fix the build with shell and cache and many more words") == {}
        took.append(time.thread_time() - began)
    assert sorted(took)[10] < 0.002


def test_exp_012_two_repositories_with_one_intent_do_not_mix(world, root):
    put(
        world,
        root,
        megram("accept", pair=Pair(space="intent:x", entity="repo:a")),
        megram("abandon", pair=Pair(space="intent:x", entity="repo:b")),
    )
    answer = world.at(root).call("experience.query", space="intent:x", entity="repo:a")
    assert (answer["decision"], answer["count"]) == (0.9, 1)


def test_exp_060_a_brain_that_dreamt_here_dreams_once_more_when_it_is_closed(world, root):
    world.human(root).call("experience.dream")
    put(world, root, *(megram("accept") for _ in range(6)))
    world.restart()
    assert [one.level for one in held(world, root) if one.level is Level.C] == [Level.C]


def test_exp_060_an_owner_that_stays_dreams_by_its_timer_where_there_is_experience(world, root):
    put(world, root, *(megram("accept") for _ in range(6)))
    world.resident = True
    world.restart()
    with opened(world, root):
        assert list(world.app.house.experience._dreamers) == [root]
    world.close()
    other = world.brain("quiet")
    with opened(world, other):
        assert other not in world.app.house.experience._dreamers


def test_settings_choose_categories_stages_and_how_long_sources_are_kept(world, root):
    world.restart(experience_categories="none", experience_two_stage=True, experience_keep_days=2)
    rules = world.app.house.experience._rules
    assert (rules.categories, rules.two_stage, rules.keep_days) == (frozenset(), True, 2)
    for told, kinds in {"all": {"fact", "procedure", "constraint"}, "fact": {"fact"}}.items():
        assert rules_of(Settings({"experience_categories": told})).categories == kinds
    put(world, root, megram("accept"))
    world.human(root).call("experience.dream")
    assert [one.level for one in held(world, root)] == [Level.K]
