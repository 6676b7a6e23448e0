"""Errors of agents together: letters, delegation, the bus between agents. Part of the one table in `errors`."""

from hindbrain.domain.error import HindbrainError

__all__ = [
    "DeliveryFailed",
    "HostAbsent",
    "InboxFull",
    "PaneUnreachable",
    "PathReserved",
    "UnknownAgent",
    "UnknownChannel",
    "UnknownCoworkSession",
    "UnknownDelegation",
    "UnknownMessage",
]


class UnknownDelegation(HindbrainError):
    """No packet of this brain has the id."""

    code = "unknown_delegation"
    http_status = 404


class UnknownAgent(HindbrainError):
    """No agent of this name is registered on the bus of the project."""

    code = "unknown_agent"
    http_status = 404


class UnknownMessage(HindbrainError):
    """The agent was sent no message of this id."""

    code = "unknown_message"
    http_status = 404


class UnknownChannel(HindbrainError):
    """The bus of the project has no channel of this name."""

    code = "unknown_channel"
    http_status = 404


class UnknownCoworkSession(HindbrainError):
    """The bus of the project has no session of this id."""

    code = "unknown_cowork_session"
    http_status = 404


class InboxFull(HindbrainError):
    """The inbox of the target holds as much as it may; nothing was sent."""

    code = "inbox_full"
    http_status = 409


class DeliveryFailed(HindbrainError):
    """A transport could not deliver; what was delivered to others stays delivered, and the answer names both."""

    code = "delivery_failed"
    http_status = 502


class PaneUnreachable(HindbrainError):
    """The agent has no terminal that can be looked at, or tmux could not show it."""

    code = "pane_unreachable"
    http_status = 502


class HostAbsent(HindbrainError):
    """No agent host of this name was found on this machine; the message says what was looked for."""

    code = "host_absent"
    http_status = 404


class PathReserved(HindbrainError):
    """Another agent has reserved a path; the reservation ends by itself."""

    code = "path_reserved"
    http_status = 409
