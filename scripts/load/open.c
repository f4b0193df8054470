// A load generator with an open loop: commands leave when they are due, whatever came back so far.
//
// Update number i is due at i / rate seconds, and its latencies count from then on, not from when it was sent: where
// the service, or this generator, falls behind, what waits is late and says so (no coordinated omission). Beside the
// updates, activities whose stale dates fall due evenly over the run show how late deadlines take effect under load.
//
//     open --commands URL --events URL --rate N [--seconds N] [--warmup N] [--activities N] [--deadlines N]
//          [--connections N] [--content BYTES] [--tick MICROSECONDS]
//
// The activities were started before, with `load --start`. The updates of the first `--warmup` seconds are sent and
// checked, but not measured. A sender sleeps for a `--tick` at least, and then sends what is due: `sendDelay` says by
// how much that was later than intended, and is part of every latency. Prints one line of JSON, spans in microseconds.
// Exits with 1 where anything was refused, lost, repeated or out of order, or took effect before its date; with 3 where
// the service ended a connection.

#define _GNU_SOURCE  // memmem, ppoll

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "bus.h"
#include "histogram.h"

enum { BURST = 64, START_BATCH = 64, STARTS_IN_FLIGHT = 4, WATCH_MS = 100, MAX_DEADLINES = 1 << 16 };

static struct {
    const char *commands, *events;
    long rate, seconds, warmup, activities, deadlines, connections, tick;
} options = {.seconds = 10, .warmup = 2, .activities = 100000, .connections = 8, .tick = 50};

static long updates, measured_from;    // numbers of updates
static int64_t begun;                  // monotonic nanoseconds at which update 0 is due
static int64_t first_date;             // milliseconds since 1970 at which deadline 0 is due
static long first_deadline;            // the number of the activity that it is of
static unsigned char *is_answered, *is_published, *is_stale;
static struct histogram send_delay, answer_after, event_after, deadline_after;
static atomic_long published, staled, others;
static atomic_int listening, failures;

static void complain(const char *what, long number) {
    if (atomic_fetch_add(&failures, 1) < 10) fprintf(stderr, "open: %s: %ld\n", what, number);
}

static int64_t due_time(long update) { return begun + update * 1000000000LL / options.rate; }

static int64_t due_date(long deadline) { return first_date + deadline * options.seconds * 1000 / options.deadlines; }

// MARK: The subscriber

// The activity's number stands in hexadecimal digits at the end of its topic.
static long activity_in(const char *topic, int size) {
    char digits[13] = {0};
    if (size < 12) return -1;
    memcpy(digits, topic + size - 12, 12);
    return strtol(digits, NULL, 16);
}

// A deadline took effect; the wall clock is that of the service.
static void take_deadline(const char *topic, int topic_size, const char *bytes, size_t size, long late_by) {
    int64_t time = clock_nanoseconds(CLOCK_REALTIME);
    long deadline = activity_in(topic, topic_size) - first_deadline;
    if (deadline < 0 || deadline >= options.deadlines) return;
    if (is_stale[deadline]++) complain("a deadline took effect twice", deadline);
    if (NUMBER_AFTER(bytes, size, "\"at\":") - late_by != due_date(deadline)) complain("a wrong lateness", deadline);
    int64_t after = time - due_date(deadline) * 1000000;
    if (after < 0) complain("a deadline took effect too early", deadline);
    record(&deadline_after, after);
    atomic_fetch_add(&staled, 1);
}

static void take_event(const char *topic, int topic_size, const char *bytes, size_t size) {
    long req = NUMBER_AFTER(bytes, size, "\"req\":\"");
    if (req >= 0 && req < updates) {
        int64_t time = now();
        if (is_published[req]++) complain("the event of an update came twice", req);
        if (req >= measured_from) record(&event_after, time - due_time(req));
        atomic_fetch_add(&published, 1);
        return;
    }
    long late_by = NUMBER_AFTER(bytes, size, "\"lateBy\":");
    if (late_by >= 0) take_deadline(topic, topic_size, bytes, size, late_by);
    else atomic_fetch_add(&others, 1);
}

