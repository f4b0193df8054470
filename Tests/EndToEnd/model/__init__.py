"""A second implementation of the contract's activities, in Python, which the real service is compared with.

It is written from the contract and from the table of transitions alone, and as naively as possible: every deadline is
found by looking at all activities. It shares no code with the service.

- `activity`: one activity and the events that it makes.
- `retries`: what is remembered of (`client`, `req`).
- `rules`: what the commands on an activity do, and the order of their checks.
- `service`: all that there is, the clock, switches, devices, and the walk of a command.
- `comparison`: what the service says against what the model says.
- `harness`: the real service, its sockets, its restarts.
- `strategies`, `machine`: what Hypothesis may choose, and the rules by which it plays.
"""
