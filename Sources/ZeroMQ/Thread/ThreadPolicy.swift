import CZeroMQ
import Glibc

/// What the system lets a thread ask of its scheduler.
enum ThreadPolicy {
    /// Whether a thread may be one that takes no processor from others when it is woken (`SCHED_BATCH`, sched(7)). It
    /// needs no privilege, but a container may forbid it, and libzmq would abort the process then.
    static let allowsBatch: Bool = {
        var parameter = sched_param()
        var policy: Int32 = 0
        let thread = pthread_self()
        guard unsafe pthread_getschedparam(thread, &policy, &parameter) == 0, policy == SCHED_OTHER,
            unsafe pthread_setschedparam(thread, SCHED_BATCH, &parameter) == 0
        else { return false }
        return unsafe pthread_setschedparam(thread, policy, &parameter) == 0
    }()
}
