"""Boxes: one at a time, in the order of the file, and counted without reading them again (MED-277 … MED-283, MED-310)."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.mail import box_of, dropped, into, spool_of
from tests.support.owner import RunningOwner, start_owner
from tests.support.world import World

KEYS = {"id", "ts", "agent", "class", "repo", "brain", "tool", "what", "expected", "snippet", "state", "answers", "answered_by"}


class Opens:
    """How often each file was opened, by anybody in this process."""

    def __init__(self) -> None:
        self.counted: dict[str, int] = {}
        self.on = True
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.on and event == "open" and isinstance(arguments[0], str | os.PathLike):
            name = os.fspath(arguments[0])
            self.counted[name] = self.counted.get(name, 0) + 1


@pytest.fixture
def opens() -> Iterator[Opens]:
    found = Opens()
    yield found
    found.on = False  # a hook cannot be taken back


@pytest.mark.req("MED-281", "MED-310")
def test_med_281_med_310_open_letters_are_counted_per_brain_and_a_box_is_read_once(world: World, opens: Opens) -> None:
    x, y = world.brain("x"), world.brain("y")
    first = into(box_of(world, x), what="one")
    into(box_of(world, x), what="two")
    closed = into(box_of(world, x), what="three")
    into(box_of(world, x), tool="context7", what="four")
    dropped(world, "triage", what="done", answers=[closed])
    actor = world.at(x)

    for _ in range(100):
        rows = {one["project_root"]: one for one in actor.call("instances")["instances"]}

    assert rows[x]["mailbox_open_count"] == 2
    assert "mailbox_open_count" not in rows[y], "no box, no made-up zero"
    assert opens.counted["inbox.jsonl"] == 1
    assert actor.call("health")["mailbox_open_count"] == 2
    assert "mailbox_open_count" not in world.at(y).call("health")

    dropped(world, "triage", what="done", answers=[first])
    rows = {one["project_root"]: one for one in actor.call("instances")["instances"]}
    assert rows[x]["mailbox_open_count"] == 1, "an answer anywhere counts at once"
    into(box_of(world, y), what="new")
    rows = {one["project_root"]: one for one in actor.call("instances")["instances"]}
    assert (rows[x]["mailbox_open_count"], rows[y]["mailbox_open_count"]) == (1, 1)
    assert opens.counted["inbox.jsonl"] == 2
    assert "mailbox_open_count" not in actor.call("instances")["self"], "a total is nobody's box"


@pytest.mark.req("MED-280", "MED-283", "MED-256")
def test_med_280_med_283_known_fields_in_the_order_of_the_file_and_a_line_twice_is_one_letter(world: World) -> None:
    x = world.brain("x")
    box = box_of(world, x)
    sent = [
        into(box, "memory_misdelivery", kind="leak", foo=1, ts="2026-07-06T00:00:00Z"),
        into(box, ts="no time at all", what="b"),
        into(box, "triage", ts="2026-07-01T00:00:00Z", verdict="fixed", case="leak-1", answers=["ffffffffffff"]),
    ]
    box.write_bytes(box.read_bytes() + box.read_bytes().split(b"\n")[0] + b"\n" + b"\x00 broken\n")
    before = box.read_bytes()

    found = world.at(x).call("mailbox.show")

    first, second, third = found["letters"]
    assert [one["id"] for one in found["letters"]] == sent
    assert (first["kind"], "foo" in first) == ("leak", False)
    assert set(second) == KEYS | {"arrived_by"}, (
        "what a letter does not say is there as nothing; verdict and the like only when said"
    )
    assert (third["verdict"], third["case"], third["answers"]) == ("fixed", "leak-1", ["ffffffffffff"])
    assert found["malformed"] == 1
    assert box.read_bytes() == before


def test_a_long_box_is_cut_to_its_latest_letters_and_says_so(world: World) -> None:
    x = world.brain("x")
    sent = [into(box_of(world, x), what="long " * 500, n=number) for number in range(5)]

    found = world.at(x).call("mailbox.show", limit=2)

    assert [one["id"] for one in found["letters"]] == sent[-2:]
    assert (found["left_out"], found["counts"]["wet_ink"]) == (3, 5)


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningOwner, Path, Path]]:
    """An owner bound to X, with brains for X and Y, letters in both boxes and in the medulla's."""
    place = tmp_path_factory.mktemp("boxes").resolve()
    x, y = place / "repo-x", place / "repo-y"
    running = start_owner(place / "home", root=str(x))
    for root, count in ((x, 2), (y, 3)):
        (root / "src").mkdir(parents=True)
        assert running.call("ingest", path=str(root), project_root=str(root), root=root)["ok"]
        for number in range(count):
            into(root / ".hindbrain" / "inbox.jsonl", what=f"{root.name} {number}", repo=root.name)
    into(place / "home" / "medulla" / "inbox.jsonl", what="for all")
    into(place / "home" / "field-reports.jsonl", what="not filed", repo="repo-y")
    yield running, x, y
    running.kill()


