"""What somebody makes of events, beside what answers to reads show."""


def as_followed(entity):
    """An entity of an answer to a read, without what only such answers show."""
    return {name: value for name, value in entity.items() if name != "stateAt"}


