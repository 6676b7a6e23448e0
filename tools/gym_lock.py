"""Locks the fixtures of the gym: writes the digest of each as it is made now. Run it after a fixture was changed on purpose."""

import sys
import tempfile
from pathlib import Path

from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.repository import digest

PLACE = Path(__file__).resolve().parents[1] / "gym" / "fixtures"


def main(words: list[str]) -> int:
    fixtures = Fixtures((PLACE,))
    for name in words or fixtures.names():
        with tempfile.TemporaryDirectory() as place:
            root = Path(place, "made")
            for path, text in fixtures.texts(name).items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            found = digest(root)
        (PLACE / name / "fixture.lock").write_text(f"{found}\n", encoding="utf-8")
        print(f"{name}  {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
