// A load generator for Islet and for the bare relay: the same program, the same messages, the same window.
//
// Publishes updates of `--content` bytes over DEALER connections with a bounded window each, while one SUB takes in
// every event. An update counts when it was answered with ok and its event has arrived. Each command's `req` is its
// number, which is found again in its answer and in its event; so loss, repetition and both latencies are seen.
//
//     load --commands URL --events URL [--activities N] [--start] [--updates N] [--batch N] [--window N]
//          [--connections N] [--content BYTES] [--first N] [--subscribers N] [--stale] [--end DATE]
//
// `--start` starts the activities first (against Islet), numbered from `--first`, and `--end` ends them, to be dismissed
// at a date; without `--updates` nothing else happens. With `--stale` each update sets another stale date. Prints one
// line of JSON. Exits with 1 where anything was refused, lost or out of order.

#define _GNU_SOURCE  // memmem

#include <pthread.h>
#include <stdatomic.h>

#include "bus.h"
#include "subscribers.h"

enum { MAX_BATCH = 256 };

static struct {
    const char *commands;
    long activities, updates, batch, window, connections, first, end;
    int start, stale;
} options = {.activities = 100000, .batch = 1, .window = 64, .connections = 1};

static int64_t *sent_at;        // nanoseconds, by the update's number
static uint32_t *answer_after;  // nanoseconds from sending to the answer
static uint32_t *event_after;   // nanoseconds from sending to the event
static atomic_long events_seen[MAX_SUBSCRIBERS], probes_seen[MAX_SUBSCRIBERS];
static long topic_bytes, event_bytes, answer_bytes, command_bytes;

static uint32_t span(int64_t from, int64_t to) {
    int64_t taken = to - from;
    return taken < 0 ? 0 : taken > UINT32_MAX ? UINT32_MAX : (uint32_t)taken;
}

// MARK: The subscriber

static void take_event(long subscriber, const char *topic, int topic_size, const char *bytes, size_t size) {
    (void)topic;
    long req = NUMBER_AFTER(bytes, size, "\"req\":\"");
    if (req < 0 || !sent_at || req >= options.updates) {
        atomic_fetch_add(&probes_seen[subscriber], 1);  // or a start
        return;
    }
    if (subscriber == 0) {
        if (event_after[req]) {
            fprintf(stderr, "load: the event of update %ld came twice\n", req);
            atomic_fetch_add(&subscribers.failures, 1);
        }
        event_after[req] = span(sent_at[req], now()) | 1;
        topic_bytes = topic_size;
        event_bytes += (long)size;
    }
    atomic_fetch_add(&events_seen[subscriber], 1);
}

// How many of those the subscriber has seen that has seen fewest.
static long least(atomic_long *seen) {
    long fewest = atomic_load(seen);
    for (long each = 1; each < subscribers.count; each++) {
        long one = atomic_load(&seen[each]);
        if (one < fewest) fewest = one;
    }
    return fewest;
}

// MARK: The publisher

// Takes one message of answers; gives how many it holds.
static long take_answers(void *socket, long *refused) {
    long taken = 0;
    int more = 1;
    while (more) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket, taken ? 0 : ZMQ_DONTWAIT) < 0) return 0;
        const char *bytes = zmq_msg_data(&frame);
        size_t size = zmq_msg_size(&frame);
        long req = NUMBER_AFTER(bytes, size, "\"req\":\"");
        if (req >= 0 && sent_at && req < options.updates) {
            answer_after[req] = span(sent_at[req], now()) | 1;
            answer_bytes += (long)size;
        }
        if (memmem(bytes, size, "\"ok\":false", 10)) {
            if ((*refused)++ == 0) fprintf(stderr, "load: refused: %.*s\n", (int)size, bytes);
        }
        more = zmq_msg_more(&frame);
        zmq_msg_close(&frame);
        taken++;
    }
    return taken;
}

