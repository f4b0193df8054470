// Plays a scenario: starts, updates and ends at a fixed rate, open loop, and checks all that comes back.
//
//     play --commands URL --events URL --app NAME --rate N --seconds N [--activities N] [--start N] [--update N]
//          [--end N] [--smallest BYTES] [--largest BYTES] [--publishers N] [--subscribers N] [--seed N] [--patience S]
//
// `--activities` are started before; then come operations, in the mix of the three weights. Operation number i is due
// at i / rate seconds, and its spans count from then on. The app must be new, so that all that is in it is known: each
// subscriber must get every event once, with the next seq, the right name and the next revision of its activity; the
// last watermark must have the count and the digest of what was done; and reads must give the final states. `play.py`
// runs this with a scenario file. Prints one line of JSON, spans in microseconds; exits with 1 where anything was wrong.

#define _GNU_SOURCE  // memmem, ppoll

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include "histogram.h"
#include "plan.h"
#include "subscribers.h"

enum { BURST = 64, BATCH = 64, IN_FLIGHT = 1024, TICK_NANOSECONDS = 50000, READS = 1000 };

static const char *const OPS[] = {"activity.start", "activity.update", "activity.end"};
static const char *const NAMES[] = {
    "\"event\":\"activity.started\"", "\"event\":\"activity.updated\"", "\"event\":\"activity.ended\""};
static const char *const FIELDS[] = {START_FIELDS, "", ""};

static struct {
    const char *commands;
    long rate, seconds, smallest, largest, publishers, patience;
} options = {.publishers = 1, .smallest = 256, .patience = 10};

static int64_t begun;
static atomic_long seen[MAX_SUBSCRIBERS], agreed;
static atomic_long expected_seq;
static uint32_t *revisions[MAX_SUBSCRIBERS];
static struct histogram send_delay, answer_after, event_after;
static long answered;

static void complain(const char *what, long number) {
    if (atomic_fetch_add(&subscribers.failures, 1) < 10) fprintf(stderr, "play: %s: %ld\n", what, number);
}

static bool is_failed(void) { return atomic_load(&subscribers.failures) > 0; }

static int64_t due_time(long operation) { return begun + operation * 1000000000LL / options.rate; }

// MARK: What comes back

static void take_event(long subscriber, const char *topic, int topic_size, const char *bytes, size_t size) {
    long req = NUMBER_AFTER(bytes, size, "\"req\":\""), revision = NUMBER_AFTER(bytes, size, "\"revision\":");
    if (req < 0 || req >= plan.all) return complain("an event of no operation", req);
    char digits[13] = {0};
    memcpy(digits, topic + topic_size - 12, 12);
    long activity = strtol(digits, NULL, 16) - plan.first_activity;
    if (activity != plan.list[req].activity) return complain("an event of another activity", req);
    const char *name = NAMES[(int)plan.list[req].op];
    if (!memmem(bytes, size, name, strlen(name))) complain("a wrong event", req);
    if (revision != plan.list[req].revision) complain("a wrong revision", req);
    if (revision != (long)++revisions[subscriber][activity]) complain("not the next revision", req);
    if (req < plan.operations) record(&event_after, now() - due_time(req));
    atomic_fetch_add(&seen[subscriber], 1);
}

static void take_watermark(long subscriber, const char *bytes, size_t size) {
    static char is_agreed[MAX_SUBSCRIBERS];
    if (NUMBER_AFTER(bytes, size, "\"seq\":") != atomic_load(&expected_seq) || is_agreed[subscriber]++) return;
    char expected[64];
    snprintf(expected, sizeof expected, "\"digest\":\"%016llx\"", (unsigned long long)plan.digest);
    if (!memmem(bytes, size, expected, strlen(expected))) complain("a wrong digest at subscriber", subscriber);
    long entities = NUMBER_AFTER(bytes, size, "\"entities\":");
    if (entities != plan.started) complain("a wrong number of entities", entities);
    atomic_fetch_add(&agreed, 1);
}

// Takes one message of answers if one is there; gives how many it holds.
static long take_answers(void *socket) {
    long taken = 0;
    for (int more = 1; more; taken++) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket, taken ? 0 : ZMQ_DONTWAIT) < 0) return 0;
        const char *bytes = zmq_msg_data(&frame);
        size_t size = zmq_msg_size(&frame);
        long req = NUMBER_AFTER(bytes, size, "\"req\":\"");
        if (!memmem(bytes, size, "\"outcome\":\"applied\"", 19)) {
            complain("not applied", req);
            fprintf(stderr, "play: %.*s\n", (int)size, bytes);
        }
        if (req >= 0 && req < plan.operations) record(&answer_after, now() - due_time(req));
        more = zmq_msg_more(&frame);
        zmq_msg_close(&frame);
        answered++;
    }
    return taken;
}

