"""Pure algorithms over values. No engine opens a file or knows a store."""
