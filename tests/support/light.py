"""Claim files as a hand, an editor or an older tool would leave them."""

__all__ = ["light_file"]


def light_file(label: str, text: str = "", *, evidence: tuple[str, ...] = (), confidence: str = "", **keys: str) -> str:
    """A one-block claim file. Without more keys (`Source_Agent="…"`) it says nothing of who wrote it, where and when."""
    head = {"Protocol": "L1GHT/1.0", "Node": label, "State": "authored", **{k.replace("_", "-"): v for k, v in keys.items()}}
    lines = ["---", *(f"{key}: {value}" for key, value in head.items()), "---", "", f"# {label}", "", f"## {label}", ""]
    lines += [text or label, "", f"[⍂ entity: {label}]"]
    lines += [f"[𝔻 confidence: {confidence}]"] if confidence else []
    return "\n".join([*lines, *(f"[𝔻 evidence: {path}]" for path in evidence)]) + "\n"