// MARK: Doing it

static void send_one(void *socket, long operation, int flags) {
    static char frame[MAX_FRAME];
    content_bytes = options.smallest + below(options.largest - options.smallest + 1);
    int op = plan.list[operation].op;
    long activity = plan.first_activity + plan.list[operation].activity;
    int size = write_command(frame, OPS[op], FIELDS[op], operation, activity);
    if (zmq_send(socket, frame, (size_t)size, flags) < 0) die("zmq_send");
}

static void wait_for_answers(void **sockets, long wanted) {
    int64_t progress = now();
    while (answered < wanted && !is_failed()) {
        long before = answered;
        for (long each = 0; each < options.publishers; each++) while (take_answers(sockets[each])) {}
        if (answered != before) progress = now();
        else pause_milliseconds(1);
        if (now() - progress > options.patience * 1000000000LL) return complain("answers never came, of", wanted);
    }
}

// The starts before the first operation, over the connections that will change them.
static void prepare(void **sockets) {
    for (long from = 0; from < plan.activities; from += BATCH * options.publishers) {
        for (long lane = 0; lane < options.publishers; lane++) {
            long end = from + BATCH * options.publishers < plan.activities ? from + BATCH * options.publishers
                                                                                : plan.activities;
            for (long each = from + lane; each < end; each += options.publishers)
                send_one(sockets[lane], plan.operations + each, each + options.publishers < end ? ZMQ_SNDMORE : 0);
        }
        wait_for_answers(sockets, from + BATCH * options.publishers - IN_FLIGHT);
    }
    wait_for_answers(sockets, plan.activities);
}

static void drive(void **sockets) {
    struct pollfd arrivals[MAX_CONNECTIONS];
    for (long each = 0; each < options.publishers; each++) {
        size_t size = sizeof arrivals[each].fd;
        if (zmq_getsockopt(sockets[each], ZMQ_FD, &arrivals[each].fd, &size)) die("ZMQ_FD");
        arrivals[each].events = POLLIN;
    }
    begun = now() + 1000000;
    for (long sent = 0; sent < plan.operations && !is_failed();) {
        for (int burst = 0; burst < BURST && sent < plan.operations && due_time(sent) <= now(); burst++, sent++) {
            record(&send_delay, now() - due_time(sent));
            send_one(sockets[plan.list[sent].activity % options.publishers], sent, 0);
        }
        for (long each = 0; each < options.publishers; each++) while (take_answers(sockets[each])) {}
        int64_t wait = sent < plan.operations ? due_time(sent) - now() : 0;
        if (wait <= 0) continue;
        if (wait < TICK_NANOSECONDS) wait = TICK_NANOSECONDS;
        struct timespec span = {wait / 1000000000, wait % 1000000000};
        ppoll(arrivals, (nfds_t)options.publishers, &span, NULL);
    }
    wait_for_answers(sockets, plan.all);
}

// Waits until each subscriber has it all, and each has been told a digest for it.
static void wait_for_subscribers(void) {
    int64_t progress = now();
    for (long before = -1; !is_failed();) {
        long total = atomic_load(&agreed);
        for (long each = 0; each < subscribers.count; each++) total += atomic_load(&seen[each]);
        if (total == (plan.all + 1) * subscribers.count) return;
        if (total != before) progress = now();
        before = total;
        if (now() - progress > options.patience * 1000000000LL)
            complain("events or watermarks never came: missing", (plan.all + 1) * subscribers.count - total);
        pause_milliseconds(1);
    }
}

// Compares the answer to a read with what was done.
static void compare(const char *answer, size_t size, long activity) {
    char state[32], revision[32], expected[128];
    sprintf(state, "\"state\":\"%s\",", plan.model[activity].is_ended ? "ended" : "active");
    sprintf(revision, ",\"revision\":%d,", plan.model[activity].revision);
    if (!memmem(answer, size, state, strlen(state)) || !memmem(answer, size, revision, strlen(revision)))
        complain("a wrong final state", activity);
    sprintf(expected, "\"contentState\":{\"n\":%d,", plan.model[activity].last);
    if (!memmem(answer, size, expected, strlen(expected))) complain("a wrong final content", activity);
}

