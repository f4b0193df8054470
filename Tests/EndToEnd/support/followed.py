"""What somebody makes of events, beside what answers to reads show."""


def as_followed(entity):
    """An entity of an answer to a read, without what only such answers show."""
    return {name: value for name, value in entity.items() if name != "stateAt"}


def plain(entity):
    """The same without members that are null: absent and null are the same."""
    return {name: value for name, value in as_followed(entity).items() if value is not None}
