import CZeroMQ

/// The thread that the caller runs on, as a `pthread_t`.
///
/// Unlike `pthread_self()` it is right in async code too, where the optimiser takes that for a constant.
package func currentThread() -> UInt {
    czeromq_current_thread()
}
