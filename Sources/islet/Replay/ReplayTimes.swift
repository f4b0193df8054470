package import IsletClient

/// How dates of a recording become dates of the target.
package struct ReplayTimes: Sendable, Equatable {
    /// The date of the first recorded event.
    package let first: Int64
    /// What is added to a recorded date.
    package let offset: Int64
    /// How many recorded milliseconds pass in one of the target's; nil: all at once.
    package let speed: Double?

    /// - Parameters:
    ///   - first: the date of the first recorded event; like the others a plausible one.
    ///   - offset: what is added to a recorded date.
    ///   - speed: recorded milliseconds in one of the target's; nil: all at once. 1 where the target's clock is moved.
    package init(first: Int64, offset: Int64 = 0, speed: Double? = 1) {
        self.first = first
        self.offset = offset
        self.speed = speed
    }

    /// A recorded date at the target.
    package func date(_ recorded: Int64) -> Int64 {
        recorded.addingClamped(offset)
    }

    /// When an event's turn is, in the target's milliseconds after the first one's.
    package func turn(of at: Int64) -> Int64 {
        guard let speed else { return 0 }
        return Int64(min(Double(max(0, at.subtractingClamped(first))) / speed, Self.longest))
    }

    /// No wait is longer than some ten thousand years.
    private static let longest = 3e14

    private static let dates = ["staleDate", "startDate"]

    /// The command of an event with its dates as at the target.
    ///
    /// A timestamp keeps its distance from its command: it says how old the content was then.
    package func shifted(_ command: Command, at: Int64) -> Command {
        var command = command
        for name in Self.dates {
            if let date = command[name]?.integer { command[name] = .integer(self.date(date)) }
        }
        if let timestamp = command["timestamp"]?.integer {
            let turn = date(first).addingClamped(turn(of: at))
            command["timestamp"] = .integer(turn.addingClamped(timestamp.subtractingClamped(at)))
        }
        if let after = command["dismissalPolicy"]?.object?["after"]?.integer {
            command["dismissalPolicy"] = .object([.init("after", .integer(date(after)))])
        }
        return command
    }
}
