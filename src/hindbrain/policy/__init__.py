"""Tables with their reasons. Code reads them; no service holds a literal threshold."""
