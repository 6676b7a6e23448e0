"""Providers: how a model is asked. Knows wire formats and nothing of roles."""
