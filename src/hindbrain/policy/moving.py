"""Moving in: how much of another program's files is read at once. Numbers with their reasons."""

__all__ = ["CWD_LINES", "INSTRUCTIONS_MAX_BYTES", "LOOK_BYTES", "LOOK_FILES", "STATE_MAX_BYTES"]

STATE_MAX_BYTES = 64 * 1024 * 1024  # one document that is read as a whole: a manifest, a state, keyed values
INSTRUCTIONS_MAX_BYTES = 1 << 20  # one instruction file; what is longer no host would send to a model
CWD_LINES = 64  # lines of a transcript that are looked at to learn in which directory it began
LOOK_BYTES = 16 * 1024  # of a file, to see whose it is
LOOK_FILES = 32  # of a directory that are looked at; a directory of notes has one of them among its first
