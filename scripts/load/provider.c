// A load generator for controls: a provider that answers at once, and a person who taps and reloads.
//
// One thread is the provider: it registers `--kinds` kinds of toggles with a `--capacity` of calls in flight, answers
// every call from its own truth, and counts them. The other places `--controls` controls, waits until all are shown,
// and takes in every event. Then come, each for `--seconds` after a `--warmup`:
//
//   taps     a closed loop: `--window` controls are always between a tap and their final value.
//   rate     an open loop: `--rate` taps a second. A span counts from when its tap was intended, not from when it was
//            sent: to the event of the optimistic value, and to that of the provider's value after the action.
//   reloads  `control.reload` of a kind again and again, as soon as all controls of it are shown; the truth changes
//            with every call. The kinds take turns, so that calls are always waiting.
//
//     provider --commands URL --events URL [--only taps|rate|reloads] [--controls N] [--kinds N] [--capacity N]
//              [--batch N] [--window N] [--rate N] [--seconds N] [--warmup N] [--tick MICROSECONDS]
//
// `--batch` lets the provider send so many answers in one message where as many calls wait for it. Prints one line of
// JSON, spans in microseconds. Exits with 1 where anything was refused, lost or out of order, a control showed another
// value than the truth or the wish, or a tap was not performed exactly once.

#define _GNU_SOURCE  // memmem, ppoll, RUSAGE_THREAD

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "bus.h"
#include "histogram.h"

// The service keeps 20 000 events for a subscriber that is behind, and a control has three on the way at most.
enum { MAX_CONTROLS = 6000, MAX_KINDS = 64, MAX_BATCH = 64, ADD_BATCH = 64, ADDS_IN_FLIGHT = 4 };
enum { SHORT_FRAME = 512, TOPIC = 256, ANSWERS_PER_TURN = 256, EVENTS_PER_TURN = 1024 };

static const char PROVIDER[] = "00000000-0000-4000-8000-00000000be4c";

static struct {
    const char *commands, *events, *only;
    long controls, kinds, capacity, batch, window, rate, seconds, warmup, tick;
} options = {.controls = 1000, .kinds = 4, .capacity = 256, .batch = 1, .window = 64, .rate = 200, .seconds = 5,
             .warmup = 1, .tick = 50};

static long first_control;  // the number of the first control in its id
static atomic_int failures;

static void complain(const char *what, long number) {
    if (atomic_fetch_add(&failures, 1) < 10) fprintf(stderr, "provider: %s: %ld\n", what, number);
}

static void complain_of(const char *what, const void *bytes, size_t size) {
    if (atomic_fetch_add(&failures, 1) < 10) fprintf(stderr, "provider: %s: %.*s\n", what, (int)size, (char *)bytes);
}

#define HAS(bytes, size, text) (memmem(bytes, size, text, sizeof(text) - 1) != NULL)

// The number of a control, from the end of its id; -1 where it is none of this run.
static long control_in(const char *end) {
    char digits[13] = {0};
    memcpy(digits, end - 12, 12);
    long control = strtol(digits, NULL, 16) - first_control;
    return control < 0 || control >= options.controls ? -1 : control;
}

static long kind_of(long control) { return control % options.kinds; }

static long controls_of(long kind) { return (options.controls - kind + options.kinds - 1) / options.kinds; }

// MARK: The provider

static struct {
    // What is true, as the provider alone decides it; the other thread looks only while no call is on the way.
    bool truth[MAX_CONTROLS];
    bool wished[MAX_CONTROLS];  // set by the other thread before the tap is sent
    long performs[MAX_CONTROLS];
    atomic_long answered;       // calls
    atomic_bool changes;        // the truth is another one with every value call
    atomic_bool registered, stopping;
    atomic_long cpu_microseconds;
} provider;

