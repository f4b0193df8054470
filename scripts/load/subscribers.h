// One or more SUB sockets of a load generator, drained by one thread; each checks that its stream has no gap.

#pragma once

#include <stdatomic.h>

#include "bus.h"

enum { MAX_SUBSCRIBERS = 64, EVENTS_PER_SOCKET = 256, TOPIC_ROOM = 512 };

static struct {
    const char *url, *prefix;        // with a prefix they join as the contract says, and see its stream from seq 1 on
    long count;
    void *sockets[MAX_SUBSCRIBERS];
    long last_seq[MAX_SUBSCRIBERS];  // -1 before the first event
    atomic_int listening, failures;
    void (*gap)(long after, long before);  // what to do about a gap; NULL where there is to be none
    void (*watermark)(long subscriber, const char *bytes, size_t size);  // NULL where nobody wants them
    atomic_long joined;
} subscribers = {.count = 1};

// What the program that includes this does with an event, for each subscriber; watermarks do not come here.
static void take_event(long subscriber, const char *topic, int topic_size, const char *bytes, size_t size);

static inline int receive_event(long subscriber, int flags) {
    void *socket = subscribers.sockets[subscriber];
    char topic[TOPIC_ROOM];
    int topic_size = zmq_recv(socket, topic, sizeof topic, flags);
    if (topic_size < 0) return 0;
    zmq_msg_t body;
    zmq_msg_init(&body);
    if (zmq_msg_recv(&body, socket, 0) < 0) die("an event without a body");
    const char *bytes = zmq_msg_data(&body);
    size_t size = zmq_msg_size(&body);
    if (topic_size < 2 || memcmp(topic + topic_size - 2, "/~", 2) != 0) {
        long seq = NUMBER_AFTER(bytes, size, "\"seq\":"), last = subscribers.last_seq[subscriber];
        if (seq >= 0 && last >= 0 && seq != last + 1) {
            if (subscribers.gap && seq > last) subscribers.gap(last, seq);
            else if (atomic_fetch_add(&subscribers.failures, 1) < 10)
                fprintf(stderr, "load: a gap in the stream: %ld after %ld\n", seq, last);
        }
        if (seq >= 0) subscribers.last_seq[subscriber] = seq;
        take_event(subscriber, topic, topic_size, bytes, size);
    } else if (subscribers.watermark) {
        subscribers.watermark(subscriber, bytes, size);
    }
    zmq_msg_close(&body);
    return 1;
}

// Subscribes, and waits for the answer that says that the subscription is active.
static inline void join(void *socket) {
    char topic[TOPIC_ROOM], body[TOPIC_ROOM];
    int patience = STALL_MS;
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, subscribers.prefix, strlen(subscribers.prefix));
    int size = sprintf(topic, "\xffjoin/%016llx%016llx/%s", (unsigned long long)now(), (unsigned long long)socket, app);
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, topic, (size_t)size);
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
    if (zmq_recv(socket, topic, sizeof topic, 0) < 0 || zmq_recv(socket, body, sizeof body, 0) < 0) die("no join answer");
    zmq_setsockopt(socket, ZMQ_UNSUBSCRIBE, topic, (size_t)size);
    atomic_fetch_add(&subscribers.joined, 1);
}

// The thread: opens the sockets, and takes in what comes while `listening`.
static void *listen_to_events(void *unused) {
    (void)unused;
    zmq_pollitem_t items[MAX_SUBSCRIBERS];
    for (long each = 0; each < subscribers.count; each++) {
        subscribers.sockets[each] = open_socket(ZMQ_SUB, subscribers.url);
        subscribers.last_seq[each] = subscribers.prefix ? 0 : -1;
        if (subscribers.prefix) join(subscribers.sockets[each]);
        else zmq_setsockopt(subscribers.sockets[each], ZMQ_SUBSCRIBE, "", 0);
        items[each] = (zmq_pollitem_t){subscribers.sockets[each], 0, ZMQ_POLLIN, 0};
    }
    int patience = 20;
    zmq_setsockopt(subscribers.sockets[0], ZMQ_RCVTIMEO, &patience, sizeof patience);
    while (atomic_load(&subscribers.listening)) {
        if (subscribers.count == 1) {
            receive_event(0, 0);
            continue;
        }
        if (zmq_poll(items, (int)subscribers.count, patience) < 0 && zmq_errno() != EINTR) die("zmq_poll");
        for (long each = 0; each < subscribers.count; each++) {
            for (int taken = 0; taken < EVENTS_PER_SOCKET && receive_event(each, ZMQ_DONTWAIT); taken++) {}
        }
    }
    for (long each = 0; each < subscribers.count; each++) zmq_close(subscribers.sockets[each]);
    return NULL;
}
