import IsletClient

/// What has become of the events of a recording.
package struct ReplayCounts: Sendable, Equatable {
    /// How many there are, the entities of the snapshot among them.
    package var events = 0
    /// How many entities the snapshot has.
    package var entities = 0
    /// How many had their turn.
    package var seen = 0
    /// How many have come about by commands that were sent.
    package var replayed = 0
    /// How many commands were executed.
    package var commands = 0
    package var following: [FollowingCause: Int] = [:]
    package var obstacles: [ReplayObstacle: Int] = [:]
    /// Events whose command was not executed, by the error's code or, after `ignored: `, the reason.
    package var refused: [String: Int] = [:]

    package init(events: Int = 0, entities: Int = 0) {
        self.events = events
        self.entities = entities
    }

    var impossible: Int { obstacles.values.reduce(0, +) }
    var failed: Int { refused.values.reduce(0, +) }

    /// Whether everything that the recording tells has come about.
    package var isWhole: Bool { seen == events && impossible == 0 && failed == 0 }

    mutating func follows(_ cause: FollowingCause) { following[cause, default: 0] += 1 }
    mutating func cannot(_ obstacle: ReplayObstacle) { obstacles[obstacle, default: 0] += 1 }

    // MARK: For people

    /// Such as `1 234 of 1 300 events as 1 234 commands`.
    var progress: String {
        let snapshot = entities == 0 ? "" : " (\(RecoveryText.grouped(entities)) of them from the snapshot)"
        return "\(RecoveryText.grouped(replayed)) of \(Self.counted(events, "event"))\(snapshot) as "
            + Self.counted(commands, "command")
    }

    /// What became of the others, such as `60 follow from deadlines`.
    var rest: [String] {
        var parts = FollowingCause.allCases.compactMap { cause in
            following[cause].map { "\(RecoveryText.grouped($0)) follow\($0 == 1 ? "s" : "") \(cause.text)" }
        }
        let listed = ReplayObstacle.allCases.compactMap { obstacle in
            obstacles[obstacle].map { "\(RecoveryText.grouped($0)) \(obstacle.text)" }
        }
        if !listed.isEmpty {
            parts.append("\(RecoveryText.grouped(impossible)) could not be replayed: \(listed.joined(separator: ", "))")
        }
        let codes = refused.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        if !codes.isEmpty {
            let listed = codes.map { "\(RecoveryText.grouped($0.value)) \($0.key)" }.joined(separator: ", ")
            parts.append("\(RecoveryText.grouped(failed)) not executed: \(listed)")
        }
        return parts
    }

    static func counted(_ count: Int, _ noun: String) -> String {
        "\(RecoveryText.grouped(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    // MARK: For programs

    /// The members of the summary.
    var members: [RawObject.Member] {
        [
            .init("events", .integer(events)), .init("entities", .integer(entities)),
            .init("replayed", .integer(replayed)),
            .init("commands", .integer(commands)),
            .init(
                "following",
                .object(FollowingCause.allCases.map { .init($0.rawValue, .integer(following[$0, default: 0])) })),
            .init(
                "impossible",
                .array(
                    ReplayObstacle.allCases.compactMap { obstacle in
                        obstacles[obstacle].map { Self.row("reason", obstacle.rawValue, $0) }
                    })),
            .init(
                "refused",
                .array(refused.sorted { $0.key < $1.key }.map { Self.row("code", $0.key, $0.value) })),
        ]
    }

    private static func row(_ name: String, _ value: String, _ count: Int) -> RawJSON {
        .object([.init(name, .string(value)), .init("count", .integer(count))])
    }
}