static void note_cpu(void) {
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    atomic_store(&provider.cpu_microseconds, (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L +
                                                 used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// Does what a call asks for, and writes its answer; gives its size, or 0 where the frame is none.
static int answer_call(const char *bytes, size_t size, char *answer) {
    static const char id[] = "\"control\":\"", call[] = "\"call\":\"";
    const char *named = memmem(bytes, size, id, sizeof id - 1), *asked = memmem(bytes, size, call, sizeof call - 1);
    bool performs = HAS(bytes, size, "\"op\":\"control.perform\"");
    if (!named || !asked || named + sizeof id - 1 + 36 >= bytes + size ||
        !(performs || HAS(bytes, size, "\"op\":\"control.value\""))) {
        complain_of("neither a call nor a ping came to the provider", bytes, size);
        return 0;
    }
    long control = control_in(named + sizeof id - 1 + 36);
    if (control < 0) {
        complain_of("a call for another control", bytes, size);
        return 0;
    }
    if (performs) {
        bool value = HAS(bytes, size, "\"value\":true");
        if (value != provider.wished[control]) complain("not what was wished for control", control);
        provider.truth[control] = value;
        provider.performs[control]++;
    } else if (atomic_load(&provider.changes)) {
        provider.truth[control] = !provider.truth[control];
    }
    const char *digits = asked + sizeof call - 1, *end = memchr(digits, '"', (size_t)(bytes + size - digits));
    return snprintf(answer, SHORT_FRAME,
        "{\"op\":\"provider.answer\",\"provider\":\"%s\",\"call\":\"%.*s\"%s}", PROVIDER, end ? (int)(end - digits) : 0,
        digits, performs ? "" : provider.truth[control] ? ",\"value\":true" : ",\"value\":false");
}

static void register_kinds(void *socket) {
    static char frame[MAX_KINDS * 128 + SHORT_FRAME];
    int used = sprintf(frame,
        "{\"op\":\"provider.register\",\"app\":\"%s\",\"provider\":\"%s\",\"capacity\":%ld,\"kinds\":[", APP, PROVIDER,
        options.capacity);
    for (long kind = 0; kind < options.kinds; kind++)
        used += sprintf(frame + used, "%s{\"kind\":\"Switch%ld\",\"template\":\"toggle\"}", kind ? "," : "", kind);
    used += sprintf(frame + used, "]}");
    if (zmq_send(socket, frame, (size_t)used, 0) < 0) die("zmq_send");
    int size = zmq_recv(socket, frame, sizeof frame, 0);
    if (size < 0) die("no answer to the registration");
    if (!HAS(frame, (size_t)size, "\"ok\":true")) {
        fprintf(stderr, "provider: not registered: %.*s\n", size, frame);
        exit(1);
    }
}

static void *provide(void *unused) {
    (void)unused;
    void *socket = open_socket(ZMQ_DEALER, options.commands);
    int patience = STALL_MS;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
    register_kinds(socket);
    atomic_store(&provider.registered, true);
    patience = 20;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
    static char answers[MAX_BATCH][SHORT_FRAME];
    while (!atomic_load(&provider.stopping)) {
        int sizes[MAX_BATCH];
        long waiting = 0;
        while (waiting < options.batch) {
            zmq_msg_t frame;
            zmq_msg_init(&frame);
            if (zmq_msg_recv(&frame, socket, waiting ? ZMQ_DONTWAIT : 0) < 0) break;
            const char *bytes = zmq_msg_data(&frame);
            size_t size = zmq_msg_size(&frame);
            if (HAS(bytes, size, "\"op\":\"provider.ping\"")) {
                sizes[waiting] = snprintf(answers[waiting], SHORT_FRAME,
                                          "{\"op\":\"provider.pong\",\"provider\":\"%s\"}", PROVIDER);
                waiting++;
            } else if ((sizes[waiting] = answer_call(bytes, size, answers[waiting])) > 0) {
                waiting++;
                atomic_fetch_add(&provider.answered, 1);
            }
            zmq_msg_close(&frame);
        }
        for (long each = 0; each < waiting; each++) {
            if (zmq_send(socket, answers[each], (size_t)sizes[each], each + 1 < waiting ? ZMQ_SNDMORE : 0) < 0)
                die("zmq_send");
        }
        note_cpu();
    }
    zmq_close(socket);
    return NULL;
}

// MARK: The controls, as the events tell

static void *commands, *events;  // sockets
static struct {
    bool value;       // what is shown
    bool wish;        // what is to be shown in the end
    bool is_resting;  // between a final value and the next tap or reload
    int64_t due;      // when its last tap was intended
    long taps;
} controls[MAX_CONTROLS];
static long resting[MAX_CONTROLS], resting_first, resting_count;  // a ring: who rests longest is tapped next
static long resting_of[MAX_KINDS];
static long sent, answered, ended;  // commands and their answers; final values that were shown
static int64_t progress;            // when something arrived
static int64_t measured_from = INT64_MAX;  // when the first measured tap was intended
static struct histogram send_delay, acting_after, final_after;

static void begin(long control, bool wish) {
    controls[control].is_resting = false;
    controls[control].wish = wish;
    resting_of[kind_of(control)]--;
    resting_count--;
}

static void rest(long control) {
    controls[control].is_resting = true;
    resting_of[kind_of(control)]++;
    resting[(resting_first + resting_count++) % options.controls] = control;
}

static void take_event(const char *topic, int topic_size, const char *bytes, size_t size) {
    static const char marker[] = "\"event\":\"control.";
    long control = topic_size > 36 ? control_in(topic + topic_size) : -1;
    const char *name = memmem(bytes, size, marker, sizeof marker - 1);
    if (control < 0 || !name) return complain_of("an event of something else", bytes, size);
    name += sizeof marker - 1;
    if (HAS(bytes, size, "\"value\":true")) controls[control].value = true;
    else if (HAS(bytes, size, "\"value\":false")) controls[control].value = false;
    int64_t due = controls[control].due;
    if (!strncmp(name, "acting\"", 7)) {
        if (controls[control].value != controls[control].wish) complain("a wrong wish is shown by", control);
        if (due >= measured_from) record(&acting_after, now() - due);
    } else if (!strncmp(name, "shown\"", 6)) {
        if (controls[control].is_resting) return complain("shown twice", control);
        if (controls[control].value != controls[control].wish) complain("a wrong value is shown by", control);
        if (due >= measured_from) record(&final_after, now() - due);
        ended++;
        rest(control);
    } else if (strncmp(name, "added\"", 6) && strncmp(name, "performed\"", 10) && strncmp(name, "reloading\"", 10)) {
        complain_of("an unexpected event", bytes, size);
    }
}

// Takes what has arrived, some of it; false where nothing was there.
static bool take_arrivals(void) {
    static long last_seq = -1;
    long taken = 0;
    for (; taken < ANSWERS_PER_TURN; taken++) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, commands, ZMQ_DONTWAIT) < 0) break;
        const char *bytes = zmq_msg_data(&frame);
        size_t size = zmq_msg_size(&frame);
        if (!HAS(bytes, size, "\"outcome\":\"applied\"")) complain_of("refused", bytes, size);
        // The `req` of a reload is the number of controls that it is to reach.
        long expected = NUMBER_AFTER(bytes, size, "\"req\":\"");
        if (expected >= 0 && NUMBER_AFTER(bytes, size, "\"count\":") != expected)
            complain_of("a reload of others", bytes, size);
        answered++;
        zmq_msg_close(&frame);
    }
    for (long each = 0; each < EVENTS_PER_TURN; each++, taken++) {
        char topic[TOPIC];
        int topic_size = zmq_recv(events, topic, sizeof topic, ZMQ_DONTWAIT);
        if (topic_size < 0) break;
        zmq_msg_t body;
        zmq_msg_init(&body);
        if (zmq_msg_recv(&body, events, 0) < 0) die("an event without a body");
        const char *bytes = zmq_msg_data(&body);
        size_t size = zmq_msg_size(&body);
        if (topic_size < 2 || memcmp(topic + topic_size - 2, "/~", 2) != 0) {
            long seq = NUMBER_AFTER(bytes, size, "\"seq\":");
            if (last_seq >= 0 && seq != last_seq + 1) complain("a gap in the stream before seq", seq);
            last_seq = seq;
            take_event(topic, topic_size, bytes, size);
        }
        zmq_msg_close(&body);
    }
    if (taken > 0) progress = now();
    return taken > 0;
}

