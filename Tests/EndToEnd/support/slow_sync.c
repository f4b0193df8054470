// A disk that takes SLOW_SYNC milliseconds for each sync.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait(void) {
    long milliseconds = atol(getenv("SLOW_SYNC"));
    struct timespec span = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&span, 0);
}

int fdatasync(int file) {
    static int (*original)(int);
    if (!original) original = dlsym(RTLD_NEXT, "fdatasync");
    wait();
    return original(file);
}

int fsync(int file) {
    static int (*original)(int);
    if (!original) original = dlsym(RTLD_NEXT, "fsync");
    wait();
    return original(file);
}
