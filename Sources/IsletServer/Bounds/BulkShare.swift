/// How much of a turn commands on the bulk socket may take: what remains then rests until the next one.
///
/// A share of its own, counted and not timed: commands that have taken all of a turn's time leave pulls theirs.
struct BulkShare {
    /// So many commands are executed in a turn.
    private static let commandsPerTurn = 128
    /// Nothing more is, once those and their answers had so many bytes; the last may exceed it.
    private static let bytesPerTurn = 1 << 20

    private var commands = 0
    private var bytes = 0

    /// A command is through that had, with what it made, as many bytes.
    mutating func didExecute(_ bytes: Int) {
        commands += 1
        self.bytes += bytes
    }

    /// Whether this turn has done enough of them.
    var isSpent: Bool { commands >= Self.commandsPerTurn || bytes >= Self.bytesPerTurn }
}
