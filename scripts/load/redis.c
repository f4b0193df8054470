// The same updates as `load.c` sends, done by Redis with a script: a contender for Islet.
//
// The script does what an update is: it reads the activity's revision, stores the next one and the content, sets the
// deadline in the sorted set of all deadlines, and publishes an event. Nothing else: no rules, no numbered stream, no
// answers that a retry may ask for. One connection sends as deep a pipeline as `--window` says, and reads the answers;
// another is the subscriber and takes in every event. With `--batch` one call of the script does so many updates.
//
//     redis --port N [--activities N] [--start] [--updates N] [--batch N] [--window N] [--content BYTES]
//           [--event BYTES]
//
// `--event` is how long an event is, with its topic. Prints one line of JSON as `load` does. Exits with 1 where
// anything was refused, lost, repeated, or has a revision that is not the next one of its activity.

#define _GNU_SOURCE  // memmem

#include <pthread.h>
#include <stdatomic.h>

#include "bus.h"
#include "histogram.h"
#include "resp.h"

enum { MAX_BATCH = 64, ID_SIZE = 36 };

static struct {
    long port, activities, updates, batch, window, event;
    int start;
} options = {.activities = 100000, .batch = 1, .window = 512, .event = 600};

static int64_t *sent_at;
static unsigned char *is_published;
static unsigned *revisions;  // by activity, as the events told
static struct histogram answer_after, event_after;
static atomic_long events_seen, events_bytes;
static atomic_int listening, subscribed, failures;

static const char SCRIPT[] =
    "local answers = {}\n"
    "for i = 1, #KEYS do\n"
    "  local key, req, deadline, content = KEYS[i], ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]\n"
    "  local revision = redis.call('HGET', key, 'r')\n"
    "  if not revision then return redis.error_reply('notFound') end\n"
    "  revision = revision + 1\n"
    "  redis.call('HSET', key, 'r', revision, 'c', content)\n"
    "  redis.call('ZADD', 'deadlines', deadline, key)\n"
    "  redis.call('PUBLISH', 'events', '{\"id\":\"' .. key .. '\",\"req\":\"' .. req .. '\",\"revision\":' ..\n"
    "    revision ..\n"
    "    ',\"staleDate\":' .. deadline .. ',\"contentState\":' .. content .. ',\"padding\":\"%s\"}')\n"
    "  answers[i] = revision\n"
    "end\n"
    "return answers\n";

static void complain(const char *what, long number) {
    if (atomic_fetch_add(&failures, 1) < 10) fprintf(stderr, "redis: %s: %ld\n", what, number);
}

static int64_t deadline_of(long update) {
    return clock_nanoseconds(CLOCK_REALTIME) / 1000000 + 3600000 + update % 60000;
}

static void write_id(char *id, long activity) { sprintf(id, "00000000-0000-7000-8000-%012lx", activity); }

// An object of exactly `content_bytes` that no other update has.
static size_t write_content(char *content, long req) {
    int used = sprintf(content, "{\"n\":%ld,\"run\":%ld,\"text\":\"", req, run);
    long padding = content_bytes - used - 2;
    if (padding < 0 || content_bytes > MAX_FRAME - 64) exit(2);
    memset(content + used, 'x', (size_t)padding);
    memcpy(content + used + padding, "\"}", 2);
    return (size_t)content_bytes;
}

// MARK: The subscriber

static void take_event(const char *bytes, size_t size) {
    long req = NUMBER_AFTER(bytes, size, "\"req\":\""), revision = NUMBER_AFTER(bytes, size, "\"revision\":");
    if (req < 0 || req >= options.updates) return complain("an event of no update", req);
    if (is_published[req]++) complain("the event of an update came twice", req);
    long activity = activity_of(req, options.activities);
    if (revisions[activity] && revision != (long)revisions[activity] + 1) complain("a gap before revision", revision);
    revisions[activity] = (unsigned)revision;
    record(&event_after, now() - sent_at[req]);
    atomic_fetch_add(&events_seen, 1);
    atomic_fetch_add(&events_bytes, (long)size);
}

static void *listen_to_events(void *unused) {
    (void)unused;
    resp_listen(options.port, "events", &subscribed, &listening, take_event);
    return NULL;
}

// MARK: The publisher

static void say_start(struct resp *resp, long activity) {
    char id[ID_SIZE + 1], content[MAX_FRAME];
    write_id(id, activity);
    resp_array(resp, 6);
    resp_text(resp, "HSET"), resp_text(resp, id), resp_text(resp, "r"), resp_text(resp, "1");
    resp_text(resp, "c"), resp_bytes(resp, content, write_content(content, activity));
    resp_array(resp, 4);
    resp_text(resp, "ZADD"), resp_text(resp, "deadlines");
    resp_number(resp, deadline_of(activity)), resp_text(resp, id);
}

static void say_updates(struct resp *resp, const char *hash, long first, long count) {
    char content[MAX_FRAME], id[ID_SIZE + 1];
    resp_array(resp, 3 + 4 * count);
    resp_text(resp, "EVALSHA"), resp_text(resp, hash), resp_number(resp, count);
    for (long update = first; update < first + count; update++) {
        write_id(id, activity_of(update, options.activities));
        resp_bytes(resp, id, ID_SIZE);
    }
    for (long update = first; update < first + count; update++) {
        resp_number(resp, update), resp_number(resp, deadline_of(update));
        resp_bytes(resp, content, write_content(content, update));
        sent_at[update] = now();
    }
}

