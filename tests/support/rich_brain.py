"""A brain that has lived: something of every kind that it can hold, made by the operations that make it."""

from pathlib import Path
from typing import Any

from hindbrain.domain.caller import Channel
from hindbrain.domain.ledger import Act
from hindbrain.stores.card_port import ForeignCard
from hindbrain.stores.model_call_port import ModelCall
from tests.support.world import Actor, World, git

__all__ = ["bare", "lived"]

FORGOTTEN = "The old key of the cellar hangs behind the boiler."


def _ok(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def bare(world: World, name: str) -> str:
    """A repository with a brain that holds nothing but its birth."""
    root = world.repository(name, src__worker_py="def retry(n):\n    return n + 1\n", src__user_py="from worker import retry\n")
    if not Path(root, ".git", "HEAD").exists() or not _committed(root):
        git(root, "add", "-A")
        git(root, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "one")
    _ok(world.human(root).call("init", path=root))
    return root


def _committed(root: str) -> bool:
    return any(Path(root, ".git", "refs", "heads").iterdir())


def lived(world: World, name: str) -> str:
    """Claims with history, evidence, cards, a mission, experience, a forgotten value, grades, boot memory, letters, a packet."""
    root = bare(world, name)
    agent, other, person = world.at(root), world.at(root, "claude:reviewer"), world.human(root)
    agent.memorize("Retry policy", "The worker retries three times.", evidence=["src/worker.py"])
    world.clock.forward(1_000)
    agent.memorize("Retry policy", "The worker retries four times.", evidence=["src/worker.py"])
    agent.memorize("Größe · 大きさ", 'Ein Wert mit "Anführung" und \\ und Tab\tund 🙂.')
    agent.memorize("Cellar", FORGOTTEN)
    _ok(person.call("forget", claim="cellar", reason="private"))
    agent.memorize("Wrong belief", "The moon is made of green cheese.")
    _ok(person.call("reject", claim="wrong-belief", reason="it is not"))
    _ok(agent.call("boot_memory", action="set", key="deploy.target", value={"host": "a", "n": [1, 2.5, None]}))
    _cards(agent)
    _ok(agent.call("learn", feedback="correct", node_ids=["retry-policy"]))
    _ok(agent.call("learn", feedback="correct", node_ids=["file::src/worker.py", "file::src/user.py"]))
    _ok(person.call("experience.remember", text="Wait for the whistle.", space="tool:kettle", tags=["tea"]))
    passing = _ok(person.call("experience.remember", text="The lid is loose.", space="tool:kettle"))
    _ok(person.call("experience.forget", megram=passing["megram_id"]))
    Path(root, "notes.txt").write_text("The kettle stood on the stove.\n", encoding="utf-8")
    _ok(agent.call("memory.ingest", path=str(Path(root, "notes.txt"))))
    _ok(agent.call("activate", query="retry worker"))
    started = _ok(agent.call("mission.start", task="find out how often the worker retries", mode="review"))
    _ok(agent.call("mission.claim", mission_id=started["mission_id"], claim="it retries once more than it is told"))
    _ok(agent.call("mission.handoff", mission_id=started["mission_id"]))
    _ok(agent.call("delegate", task="look at src/worker.py", subagent_hint="codex:child"))
    _ok(agent.call("report", **{"class": "friction", "what": "the kettle is slow"}))
    _ok(other.call("report", **{"class": "win", "what": "found the fault at once"}))
    _ok(person.call("mailbox.distribute"))
    other.north("how often does the worker retry")
    _of_other_programs(world, root)
    return root


def _of_other_programs(world: World, root: str) -> None:
    """What only a model's answer or another program's store would bring, put where it would lie."""
    brain = world.app.house.brains.home.project(root)
    assert brain is not None
    with world.app.house.brains.use(brain) as opened:
        with opened.store.writing() as writer:
            writer.put_foreign_card(ForeignCard(id="old-1", body='{"statement":"Kettles are loud."}', at=world.clock()))
            asked = Act(
                act="model.call", subject="model", actor="codex:maker", channel=Channel.AGENT, at=world.clock(), payload={}
            )
            said = writer.append(asked)
            names = {
                "task_id": "t",
                "role": "R2",
                "provider": "openai",
                "model": "m",
                "outcome": "begun",
                "prompt": "?",
                "reply": "",
            }
            counts = {"prompt_tokens": 1, "completion_tokens": 2, "elapsed_ms": 3, "cost_micros": 4}
            writer.put_model_call(ModelCall(seq=said.seq, at=world.clock(), **names, **counts))
        allowed = opened.directory / "hygiene_allow.json"
        allowed.write_text('{"%s": "a sample"}' % ("ab" * 32), encoding="utf-8")


def _cards(agent: Actor) -> None:
    seen = [_ok(agent.call("record", text=f"the kettle whistled at {place}"))["evidence_id"] for place in ("home", "work")]
    made = _ok(
        agent.call(
            "knowledge.distill",
            statement="A kettle whistles when it boils.",
            content="Steam passes the lid; so far seen twice.",
            tier="qi",
            supporting_refs=seen[:1],
            trigger_hints={"intent_tags": ["tea"]},
        )
    )
    name = made["card_id"]
    _ok(agent.call("knowledge.promote", card_id=name, status="promoted", verification_refs=seen[1:], reason="seen again"))
    _ok(agent.call("adoption.record", track="card_context", signal="accepted", feature="include_cards", card_id=name))
