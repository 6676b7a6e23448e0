"""Panes: messages typed into terminals of tmux, and a look at what they show. Who may do so is decided here."""

from collections.abc import Mapping
from typing import Self

from hindbrain.domain.agent_errors import PaneUnreachable
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HumanNeeded, InvalidParams
from hindbrain.engines.fence import plain_line
from hindbrain.engines.pane import envelope, is_shell, last_lines, target_problem
from hindbrain.settings import Settings
from hindbrain.stores.tmux import Tmux, TmuxFailed

__all__ = ["Panes"]


class Panes:
    """The terminals of this machine. A pane is only ever the one that somebody registered; none is looked for."""

    def __init__(self, tmux: Tmux, *, agents_may: bool) -> None:
        self._tmux = tmux
        self._agents_may = agents_may

    @classmethod
    def of(cls, settings: Settings, environ: Mapping[str, str]) -> Self:
        return cls(Tmux(environ), agents_may=settings.flag("cowork.tmux"))

    def check_target(self, target: str) -> None:
        """A target is refused before anything is written."""
        if why := target_problem(target):
            raise InvalidParams(
                f"the tmux target {why}", fix="give session:window.pane, such as main:0.1, or a pane id such as %3"
            )

    def allow(self, caller: Caller) -> None:
        """Typing into a terminal acts as the user. A person may; an agent may where a person has allowed it."""
        if caller.channel is not Channel.HUMAN and not self._agents_may:
            raise HumanNeeded(
                "agents may not use terminals here: what is typed into one is done as its user",
                fix="use transport inbox; or a person sets cowork.tmux = true in config.toml, or does this in a terminal",
            )

    def deliver(self, caller: Caller, *, source: str, target: str, pane: str, text: str) -> str | None:
        """Type a message into a pane; None when that was done, else why it was not.

        A shell would run what an agent sends, whatever stands before it on the line. So only a person types into one."""
        line = envelope(source, target, text)
        try:
            if caller.channel is not Channel.HUMAN and is_shell(program := self._tmux.foreground(pane)):
                runs = (
                    f"runs {plain_line(program)}, which would run the message"
                    if program
                    else "is gone, or tmux hides what it runs"
                )
                return f"the pane {runs}; only a person may send there"
            self._tmux.type(pane, line.line, literal=line.literal)
        except TmuxFailed as failure:
            return plain_line(str(failure))
        return None

    def peek(self, pane: str, lines: int) -> str:
        """The last lines of a pane. Changes nothing anywhere."""
        try:
            return last_lines(self._tmux.capture(pane, lines), lines)
        except TmuxFailed as failure:
            raise PaneUnreachable(
                plain_line(str(failure)), fix="hindbrain cowork doctor --probe-tmux tells which panes are there"
            ) from failure

    def probe(self, pane: str) -> str | None:
        """None when the session of a pane is there, else why not."""
        try:
            self._tmux.probe(pane)
        except TmuxFailed as failure:
            return plain_line(str(failure))
        return None
