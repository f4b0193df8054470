"""A second implementation of the contract's activities, in Python, which the real service is compared with.

It is written from the contract and from the table of transitions alone, and as naively as possible: every deadline is
found by looking at all activities. It shares no code with the service.

- `activity`: one activity and the events that it makes.
- `retries`: what is remembered of (`client`, `req`).
- `service`: all commands, the order of checks, keys, maxima, switches, devices, the clock.
- `comparison`: what the service says against what the model says.
- `harness`: the real service, its sockets, its restarts.
- `machine`: the rules by which Hypothesis plays.
"""
