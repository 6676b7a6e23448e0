"""Another address than loopback: only with a certificate, and only by the name it was given."""

import http.client
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.processes.test_owner import listening_addresses, refused_start
from tests.support.owner import LIMIT_S, RunningOwner, Starter

# A second loopback address: as foreign to the owner as any other, and closed to the network.
ELSEWHERE = "127.0.0.2"

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A certificate for that address and its key."""
    place = tmp_path_factory.mktemp("tls")
    cert, key = place / "cert.pem", place / "key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=hindbrain", "-addext", f"subjectAltName=IP:{ELSEWHERE}", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(words, check=True, capture_output=True, timeout=LIMIT_S)
    return {"tls_cert": str(cert), "tls_key": str(key)}


def get_over_tls(running: RunningOwner, cert: str, port: int, path: str, **headers: str) -> int:
    trusted = ssl.create_default_context(cafile=cert)
    connection = http.client.HTTPSConnection(ELSEWHERE, port, context=trusted, timeout=LIMIT_S)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("given", [("tls_cert",), ("tls_key",)])
def test_gr_177_half_a_certificate_is_none(pair: dict[str, str], tmp_path: Path, given: tuple[str, ...]) -> None:
    code, error = refused_start(tmp_path / "home", bind=ELSEWHERE, **{name: pair[name] for name in given})

    assert (code, error["code"]) == (2, "bind_refused")


def test_gr_177_a_certificate_nobody_can_read_is_refused(pair: dict[str, str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.pem"
    broken.write_text("not a certificate")

    code, error = refused_start(tmp_path / "home", bind=ELSEWHERE, **{**pair, "tls_cert": str(broken)})

    assert (code, error["code"]) == (2, "bind_refused")


def test_gr_177_a_certificate_for_loopback_alone_is_a_mistake(pair: dict[str, str], tmp_path: Path) -> None:
    code, error = refused_start(tmp_path / "home", **pair)

    assert (code, error["code"]) == (2, "bind_refused")


def test_gr_177_with_a_certificate_another_address_is_served_encrypted_and_guarded(
    starter: Starter, pair: dict[str, str], tmp_path: Path
) -> None:
    running = starter(tmp_path / "home", bind=ELSEWHERE, **pair)
    (port,) = {port for address, port in listening_addresses(running.process.pid) if address == ELSEWHERE}
    token = {"Authorization": f"Bearer {running.token}"}

    statuses = [
        get_over_tls(running, pair["tls_cert"], port, "/api/health", **token),
        get_over_tls(running, pair["tls_cert"], port, "/api/health"),
        get_over_tls(running, pair["tls_cert"], port, "/api/health", **token, Host="evil.example"),
        get_over_tls(running, pair["tls_cert"], port, "/api/health", **token, Origin="https://evil.example"),
    ]

    assert statuses == [200, 401, 403, 403]
    assert running.get("/api/health").status == 200  # local clients go on as before, on loopback
