"""Distribution: one box for each letter, found by its words; a second run does nothing."""

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hindbrain.services.mailbox.distribution import Distribution
from hindbrain.stores.home import Home
from tests.hygiene.texts import CLASSES, lines
from tests.support.letters import box, identity, letters_in
from tests.support.world import World, git, tree_hash

KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the user; repositories of the world lie in it."""
    home = Path(os.path.realpath(tmp_path))
    monkeypatch.setenv("HOME", str(home))
    return home


def posted(world: World, *letters: dict[str, Any] | bytes) -> list[str]:
    """Lines that some program appends to the spool; their ids."""
    raws = [one if isinstance(one, bytes) else json.dumps({"what": "it broke", **one}).encode() for one in letters]
    world.home.ensure()
    with world.home.field_reports_file.open("ab") as spool:
        spool.write(b"".join(raw + b"\n" for raw in raws))
    return [identity(raw) for raw in raws]


def distributed(world: World, root: str | None = None) -> dict[str, Any]:
    answer = world.at(root).call("mailbox.distribute")
    assert answer["ok"], answer
    return answer


def known(world: World, name: str) -> str:
    """A repository that has a brain, as far as letters are concerned."""
    root = world.repository(name)
    world.home.register(root, brain_id=None, now=0)
    return root


def targets(answer: dict[str, Any]) -> dict[str, str]:
    return {one["id"]: one["target"] for one in answer["filed"]} | {one["id"]: "pending" for one in answer["pending"]}


def test_med_240_med_241_med_254_med_374_one_place_for_each_letter_and_nothing_more_the_second_time(
    user: Path, world: World
) -> None:
    x, y = known(world, "repo-x"), known(world, "repo-y")
    ids = posted(
        world,
        {"repo": "repo-x", "n": 1},
        {"repo": x, "n": 2},
        {"repo": "repo-y"},
        {"repo": "all"},
        {},
        {"repo": "repo-c"},
    )
    posted(world, b"{broken")

    first, second = distributed(world), distributed(world)

    for answer in (first, second):
        assert (answer["to_project"], answer["to_medulla"], answer["spool_total"], answer["malformed"]) == (3, 2, 6, 1)
        assert answer["pending"] == [{"id": ids[5], "name": "repo-c", "reason": "not_here"}]
        assert answer["refused_hygiene"] == []
        assert targets(answer) == dict(zip(ids, [x, x, y, "medulla", "medulla", "pending"], strict=True))
    assert (first["appended"], second["appended"]) == (5, 0)
    assert [one["appended"] for one in second["filed"]] == [False] * 5
    assert letters_in(box(x)) == ids[:2]
    assert letters_in(box(y)) == [ids[2]]
    assert letters_in(world.home.medulla_box) == ids[3:5]


def test_med_242_med_249_med_260_a_repository_without_a_brain_gets_its_box_and_nothing_else(user: Path, world: World) -> None:
    almus, plain = world.repository("almus"), world.directory("new")
    git(almus, "add", ".")
    git(almus, "commit", "-qm", "one")
    head = (Path(almus, ".git", "HEAD").read_bytes(), Path(almus, ".git", "index").read_bytes())
    ids = posted(world, {"repo": "~/almus"}, {"repo": plain})

    distributed(world)

    assert letters_in(box(almus)) == [ids[0]]
    assert letters_in(box(plain)) == [ids[1]]
    assert git(almus, "status", "--porcelain", "-uall") == "?? .hindbrain/inbox.jsonl\n"
    assert (Path(almus, ".git", "HEAD").read_bytes(), Path(almus, ".git", "index").read_bytes()) == head
    assert os.listdir(plain) == [".hindbrain"]
    assert os.listdir(Path(plain, ".hindbrain")) == ["inbox.jsonl"]
    assert list(world.home.projects()) == []


def test_med_243_the_box_outlives_the_brain(user: Path, world: World) -> None:
    x = world.repository("x")
    posted(world, {"repo": x, "n": 1}, {"repo": x, "n": 2})
    distributed(world)
    before = box(x).read_bytes()

    world.brain("x")
    distributed(world)
    assert box(x).read_bytes() == before

    directory = world.home.manifest_path(x).parent
    world.close()
    shutil.rmtree(directory)
    assert distributed(world)["appended"] == 0
    assert box(x).read_bytes() == before


def test_med_244_the_brain_decides_unless_it_names_no_project(user: Path, world: World) -> None:
    x, y = known(world, "repo-x"), known(world, "repo-y")
    away = world.repository("away/repo-y")
    ids = posted(
        world,
        {"brain": "project:repo-y", "repo": "repo-x"},
        {"brain": "medulla", "repo": "repo-x"},
        {"brain": "all", "repo": x},
        {"brain": "project:repo-y", "repo": away},
    )

    assert targets(distributed(world)) == dict(zip(ids, [y, x, x, away], strict=True))


def test_med_245_med_246_med_247_med_248_names_with_home_annotation_worktree_and_alias(user: Path, world: World) -> None:
    m1nd, docs, rooms = known(world, "m1nd"), known(world, "m1nd-docs"), known(world, "reporooms")
    known(world, "foo")
    letters = [
        ("~/m1nd/", m1nd),
        ("m1nd (worktree m1nd-hall)", m1nd),
        ("(research task, no repo)", "medulla"),
        ("m1nd-l00p", m1nd),
        ("m1nd-docs", docs),
        ("foo-bar", "pending"),
        ("m1nd-", "pending"),
        ("gitrooms", rooms),
        (f"{user}/m1nd-gone", m1nd),  # a worktree that was taken away again
        (f"{user}/elsewhere/m1nd-gone", "pending"),
    ]
    ids = posted(world, *({"repo": name} for name, _ in letters))
    world.restart(worktree_bases="m1nd", repo_aliases="gitrooms = reporooms")

    assert targets(distributed(world)) == {one: where for one, (_, where) in zip(ids, letters, strict=True)}


def test_med_247_without_a_setting_the_worktrees_are_those_of_the_bound_root(user: Path, world: World) -> None:
    m1nd, other = known(world, "m1nd"), known(world, "other")
    ids = posted(world, {"repo": "m1nd-l00p"}, {"repo": "other-l00p"})
    world.close()
    world.bound_root = m1nd

    assert targets(distributed(world, other)) == dict(zip(ids, [m1nd, "pending"], strict=True))


def test_med_248_an_alias_that_is_none_is_told(user: Path, world: World) -> None:
    world.restart(repo_aliases="gitrooms")

    assert world.at(None).call("mailbox.distribute")["error"]["code"] == "config_invalid"


def test_med_242_a_worktree_and_a_directory_inside_stand_for_their_repository(user: Path, world: World) -> None:
    x = world.repository("x")
    git(x, "add", ".")
    git(x, "commit", "-qm", "one")
    linked = str(user / "x-hall")
    git(x, "worktree", "add", "-q", linked)
    os.makedirs(f"{linked}/src")
    os.symlink(x, user / "short")
    ids = posted(world, {"repo": linked}, {"repo": f"{linked}/src"}, {"repo": "~/short"}, {"repo": f"{x}/.git"})

    assert targets(distributed(world)) == dict.fromkeys(ids, x)
    assert not Path(linked, ".hindbrain").exists()


def test_med_250_only_what_names_no_project_lies_in_the_medullas_box(user: Path, world: World) -> None:
    known(world, "x")
    runtime = str(world.home.path)
    projectless = [runtime, f"{runtime}/medulla", "~/.m1nd/runtimes/main", "all", "(research task, no repo)", "research task", ""]
    ids = posted(world, *({"repo": name} for name in projectless), {"brain": "medulla"}, {"repo": "~"}, {"repo": None})
    posted(world, {"repo": "x"}, {"repo": "absent"})

    answer = distributed(world)

    assert letters_in(world.home.medulla_box) == ids
    assert answer["to_medulla"] == len(ids)
    assert world.home.medulla_box == world.home.path / "medulla" / "inbox.jsonl"
    assert world.home.medulla_box.stat().st_mode & 0o777 == 0o600
    assert not Path(runtime, ".hindbrain").exists()


def unwritable(root: str, how: str) -> None:
    """A repository whose box cannot be written, whoever asks."""
    place = Path(root, ".hindbrain")
    if how == "a file in its place":
        place.write_text("mine")
    elif how == "a link out":
        place.symlink_to(root + "-outside")
    elif how == "a directory for a box":
        (place / "inbox.jsonl").mkdir(parents=True)
    elif how == "a linked box":
        place.mkdir()
        (place / "inbox.jsonl").symlink_to(root + "-outside/stolen")
    elif how == "a pipe":
        place.mkdir()
        os.mkfifo(place / "inbox.jsonl")


def test_med_251_med_261_a_box_that_cannot_be_written_holds_up_only_its_own_letters(user: Path, world: World) -> None:
    ids = posted(world, {"repo": "all"})
    distributed(world)
    shared = world.home.medulla_box.read_bytes()
    hows = ("a file in its place", "a link out", "a directory for a box", "a linked box", "a pipe")
    broken = {how: known(world, f"x{number}") for number, how in enumerate(hows)}
    y = known(world, "y")
    for how, root in broken.items():
        os.makedirs(root + "-outside")
        unwritable(root, how)
    unreadable = known(world, "unreadable")
    shutil.rmtree(unreadable)
    os.symlink(unreadable, unreadable)  # a loop: nobody can look into it, not even root
    names = [*broken.values(), "absent", unreadable, y]
    ids += posted(world, *({"repo": name} for name in names), {"brain": "project:x0"}, {"brain": "project:unreadable"})

    answer = distributed(world)

    assert targets(answer) == dict(zip(ids, ["medulla", *["pending"] * 7, y, "pending", "pending"], strict=True))
    reasons = [*["box_unwritable"] * 5, "not_here", "not_here", "box_unwritable", "not_here"]
    assert [one["reason"] for one in answer["pending"]] == reasons
    assert letters_in(box(y)) == [ids[8]]
    assert world.home.medulla_box.read_bytes() == shared
    assert [os.listdir(root + "-outside") for root in broken.values()] == [[]] * 5
    assert Path(broken["a file in its place"], ".hindbrain").read_text() == "mine"


def test_med_261_a_box_is_never_made_in_the_home_of_hindbrain(user: Path, world: World, tmp_path: Path) -> None:
    """Dot files in git: the box of that repository would lie in the home itself."""
    world.close()
    dots = World(tmp_path / "dots")
    dots.home = Home(Path(world.repository("dots"), ".hindbrain"))
    ids = posted(dots, {"repo": str(dots.home.path.parent)})

    answer = distributed(dots)

    assert targets(answer) == {ids[0]: "pending"}
    assert answer["pending"][0]["reason"] == "box_unwritable"
    dots.close()


def test_med_252_med_253_med_376_a_letter_waits_for_its_repository(user: Path, world: World) -> None:
    known(world, "code/x")
    ids = posted(world, {"repo": "repo-c"}, {"repo": "~/later"})

    first = distributed(world)
    assert first["pending"] == [
        {"id": ids[0], "name": "repo-c", "reason": "not_here"},
        {"id": ids[1], "name": f"{user}/later", "reason": "not_here"},
    ]
    assert "repo-c" in first["rendered"]

    found, later = world.directory("code/repo-c"), world.directory("later")
    second = distributed(world)
    assert second["pending"] == []
    assert (letters_in(box(found)), letters_in(box(later))) == ([ids[0]], [ids[1]])


def test_med_253_search_roots_are_what_the_setting_says(user: Path, world: World) -> None:
    known(world, "code/x")
    here, elsewhere = world.directory("code/repo-c"), world.directory("attic/repo-c")
    ids = posted(world, {"repo": "repo-c"}, {"repo": ".."}, {"repo": "../repo-c"}, {"repo": "code/x"})
    world.restart(repo_search_roots="~/attic, /nowhere")

    assert targets(distributed(world)) == dict(zip(ids, [elsewhere, "pending", "pending", "pending"], strict=True))
    assert not box(here).exists()


def test_two_repositories_of_one_name_are_not_guessed_between(user: Path, world: World) -> None:
    known(world, "left/twin")
    right = known(world, "right/twin")
    ids = posted(world, {"repo": "twin"}, {"brain": "project:twin", "repo": right})

    answer = distributed(world)

    assert answer["pending"] == [{"id": ids[0], "name": "twin", "reason": "ambiguous_name"}]
    assert letters_in(box(right)) == [ids[1]]


def test_med_255_med_256_med_377_letters_that_came_with_git_stay_as_they_are(user: Path, world: World) -> None:
    x = known(world, "x")
    foreign = b'{"what" : "from another machine"}'
    shared = json.dumps({"what": "it broke", "repo": "x"}).encode()
    box(x).parent.mkdir()
    before = foreign + b"\r\n" + foreign + b"\n\n{merged\n" + shared  # twice after a merge, and without its last line end
    box(x).write_bytes(before)
    ids = posted(world, {"repo": "x"}, {"repo": "x", "n": 2}, {"repo": "x", "n": 3})

    answer = distributed(world)

    assert ids[0] == identity(shared)
    assert [one["appended"] for one in answer["filed"]] == [False, True, True]
    after = box(x).read_bytes()
    assert after.startswith(before + b"\n")
    assert letters_in(box(x))[-2:] == ids[1:]
    assert distributed(world)["appended"] == 0
    assert box(x).read_bytes() == after


def test_med_233_a_letter_is_copied_as_its_bytes(user: Path, world: World) -> None:
    x = known(world, "x")
    odd = ' {"repo" :\t"x",  "what":"Größe \u2028 日本 \\u00e9 \\ud83d" , "foo" : 1e400, "what":"twice"}  '.encode()
    posted(world, odd + b"\r")

    answer = distributed(world)

    assert box(x).read_bytes() == odd + b"\n"
    assert [one["id"] for one in answer["filed"]] == [identity(odd)] == letters_in(box(x))


def test_med_257_med_258_med_379_a_letter_with_a_secret_stays_in_the_spool(user: Path, world: World) -> None:
    x = known(world, "x")
    escaped = "".join(f"\\u{ord(one):04x}" for one in KEY)
    header = "-----BEGIN " + "OPENSSH PRIVATE KEY-----"
    ids = posted(
        world,
        {"repo": "x", "snippet": f"export {KEY}"},
        {"snippet": f"{header}\nabc"},
        f'{{"repo":"x","snippet":"{escaped}"}}'.encode(),
        {"repo": "x", "snippet": "one\nDEPLOY_TOKEN=hunter2hunter2\n"},
        {"repo": "x", "foo": {"deep": [KEY]}},
        {"repo": "x", "snippet": "the password is in the vault, see <<<<<<< there"},
    )

    answer = distributed(world)

    kinds = ["aws_access_key_id", "private_key", "aws_access_key_id", "env_assignment", "aws_access_key_id"]
    assert answer["refused_hygiene"] == [{"id": one, "pattern_class": kind} for one, kind in zip(ids, kinds, strict=False)]
    assert letters_in(box(x)) == [ids[5]]
    assert not world.home.medulla_box.exists()
    assert KEY[8:] not in json.dumps(answer)
    assert letters_in(world.home.field_reports_file) == ids


def test_med_284_med_286_filing_a_letter_refuses_every_class_of_the_floor(user: Path, world: World) -> None:
    x = known(world, "x")
    ids = posted(world, *({"repo": "x", "snippet": "as seen:\n" + lines(name, "refused")[0]} for name in CLASSES))

    answer = distributed(world)

    found = {one["id"]: one["pattern_class"] for one in answer["refused_hygiene"]}
    assert found == dict(zip(ids, CLASSES, strict=True))
    assert not box(x).exists()


def test_med_259_the_first_box_of_a_repository_warns_that_letters_are_committed(user: Path, world: World) -> None:
    private, ruled, plain, open_ = (world.repository(name) for name in ("private", "ruled", "plain", "open"))
    assert world.at(private).call("init", path=private, private=True)["ok"]
    Path(ruled, ".gitignore").write_text(".hindbrain/\n")
    loose = world.directory("loose")
    posted(world, *({"repo": root} for root in (private, ruled, loose)))

    quiet = distributed(world)
    assert (quiet["appended"], quiet["warnings"]) == (3, [])
    for root in (private, ruled):
        assert git(root, "check-ignore", ".hindbrain/inbox.jsonl") == ".hindbrain/inbox.jsonl\n"

    posted(world, *({"repo": root} for root in (plain, open_)))
    loud, again = distributed(world), distributed(world)
    assert len(loud["warnings"]) == 1
    assert loud["rendered"].count(loud["warnings"][0]) == 1
    assert "--private" in loud["warnings"][0]
    assert again["warnings"] == []
    asked = subprocess.run(["git", "-C", plain, "check-ignore", "-q", ".hindbrain/inbox.jsonl"], check=False)
    assert asked.returncode == 1


def test_med_262_a_deleted_box_comes_back_from_the_spool(user: Path, world: World) -> None:
    x = known(world, "x")
    ids = posted(world, *({"repo": "x", "n": number} for number in (3, 1, 2)))
    distributed(world)
    before = box(x).read_bytes()
    box(x).unlink()

    assert distributed(world)["appended"] == 3
    assert box(x).read_bytes() == before
    assert letters_in(box(x)) == ids


def test_med_263_a_clone_carries_its_box_and_distribution_comes_to_know_it(user: Path, world: World, tmp_path: Path) -> None:
    x = world.repository("x")
    ids = posted(world, {"repo": x})
    distributed(world)
    git(x, "add", ".")
    git(x, "commit", "-qm", "letters")
    other = World(tmp_path / "other machine")
    clone = str(other.place / "x")
    subprocess.run(["git", "clone", "-q", x, clone], check=True)
    before = tree_hash(Path(clone, ".hindbrain"))

    answer = distributed(other, clone)

    assert (answer["spool_total"], answer["appended"]) == (0, 0)
    assert clone in other.app.house.mailbox.room.known()
    assert letters_in(box(clone)) == ids
    assert tree_hash(Path(clone, ".hindbrain")) == before
    other.close()


def test_med_330_no_database_is_made_or_changed(user: Path, world: World) -> None:
    """Letters are files: neither writing nor filing them opens a store."""
    x = world.repository("x")
    posted(world, {"repo": x}, {})
    world.at(x).call("report", **{"class": "win"}, what="it works")
    distributed(world, x)

    assert [path.name for path in world.home.path.rglob("*.db*")] == []


def test_med_261_what_a_box_holds_is_filed_though_it_takes_no_more(user: Path, world: World) -> None:
    x = known(world, "x")
    ids = posted(world, {"repo": "x"})
    distributed(world)
    ids += posted(world, {"repo": "x", "n": 2})
    held = os.open(Path(x, ".hindbrain"), os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)  # another distribution, which hangs
    mailbox = world.app.house.mailbox
    impatient = Distribution(world.home, mailbox.spool, mailbox.room, wait_s=0)

    answer = impatient.run(world.at(None).caller, lambda done, total, what: None)
    os.close(held)

    assert targets(answer) == {ids[0]: x, ids[1]: "pending"}
    assert answer["pending"][0]["reason"] == "box_unwritable"
    assert distributed(world)["appended"] == 1


def test_med_239_med_378_letters_outlive_brain_and_repository_and_the_sweep_sees_each_once(user: Path, world: World) -> None:
    x, y = known(world, "x"), known(world, "y")
    ids = posted(world, {"repo": "x", "n": 1}, {"repo": "x", "n": 2}, {"repo": "y"})
    distributed(world)
    with box(y).open("ab") as file:
        file.write(box(x).read_bytes())  # a letter may lie in two boxes, as after a merge of two repositories

    whole = world.at(y).call("inbox_sweep")
    world.close()
    shutil.rmtree(world.home.manifest_path(x).parent)
    shutil.rmtree(x)
    after = world.at(y).call("inbox_sweep")

    for found in (whole, after):
        assert (sorted(one["id"] for one in found["letters"]), found["total"]) == (sorted(ids), 3)
    assert whole["unreachable"] == []
    assert [one["box"] for one in after["unreachable"]] == [x]
    assert letters_in(world.home.field_reports_file) == ids