// Sends `total` commands with a window on each connection, and waits for all answers; gives how many were refused.
static long drive(void **sockets, long total, const char *op, const char *extra, int measured) {
    long waiting[MAX_CONNECTIONS] = {0}, sent = 0, answered = 0, refused = 0;
    zmq_pollitem_t items[MAX_CONNECTIONS];
    for (long each = 0; each < options.connections; each++)
        items[each] = (zmq_pollitem_t){sockets[each], 0, ZMQ_POLLIN, 0};
    // The subscriber may lag a little, so that nothing is dropped for it; the answers set the pace.
    long lag = options.window * options.connections * options.batch * 2 + 256;
    int64_t progress = now();
    static char frame[MAX_FRAME];
    char stale[64];
    snprintf(stale, sizeof stale, "%s", extra);
    int64_t later = clock_nanoseconds(CLOCK_REALTIME) / 1000000 + 3600000;
    while (answered < total) {
        for (long each = 0; each < options.connections; each++) {
            while (waiting[each] < options.window && sent < total &&
                   (!measured || sent - least(events_seen) < lag)) {
                long batch = total - sent < options.batch ? total - sent : options.batch;
                int64_t time = now();
                for (long in_batch = 0; in_batch < batch; in_batch++, sent++) {
                    long activity = measured ? activity_of(sent, options.activities) : options.first + sent;
                    if (measured && options.stale)
                        sprintf(stale, "\"staleDate\":%lld,", (long long)(later + sent % 60000));
                    int size = write_command(frame, op, stale, measured ? sent : total + sent, activity);
                    if (measured) sent_at[sent] = time, command_bytes += size;
                    if (zmq_send(sockets[each], frame, (size_t)size, in_batch + 1 < batch ? ZMQ_SNDMORE : 0) < 0)
                        die("zmq_send");
                }
                waiting[each]++;
            }
        }
        if (zmq_poll(items, (int)options.connections, 1) < 0) die("zmq_poll");
        for (long each = 0; each < options.connections; each++) {
            long taken;
            while (waiting[each] > 0 && (taken = take_answers(sockets[each], &refused)) > 0) {
                waiting[each]--;
                answered += taken;
                progress = now();
            }
        }
        if (now() - progress > STALL_MS * 1000000LL) {
            fprintf(stderr, "load: stalled after %ld of %ld answers, %ld events\n", answered, total,
                    least(events_seen));
            exit(1);
        }
    }
    return refused;
}

// Sends single updates until their events arrive: then the subscriptions are active, here and at the relay.
static void wait_for_subscription(void *socket) {
    static char frame[MAX_FRAME];
    for (int attempt = 0; attempt < 200; attempt++) {
        long before = least(probes_seen), refused = 0;
        // Numbers beyond every measured one; each content is new, so that none is ignored as unchanged.
        int size = write_command(frame, "activity.update", "", 100000000000L + now() / 1000 % 10000000000L, 0);
        zmq_send(socket, frame, (size_t)size, 0);
        zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
        zmq_poll(&item, 1, 1000);
        take_answers(socket, &refused);
        if (refused) exit(1);
        pause_milliseconds(20);
        if (least(probes_seen) > before) return;
    }
    fprintf(stderr, "load: no event arrives\n");
    exit(1);
}

// Starts or ends all activities, in batches; says how fast that was where nothing else is measured.
static void change_all(void **sockets, const char *what, const char *op, const char *extra) {
    long batch = options.batch;
    options.batch = 64;
    int64_t begun = now();
    if (drive(sockets, options.activities, op, extra, 0)) exit(1);
    options.batch = batch;
    if (!options.updates)
        printf("{\"%s\":%ld,\"perSecond\":%.0f}\n", what, options.activities,
               (double)options.activities / ((double)(now() - begun) / 1e9));
}

// MARK: The report

