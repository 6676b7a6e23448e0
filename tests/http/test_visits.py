"""How a browser becomes a person's: a ticket once, then a cookie for the files and a key for the calls."""

import http.client
import socket
from pathlib import Path
from urllib.parse import quote

import pytest

from hindbrain.surfaces.hall.files import PAGE_HEADERS
from hindbrain.surfaces.hall.visits import KEY_MS, Visits
from tests.support.owner import LIMIT_S, RunningOwner, Starter
from tests.support.visitor import Visitor, enter, ticket

ONE, OTHER = "1" * 43, "2" * 43
BROWSER = {"Accept": "text/html"}


def entered(owner: RunningOwner) -> tuple[str, Visitor]:
    """The cookie header of a new visit and the visit."""
    answer = owner.request("GET", f"/?ticket={ticket(owner).json['ticket']}", token=None)
    return answer.headers["set-cookie"], enter(owner)


@pytest.mark.parametrize(
    "path", ["/", "/hall/js/main.js", "/hall/css/base.css", "/hall/icon.svg", "/hall/nothing", "/api/overview"]
)
def test_hall_4_without_a_token_nothing_is_served(owner: RunningOwner, path: str) -> None:
    name = Visits(owner.human_token, "i").cookie_name
    for cookie in ({}, {"Cookie": f"{name}=hall.99999999999999.aa.bb"}, {"Cookie": "a=b; ;;=;"}):
        answer = owner.request("GET", path, token=None, headers=BROWSER | cookie)

        assert answer.status == 401
        assert b"<" not in answer.body


