"""Any file of a home is harmed: no traceback, the doctor names it, derived files come back, truth is not written over."""

import pytest

from tests.support.damage import DERIVED, TRUTH, WAYS, DamagedHome

# Files whose kind allows every content or that another part judges: a changed word in them is a change, not damage.
OPEN = ("witness", "hygiene_allow.json", "current", "intents.jsonl", "intents.done", "brain.db", "learned.db", "vocab.txt")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> DamagedHome:
    return DamagedHome(tmp_path_factory.mktemp("damaged"))


@pytest.mark.parametrize("way", WAYS)
def test_f34_a_harmed_file_of_any_kind_is_named_and_the_rest_works(home: DamagedHome, way: str) -> None:
    """Every way for each derived file, a third of the ways for each other file; `benchmarks/damage.py` does more."""
    wrong = []
    turn = list(WAYS).index(way)
    for file in [one for number, one in enumerate(home.files) if one.name in DERIVED or number % 3 == turn % 3]:
        found = home.harm(file, way, 0)
        wrong += [f"{file}: {one}" for one in found.faults]
        claim = file.name.endswith(".light.md")  # a person may write anything into a claim file
        number = file.parent.name == "checkouts" and way == "flipped bits"  # another number is another directory
        if not found.named and not claim and not number and file.name not in OPEN:
            wrong.append(f"{file}: the doctor does not name it")
        if file.name in DERIVED and not found.same:
            wrong.append(f"{file}: other answers after the repair")
        if (claim or file.name in TRUTH) and way != "emptied" and not found.untouched:
            wrong.append(f"{file}: it was written over")
    assert wrong == []
