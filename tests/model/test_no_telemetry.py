"""The runtime of the model tells nobody that it runs: no device id, no queue of events, no look-up of a host."""

import subprocess
import sys
from pathlib import Path

from tests.architecture.source import ROOT
from tests.support.model import tiny_weights

ASKS = """
import sys, time
from pathlib import Path
from hindbrain.stores.home import Home
from tests.support.world import World

world = World(Path(sys.argv[1]))
assert world.human(None).call("model.install", path=sys.argv[2])["ok"]
root = world.brain("x")
world.at(root).memorize("Lamp", "the lamp burns")
assert world.at(root).call("model.embed")["ok"]
world.at(root).seek("lamp")
assert "onnxruntime" in sys.modules
time.sleep(1.0)
world.close()
"""


def test_the_runtime_keeps_no_device_id_and_no_events(tmp_path: Path) -> None:
    user = tmp_path / "user"
    user.mkdir()
    words = [sys.executable, "-c", ASKS, str(tmp_path / "world"), str(tiny_weights(tmp_path / "weights"))]
    done = subprocess.run(
        words, env={"HOME": str(user), "PYTHONPATH": str(ROOT)}, cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert [path.name for path in user.rglob("*") if "icrosoft" in str(path) or "onnx" in str(path)] == []
