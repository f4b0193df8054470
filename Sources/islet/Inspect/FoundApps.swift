import Synchronization

/// The apps that a stream has told of.
final class FoundApps: Sendable {
    private let seqs = Mutex<[String: UInt64]>([:])

    /// Takes one in; how many there are then.
    func add(_ app: String, seq: UInt64) -> Int {
        seqs.withLock { seqs in
            seqs[app] = seq
            return seqs.count
        }
    }

    var count: Int { seqs.withLock { $0.count } }

    /// All, in no order.
    var all: [(app: String, seq: UInt64)] { seqs.withLock { $0.map { ($0.key, $0.value) } } }
}
