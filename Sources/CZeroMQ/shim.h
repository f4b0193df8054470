#ifndef CZEROMQ_SHIM_H
#define CZEROMQ_SHIM_H

#include <zmq.h>

// Two Linux calls that the C library's module does not offer: the second hides behind _GNU_SOURCE.
#include <pthread.h>
#include <sys/eventfd.h>
extern int pthread_setname_np(pthread_t thread, const char *name);

#endif
