/// A part of the service that is measured by itself.
enum Subject: String, CaseIterable {
    /// The timer wheel.
    case wheel
    /// From a frame to a command.
    case scanner
    /// From a command, an answer of a provider or a date to the events that follow.
    case machine
    /// From an id or a key to a slot.
    case index
    /// From events to bytes, and back.
    case codec
    /// The way of a message through the partition: all of the above, without sockets and files.
    case partition
    /// From a batch to a row in a file, and back.
    case journal

    /// Does each operation of the subject `meter.count` times.
    func round(_ meter: inout Meter) throws {
        switch self {
        case .wheel: WheelBench.round(&meter)
        case .scanner: ScannerBench.round(&meter)
        case .machine: MachineBench.round(&meter)
        case .index: IndexBench.round(&meter)
        case .codec: try CodecBench.round(&meter)
        case .partition: try PartitionBench.round(&meter)
        case .journal: try JournalBench.round(&meter)
        }
    }

    /// Operations of a round where nobody says how many.
    var defaultCount: Int {
        switch self {
        case .wheel, .index: 1_000_000
        case .scanner, .codec: 200_000
        case .machine, .partition, .journal: 100_000
        }
    }

    /// The same where callgrind looks on: so few that it takes seconds, so many that what memory grows by is little.
    var regionCount: Int {
        switch self {
        case .wheel: 8_192
        case .index: 2_048
        case .scanner, .machine, .codec, .partition, .journal: 1_024
        }
    }

    /// A count that is made of whole batches of 64.
    func whole(_ count: Int) -> Int { (count + 63) / 64 * 64 }
}
