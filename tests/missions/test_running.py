"""Commands of a mission: real processes, what they print, how they end, and what is left when somebody presses Ctrl-C."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.mission_run import Ran
from hindbrain.services.missions.running import run

HERE = Path(__file__).resolve().parents[2]
DRIVER = (
    "import json, sys\n"
    "from hindbrain.services.missions.running import run\n"
    "found = run(sys.argv[2:], cwd='.')\n"
    "open(sys.argv[1], 'w').write(json.dumps(found))\n"
)


def sha(text: bytes) -> str:
    return "sha256:" + hashlib.sha256(text).hexdigest()


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def seen(tmp_path: Path, argv: list[str]) -> tuple[Ran, bytes, bytes]:
    """Run a command with its streams going to files."""
    paths = [tmp_path / "out", tmp_path / "err"]
    handles = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for path in paths]
    try:
        found = run(argv, cwd=str(tmp_path), out=handles[0], err=handles[1])
    finally:
        for handle in handles:
            os.close(handle)
    return msgspec.convert(found, Ran), paths[0].read_bytes(), paths[1].read_bytes()


def test_aol_092_a_run_passes_its_output_through_and_digests_both_streams(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.buffer.write(b'out \\xff\\n'); sys.stderr.write('err\\n'); sys.exit(3)"

    ran, out, err = seen(tmp_path, python(code))

    assert (ran.exit_status, ran.interrupted, ran.not_started) == (3, False, False)
    assert (out, err) == (b"out \xff\n", b"err\n")
    assert (ran.stdout_digest, ran.stderr_digest) == (sha(out), sha(err))
    assert ran.output_bytes == len(out) + len(err)
    assert "err" in ran.output
    assert ran.cwd == str(tmp_path)


def test_aol_092_words_are_words_and_no_shell_reads_them(tmp_path: Path) -> None:
    ran, out, _ = seen(tmp_path, [*python("import sys; print(sys.argv[1])"), "$(touch made); echo two"])

    assert out == b"$(touch made); echo two\n"
    assert ran.exit_status == 0
    assert not (tmp_path / "made").exists()


def test_aol_066_of_a_long_output_all_is_digested_and_the_end_kept(tmp_path: Path) -> None:
    ran, out, _ = seen(tmp_path, python("print('x' * 300_000); print('the end')"))

    assert ran.stdout_digest == sha(out)
    assert ran.output_bytes == 300_009
    assert ran.output.endswith("the end\n")
    assert len(ran.output) <= 16 * 1024


@pytest.mark.parametrize(("argv", "status"), [(["no-such-program-here"], 127), (["."], 126)])
def test_aol_022_a_command_that_cannot_start_is_told_as_that(tmp_path: Path, argv: list[str], status: int) -> None:
    ran, _, _ = seen(tmp_path, argv)

    assert (ran.exit_status, ran.not_started) == (status, True)
    assert ran.output


def test_aol_022_a_command_that_a_signal_ended_has_the_status_of_shells(tmp_path: Path) -> None:
    ran, _, _ = seen(tmp_path, python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))

    assert (ran.exit_status, ran.interrupted) == (137, False)


def test_aol_022_a_process_that_stays_behind_does_not_hold_the_run(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    staying = f"open({str(gate)!r}).read()"
    code = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {staying!r}])\nprint('done')\n"

    try:
        ran, out, _ = seen(tmp_path, python(code))
    finally:
        os.close(os.open(gate, os.O_WRONLY))  # the one who stayed behind reads the end and goes

    assert (ran.exit_status, ran.output, ran.stdout_digest) == (0, "done\n", sha(out))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_aol_022_ctrl_c_ends_the_command_and_leaves_what_was_seen(tmp_path: Path, number: signal.Signals) -> None:
    waiting = python("import os; os.write(1, b'ready\\n'); os.read(0, 1)")
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path / "told"), *waiting],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        if number is signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does: everybody in the foreground hears it
        else:
            process.send_signal(number)
        process.wait(60)

    told: dict[str, Any] = json.loads((tmp_path / "told").read_text())
    assert process.returncode == 0
    assert told["interrupted"] is True
    assert told["exit_status"] != 0
    assert told["output"].startswith("ready")
    assert told["stdout_digest"] == sha(b"ready\n")
