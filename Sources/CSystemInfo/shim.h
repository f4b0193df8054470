// What the Glibc module leaves out: the kernel's clock discipline, the kind of a file system, settings of malloc, and which
// processors a thread may run on.
#include <malloc.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <unistd.h>

// Hides behind _GNU_SOURCE, as do the two below, which are the system's own calls for this reason. A thread is 0 for the
// caller; a processor is a bit. They return what the system returns: a negative number, and errno, for a failure.
extern int sched_getcpu(void);

static inline long system_get_affinity(int thread, size_t bytes, unsigned long *processors) {
    return syscall(SYS_sched_getaffinity, thread, bytes, processors);
}

static inline long system_set_affinity(int thread, size_t bytes, const unsigned long *processors) {
    return syscall(SYS_sched_setaffinity, thread, bytes, processors);
}
