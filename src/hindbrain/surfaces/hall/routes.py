"""The addresses of the Hall: its one document, its files, and the two ways to get in."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import HumanNeeded
from hindbrain.surfaces.hall import files
from hindbrain.surfaces.hall.visits import KEY_MS, TICKET_S, Visits
from hindbrain.surfaces.security import ENTERING, json_response

__all__ = ["HallRoutes"]


class HallRoutes:
    """Handlers of the Hall. Who may come here was decided by the guard."""

    def __init__(self, visits: Visits) -> None:
        self._visits = visits

    def routes(self) -> list[Route]:
        return [
            Route("/", self.page, methods=["GET"]),
            Route("/hall/{name:path}", self.file, methods=["GET"]),
            Route("/api/hall/ticket", self.ticket, methods=["POST"]),
            Route("/api/hall/key", self.key, methods=["POST"]),
        ]

    async def page(self, request: Request) -> Response:
        if getattr(request.state, ENTERING, False):
            return files.entrance(self._visits.key(), self._cookie(request))
        return files.page()

    async def file(self, request: Request) -> Response:
        return files.file(request.path_params["name"])

    async def ticket(self, request: Request) -> Response:
        """A visit for somebody who holds the human token: the address with the ticket opens the page once."""
        _person(request)
        return json_response({"ok": True, "ticket": self._visits.ticket(), "valid_s": TICKET_S})

    async def key(self, request: Request) -> Response:
        """A new key and cookie for a page whose own still holds: it stays open for longer than a day."""
        _person(request)
        answer = {"ok": True, "key": self._visits.key(), "valid_ms": KEY_MS}
        return json_response(answer, headers={"Set-Cookie": self._cookie(request)})

    def _cookie(self, request: Request) -> str:
        return self._visits.cookie(secure=request.url.scheme == "https")


def _person(request: Request) -> None:
    if request.state.channel is not Channel.HUMAN:
        raise HumanNeeded("the Hall is for people; an agent calls the operations", fix="ask a person to run: hindbrain hall")
