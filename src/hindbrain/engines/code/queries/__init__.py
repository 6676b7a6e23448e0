"""The queries: one module per family of languages, each with the grammar of its languages."""
