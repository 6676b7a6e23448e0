"""How a browser becomes a person's: a ticket once, then a cookie for the files and a key for the calls."""

import http.client
import re
import socket
from pathlib import Path

import pytest

from hindbrain.surfaces.hall.files import PAGE_HEADERS
from hindbrain.surfaces.hall.visits import KEY_MS, Visits
from tests.support.owner import LIMIT_S, Answer, RunningOwner, Starter

BROWSER = {"Accept": "text/html"}


def ticket(owner: RunningOwner, token: str | None = None) -> Answer:
    return owner.request(
        "POST", "/api/hall/ticket", body=b"{}", token=token or owner.human_token, headers={"Content-Type": "application/json"}
    )


def entered(owner: RunningOwner) -> tuple[str, str]:
    """The cookie and the key of a new visit."""
    answer = owner.request("GET", f"/?ticket={ticket(owner).json['ticket']}", token=None)
    key = re.search(rb'name="hall-key" content="([^"]+)"', answer.body)
    assert answer.status == 200
    assert key is not None
    return answer.headers["set-cookie"], key[1].decode()


@pytest.mark.parametrize(
    "path", ["/", "/hall/js/main.js", "/hall/css/base.css", "/hall/icon.svg", "/hall/nothing", "/api/overview"]
)
def test_hall_4_without_a_token_nothing_is_served(owner: RunningOwner, path: str) -> None:
    name = Visits(owner.human_token).cookie_name
    for cookie in ({}, {"Cookie": f"{name}=hall.99999999999999.aa.bb"}, {"Cookie": "a=b; ;;=;"}):
        answer = owner.request("GET", path, token=None, headers=BROWSER | cookie)

        assert answer.status == 401
        assert b"<" not in answer.body


@pytest.mark.parametrize("path", ["/", "/hall/js/main.js", "/api/overview", "/?ticket={ticket}"])
@pytest.mark.parametrize("foreign", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_hall_4_to_a_foreign_host_or_origin_nothing_is_served(owner: RunningOwner, path: str, foreign: dict[str, str]) -> None:
    cookie, key = entered(owner)
    given = ticket(owner).json["ticket"]
    headers = {"Cookie": cookie.partition(";")[0], **foreign}

    assert owner.request("GET", path.format(ticket=given), token=key, headers=headers).status == 403
    # and the ticket was not used up by a stranger
    assert owner.request("GET", f"/?ticket={given}", token=None).status == 200


def test_hall_a_ticket_opens_once_and_is_given_to_persons_only(owner: RunningOwner) -> None:
    refused = ticket(owner, owner.token)
    given = ticket(owner).json["ticket"]

    first, second = (owner.request("GET", f"/?ticket={given}", token=None) for _ in range(2))

    assert (refused.status, refused.code) == (403, "human_needed")
    assert (first.status, second.status) == (200, 401)


def test_hall_the_cookie_opens_the_files_and_no_call(owner: RunningOwner) -> None:
    cookie, key = entered(owner)
    name, _, told = cookie.partition("=")
    value = told.partition(";")[0]
    headers = {"Cookie": f"other=1; {name}={value}"}

    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in told.split(";")}
    assert owner.request("GET", "/", token=None, headers=headers).status == 200
    assert (
        owner.request("GET", "/hall/js/main.js", token=None, headers=headers).headers["content-type"]
        == "text/javascript; charset=utf-8"
    )
    assert owner.request("GET", "/api/health", token=None, headers=headers).status == 401
    assert owner.request("GET", "/api/health", token=value).status == 401
    assert owner.request("GET", "/api/health", token=key).status == 200
    assert owner.request("GET", "/", token=None, headers={"Cookie": f"{name}={key}"}).status == 401


@pytest.mark.parametrize(
    "others",
    ['app={{"a": "b, c"}}; {ours}', "{name}=junk; {ours}", "a=b; =; ;;; {ours}; c", 'q="x;y"; {ours}', "{ours}; {name}=junk"],
)
def test_hall_cookies_of_other_ports_do_not_close_the_page(owner: RunningOwner, others: str) -> None:
    cookie, _ = entered(owner)
    ours = cookie.partition(";")[0]
    told = others.format(ours=ours, name=ours.partition("=")[0])

    assert owner.request("GET", "/", token=None, headers={"Cookie": told}).status == 200


