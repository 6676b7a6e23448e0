"""Updates: looked for where the operator says, put in place after a copy, and taken back."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import hindbrain
from hindbrain.domain.errors import InvalidState
from hindbrain.services.handshakes import Handshakes
from hindbrain.services.updating import Updating
from hindbrain.stores.home import Home
from hindbrain.stores.install_tree import InstallTree
from tests.support.installations import META, tree, wheel
from tests.support.world import Clock, World, tree_hash


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.ensure()
    return made


def updating(home: Home, source: Path | str, installed: InstallTree) -> Updating:
    clock = Clock()
    return Updating(home, Handshakes(home, clock), clock, source=str(source), program=installed.base)


# --- looking ------------------------------------------------------------------------------------------------------------


def test_aol_252_without_a_source_nobody_knows_and_that_is_no_error(world: World) -> None:
    found = world.at(world.directory("x")).call("update.check")

    assert (found["ok"], found["state"], found["latest"]) == (True, "unknown", "unknown")
    assert "update_source" in found["problem"]


def test_aol_251_aol_252_the_newest_wheel_of_a_directory(world: World) -> None:
    place = Path(world.directory("wheels"))
    world.restart(update_source=str(place))
    asked = world.at(world.directory("x"))
    empty = asked.call("update.check")
    wheel(place, "0.0.9")
    old = asked.call("update.check")
    for version in ("999.9", "999.10"):
        wheel(place, version)
    before = tree_hash(world.home.path, place)

    new = asked.call("update.check")

    assert (empty["state"], old["state"]) == ("unknown", "current")
    assert (new["state"], new["latest"], new["diagnosis"]) == ("stale", "999.10", "stale_package")
    assert any("update apply" in step["command"] for step in new["plan"])
    assert tree_hash(world.home.path, place) == before
    assert (new["writes"], new["mutating"]) == (False, False)


def test_aol_252_a_release_file_says_version_and_build(world: World) -> None:
    file = world.place / "release.json"
    world.restart(update_source=str(file))
    asked = world.at(world.directory("x"))
    found = {}
    for name, text in {
        "absent": None,
        "broken": "{",
        "bare": "{}",
        "same": json.dumps({"version": hindbrain.__version__}),
        "other build": json.dumps({"version": hindbrain.__version__, "build": "0" * 16}),
        "an index": json.dumps({"info": {"version": "999.0"}}),
    }.items():
        if text is not None:
            file.write_text(text)
        found[name] = asked.call("update.check")["state"]

    assert found == {
        "absent": "unknown",
        "broken": "unknown",
        "bare": "unknown",
        "same": "current",
        "other build": "stale",
        "an index": "stale",
    }


@pytest.fixture
def address() -> Iterator[str]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/release.json" else 404)
            self.end_headers()
            self.wfile.write(b'{"version": "999.2"}')

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://someone:hidden-word@127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_aol_252_an_address_is_asked_and_its_password_is_not_repeated(world: World, address: str) -> None:
    plain = address.replace("someone:hidden-word@", "")
    world.restart(update_source=f"{plain}/release.json")
    asked = world.at(world.directory("x"))
    there = asked.call("update.check")
    world.restart(update_source=f"{address}/none")

    gone = asked.call("update.check")

    assert (there["state"], there["latest"]) == ("stale", "999.2")
    assert any("pip install" in step["command"] for step in there["plan"]), "what has no wheel is installed by a person"
    assert gone["state"] == "unknown"
    assert "hidden-word" not in json.dumps(gone)


# --- putting it in place ------------------------------------------------------------------------------------------------


def test_aol_249_aol_251_an_update_copies_first_and_can_be_taken_back(home: Home, tmp_path: Path) -> None:
    installed = tree(tmp_path / "lib")
    before = tree_hash(tmp_path / "lib")
    service = updating(home, wheel(tmp_path / "wheels", "2.0"), installed)

    shown = service.apply(yes=False)
    assert (shown["writes"], shown["state"], tree_hash(tmp_path / "lib")) == (False, "stale", before)
    assert not (home.path / "recovery").exists()
    with pytest.raises(InvalidState, match="no copy"):
        service.rollback(yes=True)

    done = service.apply(yes=True)
    assert (done["writes"], done["state"], installed.version) == (True, "current", "2.0")
    assert (tmp_path / "lib" / "hindbrain" / "__init__.py").read_text() == '__version__ = "2.0"\n'
    assert "../../../bin/hindbrain" in (installed.record / "RECORD").read_text(), "the program stays on the record"
    assert Path(done["backup"], "hindbrain-1.0.dist-info", "METADATA").is_file()
    assert service.apply(yes=True)["writes"] is False, "it is current now"

    plan = service.rollback(yes=False)
    assert (plan["writes"], installed.version) == (False, "2.0")
    back = service.rollback(yes=True)
    assert (back["writes"], installed.version, tree_hash(tmp_path / "lib")) == (True, "1.0", before)
    with pytest.raises(InvalidState):
        service.rollback(yes=True)
    assert sorted(path.name for path in (tmp_path / "lib").iterdir()) == ["hindbrain", "hindbrain-1.0.dist-info"]


def test_aol_244_aol_245_aol_246_an_update_claims_no_more_than_it_did(home: Home, tmp_path: Path) -> None:
    service = updating(home, wheel(tmp_path / "wheels", "2.0"), tree(tmp_path / "lib"))

    for answer in (service.check(), service.apply(yes=False), service.apply(yes=True), service.rollback(yes=True)):
        assert (answer["graph_repaired"], answer["retrieval_fixed"], answer["host_rebind_proven"]) == (False, False, False)
        assert "no graph contents were repaired" in answer["non_claims"]
        assert "no retrieval quality is fixed by replacing a program" in answer["non_claims"]
        assert "all_hosts_updated" not in json.dumps(answer)


@pytest.mark.parametrize("fault", ["a changed file", "a path outside", "other libraries", "no release"])
def test_aol_251_a_wheel_that_cannot_be_trusted_changes_nothing(home: Home, tmp_path: Path, fault: str) -> None:
    installed = tree(tmp_path / "lib")
    before = tree_hash(tmp_path / "lib")
    source: Path = tmp_path / "wheels"
    if fault == "no release":
        source.mkdir()
    else:
        more = {"../outside.py": "x = 1\n"} if fault == "a path outside" else None
        wheel(
            source, "2.0", spoilt=fault == "a changed file", more=more, needs="other" if fault == "other libraries" else "msgspec"
        )

    with pytest.raises(InvalidState) as refused:
        updating(home, source, installed).apply(yes=True)

    assert refused.value.fix
    assert tree_hash(tmp_path / "lib") == before
    assert not (tmp_path / "outside.py").exists()


def test_aol_251_a_tree_with_two_records_is_not_touched(home: Home, tmp_path: Path) -> None:
    installed = tree(tmp_path / "lib")
    (tmp_path / "lib" / "hindbrain-0.9.dist-info").mkdir()

    with pytest.raises(InvalidState, match="2 records"):
        updating(home, wheel(tmp_path / "wheels", "2.0"), installed).apply(yes=True)


def test_aol_251_the_commands_on_a_real_copy_of_the_program(tmp_path: Path) -> None:
    """The program updates the tree it runs from, and runs as the new one."""
    package = tmp_path / "lib" / "hindbrain"
    shutil.copytree(Path(hindbrain.__file__).parent, package, ignore=shutil.ignore_patterns("gym_fixtures"))
    record = tmp_path / "lib" / f"hindbrain-{hindbrain.__version__}.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(META.format(hindbrain.__version__))
    files = {f"hindbrain/{path.relative_to(package)}": path.read_text() for path in package.rglob("*.py")}
    files["hindbrain/__init__.py"] = files["hindbrain/__init__.py"].replace(hindbrain.__version__, "999.0")
    wheel(tmp_path / "wheels", "999.0", more=files)
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(f'mode = "embedded"\nupdate_source = "{tmp_path / "wheels"}"\n')
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "lib"), "HINDBRAIN_HOME": str(home), "HOME": str(tmp_path)}

    def ran(*words: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "hindbrain", *words, "--json"]
        done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    before = (package / "__init__.py").read_text()
    done = ran("update", "apply", "--yes")
    back = ran("update", "rollback", "--yes")

    assert (done["writes"], back["writes"]) == (True, True)
    assert (done["evidence"]["now"][0], back["evidence"]["was"][0]) == ("999.0", "999.0"), "the new program took itself back"
    assert (package / "__init__.py").read_text() == before
