"""The Hall: the page where people look. Signing in, and its files; what it shows comes from ordinary operations."""