static void start_all(struct resp *resp) {
    static struct reply reply;
    long said = 0, answered = 0;
    while (answered < 2 * options.activities) {
        while (said < options.activities && 2 * said - answered < 2000 && resp_room(resp) > RESP_ROOM / 2)
            say_start(resp, said++);
        resp_push(resp);
        resp_wait(resp, 1000);
        resp_pull(resp);
        for (; resp_take(resp, &reply); answered++) resp_check(&reply);
    }
}

// Keeps the pipeline full until all is answered; a subscriber that lags much holds it up, as in `load.c`.
static void drive(struct resp *resp, const char *hash) {
    static struct reply reply;
    long said = 0, answered = 0, lag = options.window * options.batch * 2 + 256;
    while (answered < options.updates) {
        while (said < options.updates && said - answered < options.window * options.batch &&
               said - atomic_load(&events_seen) < lag && resp_room(resp) > RESP_ROOM / 2) {
            long count = options.updates - said < options.batch ? options.updates - said : options.batch;
            say_updates(resp, hash, said, count);
            said += count;
        }
        resp_push(resp);
        resp_wait(resp, 1);
        if (!resp_pull(resp)) continue;
        while (resp_take(resp, &reply)) {
            resp_check(&reply);
            for (int each = 0; each < reply.count; each++) record(&answer_after, now() - sent_at[answered++]);
        }
    }
}

static void load_script(struct resp *resp, char *hash) {
    static struct reply reply;
    static char script[sizeof SCRIPT + MAX_FRAME], padding[MAX_FRAME];
    // As long as Islet's event with its topic: what the script itself writes takes 130 bytes beside the content.
    long missing = options.event - content_bytes - 130;
    memset(padding, ' ', sizeof padding - 1);
    padding[missing < 0 ? 0 : missing >= MAX_FRAME ? MAX_FRAME - 1 : missing] = 0;
    sprintf(script, SCRIPT, padding);
    RESP_ASK(resp, &reply, "SCRIPT", "LOAD", script);
    memcpy(hash, reply.items[0].bytes, 40);
}

static void print_report(int64_t begun, int64_t acknowledged, int64_t published) {
    double total = (double)options.updates;
    printf("{\"updates\":%ld,\"acknowledgedPerSecond\":%.0f,\"publishedPerSecond\":%.0f,\"answerP50\":%.1f,"
           "\"answerP99\":%.1f,\"eventP50\":%.1f,\"eventP99\":%.1f,\"eventBytes\":%ld}\n", options.updates,
           total / ((double)(acknowledged - begun) / 1e9), total / ((double)(published - begun) / 1e9),
           (double)percentile(&answer_after, 0.5) / 1e3, (double)percentile(&answer_after, 0.99) / 1e3,
           (double)percentile(&event_after, 0.5) / 1e3, (double)percentile(&event_after, 0.99) / 1e3,
           atomic_load(&events_bytes) / options.updates);
}

int main(int count, char **words) {
    const struct option known[] = {
        {"--port", &options.port, NULL}, {"--activities", &options.activities, NULL},
        {"--updates", &options.updates, NULL}, {"--batch", &options.batch, NULL}, {"--window", &options.window, NULL},
        {"--content", &content_bytes, NULL}, {"--event", &options.event, NULL},
    };
    for (int word = 1; word < count; word++) {
        if (!strcmp(words[word], "--start")) options.start = 1;
        else word = read_option(word, count, words, known, sizeof known / sizeof *known);
    }
    if (!options.port || options.batch > MAX_BATCH) {
        fprintf(stderr, "redis: --port is needed; at most %d in a batch\n", MAX_BATCH);
        return 2;
    }
    run = (long)(now() / 1000 % 1000000000);
    struct resp *resp = resp_open(options.port);
    if (options.start) start_all(resp);
    if (!options.updates) return 0;

    char hash[41] = {0};
    load_script(resp, hash);
    sent_at = calloc((size_t)options.updates, sizeof *sent_at);
    is_published = calloc((size_t)options.updates, 1);
    revisions = calloc((size_t)options.activities, sizeof *revisions);
    if (!sent_at || !is_published || !revisions) resp_die("calloc");
    atomic_store(&listening, 1);
    pthread_t listener;
    if (pthread_create(&listener, NULL, listen_to_events, NULL)) resp_die("pthread_create");
    while (!atomic_load(&subscribed)) pause_milliseconds(1);

    int64_t begun = now();
    drive(resp, hash);
    int64_t acknowledged = now(), deadline = acknowledged + STALL_MS * 1000000LL;
    while (atomic_load(&events_seen) < options.updates && now() < deadline) pause_milliseconds(1);
    int64_t published = now();
    atomic_store(&listening, 0);
    pthread_join(listener, NULL);
    if (atomic_load(&failures) || atomic_load(&events_seen) != options.updates) {
        fprintf(stderr, "redis: %d failures, %ld of %ld events\n", atomic_load(&failures), atomic_load(&events_seen),
                options.updates);
        return 1;
    }
    print_report(begun, acknowledged, published);
    return 0;
}
