"""Where things are kept: one port, three databases, and the files beside them. No store knows a policy's reasons."""
