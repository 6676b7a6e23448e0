"""The addresses of the Hall: its one document, its files, and the ways to get in."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import HumanNeeded, Unauthorized
from hindbrain.stores.token_file import CHALLENGE
from hindbrain.surfaces.hall import files
from hindbrain.surfaces.hall.redirect import RedirectFiles
from hindbrain.surfaces.hall.visits import KEY_MS, TICKET_S, Visits
from hindbrain.surfaces.security import ENTERING, MEETING_PATH, json_response

__all__ = ["HallRoutes"]


class HallRoutes:
    """Handlers of the Hall. Who may come here was decided by the guard."""

    def __init__(self, visits: Visits, redirects: RedirectFiles, *, port: int, door_port: int) -> None:
        self._visits = visits
        self._redirects = redirects
        self._port = port
        self._door_port = door_port

    def routes(self) -> list[Route]:
        return [
            Route("/", self.page, methods=["GET"]),
            Route("/hall/{name:path}", self.file, methods=["GET"]),
            Route("/api/hall/ticket", self.ticket, methods=["POST"]),
            Route("/api/hall/key", self.key, methods=["POST"]),
            Route(MEETING_PATH, self.owner, methods=["GET"]),
        ]

    async def page(self, request: Request) -> Response:
        ticket = getattr(request.state, ENTERING, None)
        if ticket is None:
            return files.page()
        if request.scope["server"][1] == self._door_port:
            return files.door(self._port)
        self._redirects.remove(ticket)
        return files.entrance(self._visits.begin(), self._cookie(request), clear=self._unclean(request))

    async def file(self, request: Request) -> Response:
        return files.file(request.path_params["name"], clear=self._unclean(request))

    def _unclean(self, request: Request) -> bool:
        """Whether this browser may keep something that a program left which had this port before this owner."""
        return not self._visits.is_clean(request.headers.get("cookie", "").encode("latin-1"))

    async def ticket(self, request: Request) -> Response:
        """A visit for somebody who holds the human token: the address with the ticket opens the page once."""
        _person(request)
        made = self._visits.ticket()
        return json_response({"ok": True, "ticket": made, "valid_s": TICKET_S, "door_port": self._door_port})

    async def key(self, request: Request) -> Response:
        """A new visit and cookie for a page whose own still holds: it stays open for longer than a day."""
        _person(request)
        visit = self._visits.begin()
        answer = {"ok": True, "visit": visit.id, "secret": visit.secret, "instance": visit.instance, "valid_ms": KEY_MS}
        return json_response(answer, headers={"Set-Cookie": self._cookie(request)})

    async def owner(self, request: Request) -> Response:
        """Show a page that the owner of its visit is here. It asks before it signs a call for an owner that it does not know."""
        proof = self._visits.proof(
            request.query_params.get("visit", ""), request.headers.get(CHALLENGE, ""), request.headers["host"].lower()
        )
        if proof is None:
            raise Unauthorized("this visit has ended", fix="ask a person to run: hindbrain hall")
        return json_response({"ok": True, "instance": self._visits.instance, "proof": proof})

    def _cookie(self, request: Request) -> str:
        return self._visits.cookie(secure=request.url.scheme == "https")


def _person(request: Request) -> None:
    if request.state.channel is not Channel.HUMAN:
        raise HumanNeeded("the Hall is for people; an agent calls the operations", fix="ask a person to run: hindbrain hall")
