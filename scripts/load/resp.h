// A connection that speaks Redis's protocol (RESP2), as much of it as the measurements need: no library is needed.

#pragma once

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RESP_ROOM = 4 << 20, RESP_ITEMS = 260 };

// What was received: one value, or an array of values (of an array in it only the values count).
struct reply {
    int count;
    bool is_array, is_error;
    struct { const char *bytes; long size; long number; } items[RESP_ITEMS];
};

struct resp {
    int file;
    char *out, *in;
    size_t out_from, out_to, in_from, in_to;
};

static inline void resp_die(const char *what) {
    fprintf(stderr, "redis: %s: %s\n", what, strerror(errno));
    exit(1);
}

static inline struct resp *resp_open(long port) {
    struct resp *resp = calloc(1, sizeof *resp);
    if (!resp || !(resp->out = malloc(RESP_ROOM)) || !(resp->in = malloc(RESP_ROOM))) resp_die("malloc");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    resp->file = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1, room = 4 << 20;
    setsockopt(resp->file, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (connect(resp->file, (struct sockaddr *)&address, sizeof address)) resp_die("connect");
    setsockopt(resp->file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (fcntl(resp->file, F_SETFL, O_NONBLOCK)) resp_die("fcntl");
    return resp;
}

// Room for what is said next; nothing larger than half a buffer is ever said.
static inline size_t resp_room(const struct resp *resp) { return RESP_ROOM - resp->out_to; }

static inline void resp_array(struct resp *resp, long count) {
    resp->out_to += (size_t)sprintf(resp->out + resp->out_to, "*%ld\r\n", count);
}

static inline void resp_bytes(struct resp *resp, const void *bytes, size_t size) {
    resp->out_to += (size_t)sprintf(resp->out + resp->out_to, "$%zu\r\n", size);
    memcpy(resp->out + resp->out_to, bytes, size);
    memcpy(resp->out + resp->out_to + size, "\r\n", 2);
    resp->out_to += size + 2;
}

static inline void resp_text(struct resp *resp, const char *text) { resp_bytes(resp, text, strlen(text)); }

static inline void resp_number(struct resp *resp, long long number) {
    char digits[24];
    resp_bytes(resp, digits, (size_t)sprintf(digits, "%lld", number));
}

// Writes what the socket takes now.
static inline void resp_push(struct resp *resp) {
    while (resp->out_from < resp->out_to) {
        ssize_t written = send(resp->file, resp->out + resp->out_from, resp->out_to - resp->out_from, MSG_NOSIGNAL);
        if (written < 0 && errno == EAGAIN) break;
        if (written < 0) resp_die("send");
        resp->out_from += (size_t)written;
    }
    if (resp->out_from == resp->out_to) {
        resp->out_from = resp->out_to = 0;
    } else if (resp->out_from > RESP_ROOM / 4) {
        memmove(resp->out, resp->out + resp->out_from, resp->out_to - resp->out_from);
        resp->out_to -= resp->out_from;
        resp->out_from = 0;
    }
}

// Reads what is there; replies that were taken before are gone then.
static inline bool resp_pull(struct resp *resp) {
    if (resp->in_from) {
        memmove(resp->in, resp->in + resp->in_from, resp->in_to - resp->in_from);
        resp->in_to -= resp->in_from;
        resp->in_from = 0;
    }
    ssize_t taken = recv(resp->file, resp->in + resp->in_to, RESP_ROOM - resp->in_to, 0);
    if (taken > 0) resp->in_to += (size_t)taken;
    if (taken == 0) fprintf(stderr, "redis: the server closed the connection\n"), exit(1);
    if (taken < 0 && errno != EAGAIN && errno != EINTR) resp_die("recv");
    return taken > 0;
}

// Reads one value at `position`; gives the position after it, or NULL where it has not wholly arrived.
static inline const char *resp_value(const char *position, const char *end, struct reply *reply) {
    const char *line = memchr(position, '\n', (size_t)(end - position));
    if (!line) return NULL;
    char kind = *position;
    long number = strtol(position + 1, NULL, 10);
    const char *next = line + 1;
    if (kind == '*') {
        reply->is_array = true;
        for (long each = 0; each < number && next; each++) next = resp_value(next, end, reply);
        return next;
    }
    if (kind == '-') reply->is_error = true;
    const char *bytes = position + 1;
    long size = line - bytes - 1;
    if (kind == '$') {
        bytes = next;
        size = number < 0 ? 0 : number;
        if (number >= 0 && end - next < number + 2) return NULL;
        if (number >= 0) next += number + 2;
    }
    if (reply->count < RESP_ITEMS) {
        reply->items[reply->count].bytes = bytes;
        reply->items[reply->count].size = size;
        reply->items[reply->count++].number = number;
    }
    return next;
}

// Takes the next reply of those that were read; its bytes stay until more is read.
static inline bool resp_take(struct resp *resp, struct reply *reply) {
    reply->count = 0;
    reply->is_array = reply->is_error = false;
    if (resp->in_from == resp->in_to) return false;
    const char *next = resp_value(resp->in + resp->in_from, resp->in + resp->in_to, reply);
    if (!next) return false;
    resp->in_from = (size_t)(next - resp->in);
    return true;
}

static inline void resp_wait(struct resp *resp, int milliseconds) {
    struct pollfd item = {resp->file, POLLIN | (resp->out_to > resp->out_from ? POLLOUT : 0), 0};
    poll(&item, 1, milliseconds);
}

static inline void resp_check(const struct reply *reply) {
    if (!reply->is_error) return;
    fprintf(stderr, "redis: refused: %.*s\n", (int)reply->items[0].size, reply->items[0].bytes);
    exit(1);
}

// One command of words, and its reply.
static inline void resp_ask(struct resp *resp, struct reply *reply, int count, const char *const *words) {
    resp_array(resp, count);
    for (int each = 0; each < count; each++) resp_text(resp, words[each]);
    for (;;) {
        resp_push(resp);
        if (resp_take(resp, reply)) break;
        resp_wait(resp, 1000);
        resp_pull(resp);
    }
    resp_check(reply);
}

#define RESP_ASK(resp, reply, ...) \
    resp_ask(resp, reply, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]){__VA_ARGS__})

// Subscribes to a channel and hands over what comes on it, for as long as `listening` is set; says when it is subscribed.
static inline void resp_listen(long port, const char *channel, atomic_int *subscribed, const atomic_int *listening,
                               void (*take)(const char *bytes, size_t size)) {
    static struct reply reply;
    struct resp *resp = resp_open(port);
    RESP_ASK(resp, &reply, "SUBSCRIBE", channel);
    atomic_store(subscribed, 1);
    while (atomic_load(listening)) {
        resp_wait(resp, 20);
        if (!resp_pull(resp)) continue;
        while (resp_take(resp, &reply)) take(reply.items[2].bytes, (size_t)reply.items[2].size);
    }
}
