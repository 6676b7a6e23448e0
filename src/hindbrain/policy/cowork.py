"""Cowork: sizes and times of the bus between agents, with the reason beside the number."""

__all__ = [
    "BATCHES_KNOWN",
    "BUS_WAIT_S",
    "EVENTS_LIMIT",
    "INBOX_BYTES",
    "INBOX_MESSAGES",
    "LISTED_PREVIEWS",
    "LOG_PART_BYTES",
    "MESSAGE_BYTES",
    "PREVIEW_CHARACTERS",
    "STALE_AFTER_MS",
    "TOLD_IDS",
    "WAIT_MOST_S",
    "WAIT_S",
]

MESSAGE_BYTES = 8 * 1024  # a message points at work; what is longer belongs into a file that it names
INBOX_MESSAGES = 16  # who does not read for so long should be spoken to in another way
INBOX_BYTES = 32 * 1024  # of contents; what one drain puts into a context stays small
BATCHES_KNOWN = 256  # names of batches that are over; the late request of a dead reader is not older than so many
PREVIEW_CHARACTERS = 200  # the log is a trail, not a second store of messages
LISTED_PREVIEWS = 3  # of what waits for an agent, in the list of agents
STALE_AFTER_MS = 10 * 60_000  # an agent that works says so every few minutes
LOG_PART_BYTES = 10 * 1024 * 1024  # a part of the log that an editor still opens
EVENTS_LIMIT = 50  # events that are listed unless another number is asked for
WAIT_S = 60  # for mail, unless another time is asked for: within what hosts let a call take
WAIT_MOST_S = 600
TOLD_IDS = 20_000  # messages of this process that are remembered as told; a watch looks within a second
BUS_WAIT_S = 30.0  # a turn takes milliseconds; who waits so long is told that the bus is busy