// Sleeps until a time, a tick at least, or until something arrives; all that is there was taken before.
static void sleep_until(int64_t time) {
    struct pollfd arrivals[2];
    void *sockets[] = {commands, events};
    for (int each = 0; each < 2; each++) {
        size_t size = sizeof arrivals[each].fd;
        if (zmq_getsockopt(sockets[each], ZMQ_FD, &arrivals[each].fd, &size)) die("ZMQ_FD");
        arrivals[each].events = POLLIN;
    }
    int64_t wait = time - now();
    if (wait < options.tick * 1000) wait = options.tick * 1000;
    struct timespec span = {wait / 1000000000, wait % 1000000000};
    ppoll(arrivals, 2, &span, NULL);
    if (now() - progress > STALL_MS * 1000000LL) {
        fprintf(stderr, "provider: stalled: %ld commands, %ld answers, %ld of %ld controls rest\n", sent, answered,
                resting_count, options.controls);
        exit(1);
    }
}

static int64_t soon(void) { return now() + 100000000; }

static void send_command(const char *frame, int size, int flags) {
    if (zmq_send(commands, frame, (size_t)size, flags) < 0) die("zmq_send");
    sent++;
}

// Until every control is shown and every command answered; the provider's calls are over then, too.
static void settle(void) {
    while (resting_count < options.controls || answered < sent) {
        if (!take_arrivals()) sleep_until(soon());
        if (atomic_load(&failures)) exit(1);
    }
}

