"""Asking tables: the ten questions an agent may ask about its own work, and what each route means in a sentence."""

from collections.abc import Mapping
from typing import Literal

from hindbrain.domain.mission import Route

__all__ = ["QUESTIONS", "ROUTES_SAID", "Topic"]

Topic = Literal["workspace", "freshness", "route", "next", "avoid", "proven", "covered", "failed", "resumable", "rebound"]

QUESTIONS: Mapping[Topic, str] = {
    "workspace": "Which workspace am I really in?",
    "freshness": "Is the graph fresh enough?",
    "route": "Which route should this task take?",
    "next": "What is the next best move?",
    "avoid": "Which tools should I avoid now?",
    "proven": "Is this claim proven by direct evidence?",
    "covered": "What was covered already?",
    "failed": "What failed, and why?",
    "resumable": "Can this mission be resumed later?",
    "rebound": "Did the update or rebind really happen?",
}

ROUTES_SAID: Mapping[Route, str] = {
    Route.DIRECT_PROOF: "the target is known: no question to the graph at all",
    Route.SHORT_AUDIT: "trust, one orientation call, then direct proof",
    Route.TRAINED_AUDIT: "trust, audit, a focused search, direct proof, a sweep",
    Route.RISK_FIRST: "impact and plan are checked before the first edit",
    Route.DOCS_BINDING: "statements are bound to code, then verified",
    Route.ARCHITECTURE_SURVEY: "several questions to the graph; claims only about structure",
    Route.RELEASE_PREFLIGHT: "tests, versions, changelog, gates",
    Route.RECOVERY: "diagnosis, plan, repair at a terminal, handshake",
    Route.BALANCED: "one audit, then direct proof",
}
