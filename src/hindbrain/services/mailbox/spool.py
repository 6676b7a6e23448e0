"""The spool: one file for the whole machine, where every letter is written. Letters are no memory and need no brain."""

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from hindbrain.domain.brain import MEDULLA
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HygieneRefused, InvalidParams
from hindbrain.domain.letter import FIELDS, TRIAGE, Letter, LetterId, Links, letter_id
from hindbrain.domain.misdelivery import MISDELIVERY, Misdelivery
from hindbrain.engines.fence import shown
from hindbrain.engines.letters import Batch, legacy_links, parsed, read, secret_in
from hindbrain.engines.moments import stamped
from hindbrain.policy.limits import LETTER_MAX_BYTES, LOCK_WAIT_S
from hindbrain.services.bell import Bell
from hindbrain.services.elsewhere import LETTERS
from hindbrain.services.gateway import Gateway
from hindbrain.services.mailbox.places import PostRoom
from hindbrain.services.routing import Router
from hindbrain.stores.atomic import write_text
from hindbrain.stores.documents import set_aside_unreadable
from hindbrain.stores.home import Home
from hindbrain.stores.letter_files import append, lines
from hindbrain.stores.locks import locked
from hindbrain.stores.repository import canonical_root

__all__ = ["Spool"]

_LINKS = "m1nd-field-report-links-v0"
_UNFILED = "leave out what must not be copied, or describe it in words"
_TOLD = 20  # letters that one event names
_LISTED = "hindbrain triage-session lists letters with their ids"
_UNANSWERING = "a triage without answers closes nothing; name the letters it answers with --answers"


