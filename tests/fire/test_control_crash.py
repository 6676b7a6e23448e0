"""A controller that is killed: what its tickets called durable is there, whole, and the chain holds."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.domain.experience import MegramId
from hindbrain.domain.ledger import breaks
from hindbrain.stores.port import MegramFilter
from tests.support.decider import opened


@pytest.mark.parametrize("after", [3, 40, 150])
def test_exp_036_exp_089_ctl_312_every_message_and_megram_that_was_called_durable_survives_a_kill(
    tmp_path: Path, after: int
) -> None:
    command = [sys.executable, "-m", "tests.support.decider", str(tmp_path / "brain")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [process.stdout.readline().split() for _ in range(after)]
        os.kill(process.pid, signal.SIGKILL)
        told += [line.split() for line in process.stdout.read().split("\n")[:-1]]

    store, journal, _ = opened(tmp_path / "brain")
    try:
        kept = {row.id for row in store.messages(limit=100_000)}
        megrams = store.megrams([MegramId(megram) for _, megram in told])
        assert len(told) >= after
        assert {message for message, _ in told} <= kept
        assert len(megrams) == len(told)
        assert len(kept) == len(
            list(store.effective(MegramFilter(levels=("M",))))
        )  # a message and its megram are one transaction
        assert breaks(store.entries(limit=100_000), head=store.head()) == []
    finally:
        journal.close()
        store.close()
