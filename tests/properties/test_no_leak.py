"""Five brains, the medulla, every write and read, restarts at any moment, against a reference model.

After every step: what one brain answers unasked is exactly its own and the medulla's, no acknowledged write is missing, and every
live version is an entry of an intact ledger. The short profile runs with all tests; at least 20,000 steps are run by

    HINDBRAIN_LONG=1 .venv/bin/python -m pytest -q -s tests/properties/test_no_leak.py
"""

import os
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hindbrain.domain.claim import body_text, parse
from hindbrain.policy.limits import DAY_MS
from tests.properties.model import MEDULLA, Belief, Model, Store
from tests.support.world import Actor, World

LONG = bool(os.environ.get("HINDBRAIN_LONG"))
EXAMPLES, STEPS = (540, 50) if LONG else (8, 40)
NAMES = ("a", "b", "c", "d", "e")
CHIEF = "claude:orchestrator"
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of synced writes, none of which must last

brains = st.integers(0, len(NAMES) - 1)
labels = st.integers(0, 2)  # few, so that brains meet under one label
confidences = st.sampled_from([None, 0.3, 0.6, 0.9])
states = st.sampled_from(["authored", "verified"])
again = st.none() | st.none() | st.integers(0, 50)


class Brains(RuleBasedStateMachine):
    """One world and its model, step by step."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="hb-machine-", dir=MEMORY))
        self.world = World(self.place, beat_tokens=10_000_000, beat_rows_per_feed=100, warm_brain_cap=3)
        self.roots = [self.world.directory(name) for name in NAMES]
        self.outside = self.world.directory("nobody")
        for root in self.roots:
            assert self.world.at(root).call("ingest", path=root, project_root=root)["ok"]
        self.model = Model(self.roots)
        self.written: list[str] = []  # texts that were used once, to be said again
        self.exports: list[str] = []
        self.taken: dict[str, tuple[dict[str, Belief], dict[str, str]]] = {}  # what each export held
        self.turn = 0

    def teardown(self) -> None:
        try:
            self.world.restart()
            for root in self.roots:
                self.look(root)
                self.look_back(root)
            self.look_into_ledgers()
            assert self.world.at(self.roots[0]).call("doctor", scan=True)["status"] != "blocked"
        finally:
            self.world.close()
            shutil.rmtree(self.place)

    # -- small words -------------------------------------------------------------------------------------------------

    def at(self, number: int, agent: str = "codex:maker") -> Actor:
        return self.world.at(self.roots[number], agent)

    def human(self, number: int) -> Actor:
        return self.world.human(self.roots[number])

    def store(self, number: int) -> Store:
        return self.model.stores[self.roots[number]]

    def text(self, number: int, again: int | None) -> str:
        """A new text that says where it was born, or one that was said before, anywhere."""
        if again is not None and self.written:
            return self.written[again % len(self.written)]
        self.written.append(f"belief number {len(self.written)} born in {NAMES[number]}")
        return self.written[-1]

    def file(self, root: str, slug: str) -> Path:
        carried = Path(root, ".hindbrain", "agent-memory")
        places = [*([carried] if carried.is_dir() else []), self.world.store(root)]
        return next(
            (place / f"{slug}.light.md" for place in places if (place / f"{slug}.light.md").exists()),
            places[0] / f"{slug}.light.md",
        )

    @staticmethod
    def moved(path: Path) -> None:
        """The times a real edit would have left: the kernel's clock is too coarse for a machine that edits like this."""
        now = time.time_ns()
        for one in (path, path.parent):
            if one.exists():
                os.utime(one, ns=(now, now))

    @initialize()
    def everybody_knows_something(self) -> None:
        for number in range(len(NAMES)):
            self.memorize(number=number, label=0, again=None, confidence=0.6, state="authored")
            self.memorize(number=number, label=1, again=None, confidence=None, state="authored")
        self.promote(number=0, label=0)
        self.memorize_doctrine(number=0, label=2, again=None, confidence=0.3)

    # -- writes ------------------------------------------------------------------------------------------------------

    def written_as(self, answer: dict[str, Any], name: str, slug: str, belief: Belief) -> None:
        """The answer of a gated write is the model's, and so is what it leaves."""
        expected = self.model.accepts(name, slug, belief)
        told = answer.get("refused") or answer.get("reason") if not answer["ok"] or not answer["claims_written"] else None
        assert told == expected, answer
        if expected is None:
            self.model.stores[name].put(slug, belief)

    @rule(number=brains, label=labels, again=again, confidence=confidences, state=states)
    def memorize(self, number: int, label: int, again: int | None, confidence: float | None, state: str) -> None:
        text, root = self.text(number, again), self.roots[number]
        answer = self.at(number).call("memorize", node_label=f"Topic {label}", text=text, confidence=confidence, state=state)
        self.written_as(answer, root, f"topic-{label}", belief(text, confidence, state, root))

    @rule(number=brains, label=labels, again=again, confidence=confidences)
    def memorize_doctrine(self, number: int, label: int, again: int | None, confidence: float | None) -> None:
        text = self.text(number, again)
        answer = self.at(number, CHIEF).call(
            "memorize", node_label=f"Topic {label}", text=text, confidence=confidence, tier=MEDULLA
        )
        self.written_as(answer, MEDULLA, f"topic-{label}", belief(text, confidence, "authored", MEDULLA))

    @rule(number=brains, label=labels)
    def promote(self, number: int, label: int) -> None:
        root, slug = self.roots[number], f"topic-{label}"
        answer = self.at(number, CHIEF).call("promote", brain=root, claim=slug, reason="it holds elsewhere")
        expected = self.model.promote(root, slug)
        assert (None if answer["ok"] else answer["error"]["code"]) == expected, answer

    @rule(number=brains, label=labels, grade=st.sampled_from(["wrong", "correct", "partial"]), shared=st.booleans())
    def learn(self, number: int, label: int, grade: str, shared: bool) -> None:
        slug, tier = f"topic-{label}", MEDULLA if shared else "project"
        answer = self.at(number).call("learn", feedback=grade, node_ids=[slug], tier=tier)
        store = self.model.stores[MEDULLA if shared else self.roots[number]]
        assert answer["ok"] == (slug in store.live), answer
        if shared and grade == "wrong" and slug in store.live:
            store.demoted.add(slug)

    @rule(number=brains)
    def consolidate(self, number: int) -> None:
        answer = self.at(number, CHIEF).call("consolidate", apply=True)
        medulla = self.model.stores[MEDULLA]
        assert {one["slug"] for one in answer.get("done", ()) if one["act"] == "demote"} == medulla.demoted
        for slug in list(medulla.demoted):
            medulla.end(slug)

    @rule(number=brains, label=labels, shared=st.booleans())
    def reject(self, number: int, label: int, shared: bool) -> None:
        name, slug = MEDULLA if shared else self.roots[number], f"topic-{label}"
        store = self.model.stores[name]
        if slug not in store.live:
            return
        more = {"tier": MEDULLA} if shared else {}
        assert self.human(number).call("reject", claim=slug, reason="no", **more)["ended"]
        store.buried.add(store.live[slug].text)
        store.end(slug)

    @rule(number=brains, label=labels, shared=st.booleans())
    def forget(self, number: int, label: int, shared: bool) -> None:
        name, slug = MEDULLA if shared else self.roots[number], f"topic-{label}"
        if slug not in self.model.stores[name].versions:
            return
        answer = self.human(number).call("forget", claim=slug, **({"tier": MEDULLA} if shared else {}))
        assert {one["brain"] for one in answer["reached"]} == self.model.forget(name, slug)

    @rule(number=brains, key=st.integers(0, 2), shared=st.booleans(), delete=st.booleans(), again=again)
    def set_key(self, number: int, key: int, shared: bool, delete: bool, again: int | None) -> None:
        name = MEDULLA if shared else self.roots[number]
        keys, more = self.model.stores[name].keys, {"tier": MEDULLA} if shared else {}
        if delete:
            answer = self.at(number, CHIEF).call("boot_memory", action="delete", key=f"k{key}", **more)
            assert answer["ok"] == (keys.pop(f"k{key}", None) is not None)
            return
        value = self.text(number, again)
        answer = self.at(number, CHIEF).call("boot_memory", action="set", key=f"k{key}", value=value, **more)
        buried = value in self.model.stores[name].buried
        assert answer.get("refused") == ("rejected_value" if buried else None), answer
        if not buried:
            keys[f"k{key}"] = value

    # -- hands on the files: each edit is read once before the next, for what nobody looked at was never acknowledged ---

    @rule(number=brains, label=labels, again=again)
    def edit_by_hand(self, number: int, label: int, again: int | None) -> None:
        """Another text in the same file, or a new file that says nothing of itself."""
        root, slug, text = self.roots[number], f"topic-{label}", self.text(number, again)
        self.at(number).north("belief")
        path, store = self.file(root, slug), self.store(number)
        live = store.live.get(slug)
        as_it_is = live is not None and slug not in store.hidden and path.exists()
        if live is not None and as_it_is and live.text == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        content = f"---\nProtocol: L1GHT/1.0\nNode: Topic {label}\n---\n\n{text}\n"
        if live is not None and as_it_is:
            content = path.read_text().replace(live.text, text)
        temporary = path.with_suffix(".swp")
        temporary.write_text(content)
        os.replace(temporary, path)
        self.moved(path)
        if text in store.buried:
            store.hidden |= {slug} & store.live.keys()  # a refused text ends nothing; this checkout serves the claim no more
        elif live is not None and as_it_is:
            store.put(slug, replace(live, text=text, arrived=True))
        else:
            store.put(slug, Belief(text=text, arrived=True))

    @rule(number=brains, label=labels)
    def delete_by_hand(self, number: int, label: int) -> None:
        slug = f"topic-{label}"
        self.at(number).north("belief")
        path = self.file(self.roots[number], slug)
        if slug in self.store(number).live and path.exists():
            path.unlink()
            self.moved(path)
            self.store(number).hidden.discard(slug)

    @rule(number=brains, label=labels, shared=st.booleans())
    def remove(self, number: int, label: int, shared: bool) -> None:
        name, slug = MEDULLA if shared else self.roots[number], f"topic-{label}"
        answer = self.human(number).call("claim.remove", claim=slug, **({"tier": MEDULLA} if shared else {}))
        assert answer["ok"] == (slug in self.model.stores[name].live), answer
        self.model.stores[name].end(slug)

    # -- out and in --------------------------------------------------------------------------------------------------

    @rule(number=brains)
    def export(self, number: int) -> None:
        path = str(self.place / f"{len(self.exports)}.tar.gz")
        answer = self.human(number).call("export", target=path)
        assert (answer["claims"], answer["boot_entries"]) == (len(self.store(number).live), len(self.store(number).keys))
        self.exports.append(path)
        self.taken[path] = dict(self.store(number).live), dict(self.store(number).keys)

    @precondition(lambda self: self.exports)
    @rule(number=brains, which=st.integers(0, 20), shared=st.booleans())
    def import_(self, number: int, which: int, shared: bool) -> None:
        """An archive into its own brain, another one, or the medulla: what is taken, kept and refused is the model's."""
        path = self.exports[which % len(self.exports)]
        name = MEDULLA if shared else self.roots[number]
        live, keys = self.taken[path]
        report = self.human(number).call("import", source=path, **({"tier": MEDULLA} if shared else {}))
        store, refused = self.model.stores[name], {one["name"]: one["code"] for one in report["refused"]}
        for slug, exported in live.items():
            one = replace(exported, arrived=True)
            buried = self.model.stores.get(one.origin or "", Store()).buried
            if slug in report["unchanged"]:
                assert store.live[slug].text == one.text
                continue
            expected = "rejected_value" if one.text in buried else self.model.accepts(name, slug, one)
            assert refused.get(slug) == expected, (slug, report)
            if expected is None:
                assert slug in report["taken"]
                store.put(slug, one)
        for key, value in keys.items():
            if value not in store.buried:
                store.keys.setdefault(key, value)

    # -- the house ---------------------------------------------------------------------------------------------------

    @rule(number=brains)
    def init(self, number: int) -> None:
        assert self.at(number).call("init", path=self.roots[number])["ok"]

    @rule(number=brains)
    def uninit(self, number: int) -> None:
        there = Path(self.roots[number], ".hindbrain", "brain.json").exists()
        assert self.human(number).call("uninit", path=self.roots[number])["ok"] == there

    @rule()
    def restart(self) -> None:
        self.world.restart()

    @rule()
    def tick(self) -> None:
        self.world.app.house.tick()

    @rule(days=st.sampled_from([0, 1, 40]))
    def time_passes(self, days: int) -> None:
        for root in self.roots:  # what came by hand is dated by the look at it
            self.world.at(root).north("belief")
        self.model.remember(self.world.clock.now)
        self.world.clock.forward(days * DAY_MS + 1)

    # -- reads -------------------------------------------------------------------------------------------------------

    @invariant()
    def nothing_leaks_and_nothing_is_missing(self) -> None:
        type(self).steps += 1
        self.world.clock.forward(1)
        self.turn += 1
        self.look(self.roots[self.turn % len(self.roots)])
        if self.turn % 9 == 0:
            self.look_from_outside()
        if self.turn % 10 == 0:
            self.look_back(self.roots[self.turn // 10 % len(self.roots)])

    def look(self, root: str) -> None:
        """Every default answer of one brain: exactly its own and the medulla's."""
        reader, mine, shared = self.world.at(root), self.model.stores[root], self.model.stores[MEDULLA]
        expected = {("project", slug, text) for slug, text in mine.visible().items()}
        expected |= {(MEDULLA, slug, text) for slug, text in shared.visible().items()}

        assert said(reader.seek("belief", top_k=200)["results"]) == expected
        if self.turn % 3 == 0:
            assert said(reader.seek("belief", top_k=200, scope="light::")["results"]) == expected
            north = reader.north("belief")
            assert said(north["memory"]) == expected
            counts = {"project": len(mine.live) - len(mine.hidden), MEDULLA: len(shared.live)}
            assert {tier: north["memory_exists_by_tier"].get(tier, 0) for tier in counts} == counts
        if self.turn % 3 == 1:
            now = {("project", slug, one.text) for slug, one in mine.live.items()}
            now |= {(MEDULLA, slug, one.text) for slug, one in shared.live.items()}
            assert said(reader.call("recall", limit=1000)["memory"]) == now
        entries = reader.call("boot_memory")["entries"]
        keys = {("project", key, value) for key, value in mine.keys.items()}
        assert {(one["tier"], one["key"], one["value"]) for one in entries} == keys | {
            (MEDULLA, key, value) for key, value in shared.keys.items()
        }

    def look_from_outside(self) -> None:
        beat, shared = self.world.at(self.outside).north("belief"), self.model.stores[MEDULLA]
        assert said(beat["memory"]) == {(MEDULLA, slug, text) for slug, text in shared.visible().items()}

    def look_back(self, root: str) -> None:
        """History holds every acknowledged version that was not forgotten, each with its act; the past is what it was."""
        reader, store = self.world.at(root), self.model.stores[root]
        for slug, versions in store.versions.items():
            rows = reader.call("history", claim=slug)["versions"]
            assert [body_text(parse(row["text"])) for row in reversed(rows)] == [one.text for one in versions], slug
            assert [row["live"] for row in rows].count(True) == (slug in store.live)
            assert all(row["act"].startswith("claim.") for row in rows)
        for at, then in self.model.past[-2:]:
            rows = reader.call("recall", as_of=at, limit=1000)["memory"]
            expected = {("project", slug, one.text) for slug, one in then[root].items()}
            assert said(rows) == expected | {(MEDULLA, slug, one.text) for slug, one in then[MEDULLA].items()}

    def look_into_ledgers(self) -> None:
        """Every chain holds, and every live version is the entry of a claim's act in it."""
        for name in self.model.stores:
            reader = self.world.at(self.roots[0] if name == MEDULLA else name)
            tier = {"tier": MEDULLA} if name == MEDULLA else {}
            assert reader.call("ledger.verify", **tier)["intact"]
            entries = {one["seq"]: one["act"] for one in reader.call("ledger.show", limit=5000, act="claim.", **tier)["entries"]}
            for slug in self.model.stores[name].live:
                (live,) = [row for row in reader.call("history", claim=slug, **tier)["versions"] if row["live"]]
                assert live["version"] in entries, (name, slug)


def belief(text: str, confidence: float | None, state: str, origin: str) -> Belief:
    return Belief(
        text=text, rank=2 if state == "verified" else 1, confidence=-1.0 if confidence is None else confidence, origin=origin
    )


def said(rows: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {(row["tier"], row["slug"], row["text"]) for row in rows}


Brains.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    derandomize=not LONG,
    database=None,
    phases=(Phase.generate, Phase.shrink) if os.environ.get("HINDBRAIN_SHRINK") else (Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


class TestNoLeak(Brains.TestCase):
    """The machine under pytest. The long run says how many steps it made."""

    def runTest(self) -> None:
        super().runTest()
        if LONG:
            print(f"{Brains.steps} steps")
            assert Brains.steps >= 20_000
