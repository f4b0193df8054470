package import IsletClient

/// What apps and groups of a recording are called at the target.
package struct ReplayNames: Sendable, Equatable {
    /// What stands before every name that is not in the map.
    package var prefix = ""
    /// The whole new name by the recorded one.
    package var map: [String: String] = [:]

    /// Names as they were recorded, unless they are in the map.
    package init(prefix: String = "", map: [String: String] = [:]) {
        self.prefix = prefix
        self.map = map
    }

    /// The name at the target.
    package func name(_ recorded: String) -> String { map[recorded] ?? prefix + recorded }

    private static let fields = ["app", "group", "member"]

    /// The command with its apps and its group called as at the target.
    package func renamed(_ command: Command) -> Command {
        guard !prefix.isEmpty || !map.isEmpty else { return command }
        var command = command
        for field in Self.fields {
            if let recorded = command[field]?.string { command[field] = .string(name(recorded)) }
        }
        return command
    }
}
