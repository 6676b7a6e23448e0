"""The registry: every operation once, with its types, effect, help text and errors."""
