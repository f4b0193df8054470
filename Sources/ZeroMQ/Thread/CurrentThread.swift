import CZeroMQ

/// The thread that the caller runs on, as a `pthread_t`.
///
/// Unlike `pthread_self()` it is safe in async code, where the optimiser takes that for a constant of the whole function.
package func currentThread() -> UInt {
    czeromq_current_thread()
}