Bound = tuple[RunningOwner, Path, Path]


@pytest.mark.req("MED-277", "MED-278", "MED-279", "MED-383")
def test_med_277_med_278_med_279_med_383_box_endpoint_echo(bound: Bound) -> None:
    running, x, y = bound

    of_x, of_y = (running.get(f"/api/mailbox?brain={quote(str(root))}").json for root in (x, y))

    assert [one["what"] for one in of_x["letters"]] == ["repo-x 0", "repo-x 1"]
    assert [one["what"] for one in of_y["letters"]] == ["repo-y 0", "repo-y 1", "repo-y 2"], "the spool's letter is not merged in"
    assert all(set(one) == KEYS | {"arrived_by"} for one in of_x["letters"])
    assert of_x["served_brain"] == {"project_root": str(x), "display_name": "repo-x"}
    assert of_y["counts"] == {"wet_ink": 3, "in_flight": 0, "fired_clay": 0, "external": 0}
    medulla = running.get("/api/mailbox?brain=medulla").json
    assert [one["what"] for one in medulla["letters"]] == ["for all"]
    assert medulla["served_brain"] == {"project_root": None, "display_name": "medulla"}
    assert running.get("/api/mailbox").json["letters"] == of_x["letters"], "without a name the bound root's"
    missed = running.get("/api/mailbox?brain=/nowhere")
    assert (missed.status, missed.code) == (404, "unknown_brain")
    assert str(y) in missed.json["error"]["known"]
    assert [one["what"] for one in running.get("/api/mailbox?brain=medulla&limit=1").json["letters"]] == ["for all"]
    assert running.get("/api/mailbox?limit=many").json["error"]["code"] == "invalid_params"


@pytest.mark.req("MED-229", "MED-273", "MED-281", "MED-282")
def test_med_229_med_273_med_281_med_282_the_wire_only_reads_boxes_and_counts_them(bound: Bound) -> None:
    running, x, y = bound
    before = (x / ".hindbrain" / "inbox.jsonl").read_bytes()

    for method in ("POST", "PUT", "DELETE", "PATCH"):
        for path in ("/api/mailbox", f"/api/mailbox?brain={quote(str(x))}", "/api/inbox_sweep"):
            refused = running.request(method, path, body=b"{}", headers={"Content-Type": "application/json"})
            assert (refused.status, refused.code) == (405, "method_refused"), (method, path)

    swept = running.get("/api/inbox_sweep").json
    assert (swept["total"], swept["open"]) == (7, 7)
    assert {one["box"] for one in swept["boxes"]} == {str(x), str(y), "medulla"}
    rows = {one["display_name"]: one for one in running.get("/api/instances").json["instances"]}
    assert (rows["repo-x"]["mailbox_open_count"], rows["repo-y"]["mailbox_open_count"]) == (2, 3)
    assert (x / ".hindbrain" / "inbox.jsonl").read_bytes() == before
    listed = {one["name"]: one["surfaces"] for one in running.get("/api/operations").json["operations"]}
    assert "mcp" not in {*listed["inbox_sweep"], *listed["mailbox.show"], *listed["triage_session"], *listed["battery.run"]}
    assert "http" not in {*listed["mailbox.distribute"], *listed["triage_session"], *listed["battery.add"]}
    assert all({"cli", "mcp", "http"} <= set(listed[name]) for name in ("report", "triage"))

    spool = running.home / "field-reports.jsonl"
    held = spool.read_bytes()
    filed = running.call("mailbox.distribute", root=x)
    assert (filed["ok"], spool.read_bytes()) == (False, held)
    letter = running.call("report", root=x, **{"class": "bug"}, what="over the wire")["id"]
    running.call("triage", root=x, answers=[letter], what="done")
    added = spool.read_bytes().removeprefix(held).splitlines()
    assert [json.loads(one)["class"] for one in added] == ["bug", "triage"]
    assert (hashlib.sha256(added[0]).hexdigest()[:12], json.loads(added[1])["answers"]) == (letter, [letter])
    assert (x / ".hindbrain" / "inbox.jsonl").read_bytes() == before


