import IsletCore
import IsletJournal

/// Tries whether a service could start from a folder's files, in memory and without changing them.
package enum JournalTrial {
    /// A running service may trim a segment before it is opened; then the folder is read anew.
    private static let attempts = 10

    /// What a start would say, a sentence for each entity that differs; empty where it would succeed.
    ///
    /// - Throws: `StoreError` where the files cannot be read.
    package static func problems(of directory: String) throws -> [String] {
        var attempt = 1
        while true {
            do {
                try recover(FolderReading(directory: directory))
                return []
            } catch let error as RecoveryError {
                return ["\(error.place): \(error.reason)"] + error.entities
            } catch where attempt < attempts {
                attempt += 1
            }
        }
    }

    private static func recover(_ reading: FolderReading) throws {
        // The clock of the journal: nothing is due that was not due then.
        let clock = DomainClock(.manual(from: Instant(reading.summary.clock)))
        _ = try Partition(
            card: .offline, rules: .standard, clock: clock, journal: MemoryJournal(), recovering: reading,
            at: .system(), random: SystemRandomNumberGenerator())
    }
}

extension ServiceCard {
    /// Of a partition without a service around it.
    static var offline: ServiceCard {
        ServiceCard(
            ServeConfiguration(), endpoints: ServiceEndpoints(commands: "", events: "", bulk: ""), guarantee: .none)
    }
}