// MARK: The measurements

static void wait_for_subscription(void) {
    char topic[TOPIC], found[TOPIC], body[MAX_FRAME];
    int length = sprintf(topic, "\xFFjoin/%032lx", run), patience = STALL_MS, size;
    zmq_setsockopt(events, ZMQ_SUBSCRIBE, APP, sizeof APP - 1);
    zmq_setsockopt(events, ZMQ_SUBSCRIBE, topic, (size_t)length);
    zmq_setsockopt(events, ZMQ_RCVTIMEO, &patience, sizeof patience);
    do {
        size = zmq_recv(events, found, sizeof found, 0);
        if (size < 0 || zmq_recv(events, body, sizeof body, 0) < 0) die("no answer to the join");
    } while (size != length || memcmp(found, topic, (size_t)size));
}

static void place_controls(void) {
    for (long added = 0; added < options.controls;) {
        if (added - answered < ADD_BATCH * ADDS_IN_FLIGHT) {
            long end = added + ADD_BATCH < options.controls ? added + ADD_BATCH : options.controls;
            for (; added < end; added++) {
                char frame[SHORT_FRAME];
                int size = sprintf(frame,
                    "{\"op\":\"control.add\",\"app\":\"%s\",\"kind\":\"Switch%ld\","
                    "\"id\":\"00000000-0000-7000-8000-%012lx\"}", APP, kind_of(added), first_control + added);
                send_command(frame, size, added + 1 < end ? ZMQ_SNDMORE : 0);
            }
        }
        while (take_arrivals()) {}
        if (added - answered >= ADD_BATCH * ADDS_IN_FLIGHT) sleep_until(soon());
    }
    settle();
}

static void tap(int64_t due) {
    long control = resting[resting_first];
    resting_first = (resting_first + 1) % options.controls;
    begin(control, !controls[control].value);
    controls[control].due = due;
    controls[control].taps++;
    provider.wished[control] = controls[control].wish;
    char frame[SHORT_FRAME];
    int size = sprintf(frame, "{\"op\":\"control.tap\",\"app\":\"%s\",\"id\":\"00000000-0000-7000-8000-%012lx\"}", APP,
                       first_control + control);
    send_command(frame, size, 0);
}

// What there was so far, to be compared with what there is later.
struct mark {
    int64_t time;
    long calls, ended, cpu;
};

static struct mark mark(void) {
    return (struct mark){now(), atomic_load(&provider.answered), ended, atomic_load(&provider.cpu_microseconds)};
}

static void print_rates(const char *name, const char *what, struct mark from, struct mark to) {
    double seconds = (double)(to.time - from.time) / 1e9;
    printf(",\"%s\":{\"seconds\":%.3f,\"calls\":%ld,\"callsPerSecond\":%.0f,\"%s\":%.0f,\"providerCPU\":%.3f", name,
           seconds, to.calls - from.calls, (double)(to.calls - from.calls) / seconds, what,
           (double)(to.ended - from.ended) / seconds, (double)(to.cpu - from.cpu) / 1e6 / seconds);
}

static bool is_wanted(const char *phase) { return !options.only || !strcmp(options.only, phase); }

static void reload(long kind) {
    char frame[SHORT_FRAME];
    for (long control = kind; control < options.controls; control += options.kinds)
        begin(control, !controls[control].value);
    int size = sprintf(frame, "{\"op\":\"control.reload\",\"req\":\"%ld\",\"app\":\"%s\",\"kind\":\"Switch%ld\"}",
                       controls_of(kind), APP, kind);
    send_command(frame, size, 0);
}

static void measure_reloads(void) {
    measured_from = INT64_MAX;
    atomic_store(&provider.changes, true);
    int64_t start = now() + options.warmup * 1000000000LL, end = start + options.seconds * 1000000000LL;
    struct mark from = {0}, to;
    for (int64_t time; (time = now()) < end && !atomic_load(&failures);) {
        if (!from.time && time >= start) from = mark();
        for (long kind = 0; kind < options.kinds; kind++) {
            if (resting_of[kind] == controls_of(kind)) reload(kind);
        }
        if (!take_arrivals()) sleep_until(soon());
    }
    to = mark();
    settle();
    atomic_store(&provider.changes, false);
    print_rates("reloads", "reloadsPerSecond", from, to), putchar('}');
}

