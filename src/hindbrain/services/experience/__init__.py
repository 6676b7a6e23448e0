"""Experience: what outcomes taught, how it fades, and the Dreamer that hardens it."""
