// The measure that Islet is held against: a bare libzmq relay, ROUTER in, PUB out and an answer back.
//
// It parses, stores and journals nothing. Every frame that comes in becomes one event of `event-bytes` on a topic of
// `topic-bytes`, and one answer frame of `answer-bytes`; both begin with a copy of the command, so that the load
// generator finds its own `req` in them. Ends when standard input is closed.
//
//     relay TOPIC-BYTES EVENT-BYTES ANSWER-BYTES

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

enum { MAX_FRAME = 1 << 16, MAX_BATCH = 256 };

static void die(const char *what) {
    fprintf(stderr, "relay: %s: %s\n", what, zmq_strerror(zmq_errno()));
    exit(1);
}

static void *bind_socket(void *context, int kind, char *endpoint, size_t size) {
    void *socket = zmq_socket(context, kind);
    int none = 0, deep = 100000;
    if (!socket) die("zmq_socket");
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_SNDHWM, &deep, sizeof deep);
    if (zmq_bind(socket, "tcp://127.0.0.1:*")) die("zmq_bind");
    if (zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size)) die("ZMQ_LAST_ENDPOINT");
    return socket;
}

// Sends `size` bytes that begin with the command and go on with spaces.
static void send_like(void *socket, const char *command, size_t length, size_t size, int flags) {
    zmq_msg_t message;
    if (zmq_msg_init_size(&message, size)) die("zmq_msg_init_size");
    char *bytes = zmq_msg_data(&message);
    size_t copied = length < size ? length : size;
    memcpy(bytes, command, copied);
    memset(bytes + copied, ' ', size - copied);
    if (zmq_msg_send(&message, socket, flags) < 0) zmq_msg_close(&message);
}

int main(int count, char **words) {
    if (count != 4) {
        fprintf(stderr, "usage: relay TOPIC-BYTES EVENT-BYTES ANSWER-BYTES\n");
        return 2;
    }
    size_t topic_size = strtoul(words[1], NULL, 10), event_size = strtoul(words[2], NULL, 10);
    size_t answer_size = strtoul(words[3], NULL, 10);
    static char topic[256];
    if (topic_size < 1 || topic_size > sizeof topic) return 2;
    memset(topic, 'r', sizeof topic);

    void *context = zmq_ctx_new();
    char commands_at[256], events_at[256];
    void *commands = bind_socket(context, ZMQ_ROUTER, commands_at, sizeof commands_at);
    void *events = bind_socket(context, ZMQ_PUB, events_at, sizeof events_at);
    fprintf(stderr, "ready commands=%s events=%s\n", commands_at, events_at);

    zmq_pollitem_t items[] = {{commands, 0, ZMQ_POLLIN, 0}, {NULL, STDIN_FILENO, ZMQ_POLLIN, 0}};
    for (;;) {
        if (zmq_poll(items, 2, -1) < 0) {
            if (zmq_errno() == EINTR) continue;
            die("zmq_poll");
        }
        if (items[1].revents) return 0;
        // As a service would: many messages a turn, so that polling costs little.
        for (int turn = 0; turn < 256; turn++) {
            char peer[256];
            int peer_size = zmq_recv(commands, peer, sizeof peer, ZMQ_DONTWAIT);
            if (peer_size < 0) break;
            zmq_msg_t frames[MAX_BATCH];
            int held = 0, more = 1;
            while (more) {
                if (held == MAX_BATCH) die("too many frames");
                zmq_msg_init(&frames[held]);
                if (zmq_msg_recv(&frames[held], commands, 0) < 0) die("zmq_msg_recv");
                more = zmq_msg_more(&frames[held]);
                held++;
            }
            for (int each = 0; each < held; each++) {
                zmq_send(events, topic, topic_size, ZMQ_SNDMORE);
                send_like(events, zmq_msg_data(&frames[each]), zmq_msg_size(&frames[each]), event_size, 0);
            }
            zmq_send(commands, peer, (size_t)peer_size, ZMQ_SNDMORE);
            for (int each = 0; each < held; each++) {
                send_like(commands, zmq_msg_data(&frames[each]), zmq_msg_size(&frames[each]), answer_size,
                          each + 1 < held ? ZMQ_SNDMORE : 0);
                zmq_msg_close(&frames[each]);
            }
        }
    }
}
