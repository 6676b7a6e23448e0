"""The tour: a small world in a directory of its own, made by the product's own operations, and the Hall opened on it."""

__all__: list[str] = []
