"""Values, ids, state machines and errors. No I/O, no clock, no randomness."""
