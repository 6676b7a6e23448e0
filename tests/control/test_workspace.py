"""The workspace: files are found, read, written whole, moved and taken away, and all of it can be told and undone."""

import os
from pathlib import Path

import pytest

from hindbrain.domain.errors import PathRefused
from hindbrain.stores.patterns import pattern_of
from hindbrain.stores.workspace import TRASH, Workspace
from tests.support.plants import box


def made(tmp_path: Path, files: dict[str, str], *, own: bool = True) -> Workspace:
    return box(tmp_path, files, own=own).workspace


def test_ctl_097_files_are_found_by_pattern_at_every_depth_and_below_a_directory(tmp_path: Path) -> None:
    space = made(tmp_path, {"a.py": "", "src/b.py": "", "src/deep/c.py": "", "src/d.md": ""})

    assert space.glob("*.py").paths == ("a.py", "src/b.py", "src/deep/c.py")
    assert space.glob("src/*.py").paths == ("src/b.py",)
    assert space.glob("**/deep/*").paths == ("src/deep/c.py",)
    assert space.glob("*.{md,py}", under="src").paths == ("src/b.py", "src/d.md", "src/deep/c.py")
    assert space.glob("*.rs").paths == ()


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a/b.py", True),
        ("./*.py", "a/b.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/*doc*/**/*.md", "x/docs/y/z.md", True),
        ("src/", "src/a/b", True),
        ("a?.[ch]", "ab.c", True),
        ("a?.[ch]", "abc.c", False),
        ("A.py", "a.py", False),
    ],
)
def test_ctl_097_a_pattern_is_matched_directory_by_directory(pattern: str, path: str, fits: bool) -> None:
    assert pattern_of(pattern).matches(path) is fits


def test_ctl_097_lines_are_found_by_text_and_by_expression(tmp_path: Path) -> None:
    space = made(tmp_path, {"a.txt": "one\nTwo two\n", "b/c.txt": "a.b\naxb\n", "d.bin": "two\x00two"})

    assert space.search("two").lines == ("a.txt:2: Two two",)
    assert space.search("TWO", ignore_case=True).lines == ("a.txt:2: Two two",)
    assert space.search("a.b").lines == ("b/c.txt:1: a.b",)
    assert space.search("a.b", is_regex=True, files="*.txt", under="b").lines == ("b/c.txt:1: a.b", "b/c.txt:2: axb")
    assert space.search("two", under="a.txt").looked_at == 1
    assert space.search("nowhere").lines == ()


def test_ctl_097_a_file_is_written_whole_and_keeps_its_rights(tmp_path: Path) -> None:
    space = made(tmp_path, {"run.sh": "old"})
    os.chmod(space.root / "run.sh", 0o755)

    kept = space.write("run.sh", "new", over=True)
    space.write("deep/er/new.txt", "äöü", over=False)

    assert (space.root / "run.sh").read_text() == "new"
    assert (space.root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert kept is not None
    assert space.read(kept).text == "old"
    assert space.read("deep/er/new.txt").text == "äöü"
    assert sorted(os.listdir(space.root)) == sorted([TRASH, "deep", "run.sh"])  # no temporary file is left


def test_ctl_102_a_file_that_was_there_before_is_told_from_one_that_the_run_made(tmp_path: Path) -> None:
    space = made(tmp_path, {"old.txt": "x", "dir/in.txt": "y"})
    space.write("new.txt", "1", over=False)
    (space.root / "by-command.txt").write_text("2")

    told = {name: space.precious(name) for name in ("old.txt", "dir", "new.txt", "by-command.txt", "none.txt")}

    assert told == {"old.txt": True, "dir": True, "new.txt": False, "by-command.txt": False, "none.txt": False}
    with pytest.raises(PathRefused, match="there already"):
        space.write("old.txt", "z", over=False)
    space.write("new.txt", "3", over=False)
    space.move("old.txt", "moved.txt")
    assert space.precious("moved.txt")


def test_ctl_102_in_a_directory_of_a_person_only_what_a_tool_wrote_counts_as_made(tmp_path: Path) -> None:
    space = made(tmp_path, {"old.txt": "x"}, own=False)
    (space.root / "by-somebody.txt").write_text("2")
    space.write("new.txt", "1", over=False)

    assert space.precious("by-somebody.txt")
    assert not space.precious("new.txt")


def test_ctl_292_what_is_taken_away_can_be_put_back(tmp_path: Path) -> None:
    space = made(tmp_path, {"dir/a.txt": "x", "b.txt": "y"})

    kept = space.delete("dir")
    gone = space.changed()
    back = space.restore(kept)

    assert gone.gone == ("dir/a.txt",)
    assert back == "dir"
    assert space.read("dir/a.txt").text == "x"
    assert space.changed().all == ()
    with pytest.raises(PathRefused):
        space.restore("b.txt")


def test_ctl_097_a_move_never_goes_over_something(tmp_path: Path) -> None:
    space = made(tmp_path, {"a.txt": "a", "b.txt": "b", "dir/c.txt": "c"})

    with pytest.raises(PathRefused, match="there already"):
        space.move("a.txt", "b.txt")
    space.move("a.txt", "new/a.txt")
    space.move("dir", "other")

    assert space.read("b.txt").text == "b"
    assert space.read("new/a.txt").text == "a"
    assert space.read("other/c.txt").text == "c"
    assert space.changed().all == ("a.txt", "dir/c.txt", "new/a.txt", "other/c.txt")


def test_ctl_097_what_changed_is_told_by_name(tmp_path: Path) -> None:
    space = made(tmp_path, {"same.txt": "1", "edited.txt": "1", "gone.txt": "1"})

    (space.root / "edited.txt").write_text("22")
    (space.root / "gone.txt").unlink()
    (space.root / "new.txt").write_text("3")
    changes = space.changed()

    assert (changes.made, changes.changed, changes.gone) == (("new.txt",), ("edited.txt",), ("gone.txt",))


def test_ctl_097_bytes_that_are_no_text_are_said_to_be_none(tmp_path: Path) -> None:
    space = made(tmp_path, {})
    (space.root / "latin.txt").write_bytes(b"caf\xe9\n")
    (space.root / "image.png").write_bytes(b"\x89PNG\x00\x00")

    assert space.read("latin.txt").text == "caf\ufffd\n"
    assert not space.read("latin.txt").whole
    with pytest.raises(PathRefused, match="binary"):
        space.read("image.png")
    with pytest.raises(PathRefused, match="at most 3"):
        space.read("latin.txt", most=3)
