// Redis's expiry events as a contender for dismissals at one instant.
//
//     expiry --port N [--keys N] [--ahead SECONDS] [--rate N] [--content BYTES]
//
// Sets so many keys that expire at one instant, `--ahead` from now, and takes in the event of each (`Ex` must be among
// notify-keyspace-events). Meanwhile another key is set `--rate` times a second, from a second before that instant on;
// the spans to the answers count from when each was intended. Prints one line of JSON as `storm` does. Exits with 1
// where an event is missing, repeated or early.

#define _GNU_SOURCE  // memmem

#include <pthread.h>
#include <stdatomic.h>

#include "bus.h"
#include "histogram.h"
#include "resp.h"

enum { IN_FLIGHT = 1000, BEFORE_MS = 1000, PATIENCE_MS = 120000 };

static struct {
    long port, keys, ahead, rate;
} options = {.keys = 1000000, .ahead = 20, .rate = 200};

static int64_t date;  // milliseconds since 1970
static unsigned char *is_expired;
static atomic_long expired, last_event;
static atomic_int listening, subscribed, failures;
static struct histogram event_after, calm_answers, storm_answers;

static void complain(const char *what, long number) {
    if (atomic_fetch_add(&failures, 1) < 10) fprintf(stderr, "expiry: %s: %ld\n", what, number);
}

static int64_t since_date(void) { return clock_nanoseconds(CLOCK_REALTIME) - date * 1000000LL; }

// MARK: The subscriber

static void take_event(const char *bytes, size_t size) {
    int64_t after = since_date();
    long key = NUMBER_AFTER(bytes, size, "card:");
    if (key < 0 || key >= options.keys) return complain("another key has expired", key);
    if (is_expired[key]++) complain("expired twice", key);
    if (after < 0) complain("expired too early", key);
    record(&event_after, after);
    atomic_store(&last_event, after);
    atomic_fetch_add(&expired, 1);
}

static void *listen_to_events(void *unused) {
    (void)unused;
    resp_listen(options.port, "__keyevent@0__:expired", &subscribed, &listening, take_event);
    return NULL;
}

// MARK: The keys, and the prober

static void set_keys(struct resp *resp) {
    static struct reply reply;
    static char content[MAX_FRAME];
    memset(content, 'x', sizeof content);
    long said = 0, answered = 0;
    while (answered < options.keys) {
        for (; said < options.keys && said - answered < IN_FLIGHT; said++) {
            char key[64];
            sprintf(key, "card:%ld:00000000-0000-7000-8000", said);
            resp_array(resp, 5);
            resp_text(resp, "SET"), resp_text(resp, key), resp_bytes(resp, content, (size_t)content_bytes);
            resp_text(resp, "PXAT"), resp_number(resp, date);
        }
        resp_push(resp);
        resp_wait(resp, 1000);
        resp_pull(resp);
        for (; resp_take(resp, &reply); answered++) resp_check(&reply);
    }
}

static void drive(struct resp *resp) {
    static struct reply reply;
    long sent = 0, answered = 0, seen = 0;
    int64_t progress = 0;
    while (seen < options.keys || answered < sent) {
        int64_t due = sent * 1000000000LL / options.rate - BEFORE_MS * 1000000LL;
        if (seen < options.keys && since_date() >= due) {
            resp_array(resp, 3);
            resp_text(resp, "SET"), resp_text(resp, "probe"), resp_number(resp, sent++);
        }
        resp_push(resp);
        resp_wait(resp, 1);
        if (resp_pull(resp)) {
            for (; resp_take(resp, &reply); answered++) {
                resp_check(&reply);
                int64_t intended = answered * 1000000000LL / options.rate - BEFORE_MS * 1000000LL;
                record(intended < 0 ? &calm_answers : &storm_answers, since_date() - intended);
            }
        }
        long before = seen;
        seen = atomic_load(&expired);
        if (seen != before || since_date() < 0) progress = since_date();
        if (since_date() - progress > PATIENCE_MS * 1000000LL) break;
    }
}

int main(int count, char **words) {
    const struct option known[] = {
        {"--port", &options.port, NULL}, {"--keys", &options.keys, NULL}, {"--ahead", &options.ahead, NULL},
        {"--rate", &options.rate, NULL}, {"--content", &content_bytes, NULL},
    };
    for (int word = 1; word < count; word++)
        word = read_option(word, count, words, known, sizeof known / sizeof *known);
    if (!options.port || content_bytes > MAX_FRAME) {
        fprintf(stderr, "expiry: --port is needed; at most %d bytes of content\n", MAX_FRAME);
        return 2;
    }
    date = clock_nanoseconds(CLOCK_REALTIME) / 1000000 + options.ahead * 1000;
    is_expired = calloc((size_t)options.keys, 1);
    if (!is_expired) resp_die("calloc");
    struct resp *resp = resp_open(options.port);
    set_keys(resp);
    if (since_date() > -BEFORE_MS * 1000000LL) {
        fprintf(stderr, "expiry: the keys were not set in time\n");
        return 1;
    }
    atomic_store(&listening, 1);
    pthread_t listener;
    if (pthread_create(&listener, NULL, listen_to_events, NULL)) resp_die("pthread_create");
    while (!atomic_load(&subscribed)) pause_milliseconds(1);
    int64_t left = -since_date() / 1000000 - BEFORE_MS;
    if (left > 0) pause_milliseconds((long)left);
    drive(resp);
    atomic_store(&listening, 0);
    pthread_join(listener, NULL);
    if (atomic_load(&failures) || atomic_load(&expired) != options.keys) {
        fprintf(stderr, "expiry: %d failures, %ld of %ld events\n", atomic_load(&failures), atomic_load(&expired),
                options.keys);
        return 1;
    }
    printf("{\"expired\":%ld,\"seconds\":%.3f,", options.keys, (double)atomic_load(&last_event) / 1e9);
    print_histogram("event", &event_after), putchar(',');
    print_histogram("calm", &calm_answers), putchar(',');
    print_histogram("answer", &storm_answers), puts("}");
    return 0;
}
