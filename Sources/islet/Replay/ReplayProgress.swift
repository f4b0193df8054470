import Synchronization

/// How far a replay has come, for whoever tells it.
final class ReplayProgress: Sendable {
    private let state: Mutex<ReplayCounts>
    /// More refusals than this are only counted.
    private static let toldMax = 20
    private let told = Mutex(0)

    init(_ recording: Recording) {
        state = Mutex(ReplayCounts(events: recording.count, entities: recording.rows))
    }

    var counts: ReplayCounts { state.withLock { $0 } }

    func note(_ change: (inout ReplayCounts) -> Void) {
        state.withLock { change(&$0) }
    }

    /// Says what was not executed, the first times.
    func tell(_ line: String) {
        let number = told.withLock { number in
            number += 1
            return number
        }
        if number <= Self.toldMax { Console.message(line) }
        if number == Self.toldMax { Console.message("further ones are only counted") }
    }
}
