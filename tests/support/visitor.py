"""A page of the Hall without a browser: it signs its requests as the page's own script does."""

import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass

from tests.support.owner import Answer, RunningOwner

__all__ = ["Visitor", "enter", "ticket"]


def _mac(key: str, text: str) -> str:
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def ticket(owner: RunningOwner, token: str | None = None) -> Answer:
    """A ticket for one visit, asked for with the human token unless another one is given."""
    headers = {"Content-Type": "application/json"}
    return owner.request("POST", "/api/hall/ticket", body=b"{}", token=token or owner.human_token, headers=headers)


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """What a page knows after it entered."""

    visit: str
    secret: str
    instance: str
    cookie: str

    def signed(self, method: str, path: str, *, instance: str | None = None) -> tuple[str, str, str]:
        """The Authorization header of a request, the key and the challenge."""
        key = _mac(self.secret, f"calls.{instance or self.instance}")
        challenge = secrets.token_hex(16)
        return f"Hall {self.visit}.{challenge}.{_mac(key, f'call.{challenge}.{method}.{path}')}", key, challenge

    def request(self, owner: RunningOwner, method: str, path: str, body: bytes | None = None) -> Answer:
        """One signed request. An answer that was admitted must carry the owner's proof."""
        header, key, challenge = self.signed(method, path)
        told = {"Authorization": header} | ({"Content-Type": "application/json"} if body is not None else {})
        answer = owner.request(method, path, body=body, token=None, headers=told)
        if answer.status != 401:
            assert answer.headers["hindbrain-proof"] == _mac(key, f"answer.{challenge}.{answer.status}")
        return answer

    def met(self, owner: RunningOwner, host: str | None = None) -> "Visitor | None":
        """The same visit at the owner that proves itself now; None when it does not."""
        challenge = secrets.token_hex(16)
        answer = owner.request(
            "GET", f"/api/hall/owner?visit={self.visit}", token=None, headers={"Hindbrain-Challenge": challenge}
        )
        if answer.status != 200:
            return None
        told = json.loads(answer.body)
        said = f"owner.{challenge}.{told['instance']}.{host or f'127.0.0.1:{owner.port}'}"
        if told["proof"] != _mac(self.secret, said):
            return None
        return Visitor(visit=self.visit, secret=self.secret, instance=told["instance"], cookie=self.cookie)


def enter(owner: RunningOwner) -> Visitor:
    """Begin a visit by a ticket."""
    answer = owner.request("GET", f"/?ticket={ticket(owner).json['ticket']}", token=None)
    assert answer.status == 200
    found = dict(re.findall(r'name="hall-(\w+)" content="([^"]+)"', answer.body.decode()))
    return Visitor(cookie=answer.headers["set-cookie"].partition(";")[0], **found)
