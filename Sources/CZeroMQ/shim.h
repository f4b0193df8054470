#ifndef CZEROMQ_SHIM_H
#define CZEROMQ_SHIM_H

#include <zmq.h>

// What the C library's module does not offer; all but the first hide behind _GNU_SOURCE.
#include <pthread.h>
#include <sys/eventfd.h>
extern int pthread_setname_np(pthread_t thread, const char *name);
#ifndef SCHED_BATCH
#define SCHED_BATCH 3
#endif

// The calling thread. glibc declares pthread_self() as a constant function, so in async code the optimiser may use the
// value from before a suspension point after it, on another thread. A volatile pointer is read and called each time.
static inline pthread_t czeromq_current_thread(void) {
    pthread_t (*volatile ask)(void) = pthread_self;
    return ask();
}

#endif
