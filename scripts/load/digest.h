// The digest of the contract: over all listed entities of an app, of their topics and revisions.

#pragma once

#include <stddef.h>
#include <stdint.h>

static inline uint64_t digest_part(const char *topic, size_t size, uint64_t revision) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t each = 0; each < size; each++) hash = (hash ^ (unsigned char)topic[each]) * 0x100000001B3u;
    hash ^= revision * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 33;
    hash *= 0xFF51AFD7ED558CCDu;
    hash ^= hash >> 33;
    hash *= 0xC4CEB9FE1A85EC53u;
    return hash ^ hash >> 33;
}
