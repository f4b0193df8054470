// How long something took, over and over: a histogram with HdrHistogram's layout, 128 steps to each power of two.
//
// A percentile is never below the true one and at most 1/128 above it; count and maximum are exact. Spans are
// nanoseconds; what is longer than 2^40 of them (18 minutes) counts as that.

#pragma once

#include <stdint.h>
#include <stdio.h>

enum { STEP_BITS = 7, STEPS = 1 << STEP_BITS, LONGEST_BITS = 40 };
enum { BUCKETS = (LONGEST_BITS - STEP_BITS + 2) << STEP_BITS };

struct histogram {
    uint64_t counts[BUCKETS];
    uint64_t count, maximum;
};

static inline void record(struct histogram *histogram, int64_t span) {
    uint64_t value = span < 0 ? 0 : (uint64_t)span;
    if (value > 1ULL << LONGEST_BITS) value = 1ULL << LONGEST_BITS;
    int shift = value < 2 * STEPS ? 0 : 63 - __builtin_clzll(value) - STEP_BITS;
    histogram->counts[((uint64_t)shift << STEP_BITS) + (value >> shift)]++;
    histogram->count++;
    if (value > histogram->maximum) histogram->maximum = value;
}

// The span that a part of the recorded ones (0...1) do not exceed; 0 where none was recorded.
static inline uint64_t percentile(const struct histogram *histogram, double part) {
    uint64_t rank = (uint64_t)(part * (double)histogram->count), passed = 0;
    if ((double)rank < part * (double)histogram->count || rank == 0) rank++;
    for (long bucket = 0; bucket < BUCKETS; bucket++) {
        passed += histogram->counts[bucket];
        if (passed < rank) continue;
        int shift = bucket < 2 * STEPS ? 0 : (int)(bucket >> STEP_BITS) - 1;
        uint64_t step = (uint64_t)bucket - ((uint64_t)shift << STEP_BITS), last = ((step + 1) << shift) - 1;
        return last < histogram->maximum ? last : histogram->maximum;
    }
    return histogram->maximum;
}

// `"name":{"count":…,"p50":…,"p99":…,"p999":…,"max":…}`, in microseconds.
static inline void print_histogram(const char *name, const struct histogram *histogram) {
    printf("\"%s\":{\"count\":%llu,\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f}", name,
           (unsigned long long)histogram->count, (double)percentile(histogram, 0.5) / 1000.0,
           (double)percentile(histogram, 0.99) / 1000.0, (double)percentile(histogram, 0.999) / 1000.0,
           (double)histogram->maximum / 1000.0);
}