static void *listen_to_events(void *unused) {
    (void)unused;
    void *socket = open_socket(ZMQ_SUB, options.events);
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    int patience = 20;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
    long last_seq = -1;
    while (atomic_load(&listening)) {
        char topic[512];
        int topic_size = zmq_recv(socket, topic, sizeof topic, 0);
        if (topic_size < 0) continue;
        zmq_msg_t body;
        zmq_msg_init(&body);
        if (zmq_msg_recv(&body, socket, 0) < 0) die("an event without a body");
        const char *bytes = zmq_msg_data(&body);
        size_t size = zmq_msg_size(&body);
        int is_watermark = topic_size >= 2 && memcmp(topic + topic_size - 2, "/~", 2) == 0;
        if (!is_watermark) {
            long seq = NUMBER_AFTER(bytes, size, "\"seq\":");
            if (last_seq >= 0 && seq != last_seq + 1) complain("a gap in the stream before seq", seq);
            last_seq = seq;
            take_event(topic, topic_size, bytes, size);
        }
        zmq_msg_close(&body);
    }
    zmq_close(socket);
    return NULL;
}

// MARK: The publisher

// Takes one message of answers if one is there; gives how many it holds.
static long take_answers(void *socket) {
    long taken = 0;
    int more = 1;
    while (more) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket, taken ? 0 : ZMQ_DONTWAIT) < 0) return 0;
        const char *bytes = zmq_msg_data(&frame);
        size_t size = zmq_msg_size(&frame);
        long req = NUMBER_AFTER(bytes, size, "\"req\":\"");
        if (memmem(bytes, size, "\"ok\":false", 10)) {
            complain("refused", req);
            if (atomic_load(&failures) == 1) fprintf(stderr, "open: %.*s\n", (int)size, bytes);
        }
        if (req >= 0 && req < updates) {
            if (is_answered[req]++) complain("answered twice", req);
            if (req >= measured_from) record(&answer_after, now() - due_time(req));
        }
        more = zmq_msg_more(&frame);
        zmq_msg_close(&frame);
        taken++;
    }
    return taken;
}

// Sends single updates until one of their events arrives: then the subscription is active.
static void wait_for_subscription(void *socket) {
    static char frame[MAX_FRAME];
    for (int attempt = 0; attempt < 200; attempt++) {
        // A number beyond every measured one; each content is new, so that none is ignored as unchanged.
        int size = write_command(frame, "activity.update", "", 100000000000L + now() / 1000 % 10000000000L, 0);
        zmq_send(socket, frame, (size_t)size, 0);
        zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
        zmq_poll(&item, 1, 1000);
        take_answers(socket);
        if (atomic_load(&failures)) exit(1);
        pause_milliseconds(20);
        if (atomic_load(&others) > 0) return;
    }
    fprintf(stderr, "open: no event arrives\n");
    exit(1);
}

// Starts the activities whose stale dates fall due during the run.
static void start_deadlines(void *socket) {
    static char frame[MAX_FRAME];
    long sent = 0, answered = 0;
    while (answered < options.deadlines) {
        while (sent < options.deadlines && sent - answered < START_BATCH * STARTS_IN_FLIGHT) {
            long end = sent + START_BATCH < options.deadlines ? sent + START_BATCH : options.deadlines;
            for (; sent < end; sent++) {
                char fields[128];
                snprintf(fields, sizeof fields, START_FIELDS "\"staleDate\":%lld,", (long long)due_date(sent));
                int size = write_command(frame, "activity.start", fields, updates + sent, first_deadline + sent);
                if (zmq_send(socket, frame, (size_t)size, sent + 1 < end ? ZMQ_SNDMORE : 0) < 0) die("zmq_send");
            }
        }
        zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, STALL_MS) == 0) die("no answer to a start");
        for (long taken; (taken = take_answers(socket)) > 0;) answered += taken;
        if (atomic_load(&failures)) exit(1);
    }
}