class Spool:
    """Writes letters and reads them. Nothing here changes a byte that was written before."""

    def __init__(
        self, home: Home, router: Router, gateway: Gateway, room: PostRoom, bell: Bell, clock: Callable[[], int]
    ) -> None:
        self._home = home
        self._router = router
        self._gateway = gateway
        self._room = room
        self._bell = bell
        self._clock = clock

    def report(self, caller: Caller, said: dict[str, Any], *, strange: Sequence[str] = ()) -> dict[str, Any]:
        """Append one letter of the caller. `said` has the fields of the line, and may name another brain. `strange` are ids
        that it answers and that name no letter here: it may still come, so the letter is kept and they are told."""
        klass, kind = said["class"], said.get("kind")
        if klass == MISDELIVERY and kind not in list(Misdelivery):
            raise InvalidParams(
                f"a letter of class {MISDELIVERY} needs a kind"
                + ("" if kind is None else f", and {shown(str(kind))[:80]!r} is none"),
                fix=f"give kind as one of {', '.join(Misdelivery)}",
            )
        fields = {"ts": stamped(self._clock()), "agent": caller.agent, **said}
        fields |= self._about(caller, said)
        texts = [text for value in fields.values() for text in (value if isinstance(value, list) else [value]) if text]
        for text in texts:
            if isinstance(text, str):
                self._gateway.check_text(text)
        self._gateway.check_secrets((text for text in texts if isinstance(text, str)), site="letter")
        told = {name: fields[name] for name in FIELDS if fields.get(name) not in (None, "", [], False)}
        line = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        if len(line) > LETTER_MAX_BYTES:
            raise InvalidParams(f"the letter has {len(line)} bytes; {LETTER_MAX_BYTES} is the most", fix="shorten its snippet")
        letter = parsed(line)
        if letter is not None and (found := secret_in(letter)) is not None:
            raise HygieneRefused(f"the letter looks like {found} and would stay unfiled", fix=_UNFILED, pattern_class=found)
        self._home.ensure()
        append(self._home.field_reports_file, line)
        self._told(caller, "triage" if klass == TRIAGE else "report", [letter_id(line)])
        warnings = [_UNANSWERING] if klass == TRIAGE and not said.get("answers") else []
        if strange:
            warnings.append(f"no letter {', '.join(repr(shown(one)) for one in strange)} is here: that closes nothing. {_LISTED}")
        identity = letter_id(line)
        rendered = [f"Letter {identity} is in the spool.", *warnings, "hindbrain mailbox distribute files it into its box."]
        return {
            "schema": "hindbrain-letter-v0",
            "id": identity,
            "spool": str(self._home.field_reports_file),
            "letter": told,
            "warnings": warnings,
            "rendered": "\n".join(rendered),
        }

    def _told(self, caller: Caller, what: str, ids: Sequence[str]) -> None:
        brain = self._router.route(caller).brain
        self._bell.reach(LETTERS, self._home.field_reports_file.stat().st_size)
        self.ring(brain.root if brain is not None else None, what, ids)

    def ring(self, root: str | None, what: str, ids: Sequence[str]) -> None:
        """Tell that letters came, in the project they are about or in the medulla."""
        self._bell.ring(root or MEDULLA, f"letter.{what}", letters=list(ids[:_TOLD]), count=len(ids))

    def read(self) -> Batch:
        """Every letter of the spool once, in order."""
        return read(lines(self._home.field_reports_file))

    def take(self, raws: Sequence[bytes]) -> list[Letter]:
        """Append letters that were written elsewhere, as they are, and say which were not here yet."""
        have = {letter.id for letter in self.read().letters}
        fresh = [letter for letter in read(raws).letters if letter.id not in have]
        self._home.ensure()
        for letter in fresh:
            append(self._home.field_reports_file, letter.raw)
        return fresh

    def links(self) -> Links:
        """What old letters answer by line number, as it was found when the spool was first distributed."""
        found = self._links_file()
        if found is None:
            return Links()
        return Links(
            answers={LetterId(key): tuple(map(LetterId, value)) for key, value in _lists(found.get("links")).items()},
            unresolved={LetterId(key): tuple(value) for key, value in _lists(found.get("unresolved")).items()},
        )

    def link_legacy(self) -> None:
        """Find what old letters answer, once: from then on letters name each other by id, and `L27` is a word."""
        if self._links_file() is None and self._home.field_reports_file.exists():
            self.link(legacy_links(lines(self._home.field_reports_file)))

    def link(self, links: Links) -> None:
        """Keep what old letters answer beside the spool, together with what is kept already."""
        with locked(self._home.boxes_lock, wait_s=LOCK_WAIT_S):
            held = self.links()
            told = {
                "schema": _LINKS,
                "links": {key: list(value) for key, value in (held.answers | links.answers).items()},
                "unresolved": {key: list(value) for key, value in (held.unresolved | links.unresolved).items()},
            }
            set_aside_unreadable(self._home.links_file)
            write_text(self._home.links_file, json.dumps(told, indent=2) + "\n")

    def _links_file(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self._home.links_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and found.get("schema") == _LINKS else None

    def _about(self, caller: Caller, said: dict[str, Any]) -> dict[str, str | None]:
        """The brain and repository of a letter: those it names, else the caller's, with no more of the machine than needed."""
        if said.get("brain") or said.get("repo"):
            brain = said.get("brain")
            plain = brain in (None, MEDULLA) or str(brain).startswith("project:")
            return {"brain": brain if plain else f"project:{brain}", "repo": said.get("repo")}
        route = self._router.route(caller)
        if route.brain is None:
            self._router.refuse_replaced(route.root)  # as a letter of no project every project would read it
        root = route.brain.root if route.brain is not None else self._room.project_at(route.root) if route.root else None
        if root is None or root in self._room.places(None).shared:
            return {"brain": MEDULLA, "repo": None}
        self._room.saw_box(root)
        user_home = canonical_root("~")
        within = root.startswith(user_home.rstrip("/") + "/")
        return {"brain": f"project:{os.path.basename(root)}", "repo": f"~/{os.path.relpath(root, user_home)}" if within else root}


def _lists(value: object) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        return {}
    return {key: [one for one in inner if isinstance(one, str)] for key, inner in value.items() if isinstance(inner, list)}
