"""A small, readable client of the bus, and the real service as a process; shared by the end-to-end tests."""
