/// For how long a turn executes commands: what remains then rests until the next one.
///
/// The clock is looked at once in so many commands or bytes: each time costs as much as a hundredth of an update.
package struct TurnBudget {
    /// What reads the clock, in nanoseconds of ``TurnTime/monotonicNanoseconds``; nil: turns are not bounded by it, and what
    /// they do follows from their messages alone.
    package var clock: (() -> Int64)?
    /// Whether this turn's time is over.
    private(set) var isSpent = false
    private var end: Int64 = 0
    private var commands = 0
    private var bytes = 0

    /// How long commands are executed in a turn, in nanoseconds.
    package static let commandTime: Int64 = 20_000_000
    /// How long deadlines take effect in a turn, beside that, in nanoseconds.
    private static let deadlineTime: Int64 = 10_000_000
    /// The clock is looked at once as many commands, or commands and answers of as many bytes, are through.
    package static let commandsPerReading = 8
    private static let bytesPerReading = 64 << 10

    init() {}

    mutating func begin(at now: Int64) {
        isSpent = false
        end = now + Self.commandTime
        (commands, bytes) = (0, 0)
    }

    /// A command is through that had, with what it made, as many bytes.
    @inline(__always)
    mutating func didExecute(_ bytes: Int) {
        commands += 1
        self.bytes += bytes
        if commands >= Self.commandsPerReading || self.bytes >= Self.bytesPerReading { look() }
    }

    /// When deadlines leave the rest to the next turn; nil: never.
    var deadlineEnd: Int64? { clock.map { $0() + Self.deadlineTime } }

    /// Whether that has come.
    func isOver(_ end: Int64?) -> Bool {
        guard let clock, let end else { return false }
        return clock() >= end
    }

    /// Deadlines were taken meanwhile, which is not the commands' fault.
    mutating func resume(deadlinesUntil end: Int64?) {
        guard let clock, let end else { return }
        self.end += clock() - (end - Self.deadlineTime)
    }

    private mutating func look() {
        (commands, bytes) = (0, 0)
        if let clock, clock() >= end { isSpent = true }
    }
}
