"""A Python session that outlives its owner (F8): it goes on with the next owner, and without one in its own process."""

from pathlib import Path

import pytest

import hindbrain
from hindbrain.surfaces.client import read_owner
from tests.support.owner import Starter


@pytest.mark.parametrize("successor", [True, False])
def test_f8_a_session_in_mode_auto_never_stays_dead(
    starter: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, successor: bool
) -> None:
    monkeypatch.delenv("HINDBRAIN_MODE", raising=False)
    home, root = tmp_path / "home", tmp_path / "repository"
    root.mkdir()
    first = starter(home)
    with hindbrain.open(home, root=root, agent="codex:maker") as session:
        session.call("init")
        session.call("memorize", node_label="Retry policy", text="Three times.")
        first.kill()
        second = starter(home) if successor else None

        told = [session.call("memorize", node_label=f"Fact {number}", text="It is so.") for number in range(2)]
        rows = session.call("north")["memory"]
        again = starter(home) if second is None else second
        served = session.call("health")

    assert [answer["ok"] for answer in told] == [True, True]
    assert {row["claim"] for row in rows} == {"Retry policy", "Fact 0", "Fact 1"}
    living = read_owner(str(home))
    assert living is not None
    assert living.pid == again.facts["pid"]
    assert served["ok"]


def test_f8_a_call_that_may_have_been_done_is_not_repeated(starter: Starter, tmp_path: Path) -> None:
    from tests.cli.strange import strange_owner

    starter(tmp_path / "home").kill()
    with strange_owner(tmp_path / "home", b"") as heard, hindbrain.open(tmp_path / "home", root=tmp_path) as session:
        answer = session.call("memorize", node_label="x", text="y")

    assert answer["error"]["code"] == "owner_unreachable"
    assert len(heard) == 1
