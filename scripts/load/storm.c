// What happens when very many activities are to be dismissed at one instant.
//
//     storm --commands URL --events URL --bulk URL --date MS [--activities N] [--rate N] [--content BYTES]
//
// Activities 0 … N-1 were ended before with that date (`load --end`), and number N was started and is active. This
// takes in every dismissal from then on, and meanwhile updates number N `--rate` times a second, from a second before
// that date to the last dismissal; the spans to the answers count from when each was intended. Where the subscriber does
// not keep up, the service drops events for it; it sees the gap and gets them by a replay, as the contract says, and
// the time that this takes counts. Prints one line of JSON, spans in microseconds from the date on. Exits with 1 where
// anything was refused, never came, came twice, or came early.

#define _GNU_SOURCE  // memmem

#include <pthread.h>

#include "histogram.h"
#include "replay.h"
#include "subscribers.h"

enum { BEFORE_MS = 1000, MAX_PROBES = 100000, PATIENCE_MS = 60000 };

static struct {
    const char *commands, *bulk;
    long activities, date, rate;
} options = {.activities = 1000000, .rate = 200};

static atomic_uchar *is_dismissed;
static struct histogram event_after, late_by, replayed_after, calm_answers, storm_answers;
static atomic_long dismissed, first_event, last_event;  // the events as nanoseconds after the date
static atomic_long others;

static void complain(const char *what, long number) {
    if (atomic_fetch_add(&subscribers.failures, 1) < 10) fprintf(stderr, "storm: %s: %ld\n", what, number);
}

static int64_t since_date(void) { return clock_nanoseconds(CLOCK_REALTIME) - options.date * 1000000LL; }

// A dismissal from the stream or from a replay; both threads come here, but not with the same one.
static void take(struct histogram *after_date, const char *topic, int topic_size, const char *bytes, size_t size) {
    static const char name[] = "\"event\":\"activity.dismissed\"";
    if (!memmem(bytes, size, name, sizeof name - 1)) {
        atomic_fetch_add(&others, 1);
        return;
    }
    int64_t after = since_date();
    char digits[13] = {0};
    memcpy(digits, topic + topic_size - 12, 12);
    long activity = strtol(digits, NULL, 16), late = NUMBER_AFTER(bytes, size, "\"lateBy\":");
    if (activity < 0 || activity >= options.activities) return complain("another activity was dismissed", activity);
    if (atomic_fetch_add(&is_dismissed[activity], 1)) complain("dismissed twice", activity);
    if (after < 0 || late < 0) complain("dismissed too early", activity);
    if (NUMBER_AFTER(bytes, size, "\"at\":") - late != options.date) complain("a wrong lateness", activity);
    record(after_date, after);
    if (after_date == &event_after) record(&late_by, late * 1000000);
    if (!atomic_load(&dismissed)) atomic_store(&first_event, after);
    atomic_store(&last_event, after);
    atomic_fetch_add(&dismissed, 1);
}

static void take_event(long subscriber, const char *topic, int topic_size, const char *bytes, size_t size) {
    (void)subscriber;
    take(&event_after, topic, topic_size, bytes, size);
}

static void take_replayed(const char *topic, int topic_size, const char *bytes, size_t size) {
    take(&replayed_after, topic, topic_size, bytes, size);
}

// MARK: The prober

static void *commands, *bulk;
static long sent, answered;

static int64_t intended(long probe) { return probe * 1000000000LL / options.rate - BEFORE_MS * 1000000LL; }

static void probe(void) {
    static char frame[MAX_FRAME];
    int size = write_command(frame, "activity.update", "", sent, options.activities);
    if (zmq_send(commands, frame, (size_t)size, 0) < 0) die("zmq_send");
    sent++;
}

static void take_answers(void) {
    char answer[MAX_FRAME];
    for (int size; (size = zmq_recv(commands, answer, sizeof answer, ZMQ_DONTWAIT)) >= 0; answered++) {
        if (!memmem(answer, (size_t)size, "\"outcome\":\"applied\"", 19)) complain("a probe was refused", answered);
        int64_t due = intended(answered);
        record(due < 0 ? &calm_answers : &storm_answers, since_date() - due);
    }
}

