"""The spool: one file for a machine, appended to by anybody, changed by nobody."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.letter import letter_id
from hindbrain.engines.letters import legacy_links, parsed, read
from hindbrain.policy.limits import LETTER_MAX_BYTES
from hindbrain.stores.documents import Document, problem_of
from hindbrain.stores.letter_files import append, lines
from tests.support.letters import box, identity, letters_in
from tests.support.world import Actor, World


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the user; repositories of the world lie in it."""
    home = Path(os.path.realpath(tmp_path))
    monkeypatch.setenv("HOME", str(home))
    return home


def report(actor: Actor, what: str, **more: Any) -> dict[str, Any]:
    answer = actor.call("report", **{"class": "bug", "what": what, **more})
    assert answer["ok"], answer
    return answer


def known(world: World, name: str) -> str:
    """A repository that has a brain, as far as letters are concerned."""
    root = world.repository(name)
    world.home.register(root, brain_id=None, now=0)
    return root


def spool(world: World) -> list[dict[str, Any]]:
    return [json.loads(line) for line in world.home.field_reports_file.read_bytes().splitlines()]


def test_med_227_med_230_every_report_of_the_machine_is_in_one_spool_and_says_whose_it_is(user: Path, world: World) -> None:
    x, y, bare = known(world, "code/x"), known(world, "y"), world.repository("bare")
    tree = world.directory("bare/src/deep")

    told = [
        report(world.at(x), "one"),
        report(world.at(y), "two"),
        report(world.at(tree), "three"),
        report(world.at(None), "four"),
    ]

    assert [one["spool"] for one in told] == [str(world.home.path / "field-reports.jsonl")] * 4
    mine, yours, brainless, nowhere = spool(world)
    assert (mine["brain"], mine["repo"], mine["agent"], mine["class"]) == ("project:x", "~/code/x", "codex:maker", "bug")
    assert os.path.expanduser(mine["repo"]) == x
    assert (yours["brain"], os.path.expanduser(yours["repo"])) == ("project:y", y)
    assert (brainless["brain"], os.path.expanduser(brainless["repo"])) == ("project:bare", bare)
    assert (nowhere["brain"], "repo" in nowhere) == ("medulla", False)
    assert mine["ts"] == "2026-07-04T23:57:11.408Z"
    assert [one["id"] for one in told] == letters_in(world.home.field_reports_file)
    assert world.home.field_reports_file.stat().st_mode & 0o777 == 0o600
    # A letter is no memory: what had no brain still has none.
    assert world.home.project(bare) is None
    assert not world.home.medulla_dir.exists()


def test_med_230_outside_of_the_users_directory_the_repository_is_its_whole_path(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "someone"))
    x = known(world, "x")

    assert report(world.at(x), "one")["letter"]["repo"] == x


def test_med_230_a_letter_from_the_users_own_directory_names_no_project(user: Path, world: World) -> None:
    told = report(world.at(str(user)), "one")

    assert (told["letter"]["brain"], "repo" in told["letter"]) == ("medulla", False)


