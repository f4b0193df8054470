// Gaps of a stream, and the replay that fills them: what a subscriber does that could not keep up for a moment.

#pragma once

#include <stdatomic.h>

#include "bus.h"

enum { MAX_GAPS = 1 << 16, REPLAY_CREDIT = 16 };

// One thread finds gaps, another fills them; the first `filled` ones are filled.
static struct {
    struct { long after, before; } list[MAX_GAPS];  // the sequence numbers on both sides
    atomic_long found;
    long filled, events;
} gaps;

static inline void note_gap(long after, long before) {
    long found = atomic_load(&gaps.found);
    if (found == MAX_GAPS) fprintf(stderr, "load: too many gaps\n"), exit(1);
    gaps.list[found].after = after;
    gaps.list[found].before = before;
    atomic_store(&gaps.found, found + 1);
}

// Takes the rows of one chunk up to a sequence number; gives the last one, or `after` where the chunk is of another pull.
static inline long take_chunk(void *bulk, const char *req, long after, long before,
                              void (*take)(const char *topic, int topic_size, const char *bytes, size_t size)) {
    zmq_msg_t header, topic, body;
    zmq_msg_init(&header), zmq_msg_init(&topic), zmq_msg_init(&body);
    if (zmq_msg_recv(&header, bulk, 0) < 0) die("no chunk of a replay");
    const char *text = zmq_msg_data(&header);
    size_t size = zmq_msg_size(&header);
    int is_ours = memmem(text, size, req, strlen(req)) != NULL, more = zmq_msg_more(&header);
    if (is_ours && memmem(text, size, "\"error\"", 7)) {
        fprintf(stderr, "load: no replay: %.*s\n", (int)size, text);
        exit(1);
    }
    while (more) {
        zmq_msg_recv(&topic, bulk, 0), zmq_msg_recv(&body, bulk, 0);
        more = zmq_msg_more(&body);
        long seq = NUMBER_AFTER(zmq_msg_data(&body), zmq_msg_size(&body), "\"seq\":");
        if (!is_ours || seq >= before) continue;
        if (seq != after + 1) fprintf(stderr, "load: a replay with a gap: %ld after %ld\n", seq, after), exit(1);
        after = seq;
        gaps.events++;
        take(zmq_msg_data(&topic), (int)zmq_msg_size(&topic), zmq_msg_data(&body), zmq_msg_size(&body));
    }
    zmq_msg_close(&header), zmq_msg_close(&topic), zmq_msg_close(&body);
    return after;
}

// Fills the oldest gap that is not filled, if there is one.
static inline int fill_gap(void *bulk, void (*take)(const char *topic, int topic_size, const char *bytes, size_t size)) {
    if (gaps.filled == atomic_load(&gaps.found)) return 0;
    long after = gaps.list[gaps.filled].after, before = gaps.list[gaps.filled].before;
    char frame[256], req[64];
    snprintf(req, sizeof req, "\"req\":\"gap-%ld\"", gaps.filled);
    int size = snprintf(frame, sizeof frame, "{\"op\":\"bulk.replay\",%s,\"app\":\"%s\",\"from\":%ld,\"credit\":%d}", req,
                        APP, after, REPLAY_CREDIT);
    if (zmq_send(bulk, frame, (size_t)size, 0) < 0) die("zmq_send");
    while (after + 1 < before) {
        after = take_chunk(bulk, req, after, before, take);
        size = snprintf(frame, sizeof frame, after + 1 < before ? "{\"op\":\"bulk.credit\",%s,\"credit\":1}"
                                                                : "{\"op\":\"bulk.cancel\",%s}", req);
        if (zmq_send(bulk, frame, (size_t)size, 0) < 0) die("zmq_send");
    }
    gaps.filled++;
    return 1;
}