// Reads activities, evenly chosen, in batches; gives how many.
static long read_back(void *socket) {
    static char frame[MAX_FRAME];
    long stride = plan.started > READS ? plan.started / READS : 1, read = (plan.started + stride - 1) / stride;
    for (long from = 0; from < read && !is_failed(); from += BATCH) {
        long end = from + BATCH < read ? from + BATCH : read;
        for (long each = from; each < end; each++) {
            int size = sprintf(frame, "{\"op\":\"activity.get\",\"app\":\"%s\",\"id\":"
                "\"00000000-0000-7000-8000-%012lx\"}", app, plan.first_activity + each * stride);
            if (zmq_send(socket, frame, (size_t)size, each + 1 < end ? ZMQ_SNDMORE : 0) < 0) die("zmq_send");
        }
        for (long each = from; each < end; each++) {
            int size = zmq_recv(socket, frame, sizeof frame, 0);
            if (size < 0) die("no answer to a read");
            compare(frame, (size_t)size, each * stride);
        }
    }
    return read;
}

static void read_options(int count, char **words) {
    const struct option known[] = {
        {"--commands", NULL, &options.commands}, {"--events", NULL, &subscribers.url}, {"--app", NULL, &app},
        {"--rate", &options.rate, NULL}, {"--seconds", &options.seconds, NULL}, {"--seed", &plan.seed, NULL},
        {"--activities", &plan.activities, NULL}, {"--start", &plan.start, NULL},
        {"--update", &plan.update, NULL}, {"--end", &plan.end, NULL}, {"--smallest", &options.smallest, NULL},
        {"--largest", &options.largest, NULL}, {"--publishers", &options.publishers, NULL},
        {"--subscribers", &subscribers.count, NULL}, {"--patience", &options.patience, NULL},
    };
    size_t known_count = sizeof known / sizeof *known;
    for (int word = 1; word < count; word++) word = read_option(word, count, words, known, known_count);
    if (options.largest < options.smallest) options.largest = options.smallest;
    if (!options.commands || !subscribers.url || app == APP || !options.rate || !options.seconds ||
        plan.start + plan.update + plan.end == 0 || options.publishers > MAX_CONNECTIONS ||
        subscribers.count > MAX_SUBSCRIBERS || options.largest > 3800 || options.rate > 1000000 ||
        options.seconds > 3600) {
        fprintf(stderr, "play: --commands, --events, --app, --rate, --seconds and a weight are needed; at most %d "
                "publishers, %d subscribers, 3800 bytes\n", MAX_CONNECTIONS, MAX_SUBSCRIBERS);
        exit(2);
    }
}

int main(int count, char **words) {
    read_options(count, words);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // a tick is to last a tick
    run = (long)(now() / 1000 % 1000000000);
    plan.first_activity = run % (1L << 27) << 20;
    plan_all(options.rate * options.seconds);
    atomic_store(&expected_seq, plan.all);
    for (long each = 0; each < subscribers.count; each++) {
        if (!(revisions[each] = calloc((size_t)plan.started, sizeof *revisions[each]))) die("calloc");
    }
    char prefix[TOPIC_ROOM];
    snprintf(prefix, sizeof prefix, "%s/", app);
    subscribers.prefix = prefix;
    subscribers.watermark = take_watermark;
    context = zmq_ctx_new();
    void *sockets[MAX_CONNECTIONS];
    for (long each = 0; each < options.publishers; each++) {
        sockets[each] = open_socket(ZMQ_DEALER, options.commands);
        int patience = (int)options.patience * 1000;
        zmq_setsockopt(sockets[each], ZMQ_RCVTIMEO, &patience, sizeof patience);
    }
    atomic_store(&subscribers.listening, 1);
    pthread_t listener;
    if (pthread_create(&listener, NULL, listen_to_events, NULL)) die("pthread_create");
    while (atomic_load(&subscribers.joined) < subscribers.count) pause_milliseconds(1);

    prepare(sockets);
    drive(sockets);
    double seconds = (double)(now() - begun) / 1e9;
    wait_for_subscribers();
    long checked = is_failed() ? 0 : read_back(sockets[0]);
    atomic_store(&subscribers.listening, 0);
    pthread_join(listener, NULL);
    if (is_failed()) {
        fprintf(stderr, "play: %d failures\n", atomic_load(&subscribers.failures));
        return 1;
    }
    printf("{\"operations\":%ld,\"perSecond\":%.0f,\"activities\":%ld,\"events\":%ld,\"digest\":\"%016llx\","
           "\"read\":%ld,", plan.operations, (double)plan.operations / seconds, plan.started, plan.all,
           (unsigned long long)plan.digest, checked);
    print_histogram("sendDelay", &send_delay), putchar(',');
    print_histogram("answer", &answer_after), putchar(',');
    print_histogram("event", &event_after), puts("}");
    return 0;
}