@pytest.mark.parametrize("path", ["/", "/hall/js/main.js", "/api/overview", "/?ticket={ticket}"])
@pytest.mark.parametrize("foreign", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_hall_4_to_a_foreign_host_or_origin_nothing_is_served(owner: RunningOwner, path: str, foreign: dict[str, str]) -> None:
    visitor = enter(owner)
    given = ticket(owner).json["ticket"]
    target = path.format(ticket=given)
    headers = {"Cookie": visitor.cookie, "Authorization": visitor.signed("GET", target)[0], **foreign}

    assert owner.request("GET", target, token=None, headers=headers).status == 403
    # and the ticket was not used up by a stranger
    assert owner.request("GET", f"/?ticket={given}", token=None).status == 200


def test_hall_a_ticket_opens_once_and_is_given_to_persons_only(owner: RunningOwner) -> None:
    refused = ticket(owner, owner.token)
    given = ticket(owner).json["ticket"]

    first, second = (owner.request("GET", f"/?ticket={given}", token=None) for _ in range(2))

    assert (refused.status, refused.code) == (403, "human_needed")
    assert (first.status, second.status) == (200, 401)


def test_hall_the_cookie_opens_the_files_and_no_call(owner: RunningOwner) -> None:
    cookie, visitor = entered(owner)
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
    assert visitor.request(owner, "GET", "/api/health").status == 200
    for word in (visitor.secret, visitor.visit):
        assert owner.request("GET", "/api/health", token=word).status == 401
        assert owner.request("GET", "/", token=None, headers={"Cookie": f"{name}={word}"}).status == 401


def test_hall_a_signature_is_for_one_request_of_one_visit_at_one_owner(owner: RunningOwner) -> None:
    visitor = enter(owner)
    header, _, _ = visitor.signed("GET", "/api/health")
    other, _, _ = visitor.signed("GET", "/api/health", instance="0123456789abcdef")

    def status(path: str, authorization: str, method: str = "GET") -> int:
        return owner.request(method, path, token=None, headers={"Authorization": authorization}).status

    assert status("/api/health", header) == 200
    assert status("/api/instances", header) == 401
    assert status("/api/health?brain=medulla", header) == 401
    assert status("/api/stop", header, "POST") == 401
    assert status("/api/health", other) == 401
    assert status("/api/health", header.replace("Hall ", "Bearer ")) == 401
    assert status("/api/health", header[:-1]) == 401
    assert status("/api/health", header.replace(visitor.visit, enter(owner).visit)) == 401


@pytest.mark.parametrize("strange", ["²-a", "1-é", "1-\u0661", "9" * 5000 + "-a", "٣-a"])
def test_hall_strange_letters_are_refused_as_all_are(owner: RunningOwner, strange: str) -> None:
    visitor = enter(owner)
    name = visitor.cookie.partition("=")[0]
    challenge = {"Hindbrain-Challenge": "0" * 32}

    signed = {"Authorization": f"Hall {strange}.{'0' * 32}.é"}
    broken = {"Authorization": f"{visitor.signed('GET', '/api/health')[0][:-1]}é"}
    assert owner.request("GET", "/api/health", token=None, headers=signed).status == 401
    assert owner.request("GET", "/api/health", token=None, headers=broken).status == 401
    assert owner.request("GET", "/", token=None, headers={"Cookie": f"{name}=hall.{strange}.é.é"}).status == 401
    assert owner.request("GET", f"/api/hall/owner?visit={quote(strange)}", token=None, headers=challenge).status == 401


def test_hall_an_owner_proves_itself_to_a_page_of_its_own_address_only(owner: RunningOwner) -> None:
    visitor = enter(owner)

    assert visitor.met(owner) == visitor
    assert visitor.met(owner, host=f"127.0.0.1:{owner.port + 1}") is None
    assert owner.request("GET", f"/api/hall/owner?visit={visitor.visit}", token=None).status == 401
    assert owner.request("GET", "/api/hall/owner?visit=x", token=None, headers={"Hindbrain-Challenge": "0" * 32}).status == 401


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
    visitor = enter(owner)
    given = ticket(owner).json["ticket"]
    for path in (f"/?ticket={given}", f"/?ticket={given}", f"/hall/{given}", f"/api/{visitor.secret}"):
        owner.request("GET", path, token=visitor.secret, headers={"Cookie": visitor.cookie})

    log = (owner.home / "owner.log").read_text()
    assert not [word for word in (given, visitor.secret, visitor.cookie.partition("=")[2], owner.human_token) if word in log]


def test_hall_a_visit_is_a_person_and_is_renewed_by_itself_only(owner: RunningOwner) -> None:
    visitor = enter(owner)
    renewed = visitor.request(owner, "POST", "/api/hall/key", b"").json
    later = Visitor(visit=renewed["visit"], secret=renewed["secret"], instance=renewed["instance"], cookie="")

    assert visitor.request(owner, "POST", "/api/hall/ticket", b"{}").status == 200
    assert later.request(owner, "GET", "/api/health").status == 200
    assert owner.request("POST", "/api/hall/key", body=b"", token=owner.token).status == 403


def test_hall_a_visit_outlives_its_owner_by_proof_and_ends_with_the_human_token(starter: Starter, tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = starter(home)
    visitor = enter(first)
    first.kill()
    with socket.create_server(("127.0.0.1", first.port)):  # somebody else took its place meanwhile
        second = starter(home)
    assert second.port != first.port
    assert visitor.request(second, "GET", "/api/health").status == 401  # a key is good for one owner
    again = visitor.met(second)
    assert again is not None
    assert again.request(second, "GET", "/api/health").status == 200
    assert second.request("GET", "/", token=None, headers={"Cookie": visitor.cookie}).status == 200
    second.kill()
    (home / "human-token").unlink()
    third = starter(home)

    assert visitor.met(third) is None
    assert again.request(third, "GET", "/api/health").status == 401


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
    "name", ["../visits.py", "%2e%2e/visits.py", "js/../../visits.py", "js", "", "index.html", "door.html", "js/main.js%00"]
)
def test_hall_only_files_of_the_page_are_served(owner: RunningOwner, name: str) -> None:
    cookie, _ = entered(owner)

    assert owner.request("GET", f"/hall/{name}", token=None, headers={"Cookie": cookie.partition(";")[0]}).status == 404


def test_hall_visits_last_half_a_day_and_cookies_too() -> None:
    now = [1_000_000]
    visits = Visits(ONE, "i", now_ms=lambda: now[0])
    visit, cookie = visits.begin().id, visits.cookie(secure=True).encode()
    other = Visits(OTHER, "i", now_ms=lambda: now[0])
    challenge = "0" * 32

    assert visits.proof(visit, challenge, "h") is not None
    assert visits.proof(visit, challenge, "h") != other.proof(visit, challenge, "h")
    assert visits.may_load(cookie)
    assert visits.is_clean(cookie)
    assert not Visits(ONE, "next", now_ms=lambda: now[0]).is_clean(cookie)
    assert visits.cookie_name == Visits(ONE, "next").cookie_name != other.cookie_name
    assert not other.may_load(cookie)
    for broken in ("", "1", "a-b", "-", f"9{visit}", "1-" + "a" * 100):
        assert visits.proof(broken, challenge, "h") is None
    now[0] += KEY_MS
    assert visits.proof(visit, challenge, "h") is None
    assert not visits.may_load(cookie)


def test_hall_pages_that_were_left_open_go_on_once_a_person_has_come_again() -> None:
    now = [1_000_000]
    visits = Visits(ONE, "i", now_ms=lambda: now[0])
    visit = visits.begin().id
    now[0] += 2 * KEY_MS

    before = visits.proof(visit, "0" * 32, "h")
    assert visits.take(visits.ticket())

    assert before is None
    assert visits.proof(visit, "0" * 32, "h") is not None


def test_hall_the_door_has_one_page_and_uses_up_no_ticket(owner: RunningOwner) -> None:
    told = ticket(owner).json
    door = RunningOwner(home=owner.home, process=owner.process, facts={**owner.facts, "port": told["door_port"]})
    cookie = {"Cookie": enter(owner).cookie}

    shown = [door.request("GET", f"/?ticket={told['ticket']}", token=None) for _ in range(2)]

    assert [(answer.status, owner.url.encode() in answer.body) for answer in shown] == [(200, True), (200, True)]
    assert b"hall-secret" not in shown[0].body
    assert door.request("GET", "/hall/js/door.js", token=None).status == 200
    for path in ("/", "/?ticket=x", "/hall/js/main.js", "/api/health"):
        assert door.request("GET", path, token=owner.human_token, headers=cookie).status == 401
    assert owner.request("GET", f"/?ticket={told['ticket']}", token=None).status == 200


@pytest.mark.parametrize("asks", [{"Sec-Fetch-Dest": "empty"}, {"Sec-Fetch-Dest": "iframe"}, {"Sec-Fetch-Mode": "cors"}])
def test_hall_a_ticket_opens_for_a_person_who_goes_there_and_for_no_script(owner: RunningOwner, asks: dict[str, str]) -> None:
    given = ticket(owner).json["ticket"]
    headers = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    assert owner.request("GET", f"/?ticket={given}", token=None, headers=headers | asks).status == 401
    assert owner.request("GET", f"/?ticket={given}", token=None, headers=headers).status == 200


def test_hall_a_browser_is_cleaned_once_at_each_owner_and_gets_no_worker(owner: RunningOwner) -> None:
    first, second = ticket(owner).json["ticket"], ticket(owner).json["ticket"]
    clean = owner.request("GET", f"/?ticket={first}", token=None)
    cookie = {"Cookie": clean.headers["set-cookie"].partition(";")[0]}
    again = owner.request("GET", f"/?ticket={second}", token=None, headers=cookie)
    worker = owner.request("GET", "/hall/js/main.js", token=None, headers={"Service-Worker": "script", **cookie})

    assert clean.headers["clear-site-data"] == '"storage"'
    assert "clear-site-data" not in again.headers
    assert (worker.status, worker.headers["clear-site-data"]) == (401, '"storage"')
    assert owner.request("GET", "/hall/clear.svg", token=None).headers["clear-site-data"] == '"storage"'
    assert "clear-site-data" not in owner.request("GET", "/hall/clear.svg", token=None, headers=cookie).headers


def test_hall_the_next_owner_listens_where_the_last_one_did(starter: Starter, tmp_path: Path) -> None:
    first = starter(tmp_path / "home", port=0)
    port = first.port
    first.kill()
    assert starter(tmp_path / "home", port=0).port == port
    other = starter(tmp_path / "other", port=port)  # the port is taken: any other will do
    assert other.port != port
