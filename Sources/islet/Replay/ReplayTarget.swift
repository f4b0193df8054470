import IsletClient

/// The clock of the service that a recording is played into.
struct ReplayTarget {
    /// Whether it moves only when it is told to.
    let isManual: Bool
    /// Milliseconds of its time in one of real time, where it runs.
    let speed: Double
    /// Its time when it was asked.
    let now: Int64

    /// - Parameter info: the answer to `service.info`.
    init(_ info: Answer) throws(IsletError) {
        guard let clock = info["info"]?.object?["clock"]?.object, let now = clock["now"]?.integer else {
            throw .unreadable("no clock in service.info")
        }
        self.now = now
        isManual = clock["kind"]?.string == "manual"
        speed = clock["speed"]?.double ?? 1
    }
}
