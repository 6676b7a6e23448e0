"""Missions of connected agents: the kernel that starts, records, advises, proves, hands over and closes."""
