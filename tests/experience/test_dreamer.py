"""The Dreamer: when it dreams, that it is in nobody's way, and that two never dream at once."""

import threading
import time

from hindbrain.domain.experience import Level, Pair, Writer
from hindbrain.domain.message import Role
from hindbrain.services.control.journal import Journal
from hindbrain.services.control.ports import Thought
from hindbrain.services.experience.dreamer import Dreamer, Schedule
from tests.support.experience import PAIR, Lab, megram, open_sqlite

R2 = Role.PLANNER


def until(holds, seconds=60.0):
    ends = time.monotonic() + seconds
    turn = threading.Event()
    while not holds() and time.monotonic() < ends:
        turn.wait(0.005)
    return holds()


class Slow:
    """A model that answers when it is let go."""

    def __init__(self):
        self.asked, self.gate = threading.Event(), threading.Event()

    def think(self, role, **_):
        self.asked.set()
        self.gate.wait(60)
        return Thought(text="Use glob.", data=None, provider="p", model="m", tier=2)

    def tier(self, role):
        return 2


def test_exp_060_a_burst_of_results_is_due_once_so_long_after_the_last_and_the_timer_at_its_time():
    schedule = Schedule(100.0, every_s=300.0, settle_s=0.05)
    assert schedule.due == 400.0
    for now in (110.0, 110.03, 110.06):
        schedule.arm(now)
    assert round(schedule.due, 9) == 110.11
    schedule.ran(110.2)
    assert schedule.due == 410.2


def test_exp_060_three_results_within_the_delay_give_one_cycle_and_the_timer_gives_more():
    now = [100.0]
    lab = Lab(monotonic=lambda: now[0])
    lab.times(6, "accept")
    for _ in range(3):
        lab.dreamer.heard_result()
    now[0] += 1  # the delay is over
    assert until(lambda: lab.dreamer.cycles == 1)
    assert len(lab.rules()) == 1
    assert not until(lambda: lab.dreamer.cycles > 1, seconds=0.15)
    lab.dreamer.heard_result()  # also when it has been waiting for its timer
    now[0] += 1
    assert until(lambda: lab.dreamer.cycles == 2)
    lab.dreamer.close()
    ticking = Lab(every_s=0.02)
    ticking.dreamer.watch()
    assert until(lambda: ticking.dreamer.cycles >= 3)
    ticking.dreamer.close()


def test_exp_060_at_the_end_it_dreams_once_more():
    lab = Lab()
    lab.times(6, "accept")
    lab.dreamer.close()
    assert len(lab.rules()) == 1


def test_exp_044_the_last_cycle_is_bounded_also_when_a_model_does_not_answer():
    mind = Slow()
    lab = Lab(mind=mind)
    lab.times(6, "accept")
    lab.dreamer.heard_result()
    assert mind.asked.wait(60)
    began = time.monotonic()
    lab.dreamer.close(within_s=0.2)
    assert time.monotonic() - began < 30  # of the sixty for which the model is silent
    mind.gate.set()
    lab.dreamer._thread.join(60)
    assert lab.rules() == []  # what is worded after the end is not written


def test_ctl_003_exp_059_a_dreamer_that_thinks_long_is_in_nobodys_way(tmp_path):
    mind = Slow()
    store = open_sqlite(tmp_path)
    lab = Lab(store, deposits=Journal, mind=mind)
    lab.experience.dreams = lab.dreamer

    def task():
        began = time.perf_counter()
        for turn in range(2):
            lab.experience.query_c("intent:x", "env:local", by=R2)
            lab.experience.query_mk("intent:x", "env:local", by=R2)
            assert lab.experience.write(lab.draft("refine", entity=f"path:{turn}"), by=Role.SOLVER).wait(60)
        return time.perf_counter() - began

    quiet = min(task() for _ in range(10))
    lab.times(6, "accept")
    lab.dreamer.heard_result()
    assert mind.asked.wait(60)
    beside = min(task() for _ in range(30))
    assert lab.rules() == []  # it thought all the time
    mind.gate.set()
    assert until(lambda: len(lab.rules()) == 1)
    assert lab.experience.close()
    store.close()
    assert beside - quiet < 0.05


def test_exp_075_a_group_that_grew_while_a_model_worded_it_is_left_to_the_next_look():
    mind = Slow()
    lab = Lab(mind=mind)
    lab.times(6, "accept")
    lab.dreamer.heard_result()
    assert mind.asked.wait(60)
    lab.times(1, "abandon")
    mind.gate.set()
    assert until(lambda: lab.dreamer.cycles == 1)
    assert lab.rules() == []
    lab.dreamer.cycle()
    assert len(lab.rules()) == 1
    assert len(lab.rules()[0].megram.derived_from) == 7
    lab.dreamer.close()


def test_exp_084_two_dreamers_never_dream_at_once(tmp_path, caplog):
    one, other = open_sqlite(tmp_path), open_sqlite(tmp_path)
    mind = Slow()
    first, second = Lab(one, mind=mind), Lab(other)
    first.times(6, "accept")
    first.dreamer.heard_result()
    assert mind.asked.wait(60)
    with caplog.at_level("INFO", logger="hindbrain.dreamer"):
        done = second.dreamer.cycle()
    assert done.skipped
    assert not done.changed
    assert "another Dreamer has this brain" in caplog.text
    mind.gate.set()
    assert until(lambda: first.dreamer.cycles == 1)
    assert not second.dreamer.cycle().skipped
    assert len(second.rules()) == 1
    first.dreamer.close()
    one.close()
    other.close()


def test_exp_103_the_sixth_write_makes_a_rule_without_a_whole_cycle(tmp_path):
    store = open_sqlite(tmp_path)
    lab = Lab(store, deposits=Journal)
    lab.experience.dreams = lab.dreamer
    other = Pair(space="intent:other", entity="env:local")
    lab.times(6, "accept", pair=other)  # waits for a whole cycle: nobody told of it
    for _ in range(5):
        lab.experience.write(lab.draft(), by=Role.SOLVER).wait(60)
    assert lab.rules() == []
    lab.experience.write(lab.draft(), by=Role.SOLVER)
    assert until(lambda: len(lab.rules()) == 1)
    assert lab.dreamer.cycles == 0
    assert lab.rules(other) == []
    lab.experience.close()
    store.close()


def test_exp_103_a_write_that_contradicts_a_rule_checks_its_trust():
    lab = Lab()
    (rule,) = lab.put(megram("best_practice", f=1.0, sigma=1.0, level=Level.C, writer=Writer.DREAMER))
    lab.times(2, "abandon")
    assert lab.dreamer.check(PAIR).demoted == [rule]


def test_a_cycle_stops_at_its_deadline_and_the_next_one_goes_on():
    lab = Lab()
    for entity in range(300):
        lab.times(1, "accept", pair=Pair(space="s", entity=f"e{entity:03}"))
    cut = lab.dreamer.cycle(within_s=0.0)
    assert not cut.complete
    assert cut.pairs == 0
    assert lab.dreamer.cycle().complete
    assert lab.dreamer.cycle().pairs == 0


def test_a_look_that_fails_does_not_end_all_dreaming():
    lab = Lab()
    broken = [True]

    def clock():
        if broken.pop() if broken else False:
            raise RuntimeError("no time")
        return lab.clock()

    dreamer = Dreamer(lab.store, lab.experience.deposit, clock=clock, every_s=0.02)
    lab.times(6, "accept")
    dreamer.watch()
    assert until(lambda: dreamer.cycles >= 1)
    dreamer.close()
    assert len(lab.rules()) == 1
