// What the load generators share: sockets, clocks, the command frames, and finding numbers in what comes back.

#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

enum { MAX_CONNECTIONS = 64, MAX_FRAME = 8192, STALL_MS = 10000 };

static const char APP[] = "com.example.bench";
static const char *app = APP;  // that commands name
// What every activity of these generators starts with.
#define START_FIELDS "\"type\":\"Bench\",\"attributes\":{},"

static void *context;
static long content_bytes = 256;
static long run;  // makes the content of this run differ from that of the last

static inline void die(const char *what) {
    fprintf(stderr, "load: %s: %s\n", what, zmq_strerror(zmq_errno()));
    exit(1);
}

static inline int64_t clock_nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static inline int64_t now(void) { return clock_nanoseconds(CLOCK_MONOTONIC); }

static inline void pause_milliseconds(long milliseconds) {
    struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static inline void *open_socket(int kind, const char *url) {
    void *socket = zmq_socket(context, kind);
    int none = 0;
    if (!socket) die("zmq_socket");
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_SNDHWM, &none, sizeof none);
    if (zmq_connect(socket, url)) die(url);
    return socket;
}

// The number after a marker such as `"req":"`, or -1.
static inline long number_after(const char *bytes, size_t size, const char *marker, size_t length) {
    const char *found = memmem(bytes, size, marker, length);
    if (!found) return -1;
    const char *digit = found + length, *end = bytes + size;
    if (digit == end || *digit < '0' || *digit > '9') return -1;
    long value = 0;
    while (digit < end && *digit >= '0' && *digit <= '9') value = value * 10 + (*digit++ - '0');
    return value;
}

#define NUMBER_AFTER(bytes, size, marker) number_after(bytes, size, marker, sizeof(marker) - 1)

// A command for one activity; its content is an object of exactly `content_bytes` that no other update has.
static inline int write_command(char *frame, const char *op, const char *extra, long req, long activity) {
    int used = snprintf(frame, MAX_FRAME,
        "{\"op\":\"%s\",\"req\":\"%ld\",\"app\":\"%s\",%s\"id\":\"00000000-0000-7000-8000-%012lx\",\"contentState\":",
        op, req, app, extra, activity);
    int begin = used;
    used += snprintf(frame + used, MAX_FRAME - (size_t)used, "{\"n\":%ld,\"run\":%ld,\"text\":\"", req, run);
    long padding = content_bytes - (used - begin) - 2;
    if (padding < 0 || used + padding + 4 > MAX_FRAME) {
        fprintf(stderr, "load: --content %ld cannot be made\n", content_bytes);
        exit(2);
    }
    memset(frame + used, 'x', (size_t)padding);
    used += (int)padding;
    memcpy(frame + used, "\"}}", 3);
    return used + 3;
}

// A stride that is odd and large visits the activities out of order, each equally often.
static inline long activity_of(long update, long activities) { return update * 40503 % activities; }

// MARK: The command line

struct option {
    const char *name;
    long *number;       // one of the two is NULL
    const char **text;
};

static inline long positive(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 1) {
        fprintf(stderr, "load: not a number from 1: %s\n", text);
        exit(2);
    }
    return value;
}

// Takes the word at `index` and its value; gives the index of the value.
static inline int read_option(int index, int count, char **words, const struct option *known, size_t all) {
    size_t each = 0;
    while (each < all && strcmp(words[index], known[each].name)) each++;
    if (each == all || index + 1 == count) {
        fprintf(stderr, "load: unknown or without a value: %s\n", words[index]);
        exit(2);
    }
    if (known[each].text) *known[each].text = words[index + 1];
    else *known[each].number = positive(words[index + 1]);
    return index + 1;
}