def test_hall_whoever_asks_for_the_page_in_an_odd_way_is_refused_as_all_are(owner: RunningOwner) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", owner.port, timeout=LIMIT_S)
    connection.putrequest("GET", "/")
    for kind in ("text/html", "text/plain"):
        connection.putheader("Accept", kind)
    connection.endheaders()
    answer = connection.getresponse()
    connection.close()

    assert (answer.status, answer.headers["X-Frame-Options"]) == (401, "DENY")


def test_hall_neither_tickets_nor_keys_are_in_the_log(owner: RunningOwner) -> None:
    cookie, key = entered(owner)
    given = ticket(owner).json["ticket"]
    for path in (f"/?ticket={given}", f"/?ticket={given}", f"/hall/{given}", f"/api/{key}"):
        owner.request("GET", path, token=key, headers={"Cookie": cookie.partition(";")[0]})

    log = (owner.home / "owner.log").read_text()
    assert not [word for word in (given, key, cookie.partition(";")[0].partition("=")[2], owner.human_token) if word in log]


def test_hall_the_key_is_a_person_and_is_renewed_by_itself_only(owner: RunningOwner) -> None:
    _, key = entered(owner)
    renewed = owner.request("POST", "/api/hall/key", body=b"", token=key)

    assert ticket(owner, key).status == 200
    assert owner.request("GET", "/api/health", token=renewed.json["key"]).status == 200
    assert owner.request("POST", "/api/hall/key", body=b"", token=owner.token).status == 403


def test_hall_a_visit_outlives_its_owner_and_ends_with_the_human_token(starter: Starter, tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = starter(home)
    cookie, key = entered(first)
    first.kill()
    with socket.create_server(("127.0.0.1", first.port)):  # somebody else took its place meanwhile
        second = starter(home)
    assert second.port != first.port
    assert second.request("GET", "/api/health", token=key).status == 200
    assert second.request("GET", "/", token=None, headers={"Cookie": cookie.partition(";")[0]}).status == 200
    second.kill()
    (home / "human-token").unlink()

    assert starter(home).request("GET", "/api/health", token=key).status == 401


def test_hall_the_page_forbids_all_that_is_not_its_own(owner: RunningOwner) -> None:
    cookie, _ = entered(owner)
    answer = owner.request("GET", "/", token=None, headers={"Cookie": cookie.partition(";")[0]})

    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert not [part for part in policy.values() if "unsafe" in part or "http" in part or "*" in part]
    assert answer.headers["content-security-policy"] == PAGE_HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize(
    "name", ["../visits.py", "%2e%2e/visits.py", "js/../../visits.py", "js", "", "index.html", "enter.html", "js/main.js%00"]
)
def test_hall_only_files_of_the_page_are_served(owner: RunningOwner, name: str) -> None:
    cookie, _ = entered(owner)

    assert owner.request("GET", f"/hall/{name}", token=None, headers={"Cookie": cookie.partition(";")[0]}).status == 404


def test_hall_keys_hold_for_half_a_day_and_for_their_own_purpose() -> None:
    now = [1_000_000]
    visits = Visits("a-token", now_ms=lambda: now[0])
    key, cookie = visits.key().encode(), visits.cookie(secure=True).encode()
    other = Visits("another-token", now_ms=lambda: now[0])

    assert visits.is_key(key)
    assert visits.may_load(cookie)
    assert visits.cookie_name == Visits("a-token").cookie_name != other.cookie_name
    assert not other.is_key(key)
    assert not other.may_load(cookie)
    assert not visits.is_key(key[:-1] + (b"1" if key.endswith(b"0") else b"0"))
    assert not visits.is_key(key.replace(b"hall.", b"hall.9", 1))
    now[0] += KEY_MS
    assert not visits.is_key(key)
    assert not visits.may_load(cookie)


def test_hall_the_next_owner_listens_where_the_last_one_did(starter: Starter, tmp_path: Path) -> None:
    first = starter(tmp_path / "home", port=0)
    port = first.port
    first.kill()
    assert starter(tmp_path / "home", port=0).port == port
    other = starter(tmp_path / "other", port=port)  # the port is taken: any other will do
    assert other.port != port