def test_med_244_a_letter_may_be_about_another_project_and_gives_no_look_into_it(user: Path, world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(y).memorize("Ferry", "the ferry leaves at noon")

    told = [report(world.at(x), "by name", brain="y"), report(world.at(x), "by path", repo="~/y")]

    assert [(one["letter"].get("brain"), one["letter"].get("repo")) for one in told] == [("project:y", None), (None, "~/y")]
    assert "noon" not in json.dumps(told)
    world.at(x).call("mailbox.distribute")
    assert letters_in(box(y)) == [one["id"] for one in told]
    assert not box(x).exists()
    assert "noon" not in json.dumps(world.at(x).north("ferry"))


def test_med_231_a_triage_names_what_it_answers(user: Path, world: World) -> None:
    x = known(world, "x")
    first = report(world.at(x), "it broke")

    for given in ({"what": "fixed"}, {"what": "fixed", "answers": []}):
        refused = world.at(x).call("triage", **given)
        assert refused["error"]["code"] == "invalid_params"
    closed = world.at(x).call("triage", what="fixed", answers=[first["id"]], verdict="fixed", case="tests/x.py::one")
    loose = report(world.at(x), "resolves it", **{"class": "triage"})
    mistyped = world.at(x).call("triage", what="fixed", answers=[first["id"], "5f2a9c01d4be"])

    _, triage, generic, kept = spool(world)
    assert (triage["class"], triage["answers"], triage["verdict"], triage["case"]) == (
        "triage",
        [first["id"]],
        "fixed",
        "tests/x.py::one",
    )
    assert closed["warnings"] == []
    assert len(loose["warnings"]) == 1
    assert "answers" not in generic
    assert kept["answers"] == [first["id"], "5f2a9c01d4be"]
    assert "'5f2a9c01d4be' is here" in mistyped["warnings"][0]
    assert first["id"] not in mistyped["warnings"][0]


def test_med_257_our_own_verbs_refuse_a_secret_at_the_door(user: Path, world: World) -> None:
    x, key = known(world, "x"), "AKIA" + "QWERTYUIOPASDFGH"
    given = {"class": "bug", "what": "it printed"}

    for more in (
        {"what": f"it printed {key}"},
        {"snippet": f"a\n{key}"},
        {"expected": key},
        {"answers": [key]},
        {"repo": f"~/{key}"},
    ):
        refused = world.at(x).call("report", **{**given, **more})
        assert (refused["error"]["code"], refused["error"]["pattern_class"]) == ("hygiene", "aws_access_key_id")
        assert key[8:] not in json.dumps(refused)
    merged = world.at(x).call("report", **given, snippet="one\n<<<<<<< HEAD\ntwo")
    assert (merged["error"]["code"], merged["error"]["pattern_class"]) == ("hygiene", "conflict_marker")
    assert world.at(x).call("report", **given, snippet="the key is in the vault")["ok"]

    assert len(spool(world)) == 1
    odd = world.at(x).call("report", **{**given, "what": "a\x00b"})
    assert odd["error"]["code"] == "invalid_params"


def test_med_232_med_233_the_id_is_read_from_the_bytes_of_the_line(tmp_path: Path) -> None:
    place = tmp_path / "spool"
    place.write_bytes(b'{"a":1}\n{"a":1}\r\n{"a": 1}\n{"a":"\xc3\xa9  \\u00e9"}')

    found = [parsed(raw) for raw in lines(place) if raw is not None]

    assert [one.id for one in found if one] == [
        "015abd7f5cc5",
        "015abd7f5cc5",
        identity(b'{"a": 1}'),
        identity('{"a":"é  \\u00e9"}'.encode()),
    ]
    assert len({one.id for one in found if one}) == 3
    assert letter_id(b'{"a":1}') == "015abd7f5cc5"


def test_med_234_med_235_what_is_no_letter_is_counted_and_a_letter_counts_once(tmp_path: Path) -> None:
    place = tmp_path / "spool"
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    broken = [b"{broken", b"[]", b"null", b"\xff", b"7", b'{"a":1}{"b":2}', b"\x00", b'{"a":Infinity}', deep]
    good = [b'{"what":"one"}', b'{"what":"\\ud800"}', b"\xef\xbb\xbf" + b'{"what":"three"}', b"{}"]
    long = b'{"what":"' + b"x" * LETTER_MAX_BYTES + b'"}'
    place.write_bytes(b"\n".join([*broken, b"", *good, b"  ", long, *good, b"\r", long]))

    batch = read(lines(place))

    assert [one.id for one in batch.letters] == [identity(raw) for raw in good]
    assert batch.malformed == len(broken) + 2
    assert [one.what for one in batch.letters] == ["one", "?", "three", None]


def test_lines_come_whole_whatever_the_size_of_what_is_read(tmp_path: Path) -> None:
    chance = random.Random(5)
    sizes = [0, 1, LETTER_MAX_BYTES - 1, LETTER_MAX_BYTES, LETTER_MAX_BYTES + 1, 3 * LETTER_MAX_BYTES]
    wanted = [bytes([97 + number % 26]) * chance.choice([*sizes, 7, 80, 900_000]) for number in range(40)]
    place = tmp_path / "spool"
    place.write_bytes(b"".join(raw + chance.choice([b"\n", b"\r\n"]) for raw in wanted))

    assert list(lines(place)) == [raw if len(raw) <= LETTER_MAX_BYTES else None for raw in wanted]


APPENDING = """
import os, sys
from pathlib import Path
from hindbrain.stores.letter_files import append
place = Path(sys.argv[1])
for child in range(50):
    if os.fork() == 0:
        for number in range(20):
            append(place, (b'{"what":"%d of %d"' + b' ' * (child * 200) + b'}') % (number, child))
        os._exit(0)
for _ in range(50):
    _, status = os.wait()
    assert status == 0, status
"""


def test_med_229_fifty_processes_append_at_once_and_no_letter_is_torn(tmp_path: Path) -> None:
    place = tmp_path / "spool"

    subprocess.run([sys.executable, "-c", APPENDING, str(place)], check=True, timeout=60)

    said = [json.loads(line)["what"] for line in place.read_bytes().splitlines()]
    assert sorted(said) == sorted(f"{number} of {child}" for child in range(50) for number in range(20))
    for child in range(50):  # each writer's own order is kept
        assert [one for one in said if one.endswith(f" of {child}")] == [f"{number} of {child}" for number in range(20)]


def test_med_229_a_line_that_another_program_left_open_is_not_joined(tmp_path: Path) -> None:
    place = tmp_path / "spool"
    place.write_bytes(b'{"what":"theirs"}')
    append(place, b'{"what":"ours"}')
    with place.open("ab") as theirs:
        theirs.write(b'{"what":"theirs again"}\n')

    assert [one.what for one in read(lines(place)).letters] == ["theirs", "ours", "theirs again"]

    os.symlink(place, tmp_path / "link")
    with pytest.raises(OSError, match="symbolic link"):
        append(tmp_path / "link", b"{}")
    with pytest.raises(OSError, match="symbolic link"):
        list(lines(tmp_path / "link"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no plain file"):
        list(lines(tmp_path / "pipe"))


def test_med_228_med_340_med_380_the_spool_only_grows(user: Path, world: World) -> None:
    chance = random.Random(3)
    x, y = known(world, "x"), world.repository("y")
    file = world.home.field_reports_file
    world.home.ensure()
    file.write_bytes(b'{"repo":"x", "what":"old"}\n{broken\n\n{"repo":"gone"}')
    verbs = [
        lambda: report(world.at(x), f"case {chance.random()}"),
        lambda: world.at(y).call("triage", answers=[identity(b'{"repo":"gone"}')], what="looked at"),
        lambda: world.at(x).call("report", **{"class": "memory_misdelivery"}, what="no kind"),
        lambda: world.at(x).call("mailbox.distribute"),
        lambda: world.human(y).call("mailbox.distribute"),
        lambda: world.at(None).call("report", **{"class": "win"}, what="it works"),
    ]
    for number in range(200):
        before = file.read_bytes()
        verbs[chance.randrange(len(verbs)) if number >= len(verbs) else number]()
        assert file.read_bytes().startswith(before)

    # Boxes can be made again from it.
    world.at(x).call("mailbox.distribute")
    held = {place: place.read_bytes() for place in (box(x), box(y), world.home.medulla_box)}
    for place in held:
        place.unlink()
    world.at(x).call("mailbox.distribute")
    assert {place: place.read_bytes() for place in held} == held


def test_med_237_med_238_old_letters_answer_by_line_numbers(user: Path, world: World) -> None:
    x = known(world, "x")
    old = [f'{{"what":"case {number}","repo":"x"}}' for number in range(1, 54)]
    old[11] = ""
    old[39] = '{"class":"triage","what":"resolves L27+L29, not L40"}'
    old[40] = '{"class":"triage","what":"resolves L999 and L12"}'
    old[41] = '{"class":"friction","what":"see L27"}'
    old[42] = '{"class":"triage","what":"resolves L27","answers":["ffffffffffff"]}'
    world.home.ensure()
    file = world.home.field_reports_file
    file.write_text("\n".join(old) + "\n")
    before = file.read_bytes()

    world.at(x).call("mailbox.distribute")

    kept = json.loads((world.home.path / "field-reports.links.json").read_text())
    ids = [identity(line.encode()) for line in old]
    assert kept["links"] == {ids[39]: [ids[26], ids[28]]}
    assert kept["unresolved"] == {ids[39]: ["L40"], ids[40]: ["L999", "L12"]}
    assert file.read_bytes() == before

    swept = {one["id"]: one["state"] for one in world.at(x).call("inbox_sweep")["letters"]}
    assert [number for number, one in enumerate(ids[:39], 1) if swept.get(one) == "fired_clay"] == [27, 29]
    assert swept[ids[40]] == "wet_ink"  # what it answers is not to be found, so it answers nothing

    # Once is enough: what is written later speaks of letters by id, and L27 in it is a word.
    report(world.at(x), "as in L27 of the plan", **{"class": "triage"})
    world.at(x).call("mailbox.distribute")
    assert json.loads(world.home.links_file.read_text()) == kept
    spooled = world.app.house.mailbox.spool
    assert spooled.links().answers == {ids[39]: (ids[26], ids[28])}
    world.home.links_file.write_text("[1, 2")
    assert spooled.links().answers == {}


def test_med_236_answers_are_kept_as_they_were_written() -> None:
    told = [
        b'{"answers":["ffffffffffff"," 015abd7f5cc5 ",5,null,"","ffffffffffff"]}',
        b'{"answers":"015abd7f5cc5"}',
        b'{"answers":{}}',
    ]

    assert [one.answers for one in read(told).letters] == [("ffffffffffff", "015abd7f5cc5"), ("015abd7f5cc5",), ()]
    assert legacy_links(told).answers == {}


def test_letters_from_elsewhere_are_taken_once_and_as_they_are(user: Path, world: World) -> None:
    post = world.app.house.mailbox.spool
    given = [b'{"what" : "one"}', b"{broken", b'{"what":"two"}', b'{"what" : "one"}']

    assert [one.raw for one in post.take(given)] == [given[0], given[2]]
    assert post.take(given) == []
    assert world.home.field_reports_file.read_bytes() == given[0] + b"\n" + given[2] + b"\n"


_LIMITED = """
import resource, signal, sys
from pathlib import Path
from hindbrain.stores.letter_files import append
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
limit = path.stat().st_size + 20
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    append(path, b'{"class": "bug", "what": "' + b"x" * 200 + b'"}')
except OSError as full:
    print(full.errno)
"""


def test_a_letter_that_the_disk_takes_in_part_is_refused_and_leaves_no_torn_line(tmp_path: Path) -> None:
    """On a full disk the spool kept a piece of each refused letter, and the doctor called the file damaged for good."""
    path = tmp_path / "field-reports.jsonl"
    append(path, b'{"class": "win"}')

    done = subprocess.run([sys.executable, "-c", _LIMITED, str(path)], capture_output=True, text=True, check=True)
    append(path, b'{"class": "gap"}')

    assert done.stdout.strip(), "the disk took all of it"
    assert [line for line in lines(path) if line and line.strip()] == [b'{"class": "win"}', b'{"class": "gap"}']
    assert problem_of(path, Document(pattern=path.name, lines=True)) is None