// Opens what tells when the service ends a connection: it does so to a client for which too many answers wait, and then
// those are lost, which would look like a stall.
static void *watch(void *socket, long number) {
    char name[64];
    snprintf(name, sizeof name, "inproc://connection-%ld", number);
    if (zmq_socket_monitor(socket, name, ZMQ_EVENT_DISCONNECTED)) die("zmq_socket_monitor");
    return open_socket(ZMQ_PAIR, name);
}

static void exit_if_cut(void **watches) {
    for (long each = 0; each < options.connections; each++) {
        char byte;
        if (zmq_recv(watches[each], &byte, 1, ZMQ_DONTWAIT) < 0) continue;
        fprintf(stderr, "open: the service cut connection %ld: more answers waited for it than it may have\n", each);
        exit(3);
    }
}

// Sleeps until the next update is due, a tick at least, or until something comes back.
static void wait_for_work(struct pollfd *arrivals, long sent) {
    int64_t wait = sent < updates ? due_time(sent) - now() : 1000000;
    if (wait < options.tick * 1000) wait = options.tick * 1000;
    struct timespec span = {wait / 1000000000, wait % 1000000000};
    ppoll(arrivals, (nfds_t)options.connections, &span, NULL);
}

// Sends every update when it is due, and takes the answers; gives when the last one came.
static int64_t drive(void **sockets, void **watches) {
    static char frame[MAX_FRAME];
    struct pollfd arrivals[MAX_CONNECTIONS];
    for (long each = 0; each < options.connections; each++) {
        size_t size = sizeof arrivals[each].fd;
        if (zmq_getsockopt(sockets[each], ZMQ_FD, &arrivals[each].fd, &size)) die("ZMQ_FD");
        arrivals[each].events = POLLIN;
    }
    long sent = 0, answered = 0;
    int64_t progress = due_time(0), looked = progress;
    while (answered < updates) {
        int64_t time = now();
        // Some at a time, so that answers are taken in between where this falls behind.
        for (int burst = 0; burst < BURST && sent < updates && due_time(sent) <= time; burst++, sent++) {
            int size = write_command(frame, "activity.update", "", sent, activity_of(sent, options.activities));
            if (sent >= measured_from) record(&send_delay, now() - due_time(sent));
            if (zmq_send(sockets[sent % options.connections], frame, (size_t)size, 0) < 0) die("zmq_send");
        }
        // All that is there: the descriptor tells of what comes after that only.
        for (long each = 0; each < options.connections; each++) {
            for (long taken; (taken = take_answers(sockets[each])) > 0; progress = now()) answered += taken;
        }
        if (sent < updates && due_time(sent) <= now()) continue;
        wait_for_work(arrivals, sent);
        if (now() - looked > WATCH_MS * 1000000LL) {
            looked = now();
            exit_if_cut(watches);
        }
        if (now() - progress > STALL_MS * 1000000LL) {
            fprintf(stderr, "open: stalled after %ld of %ld answers\n", answered, updates);
            exit(1);
        }
    }
    return progress;
}

// Waits for the events of all updates and deadlines, as long as some still come; gives when the last one had come.
static int64_t wait_for_events(void) {
    int64_t progress = now();
    for (long before = -1;;) {
        long seen = atomic_load(&published) + atomic_load(&staled);
        if (seen != before) progress = now();
        before = seen;
        if (seen >= updates + options.deadlines || atomic_load(&failures)) return progress;
        if (now() - progress > STALL_MS * 1000000LL) return progress;
        pause_milliseconds(1);
    }
}

// MARK: The run

