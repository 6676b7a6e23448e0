"""Hooks of agent hosts: what a session is told, and what is kept of it."""