static int by_size(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static double quantile(uint32_t *sorted, long count, double part) {
    long position = (long)(part * (double)(count - 1) + 0.5);
    return sorted[position] / 1000.0;
}

static void read_options(int count, char **words) {
    const struct option known[] = {
        {"--commands", NULL, &options.commands}, {"--events", NULL, &subscribers.url},
        {"--activities", &options.activities, NULL}, {"--updates", &options.updates, NULL},
        {"--batch", &options.batch, NULL}, {"--window", &options.window, NULL},
        {"--connections", &options.connections, NULL}, {"--content", &content_bytes, NULL},
        {"--first", &options.first, NULL}, {"--end", &options.end, NULL}, {"--subscribers", &subscribers.count, NULL},
    };
    for (int word = 1; word < count; word++) {
        if (!strcmp(words[word], "--start")) options.start = 1;
        else if (!strcmp(words[word], "--stale")) options.stale = 1;
        else word = read_option(word, count, words, known, sizeof known / sizeof *known);
    }
    if (!options.commands || !subscribers.url || options.connections > MAX_CONNECTIONS || options.batch > MAX_BATCH ||
        subscribers.count > MAX_SUBSCRIBERS) {
        fprintf(stderr, "load: --commands and --events are needed; at most %d connections, %d in a batch, %d "
                "subscribers\n", MAX_CONNECTIONS, MAX_BATCH, MAX_SUBSCRIBERS);
        exit(2);
    }
}

int main(int count, char **words) {
    read_options(count, words);
    run = (long)(now() / 1000 % 1000000000);
    context = zmq_ctx_new();
    void *sockets[MAX_CONNECTIONS];
    for (long each = 0; each < options.connections; each++) sockets[each] = open_socket(ZMQ_DEALER, options.commands);

    if (options.start) change_all(sockets, "started", "activity.start", START_FIELDS);
    if (options.end) {
        char fields[64];
        sprintf(fields, "\"dismissalPolicy\":{\"after\":%ld},", options.end);
        change_all(sockets, "ended", "activity.end", fields);
    }
    if (!options.updates) return 0;

    answer_after = calloc((size_t)options.updates, sizeof *answer_after);
    event_after = calloc((size_t)options.updates, sizeof *event_after);
    sent_at = calloc((size_t)options.updates, sizeof *sent_at);
    if (!answer_after || !event_after || !sent_at) die("calloc");
    atomic_store(&subscribers.listening, 1);
    pthread_t listener;
    if (pthread_create(&listener, NULL, listen_to_events, NULL)) die("pthread_create");
    wait_for_subscription(sockets[0]);

    int64_t begun = now();
    long refused = drive(sockets, options.updates, "activity.update", "", 1);
    int64_t acknowledged = now(), deadline = acknowledged + STALL_MS * 1000000LL;
    while (least(events_seen) < options.updates && now() < deadline && !atomic_load(&subscribers.failures))
        pause_milliseconds(1);
    int64_t published = now();
    atomic_store(&subscribers.listening, 0);
    pthread_join(listener, NULL);
    long seen = least(events_seen);
    if (refused || seen != options.updates || atomic_load(&subscribers.failures)) {
        fprintf(stderr, "load: %ld refused, %ld of %ld events\n", refused, seen, options.updates);
        return 1;
    }
    qsort(answer_after, (size_t)options.updates, sizeof *answer_after, by_size);
    qsort(event_after, (size_t)options.updates, sizeof *event_after, by_size);
    long total = options.updates;
    printf("{\"updates\":%ld,\"acknowledgedPerSecond\":%.0f,\"publishedPerSecond\":%.0f,"
           "\"answerP50\":%.1f,\"answerP99\":%.1f,\"eventP50\":%.1f,\"eventP99\":%.1f,"
           "\"commandBytes\":%ld,\"topicBytes\":%ld,\"eventBytes\":%ld,\"answerBytes\":%ld}\n",
           total, (double)total / ((double)(acknowledged - begun) / 1e9),
           (double)total / ((double)(published - begun) / 1e9), quantile(answer_after, total, 0.5),
           quantile(answer_after, total, 0.99), quantile(event_after, total, 0.5), quantile(event_after, total, 0.99),
           command_bytes / total, topic_bytes, event_bytes / total, answer_bytes / total);
    return 0;
}
