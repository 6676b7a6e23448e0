"""Code search, text search and glob."""