static void read_options(int count, char **words) {
    const struct option known[] = {
        {"--commands", NULL, &options.commands}, {"--events", NULL, &options.events},
        {"--rate", &options.rate, NULL}, {"--seconds", &options.seconds, NULL}, {"--warmup", &options.warmup, NULL},
        {"--activities", &options.activities, NULL}, {"--deadlines", &options.deadlines, NULL},
        {"--connections", &options.connections, NULL}, {"--content", &content_bytes, NULL},
        {"--tick", &options.tick, NULL},
    };
    size_t all = sizeof known / sizeof *known;
    for (int word = 1; word < count; word++) word = read_option(word, count, words, known, all);
    if (!options.commands || !options.events || !options.rate || options.connections > MAX_CONNECTIONS ||
        options.deadlines > MAX_DEADLINES || options.rate > 10000000 || options.seconds + options.warmup > 3600) {
        fprintf(stderr, "open: --commands, --events and --rate are needed; at most %d connections, %d deadlines, "
                "10000000 updates a second, 3600 seconds\n", MAX_CONNECTIONS, MAX_DEADLINES);
        exit(2);
    }
}

static void print_report(int64_t answered, int64_t ended) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    double answering = (double)(answered - begun) / 1e9, publishing = (double)(ended - begun) / 1e9;
    printf("{\"rate\":%ld,\"updates\":%ld,\"measured\":%ld,\"answeredPerSecond\":%.0f,\"publishedPerSecond\":%.0f,"
           "\"generatorCPUSeconds\":%.2f,", options.rate, updates, updates - measured_from,
           (double)updates / answering, (double)updates / publishing, cpu);
    print_histogram("sendDelay", &send_delay), putchar(',');
    print_histogram("answer", &answer_after), putchar(',');
    print_histogram("event", &event_after), putchar(',');
    print_histogram("deadline", &deadline_after), puts("}");
}

int main(int count, char **words) {
    read_options(count, words);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // a tick is to last a tick
    run = (long)(now() / 1000 % 1000000000);
    first_deadline = 1L << 47 | run << 16;
    updates = options.rate * (options.warmup + options.seconds);
    measured_from = options.rate * options.warmup;
    is_answered = calloc((size_t)updates, 1);
    is_published = calloc((size_t)updates, 1);
    is_stale = calloc((size_t)options.deadlines + 1, 1);
    if (!is_answered || !is_published || !is_stale) die("calloc");
    context = zmq_ctx_new();
    void *sockets[MAX_CONNECTIONS], *watches[MAX_CONNECTIONS];
    for (long each = 0; each < options.connections; each++) {
        sockets[each] = open_socket(ZMQ_DEALER, options.commands);
        watches[each] = watch(sockets[each], each);
    }
    atomic_store(&listening, 1);
    pthread_t listener;
    if (pthread_create(&listener, NULL, listen_to_events, NULL)) die("pthread_create");
    wait_for_subscription(sockets[0]);

    // The dates must be known before the activities start, and must not pass meanwhile.
    int64_t start = clock_nanoseconds(CLOCK_REALTIME) / 1000000 + 1000 + options.deadlines / 5;
    first_date = start + options.warmup * 1000;
    start_deadlines(sockets[0]);
    int64_t left = start * 1000000 - clock_nanoseconds(CLOCK_REALTIME);
    if (left < 0) {
        fprintf(stderr, "open: the activities did not start in time\n");
        return 1;
    }
    begun = now() + left;
    pause_milliseconds((long)(left / 1000000));

    int64_t answered = drive(sockets, watches), ended = wait_for_events();
    if (ended < answered) ended = answered;
    atomic_store(&listening, 0);
    pthread_join(listener, NULL);
    if (atomic_load(&failures) || atomic_load(&published) != updates || atomic_load(&staled) != options.deadlines) {
        fprintf(stderr, "open: %d failures, %ld of %ld events, %ld of %ld deadlines\n", atomic_load(&failures),
                atomic_load(&published), updates, atomic_load(&staled), options.deadlines);
        return 1;
    }
    print_report(answered, ended);
    return 0;
}
