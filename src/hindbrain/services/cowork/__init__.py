"""Cowork: a bus of messages between the agents of one project, and its rooms. Nothing here is memory."""
