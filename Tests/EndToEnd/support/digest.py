"""The digest of the contract, computed from nothing but its text."""

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def fnv1a64(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def fmix64(value):
    value ^= value >> 33
    value = (value * 0xFF51AFD7ED558CCD) & MASK
    value ^= value >> 33
    value = (value * 0xC4CEB9FE1A85EC53) & MASK
    return value ^ (value >> 33)


def digest(revisions):
    """16 lower-case hex digits over a mapping of topic to revision."""
    total = 0
    for topic, revision in revisions.items():
        total ^= fmix64(fnv1a64(topic.encode()) ^ (revision * GOLDEN & MASK))
    return f"{total:016x}"
