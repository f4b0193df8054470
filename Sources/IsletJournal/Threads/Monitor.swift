import CSQLite
import Glibc

/// A value that threads share, and on which they can wait for one another.
///
/// `@unchecked Sendable`: the value is touched only with the mutex held. The mutex and the condition have addresses of
/// their own, as POSIX wants it, and live as long as this object.
@safe
final class Monitor<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // Waiting must not depend on somebody who sets the clock.
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let made = unsafe pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(condition, &attributes) == 0
        precondition(made, "a mutex and a condition need nothing but memory")
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Changes the value, and wakes those who wait for a change.
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// Looks at the value, and wakes nobody.
    func look<Result>(_ body: (Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(value)
    }

    /// Asks `body` at once and after each change until it gives something.
    func wait<Result>(_ body: (inout Value) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Asks `body` at once and after each change until it gives something or time is up.
    func wait<Result>(milliseconds: Int, _ body: (inout Value) -> Result?) -> Result? {
        var deadline = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
        deadline.tv_sec += milliseconds / 1_000
        deadline.tv_nsec += milliseconds % 1_000 * 1_000_000
        if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_sec += 1
            deadline.tv_nsec -= 1_000_000_000
        }
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if unsafe pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return body(&value) }
        }
    }
}
