import IsletJournal

/// What was asked of a journal while it went on: an app's events behind one.
struct Question: Equatable, Sendable {
    var app: String
    var after: UInt64
    var maximum: Int
    /// The last batch that was committed when it was asked.
    var committed: UInt64
}

/// How reads are falsified, for the proof that their judge finds it.
package enum SpoiledReads: String, Codable, Sendable, CaseIterable {
    case empty, shortened, reversed, tooOld

    /// A false outcome; nil where this one cannot be falsified so.
    func spoil(_ outcome: JournalReadResult.Outcome) -> JournalReadResult.Outcome? {
        guard case .events(let events) = outcome, !events.isEmpty else { return nil }
        switch self {
        case .empty: return .events([])
        case .shortened: return events.count > 1 ? .events(Array(events.dropFirst())) : nil
        case .reversed: return events.count > 1 ? .events(events.reversed()) : nil
        case .tooOld: return .tooOld(oldest: events[0].seq + 1)
        }
    }
}

/// Holds what was read while the journal went on against what was handed over.
extension Ledger {
    /// Each read has the app's next events, in their order, without a gap and as they were written. There is at least one
    /// where one was committed when it was asked, and it is too old only where its batch is trimmed by now.
    ///
    /// - Parameter firstBatch: The first one that is kept.
    func check(
        _ reads: [JournalReadResult], _ questions: [UInt64: Question], firstBatch: UInt64
    ) throws(LifeFailure) {
        for read in reads {
            guard let question = questions[read.id] else { throw LifeFailure("nobody asked for read \(read.id)") }
            let expected = events(of: question.app).dropFirst(Int(question.after))
            switch read.outcome {
            // It says that it is to be asked again.
            case .notNow: break
            case .tooOld(let oldest):
                guard let first = expected.first, first.batch < firstBatch, oldest > question.after + 1 else {
                    throw LifeFailure("a read is too old: \(question), the oldest is \(oldest)")
                }
            case .events(let events):
                if events.isEmpty, let first = expected.first, first.batch <= question.committed {
                    throw LifeFailure("a read gave nothing: \(question)")
                }
                guard events.count <= min(question.maximum, expected.count) else {
                    throw LifeFailure("a read gave \(events.count) events: \(question)")
                }
                for (event, expected) in zip(events, expected) {
                    let line = line(of: event, question.app)
                    guard line == expected.line else {
                        throw LifeFailure("a read gave \(line) instead of \(expected.line): \(question)")
                    }
                }
            }
        }
    }

    /// The events of an app from its first on, with their batches.
    private func events(of app: String) -> [(batch: UInt64, line: String)] {
        var found: [(batch: UInt64, line: String)] = []
        for (index, batch) in batches.enumerated() {
            for line in batch.told where line.hasPrefix("\(app) \(found.count + 1)<") {
                found.append((UInt64(index + 1), line))
            }
        }
        return found
    }

    private func line(of event: StoredEvent, _ app: String) -> String {
        let parts = [event.topic, event.json, event.image].map { String(decoding: $0, as: UTF8.self) }
        return "\(app) \(event.seq)<\(event.previous) \(parts.joined(separator: " "))"
    }
}