static void measure_taps(void) {
    int64_t start = now() + options.warmup * 1000000000LL, end = start + options.seconds * 1000000000LL;
    struct mark from = {0}, to;
    measured_from = start;
    for (int64_t time; (time = now()) < end && !atomic_load(&failures);) {
        if (!from.time && time >= start) from = mark();
        while (options.controls - resting_count < options.window) tap(now());
        if (!take_arrivals()) sleep_until(soon());
    }
    to = mark();
    settle();
    print_rates("taps", "tapsPerSecond", from, to), putchar(',');
    print_histogram("acting", &acting_after), putchar(',');
    print_histogram("final", &final_after), putchar('}');
}

static void measure_rate(void) {
    acting_after = final_after = (struct histogram){0};
    int64_t first = now() + 1000000, interval = 1000000000LL / options.rate;
    long total = options.rate * (options.warmup + options.seconds), tapped = 0;
    struct mark from = {0};
    measured_from = first + options.rate * options.warmup * interval;
    while (tapped < total && !atomic_load(&failures)) {
        if (!from.time && now() >= measured_from) from = mark();
        // Where no control rests, what is due waits and is late.
        for (int64_t due; tapped < total && resting_count > 0 && (due = first + tapped * interval) <= now(); tapped++) {
            if (due >= measured_from) record(&send_delay, now() - due);
            tap(due);
        }
        if (!take_arrivals()) sleep_until(first + tapped * interval);
    }
    settle();
    print_rates("rate", "tapsPerSecond", from, mark()), printf(",\"wanted\":%ld,", options.rate);
    print_histogram("sendDelay", &send_delay), putchar(',');
    print_histogram("acting", &acting_after), putchar(',');
    print_histogram("final", &final_after), putchar('}');
}

static void check_controls(void) {
    for (long control = 0; control < options.controls; control++) {
        if (controls[control].value != provider.truth[control]) complain("not the truth is shown by", control);
        if (controls[control].taps != provider.performs[control]) complain("not performed once per tap", control);
    }
}

static void read_options(int count, char **words) {
    const struct option known[] = {
        {"--commands", NULL, &options.commands}, {"--events", NULL, &options.events}, {"--only", NULL, &options.only},
        {"--controls", &options.controls, NULL}, {"--kinds", &options.kinds, NULL},
        {"--capacity", &options.capacity, NULL}, {"--batch", &options.batch, NULL}, {"--window", &options.window, NULL},
        {"--rate", &options.rate, NULL}, {"--seconds", &options.seconds, NULL}, {"--warmup", &options.warmup, NULL},
        {"--tick", &options.tick, NULL},
    };
    size_t all = sizeof known / sizeof *known;
    for (int word = 1; word < count; word++) word = read_option(word, count, words, known, all);
    if (!options.commands || !options.events || options.controls > MAX_CONTROLS || options.kinds > MAX_KINDS ||
        options.kinds > options.controls || options.batch > MAX_BATCH || options.window > options.controls ||
        options.rate > 1000000 || options.seconds + options.warmup > 3600 ||
        !(is_wanted("reloads") || is_wanted("taps") || is_wanted("rate"))) {
        fprintf(stderr, "provider: --commands and --events are needed; at most %d controls, and as large a window, %d "
                "kinds, batches of %d, 1000000 taps a second, 3600 seconds\n", MAX_CONTROLS, MAX_KINDS, MAX_BATCH);
        exit(2);
    }
}

int main(int count, char **words) {
    read_options(count, words);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // a tick is to last a tick
    run = (long)(now() / 1000 % 1000000000);
    first_control = 1L << 46 | run << 14;
    context = zmq_ctx_new();
    pthread_t thread;
    if (pthread_create(&thread, NULL, provide, NULL)) die("pthread_create");
    for (int64_t start = now(); !atomic_load(&provider.registered); pause_milliseconds(1)) {
        if (now() - start > STALL_MS * 1000000LL) die("no answer to the registration");
    }
    commands = open_socket(ZMQ_DEALER, options.commands);
    events = open_socket(ZMQ_SUB, options.events);
    wait_for_subscription();
    progress = now();
    place_controls();

    for (long control = 0; control < options.controls; control++) resting[control] = control;
    printf("{\"controls\":%ld,\"kinds\":%ld,\"capacity\":%ld,\"batch\":%ld", options.controls, options.kinds,
           options.capacity, options.batch);
    if (is_wanted("taps")) measure_taps();
    if (is_wanted("rate")) measure_rate();
    if (is_wanted("reloads")) measure_reloads();
    puts("}");

    check_controls();
    atomic_store(&provider.stopping, true);
    pthread_join(thread, NULL);
    if (atomic_load(&failures)) {
        fprintf(stderr, "provider: %d failures\n", atomic_load(&failures));
        return 1;
    }
    return 0;
}
