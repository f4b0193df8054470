import Synchronization

/// Which segments there are and what is in them: written by the threads that commit and trim, read by all.
final class SegmentDirectory: Sendable {
    struct Content {
        /// In order; the last one is written.
        var segments: [SegmentInfo]
        /// The last sequence number of each app that was trimmed.
        var trimmed: [[UInt8]: UInt64]
    }

    /// Where an app's events are.
    enum Place: Equatable {
        /// In this segment.
        case segment(Int)
        /// Nowhere: nothing after that was written.
        case none
        /// They are not kept any more; this is the oldest that is.
        case tooOld(oldest: UInt64)
    }

    private let content: Mutex<Content>

    init(segments: [SegmentInfo], trimmed: [[UInt8]: UInt64]) {
        content = Mutex(Content(segments: segments, trimmed: trimmed))
    }

    var segments: [SegmentInfo] { content.withLock { $0.segments } }

    /// The segment that has an app's event, or the place to begin for those after it.
    func place(of app: [UInt8], seq: UInt64) -> Place {
        content.withLock { content in
            var found: Int?
            var oldest: UInt64?
            for segment in content.segments {
                guard let range = segment.apps[app] else { continue }
                if oldest == nil { oldest = range.first }
                if range.first <= seq { found = segment.number } else { break }
            }
            if let found { return .segment(found) }
            if let oldest { return .tooOld(oldest: oldest) }
            guard let trimmed = content.trimmed[app], seq <= trimmed else { return .none }
            return .tooOld(oldest: trimmed + 1)
        }
    }

    /// The last one's number, and the last batch that was committed, to it or to the one before.
    var lastCommitted: (segment: Int, batch: UInt64) {
        content.withLock { content in
            let last = content.segments[content.segments.count - 1]
            return (last.number, last.lastBatch)
        }
    }

    /// The first one's number.
    var first: Int? { content.withLock { $0.segments.first?.number } }

    /// The first sequence number of an app behind the segment that has that one.
    func firstSeq(of app: [UInt8], behind seq: UInt64) -> UInt64 {
        content.withLock { content in
            let ranges = content.segments.compactMap { $0.apps[app] }
            return ranges.first { $0.first > seq }?.first ?? max(seq, ranges.last?.last ?? 0) + 1
        }
    }

    /// The next segment after that one that has events of an app.
    func next(after number: Int, of app: [UInt8]) -> Int? {
        content.withLock { $0.segments.first { $0.number > number && $0.apps[app] != nil }?.number }
    }

    /// A batch was committed to the last segment.
    ///
    /// - Parameter newApps: Those that had no event in this segment before, with their first one.
    func committed(_ batch: UInt64, at: Int64, bytes: Int, newApps: [([UInt8], SeqRange)]) {
        content.withLock { content in
            let last = content.segments.count - 1
            if content.segments[last].isEmpty { content.segments[last].firstAt = at }
            content.segments[last].lastBatch = batch
            content.segments[last].lastAt = at
            content.segments[last].bytes = bytes
            for (app, range) in newApps { content.segments[last].apps[app] = range }
        }
    }

    /// The last segment is full, and another one begins.
    ///
    /// - Returns: What the full one has.
    func seal(apps: [[UInt8]: SeqRange], next number: Int) -> SegmentInfo {
        content.withLock { content in
            let last = content.segments.count - 1
            content.segments[last].apps = apps
            let next = content.segments[last].lastBatch + 1
            content.segments.append(SegmentInfo(number: number, firstBatch: next, lastBatch: next - 1))
            return content.segments[last]
        }
    }

    /// The first segment goes.
    func trimFirst() {
        content.withLock { content in
            for (app, range) in content.segments.removeFirst().apps {
                content.trimmed[app] = max(range.last, content.trimmed[app] ?? 0)
            }
        }
    }
}
