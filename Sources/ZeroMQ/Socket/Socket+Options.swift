import CZeroMQ

extension Socket {
    /// Switches an option on or off.
    package func set(_ option: SocketOption<Bool>, to value: Bool) throws(ZeroMQError) {
        try setRaw(option: option.number, value: value ? 1 : 0)
    }

    /// Sets an option that is a number.
    package func set(_ option: SocketOption<Int32>, to value: Int32) throws(ZeroMQError) {
        try setRaw(option: option.number, value: value)
    }

    /// Sets an option that is a large number.
    package func set(_ option: SocketOption<Int64>, to value: Int64) throws(ZeroMQError) {
        var value = value
        try unsafe check(zmq_setsockopt(handle.pointer, option.number, &value, MemoryLayout<Int64>.size))
    }

    /// Sets an option that is a time, rounded up to the option's unit (milliseconds or seconds).
    ///
    /// - Throws: `invalidArgument` also for a time that is negative or over 24 days.
    package func set(_ option: SocketOption<Duration>, to value: Duration) throws(ZeroMQError) {
        let (seconds, attoseconds) = value.components
        guard seconds >= 0, attoseconds >= 0, seconds <= Self.optionSecondsMax else { throw .invalidArgument }
        let attosecondsPerUnit = 1_000_000_000_000_000_000 / option.unitsPerSecond
        let fraction = (attoseconds + attosecondsPerUnit - 1) / attosecondsPerUnit
        try setRaw(option: option.number, value: Int32(seconds * option.unitsPerSecond + fraction))
    }

    /// Sets an option that is a string of bytes.
    package func set(_ option: SocketOption<[UInt8]>, to value: [UInt8]) throws(ZeroMQError) {
        try unsafe check(zmq_setsockopt(handle.pointer, option.number, value, value.count))
    }

    /// Sets the option with that number, for what has no name here.
    package func setRaw(option: Int32, value: Int32) throws(ZeroMQError) {
        var value = value
        try unsafe check(zmq_setsockopt(handle.pointer, option, &value, MemoryLayout<Int32>.size))
    }

    /// Lets messages whose first frame begins with `prefix` come to this SUB; the empty prefix lets all come.
    package func subscribe(_ prefix: [UInt8]) throws(ZeroMQError) {
        try unsafe check(zmq_setsockopt(handle.pointer, ZMQ_SUBSCRIBE, prefix, prefix.count))
    }

    /// Takes one earlier `subscribe` of the same prefix back.
    package func unsubscribe(_ prefix: [UInt8]) throws(ZeroMQError) {
        try unsafe check(zmq_setsockopt(handle.pointer, ZMQ_UNSUBSCRIBE, prefix, prefix.count))
    }

    /// What can be done without waiting. Asking lets libzmq do the socket's due work, such as new connections.
    package var events: PollEvents {
        get throws(ZeroMQError) {
            var value: Int32 = 0
            var size = MemoryLayout<Int32>.size
            let result = retryingInterrupts { unsafe zmq_getsockopt(handle.pointer, ZMQ_EVENTS, &value, &size) }
            try check(result)
            return PollEvents(rawValue: Int16(truncatingIfNeeded: value))
        }
    }

    /// Whether the message whose frame was received last has more of them.
    package var hasMore: Bool {
        get throws(ZeroMQError) {
            var value: Int32 = 0
            var size = MemoryLayout<Int32>.size
            try check(unsafe zmq_getsockopt(handle.pointer, ZMQ_RCVMORE, &value, &size))
            return value != 0
        }
    }

    /// The largest time in milliseconds that fits the options, in seconds.
    private static let optionSecondsMax: Int64 = 2_147_482

    private func check(_ result: Int32) throws(ZeroMQError) {
        if result == -1 { throw .last }
    }
}