static void wait_for_subscription(void) {
    for (int attempt = 0; attempt < 200 && !atomic_load(&others); attempt++) {
        char frame[MAX_FRAME];
        int size = write_command(frame, "activity.update", "", 1000000000L + attempt, options.activities);
        zmq_send(commands, frame, (size_t)size, 0);
        if (zmq_recv(commands, frame, sizeof frame, 0) < 0) die("no answer");
        pause_milliseconds(20);
    }
    if (!atomic_load(&others)) {
        fprintf(stderr, "storm: no event arrives\n");
        exit(1);
    }
}

static long lost(void) {
    long events = 0;
    for (long each = gaps.filled; each < atomic_load(&gaps.found); each++)
        events += gaps.list[each].before - gaps.list[each].after - 1;
    return events;
}

// Probes until all are dismissed, or nothing comes for too long.
static void drive(void) {
    long seen = 0;
    int64_t progress = 0;
    while ((seen < options.activities || answered < sent) && sent < MAX_PROBES) {
        if (seen < options.activities && since_date() >= intended(sent)) probe();
        zmq_pollitem_t item = {commands, 0, ZMQ_POLLIN, 0};
        zmq_poll(&item, 1, 1);
        take_answers();
        long before = seen;
        seen = atomic_load(&dismissed);
        if (seen != before || since_date() < 0) progress = since_date();
        // Not before the stream has brought the rest: until then there is enough to do.
        if (seen + lost() >= options.activities) fill_gap(bulk, take_replayed);
        if (since_date() - progress > PATIENCE_MS * 1000000LL) break;
    }
}

int main(int count, char **words) {
    const struct option known[] = {
        {"--commands", NULL, &options.commands}, {"--events", NULL, &subscribers.url}, {"--bulk", NULL, &options.bulk},
        {"--activities", &options.activities, NULL}, {"--date", &options.date, NULL}, {"--rate", &options.rate, NULL},
        {"--content", &content_bytes, NULL},
    };
    for (int word = 1; word < count; word++)
        word = read_option(word, count, words, known, sizeof known / sizeof *known);
    if (!options.commands || !subscribers.url || !options.bulk || !options.date) {
        fprintf(stderr, "storm: --commands, --events, --bulk and --date are needed\n");
        return 2;
    }
    run = (long)(now() / 1000 % 1000000000);
    is_dismissed = calloc((size_t)options.activities, 1);
    if (!is_dismissed) die("calloc");
    context = zmq_ctx_new();
    commands = open_socket(ZMQ_DEALER, options.commands);
    bulk = open_socket(ZMQ_DEALER, options.bulk);
    int patience = STALL_MS;
    zmq_setsockopt(bulk, ZMQ_RCVTIMEO, &patience, sizeof patience);
    subscribers.gap = note_gap;
    atomic_store(&subscribers.listening, 1);
    pthread_t listener;
    if (pthread_create(&listener, NULL, listen_to_events, NULL)) die("pthread_create");
    wait_for_subscription();
    if (since_date() > -BEFORE_MS * 1000000LL) {
        fprintf(stderr, "storm: the date is too near\n");
        return 1;
    }
    pause_milliseconds((long)(-since_date() / 1000000) - BEFORE_MS);
    drive();
    atomic_store(&subscribers.listening, 0);
    pthread_join(listener, NULL);
    if (atomic_load(&subscribers.failures) || atomic_load(&dismissed) != options.activities) {
        fprintf(stderr, "storm: %d failures, %ld of %ld dismissals\n", atomic_load(&subscribers.failures),
                atomic_load(&dismissed), options.activities);
        return 1;
    }
    printf("{\"dismissed\":%ld,\"gaps\":%ld,\"replayed\":%ld,\"firstSeconds\":%.3f,\"seconds\":%.3f,",
           atomic_load(&dismissed), gaps.filled, gaps.events, (double)atomic_load(&first_event) / 1e9,
           (double)atomic_load(&last_event) / 1e9);
    print_histogram("event", &event_after), putchar(',');
    print_histogram("lateness", &late_by), putchar(',');
    print_histogram("calm", &calm_answers), putchar(',');
    print_histogram("answer", &storm_answers), puts("}");
    return 0;
}