def test_what_a_repository_planted_in_place_of_its_box_costs_nobody_anything(world: World) -> None:
    """A clone may bring a directory, a pipe, a link or a flood under the name of the box, and all boxes are read together."""
    x, y = world.brain("x"), world.brain("y")
    theirs = into(box_of(world, y), what="of y")
    box, actor = box_of(world, x), world.at(x)
    waits = dropped(world, what="for x", repo=x)

    def directory() -> None:
        box.mkdir()

    def pipe() -> None:
        os.mkfifo(box)

    def link() -> None:
        os.symlink(box_of(world, y), box)

    def flood() -> None:
        box.write_bytes(b"{}\n" * 50_001)

    def one_huge_hole() -> None:
        with box.open("wb") as file:
            file.truncate(1 << 40)

    box.parent.mkdir()
    held = len(os.listdir("/proc/self/fd"))
    for planted in (directory, pipe, link, flood, one_huge_hole):
        planted()
        shape = os.lstat(box)
        for _ in range(3):
            rows = {one["project_root"]: one for one in actor.call("instances")["instances"]}
            refused = actor.call("mailbox.show")
        assert ("mailbox_open_count" in rows[x], rows[y]["mailbox_open_count"]) == (False, 1), planted
        assert refused["error"]["code"] == "path_refused", planted
        assert str(box) in refused["error"]["message"]
        swept = actor.call("inbox_sweep")
        assert ([one["box"] for one in swept["unreachable"]], swept["total"]) == ([x], 2), planted
        filed = actor.call("mailbox.distribute")
        assert [(one["id"], one["reason"]) for one in filed["pending"]] == [(waits, "box_unwritable")], planted
        after = os.lstat(box)
        assert (after.st_ino, after.st_size, after.st_mtime_ns) == (shape.st_ino, shape.st_size, shape.st_mtime_ns), planted
        box.rmdir() if planted is directory else box.unlink()
    assert len(os.listdir("/proc/self/fd")) == held, "no handle is left open"
    assert [one["what"] for one in world.at(y).call("mailbox.show")["letters"]] == ["of y"]

    # What could not be read again is not written either: the last line that fits is the last one filed.
    with box.open("wb") as file:
        file.truncate((32 << 20) - len(spool_of(world).read_bytes()) - 1)
        file.seek(0, os.SEEK_END)
        file.write(b"\n")
    assert actor.call("mailbox.distribute")["to_project"] == 1
    more = dropped(world, what="one too many", repo=x)
    assert [one["id"] for one in actor.call("mailbox.distribute")["pending"]] == [more]
    assert [one["id"] for one in actor.call("mailbox.show")["letters"]][-1] == waits
    assert theirs in {one["id"] for one in actor.call("inbox_sweep")["letters"]}
