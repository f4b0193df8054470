// What a scenario does, decided before it begins: each operation in its order, and what the state is to be in the end.

#pragma once

#include <stdbool.h>

#include "bus.h"
#include "digest.h"

enum { MAX_ACTIVITIES = 1 << 20 };
enum op { START, UPDATE, END };

// An operation's number is its `req`; the starts before the first one have the numbers after the last.
static struct {
    long activities, start, update, end, seed;  // as asked for: started before, the weights of the mix
    long operations, all, started, first_activity;
    struct { int32_t activity, revision; char op; } *list;            // by operation
    struct { int32_t revision, last; bool is_ended; } *model;         // by activity; `last` changed it last
    int32_t *open_ones;
    long open_count;
    uint64_t digest;
} plan = {.activities = 1, .seed = 1};

static uint64_t next_random(void) {
    static uint64_t state;
    state += 0x9E3779B97F4A7C15u;
    uint64_t value = (state ^ (uint64_t)plan.seed * 0xD1342543DE82EF95u) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

static long below(long bound) { return (long)(next_random() % (uint64_t)bound); }

static void plan_one(long operation, enum op op) {
    long place = op == START ? plan.open_count : below(plan.open_count);
    if (op == START) {
        if (plan.started == MAX_ACTIVITIES) fprintf(stderr, "play: too many activities\n"), exit(2);
        plan.open_ones[plan.open_count++] = (int32_t)plan.started++;
    }
    int32_t activity = plan.open_ones[place];
    plan.list[operation].op = (char)op;
    plan.list[operation].activity = activity;
    plan.list[operation].revision = ++plan.model[activity].revision;
    plan.model[activity].last = (int32_t)operation;
    if (op != END) return;
    plan.model[activity].is_ended = true;
    plan.open_ones[place] = plan.open_ones[--plan.open_count];
}

static void plan_all(long operations) {
    plan.operations = operations;
    plan.all = operations + plan.activities;
    plan.list = calloc((size_t)plan.all, sizeof *plan.list);
    plan.model = calloc(MAX_ACTIVITIES, sizeof *plan.model);
    plan.open_ones = calloc(MAX_ACTIVITIES, sizeof *plan.open_ones);
    if (!plan.list || !plan.model || !plan.open_ones) die("calloc");
    for (long each = 0; each < plan.activities; each++) plan_one(plan.operations + each, START);
    for (long each = 0; each < plan.operations; each++) {
        long chosen = below(plan.start + plan.update + plan.end);
        enum op op = chosen < plan.start ? START : chosen < plan.start + plan.update ? UPDATE : END;
        plan_one(each, plan.open_count == 0 ? START : op);
    }
    for (long each = 0; each < plan.started; each++) {
        char topic[512];
        int size = sprintf(topic, "%s/activity/Bench/00000000-0000-7000-8000-%012lx", app, plan.first_activity + each);
        plan.digest ^= digest_part(topic, (size_t)size, (uint64_t)plan.model[each].revision);
    }
}
