"""Number 7: what an activity costs in memory, and what a million of them take, beside Redis."""

import redis_server
from report import at_most
from services import islet, load, resident

BYTES, MEGABYTES = 150, 450


def each(options):
    """Bytes of memory beside the payload that another activity costs, once the buffers of fixed size are full."""
    with islet("memory") as (endpoints, process):
        load(endpoints, start=True, activities=options.activities, content=options.content)
        # The ring of events for replays fills up here, until it only turns, and no longer counts below.
        before, grown = 0, resident(process)
        while grown - before > 4 << 20:
            before = grown
            load(endpoints, activities=options.activities, updates=100_000, content=options.content)
            grown = resident(process)
        before = grown
        load(endpoints, start=True, first=options.activities, activities=options.activities, content=options.content)
        after = resident(process)
    payload = options.content + len("{}")
    return (after - before) / options.activities - payload


def all_together(options):
    """Bytes that are resident in the service with many activities, stored; and in Redis with as many."""
    shape = {"start": True, "activities": options.many, "content": options.content}
    with islet() as (endpoints, process):
        load(endpoints, **shape)
        service = resident(process)
    with redis_server.running() as (port, process):
        redis_server.drive(port, **shape)
        return service, resident(process)


def measure(options):
    """The rows of the table."""
    one, (service, redis) = each(options), all_together(options)
    print(f"\nan activity: {one:.0f} bytes resident beside its payload of {options.content + 2}; {options.many:,} "
          f"stored: {service / 1e6:.0f} MB, Redis {redis / 1e6:.0f} MB")
    return [
        at_most(7, "memory of an activity beside its payload", one, BYTES, "B", digits=0),
        at_most(7, f"resident with {options.many:,} activities", service / 1e6, MEGABYTES, "MB", digits=0,
                other=f"Redis {redis / 1e6:,.0f} MB"),
    ]
