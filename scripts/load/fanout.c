// Bare libzmq with many subscribers: one PUB socket that sends as fast as it can, and the subscribers of `load.c`.
//
//     fanout [--subscribers N] [--events N] [--topic BYTES] [--event BYTES] [--deep N]
//
// The publisher is a process of its own, as a service would be. It waits where a subscriber is `--deep` events behind,
// so that nothing is lost; 1000, which is libzmq's default, is fastest. Prints one line of JSON: how many events a second
// each of the subscribers got.

#define _GNU_SOURCE  // memmem

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "subscribers.h"

static struct {
    long events, topic, event, deep;
} options = {.events = 300000, .topic = 69, .event = 600, .deep = 1000};

struct start {
    int64_t time;
    char url[256];
};

static atomic_long delivered[MAX_SUBSCRIBERS];

static void take_event(long subscriber, const char *topic, int topic_size, const char *bytes, size_t size) {
    (void)topic, (void)topic_size;
    if (NUMBER_AFTER(bytes, size, "\"req\":\"") < 0) die("an event without a number");
    atomic_fetch_add(&delivered[subscriber], 1);
}

static void say(int to, struct start *start) {
    if (write(to, start, sizeof *start) != sizeof *start) die("write");
}

static void publish(int to) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    context = zmq_ctx_new();
    void *socket = zmq_socket(context, ZMQ_XPUB);
    int deep = (int)options.deep, on = 1;
    zmq_setsockopt(socket, ZMQ_SNDHWM, &deep, sizeof deep);
    zmq_setsockopt(socket, ZMQ_XPUB_NODROP, &on, sizeof on);
    zmq_setsockopt(socket, ZMQ_XPUB_VERBOSE, &on, sizeof on);
    if (zmq_bind(socket, "tcp://127.0.0.1:*")) die("zmq_bind");
    struct start start = {0};
    size_t size = sizeof start.url;
    if (zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, start.url, &size)) die("ZMQ_LAST_ENDPOINT");
    say(to, &start);
    char topic[256], body[MAX_FRAME];
    for (long joined = 0; joined < subscribers.count; joined++) {
        if (zmq_recv(socket, body, sizeof body, 0) < 0) die("zmq_recv");
    }
    memset(topic, 't', sizeof topic);
    memset(body, ' ', sizeof body);
    start.time = now();
    say(to, &start);
    for (long event = 0; event < options.events; event++) {
        zmq_msg_t message;
        if (zmq_send(socket, topic, (size_t)options.topic, ZMQ_SNDMORE) < 0) die("zmq_send");
        if (zmq_msg_init_size(&message, (size_t)options.event)) die("zmq_msg_init_size");
        int used = sprintf(body, "{\"seq\":%ld,\"req\":\"%ld\",", event, event);
        body[used] = ' ';
        memcpy(zmq_msg_data(&message), body, (size_t)options.event);
        if (zmq_msg_send(&message, socket, 0) < 0) die("zmq_msg_send");
    }
    zmq_close(socket);
    zmq_ctx_term(context);  // returns when all is sent
    _exit(0);
}

int main(int count, char **words) {
    const struct option known[] = {
        {"--subscribers", &subscribers.count, NULL}, {"--events", &options.events, NULL},
        {"--topic", &options.topic, NULL}, {"--deep", &options.deep, NULL}, {"--event", &options.event, NULL},
    };
    subscribers.count = 8;
    for (int word = 1; word < count; word++)
        word = read_option(word, count, words, known, sizeof known / sizeof *known);
    if (subscribers.count > MAX_SUBSCRIBERS || options.topic > 255 || options.event > MAX_FRAME || options.event < 64) {
        fprintf(stderr, "fanout: at most %d subscribers; events of 64 to %d bytes\n", MAX_SUBSCRIBERS, MAX_FRAME);
        return 2;
    }
    int ends[2];
    if (pipe(ends)) die("pipe");
    if (!fork()) publish(ends[1]);
    struct start start;
    if (read(ends[0], &start, sizeof start) != sizeof start) die("read");
    subscribers.url = start.url;
    context = zmq_ctx_new();
    atomic_store(&subscribers.listening, 1);
    pthread_t listener;
    if (pthread_create(&listener, NULL, listen_to_events, NULL)) die("pthread_create");
    if (read(ends[0], &start, sizeof start) != sizeof start) die("read");

    int64_t progress = now(), ended = 0;
    for (long before = -1; !ended && now() - progress < STALL_MS * 1000000LL;) {
        long total = 0;
        for (long each = 0; each < subscribers.count; each++) total += atomic_load(&delivered[each]);
        if (total != before) progress = now();
        if (total == options.events * subscribers.count) ended = now();
        before = total;
        pause_milliseconds(1);
    }
    atomic_store(&subscribers.listening, 0);
    pthread_join(listener, NULL);
    if (!ended || atomic_load(&subscribers.failures)) {
        fprintf(stderr, "fanout: events were lost\n");
        return 1;
    }
    double seconds = (double)(ended - start.time) / 1e9;
    printf("{\"events\":%ld,\"subscribers\":%ld,\"publishedPerSecond\":%.0f}\n", options.events, subscribers.count,
           (double)options.events / seconds);
    return 0;
}
