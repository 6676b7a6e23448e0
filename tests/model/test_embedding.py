"""Embedding beside the calls: new rows soon, one brain at a time, the old model's vectors until the new one's are whole."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance, SourceType, evidence_id
from hindbrain.services.brains import OpenBrain
from hindbrain.services.embedding_rows import claim_parts, spoken
from hindbrain.stores.port import Where, Words
from hindbrain.stores.vector_port import Shelf
from tests.support.model import tiny_weights
from tests.support.owner import LIMIT_S, RunningOwner, Starter
from tests.support.world import World

ANCHOR = Anchor(kind=AnchorKind.REPO, id="repo://test")


@contextmanager
def opened(world: World, root: str) -> Iterator[OpenBrain]:
    brain = world.app.house.brains.covering(root)
    assert brain is not None
    with world.app.house.brains.use(brain) as held:
        yield held


def turn(text: str, position: int, *, thread: str = "t", speaker: str | None = None) -> Evidence:
    return Evidence(
        id=evidence_id(
            text,
            anchor=ANCHOR,
            domain=Domain.PROJECT,
            field="general",
            provenance=Provenance.HUMAN,
            wing="",
            room=None,
            thread=thread,
            position=position,
        ),
        content=text,
        source="chat",
        source_type=SourceType.CONVERSATION,
        provenance=Provenance.HUMAN,
        anchor=ANCHOR,
        added_at=position,
        thread=thread,
        position=position,
        speaker=speaker,
    )


def record(held: OpenBrain, *rows: Evidence) -> list[EvidenceId]:
    with held.store.writing() as writer:
        writer.put_evidence([(row, Words(text=row.content.split())) for row in rows])
    return [row.id for row in rows]


def turns_by_id(held: OpenBrain) -> dict[str, int]:
    turns = held.store.turns(Where())
    return {key: number for number, key in held.store.keys(Shelf.EVIDENCE, sorted(turns)).items()}


def installed(world: World, weights: Path) -> str:
    answer = world.human(None).call("model.install", path=str(weights))
    assert answer["ok"], answer
    return str(answer["stamp"])


def nearest(world: World, held: OpenBrain, text: str, shelf: Shelf) -> list[str]:
    """The keys of what is nearest to a text in one brain."""
    house = world.app.house
    stamp = house.embedding.serving(held)
    assert stamp is not None
    question = house.embedder.query(text, stamp=stamp)
    assert question is not None
    found = held.store.vectors.nearest(stamp, shelf, question.vector.tolist(), limit=5)
    keys = held.store.keys(shelf, found.turns)
    return [keys[one] for one in found.turns]


def test_without_an_owner_a_write_embeds_nothing_and_a_search_lends_time(world: World, tiny: Path) -> None:
    installed(world, tiny)
    root = world.brain("app")
    world.at(root).memorize("Retry policy", "The worker retries three times.")
    embedding = world.app.house.embedding

    with opened(world, root) as held:
        before = embedding.state(held)
        embedding.lend(held)
        after = embedding.state(held)

    assert (before.pending, before.total, before.whole) == (1, 1, False)
    assert (after.pending, after.total, after.whole) == (0, 1, True)


def test_a_command_embeds_everything_with_progress(world: World, tiny: Path) -> None:
    stamp = installed(world, tiny)
    root = world.brain("app")
    for number in range(40):
        world.at(root).memorize(f"Finding {number}", "The worker retries.")
    steps: list[tuple[int, int]] = []

    answer = world.app.call(
        "model.embed", {}, caller=world.at(root).caller, progress=lambda done, total, _: steps.append((done, total))
    )

    assert (answer["pending"], answer["total"], answer["serving_stamp"]) == (0, 40, stamp)
    assert steps[-1] == (40, 40)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    status = world.at(root).call("model.status")
    assert [(row["pending"], row["total"], row["vectors"]) for row in status["embedded"] if row["brain"] == root] == [
        (0, 40, {stamp: 40})
    ]


def test_embedding_that_was_interrupted_goes_on(world: World, tiny: Path) -> None:
    installed(world, tiny)
    root = world.brain("app")
    for number in range(40):
        world.at(root).memorize(f"Finding {number}", "The worker retries.")

    def interrupt(done: int, total: int, text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.app.call("model.embed", {}, caller=world.at(root).caller, progress=interrupt)
    with opened(world, root) as held:
        halfway = world.app.house.embedding.state(held).pending

    assert 0 < halfway < 40
    assert world.at(root).call("model.embed")["pending"] == 0


def test_without_a_model_the_command_says_what_to_do(world: World) -> None:
    root = world.brain("app")
    world.at(root).memorize("Retry policy")

    error = world.at(root).call("model.embed")["error"]

    assert (error["code"], error["fix"]) == ("model_unavailable", "run hindbrain model install")
    with opened(world, root) as held:
        state = world.app.house.embedding.state(held)
        world.app.house.embedding.lend(held)
    assert (state.state, state.serving_stamp, state.pending) == ("absent", None, 0)


@pytest.mark.req("CONF-03")
def test_conf_03_vectors_of_one_brain_are_in_no_other(any_world: World, tiny: Path) -> None:
    world = any_world
    installed(world, tiny)
    roots = [world.brain("one"), world.brain("two")]
    for root, text in zip(roots, ("The worker retries three times.", "Bees dance."), strict=True):
        world.at(root).memorize(f"Of {Path(root).name}", text)
        with opened(world, root) as held:
            record(held, turn(text, 0))
        assert world.at(root).call("model.embed")["pending"] == 0

    for root in roots:
        with opened(world, root) as held:
            for shelf, mine in ((Shelf.CLAIM, {f"of-{Path(root).name}"}), (Shelf.EVIDENCE, set(turns_by_id(held)))):
                for question in ("worker retries", "bees dance"):
                    assert set(nearest(world, held, question, shelf)) == mine


def test_a_new_model_takes_over_when_all_is_embedded(any_world: World, tiny: Path, tmp_path: Path) -> None:
    world = any_world
    old = installed(world, tiny)
    root = world.brain("app")
    for number in range(3):
        world.at(root).memorize(f"Finding {number}", "The worker retries.")
    world.at(root).call("model.embed")

    new = installed(world, tiny_weights(tmp_path / "new", seed=7))

    embedding = world.app.house.embedding
    with opened(world, root) as held:
        meanwhile = embedding.state(held)
        served = nearest(world, held, "worker", Shelf.CLAIM)
        shown = next(row for row in world.at(root).call("model.status")["embedded"] if row["brain"] == root)
        after = embedding.drain(held, LIMIT_S)
        kept = held.store.vectors.stamps(Shelf.CLAIM)

    assert (meanwhile.stamp, meanwhile.serving_stamp, meanwhile.pending) == (new, old, 3)
    assert len(served) == 3
    assert (shown["serving_stamp"], shown["pending"], shown["vectors"]) == (old, 3, {old: 3})
    assert (after.stamp, after.serving_stamp, after.pending) == (new, new, 0)
    assert kept == {new: 3}


def test_vectors_whose_model_is_gone_do_not_serve(world: World, tiny: Path, tmp_path: Path) -> None:
    installed(world, tiny)
    root = world.brain("app")
    world.at(root).memorize("Finding", "The worker retries.")
    world.at(root).call("model.embed")
    world.human(root).call("model.remove")

    new = installed(world, tiny_weights(tmp_path / "new", seed=7))

    with opened(world, root) as held:
        state = world.app.house.embedding.state(held)
    assert (state.serving_stamp, state.pending) == (new, 1)


def test_the_same_model_come_back_finds_its_vectors(world: World, tiny: Path) -> None:
    stamp = installed(world, tiny)
    root = world.brain("app")
    world.at(root).memorize("Finding", "The worker retries.")
    world.at(root).call("model.embed")
    world.human(root).call("model.remove")

    assert installed(world, tiny) == stamp

    with opened(world, root) as held:
        assert world.app.house.embedding.state(held).whole


def test_a_new_turn_changes_what_its_neighbour_is_searched_by(any_world: World, tiny: Path) -> None:
    world = any_world
    installed(world, tiny)
    root = world.brain("app")
    house = world.app.house
    with opened(world, root) as held:
        (first, far) = record(held, turn("the worker retries", 1), turn("the river", 9))
        house.embedding.drain(held, LIMIT_S)
        stamp, places = house.embedding.serving(held), turns_by_id(held)
        question = house.embedder.query("bees dance")
        assert stamp is not None
        assert question is not None
        vector = question.vector.tolist()
        before = held.store.vectors.cosines(stamp, Shelf.EVIDENCE, vector, list(places.values()))
        raw = held.store.vectors.raw(stamp, Shelf.EVIDENCE, [places[first]])
        late = held.store.vectors.late(stamp, Shelf.EVIDENCE, [places[first]])

        record(held, turn("bees dance", 0), turn("bees dance", 0, thread="another"))
        house.embedding.drain(held, LIMIT_S)

        after = held.store.vectors.cosines(stamp, Shelf.EVIDENCE, vector, list(places.values()))
        assert after[places[first]] > before[places[first]] + 0.05  # the turn beside it speaks of bees
        assert after[places[far]] == pytest.approx(before[places[far]], abs=1e-6)  # two turns away
        assert held.store.vectors.raw(stamp, Shelf.EVIDENCE, [places[first]]) == raw
        assert held.store.vectors.late(stamp, Shelf.EVIDENCE, [places[first]]) == late


def test_a_long_text_keeps_its_own_vector(world: World, tiny: Path) -> None:
    installed(world, tiny)
    root = world.brain("app")
    house = world.app.house
    with opened(world, root) as held:
        (long, _) = record(held, turn("the worker retries " * 30, 0), turn("bees dance", 1))
        house.embedding.drain(held, LIMIT_S)
        stamp, place = house.embedding.serving(held), turns_by_id(held)[long]
        assert stamp is not None
        alone = house.embedder.query("the worker retries " * 30)
        assert alone is not None

        cosine = held.store.vectors.cosines(stamp, Shelf.EVIDENCE, alone.vector.tolist(), [place])

        assert cosine[place] == pytest.approx(1.0, abs=1e-3)
        assert held.store.vectors.late(stamp, Shelf.EVIDENCE, [place]) == {}


def test_what_was_just_written_does_not_wait_behind_a_backlog(world: World, tiny: Path) -> None:
    """One step after a write: the new row has its vector, most of the backlog has not."""
    installed(world, tiny)
    root = world.brain("app")
    house = world.app.house
    with opened(world, root) as held:
        record(held, *(turn(f"the river {number}", number) for number in range(300)))
        (fresh,) = record(held, turn("bees dance", 0, thread="now"))

        done = house.embedding.step(held, 32, newest=True)

        stamp, places = house.embedding.serving(held), turns_by_id(held)
        assert stamp is not None
        known = held.store.vectors.raw(stamp, Shelf.EVIDENCE, list(places.values()))
        assert places[fresh] in known
        assert (done, len(known)) == (32, 32)


def test_a_claim_is_embedded_by_parts() -> None:
    parts = claim_parts("# Retry policy\n\n" + "word " * 400, "retry-policy")

    assert len(parts) == 3
    assert all(len(part.split()) <= 165 for part in parts)


def test_who_said_it_is_embedded_with_it() -> None:
    assert spoken(turn("I moved to Lisbon.", 0, speaker="Ana")) == 'Ana said, "I moved to Lisbon."'
    assert spoken(turn("Lisbon", 0)) == "Lisbon"


def test_the_end_of_a_long_claim_is_found_by_meaning(world: World, real_model: str) -> None:
    world.restart(model_dir=real_model)
    root = world.brain("app")
    filler = "The invoice lists every item with its price and tax. " * 40
    world.at(root).memorize("Invoices", filler + "A failed job is tried again three times by the worker.")
    world.at(root).memorize("Colours", "The chart is readable for people who cannot tell red from green. " * 3)
    world.at(root).call("model.embed")

    with opened(world, root) as held:
        assert nearest(world, held, "how often does a task retry", Shelf.CLAIM)[0] == "invoices"


def status_of(running: RunningOwner, root: str) -> dict[str, Any]:
    rows = running.call("model.status", root=root)["embedded"]
    return next(row for row in rows if row["brain"] == root)


def test_the_owner_gives_a_new_row_its_vectors_by_itself(world: World, starter: Starter, tiny: Path) -> None:
    stamp = installed(world, tiny)
    root = world.repository("app")
    world.close()
    running = starter(world.home.path)
    running.call("ingest", path=root, project_root=root)

    answer = running.call("memorize", root=root, node_label="Retry policy", text="The worker retries three times.")

    assert answer["ok"], answer
    deadline = time.monotonic() + LIMIT_S
    while (row := status_of(running, root))["pending"] or not row["total"]:
        assert time.monotonic() < deadline, row
    assert row["vectors"] == {stamp: 1}


def test_the_owner_finds_a_new_row_by_meaning(world: World, starter: Starter, real_model: str) -> None:
    """The question shares no word with the claim that answers it."""
    root = world.repository("app")
    running = starter(world.home.path, environ={"HINDBRAIN_MODEL_DIR": real_model})
    running.call("ingest", path=root, project_root=root)
    running.call("memorize", root=root, node_label="Chart colours", text="The palette is readable for the colour blind.")

    running.call("memorize", root=root, node_label="Backoff", text="A worker repeats a failed job three times.")

    deadline = time.monotonic() + LIMIT_S
    question = "How often is some broken task tried again?"
    while "Backoff" not in json.dumps(running.call("seek", root=root, query=question)["results"][:1]):
        assert time.monotonic() < deadline, running.call("model.status", root=root)


def test_the_owner_takes_up_a_model_that_is_installed_while_it_runs(world: World, starter: Starter, tiny: Path) -> None:
    root = world.repository("app")
    running = starter(world.home.path)
    running.call("ingest", path=root, project_root=root)
    running.call("memorize", root=root, node_label="Retry policy", text="The worker retries three times.")
    assert running.call("model.status", root=root)["state"] == "absent"

    installed_answer = running.post("model.install", {"path": str(tiny)}, token=running.human_token).json

    assert installed_answer["ok"], installed_answer
    deadline = time.monotonic() + LIMIT_S
    while (row := status_of(running, root))["pending"] or not row["total"]:
        assert time.monotonic() < deadline, row
    assert row["vectors"] == {installed_answer["stamp"]: 1}
