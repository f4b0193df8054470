#ifndef CZEROMQ_SHIM_H
#define CZEROMQ_SHIM_H

#include <zmq.h>

// What the C library's module does not offer; all but the first hide behind _GNU_SOURCE.
#include <pthread.h>
#include <sys/eventfd.h>
extern int pthread_setname_np(pthread_t thread, const char *name);
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// What is at a path, or at a name of the kernel's own, which begins with @: 0, nothing, or a socket on which nobody listens; EADDRINUSE, one on which somebody does; ENOTSOCK,
// something else; any other number, it cannot be found out.
static inline int czeromq_local_socket(const char *path) {
    int is_name = path[0] == '@';
    struct stat status;
    if (!is_name && lstat(path, &status) != 0) return errno == ENOENT ? 0 : errno;
    if (!is_name && !S_ISSOCK(status.st_mode)) return ENOTSOCK;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    socklen_t size = sizeof address;
    if (is_name) {
        // It stands behind a 0, and ends with the address.
        address.sun_path[0] = 0;
        size = offsetof(struct sockaddr_un, sun_path) + strlen(path);
    }
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int code = connect(descriptor, (struct sockaddr *)&address, size) == 0 ? EADDRINUSE : errno;
    close(descriptor);
    // So many wait to be accepted that no more may.
    if (code == EAGAIN) return EADDRINUSE;
    return code == ECONNREFUSED ? 0 : code;
}

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
