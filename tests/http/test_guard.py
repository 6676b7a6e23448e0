"""Who may speak to the owner at all. Each refusal has its code, and changes nothing."""

import http.client
from collections.abc import Iterator

import pytest

from hindbrain.surfaces.security import SECURITY_HEADERS
from tests.support.owner import LIMIT_S, Answer, RunningOwner, stores_digest


@pytest.fixture(autouse=True)
def nothing_changes(owner: RunningOwner) -> Iterator[None]:
    """Every test of this module ends with the stores as they were."""
    before = stores_digest(owner.home)
    yield
    assert stores_digest(owner.home) == before


def host(owner: RunningOwner, name: str) -> str:
    return f"{name}:{owner.port}"


@pytest.mark.parametrize(
    "foreign", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "127.0.0.1:{port}.evil.example"]
)
@pytest.mark.parametrize("path", ["/", "/api/health", "/mcp", "/nowhere"])
def test_gr_178_a_foreign_host_is_refused(owner: RunningOwner, foreign: str, path: str) -> None:
    answer = owner.request("GET", path, headers={"Host": foreign.format(port=owner.port)})

    assert (answer.status, answer.code) == (403, "host_refused")


def test_gr_178_the_owners_own_names_are_welcome(owner: RunningOwner) -> None:
    statuses = [
        owner.get("/api/health", host=host(owner, name)).status for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]")
    ]

    assert statuses == [200] * 4


def test_gr_178_two_hosts_are_one_too_many(owner: RunningOwner) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", owner.port, timeout=LIMIT_S)
    connection.putrequest("GET", "/api/health", skip_host=True)
    for name in (host(owner, "127.0.0.1"), "evil.example"):
        connection.putheader("Host", name)
    connection.putheader("Authorization", f"Bearer {owner.token}")
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()

    assert status == 400


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:{port}.evil.example",
        "file://",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/health", "/mcp"])
def test_gr_178_a_foreign_origin_is_refused_even_with_the_token(owner: RunningOwner, origin: str, path: str) -> None:
    answer = owner.get(path, origin=origin.format(port=owner.port))

    assert (answer.status, answer.code) == (403, "origin_refused")


def test_gr_178_the_owners_own_page_may_call(owner: RunningOwner) -> None:
    assert owner.get("/api/health", origin=owner.url).status == 200


ROUTES = [
    ("GET", "/api/health"),
    ("GET", "/api/status"),
    ("GET", "/api/operations"),
    ("GET", "/api/tools"),
    ("GET", "/api/instances"),
    ("GET", "/api/instance/self"),
    ("GET", "/api/graph/stats"),
    ("GET", "/api/graph/snapshot"),
    ("GET", "/api/graph/subgraph"),
    ("GET", "/api/openapi.json"),
    ("GET", "/api/events"),
    ("POST", "/api/op/health"),
    ("POST", "/api/tools/health"),
    ("POST", "/api/stop"),
    ("GET", "/mcp"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/nowhere"),
    ("OPTIONS", "/api/op/health"),
    ("HEAD", "/api/health"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_gr_178_every_route_needs_the_token(owner: RunningOwner, method: str, path: str) -> None:
    answer = owner.request(method, path, token=None)

    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert method == "HEAD" or answer.code == "unauthorized"


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer wrong",
        "Bearer",
        "Bearer ",
        "",
        "Basic {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer {token} {token}",
        "Bearer \u00fc",
    ],
)
def test_gr_178_only_the_exact_token_opens(owner: RunningOwner, authorization: str) -> None:
    answer = owner.get("/api/health", authorization=authorization.format(token=owner.token))

    assert (answer.status, answer.code) == (401, "unauthorized")


def test_gr_178_a_token_in_the_address_is_no_token(owner: RunningOwner) -> None:
    assert owner.request("GET", f"/api/health?token={owner.token}", token=None).status == 401


def test_gr_178_the_bare_address_tells_a_person_the_way_and_nothing_more(owner: RunningOwner) -> None:
    answer = owner.request("GET", "/", token=None, headers={"Accept": "text/html,*/*"})

    assert answer.status == 401
    assert answer.headers["content-type"].startswith("text/plain")
    assert b"hindbrain hall" in answer.body
    assert owner.facts["version"].encode() not in answer.body
    assert str(owner.home).encode() not in answer.body


def a_request_of_each_kind(owner: RunningOwner) -> list[Answer]:
    return [
        owner.request("GET", "/", token=None),
        owner.get("/hall/nothing.js"),
        owner.get("/api/health"),
        owner.get("/nowhere"),
        owner.request("OPTIONS", "/api/op/health", headers={"Origin": owner.url, "Access-Control-Request-Method": "POST"}),
        owner.request("GET", "/api/health", token=None),
        owner.get("/api/health", origin="http://evil.example"),
        owner.post("health", b"{"),
        owner.post("test.defect", {"text": "x"}),
        owner.request("POST", "/mcp", body=b"{}", headers={"Content-Type": "application/json"}),
    ]


def test_gr_178_no_answer_lets_another_origin_in(owner: RunningOwner) -> None:
    for answer in a_request_of_each_kind(owner):
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_gr_178_every_answer_forbids_a_browser_what_it_can(owner: RunningOwner) -> None:
    for answer in a_request_of_each_kind(owner):
        for name, value in SECURITY_HEADERS.items():
            assert answer.headers[name.lower()] == value or (
                name == "Cache-Control" and "no-store" in answer.headers[name.lower()]
            )
        assert "server" not in answer.headers


def test_gr_178_a_websocket_gets_no_foot_in_the_door(owner: RunningOwner) -> None:
    answer = owner.get(
        "/api/events",
        connection="Upgrade",
        upgrade="websocket",
        sec_websocket_version="13",
        sec_websocket_key="dGhlIHNhbXBsZSBub25jZQ==",
        authorization="Bearer wrong",
    )

    assert answer.status == 401


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/api/op/memorize", "/api/op/health", "/api/tools/memorize", "/api/stop"])
def test_gr_174_an_operation_is_never_run_by_another_method_than_post(owner: RunningOwner, method: str, path: str) -> None:
    answer = owner.request(method, path)

    assert answer.status == 405
    assert method == "HEAD" or answer.code == "method_refused"
    assert owner.process.poll() is None


@pytest.mark.parametrize(
    "path",
    [
        "/api/op/../../etc/passwd",
        "/api/op/..%2f..%2fetc%2fpasswd",
        "/../token",
        "/%2e%2e/token",
        "//etc/passwd",
        "/api/op/",
        "/api/health/",
        "/token",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_gr_174_an_address_outside_the_table_is_unknown(owner: RunningOwner, method: str, path: str) -> None:
    answer = owner.request(method, path, body=b"{}", headers={"Content-Type": "application/json"})

    assert answer.status in (404, 405)
    assert answer.code in ("unknown_route", "unknown_operation", "method_refused")
    assert owner.token.encode() not in answer.body
