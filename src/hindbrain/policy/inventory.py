"""The inventory of work: what every piece of work leaves behind, and which parts of the product must each be shown by tests."""

__all__ = ["ABILITIES", "AUTONOMY", "BEHAVIOUR", "FILE", "SECTIONS", "SUBSTRATE"]

FILE = "docs/inventory.toml"

BEHAVIOUR = "behaviour"  # it changes what agents are shown or do
AUTONOMY = "autonomy"  # it lets an agent change durable knowledge without an operator's command

# What the contract of a piece of work must say, by its tags. Everything says how one sees that it is done.
SECTIONS: dict[str, tuple[str, ...]] = {
    "": ("acceptance",),
    BEHAVIOUR: ("evidence", "rollback"),
    AUTONOMY: ("evidence", "rollback", "safety"),
}

# The product is complete when it can do all of these at once; each is shown by at least one suite.
ABILITIES: dict[str, str] = {
    "take-in": "take in evidence from outside and from use",
    "provenance": "keep where it came from",
    "structure": "turn it into structured knowledge",
    "guidance": "find the fitting guidance at work",
    "outcomes": "note how it turned out",
    "judgement": "judge whether a default may be strengthened",
    "control": "switch a default on and back by command",
    "intent": "leave changes of standing to gates and human intent",
}

SUBSTRATE: dict[str, str] = {
    "evidence": "raw observations with their source",
    "governance": "cards that move by gates",
    "retrieval": "guidance at run time, without defaults that change by themselves",
    "research": "the bridge to the outside",
    "feedback": "outcomes, recorded and reviewed",
    "hardening": "the way from outcomes to a changed default, and back",
}
