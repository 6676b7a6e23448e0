"""CLI, MCP, HTTP and hooks: loops over the registry with no logic of their own."""
