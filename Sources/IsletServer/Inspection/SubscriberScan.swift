import IsletCore
import IsletProtocol

/// `subscriber.list` on its way through all reports, in bounded turns.
final class SubscriberScan {
    /// To look at a report, and at each of its positions, takes as long as to look at so many slots.
    private static let slotsPerPosition: Slot = 16
    /// Rows stop before those of an answer, written in one turn, have more positions than this; one row has fewer.
    private static let maximumPositions = 16_384

    private struct Row {
        var nonce: [UInt8]
        var lag: UInt64

        /// The one that lags most comes first.
        func isBefore(_ other: Row) -> Bool {
            lag == other.lag ? nonce.lexicographicallyPrecedes(other.nonce) : lag > other.lag
        }
    }

    let app: [UInt8]?
    private let limit: Int
    private var hasBegun = false
    /// Those that are to be looked at in later turns.
    private var rest: [[UInt8]] = []
    /// The first that were found; more than `limit` of them until they are sorted out.
    private var first: [Row] = []
    /// One that comes behind this is none of them.
    private var last: Row?
    private var total = 0

    /// - Parameter app: only those are asked for that report on it.
    init(app: [UInt8]?, limit: Int) {
        self.app = app
        self.limit = limit
    }

    /// Looks at some more; true when it is through.
    func advance(_ table: SubscriberTable, _ engine: borrowing Engine) -> Bool {
        var left = ListBounds.slotsPerTurn
        return advance(table, engine, left: &left)
    }

    /// - Parameter left: how many slots' time it may take; what is left of it afterwards.
    func advance(_ table: SubscriberTable, _ engine: borrowing Engine, left: inout Slot) -> Bool {
        if !hasBegun {
            hasBegun = true
            for (nonce, report) in table.reports {
                if left > 0 { look(at: report, of: nonce, engine, left: &left) } else { rest.append(nonce) }
            }
        } else {
            while left > 0, let nonce = rest.popLast() {
                if let report = table.reports[nonce] { look(at: report, of: nonce, engine, left: &left) }
            }
        }
        return rest.isEmpty
    }

    private func look(
        at report: SubscriberTable.Report, of nonce: [UInt8], _ engine: borrowing Engine, left: inout Slot
    ) {
        left -= min(left, Slot(report.positions.count + 1) * Self.slotsPerPosition)
        if let app, !report.positions.contains(where: { $0.app == app }) { return }
        total += 1
        let row = Row(nonce: nonce, lag: report.lag(in: engine, app: app))
        if let last, !row.isBefore(last) { return }
        first.append(row)
        if first.count == 2 * limit { sortOut() }
    }

    /// Keeps the first `limit`.
    private func sortOut() {
        first.sort { $0.isBefore($1) }
        guard first.count > limit else { return }
        first.removeSubrange(limit...)
        last = first.last
    }

    /// Writes the answer, the one that lags most first.
    func write(
        to writer: inout JSONWriter, _ envelope: Envelope, _ frame: Span<UInt8>, _ table: SubscriberTable,
        _ silent: [SilentFollower], at now: Milliseconds, of engine: borrowing Engine
    ) {
        sortOut()
        writer.beginAnswer(envelope, frame, ok: true)
        let start = writer.count
        writer.key("subscribers")
        writer.beginArray()
        var positions = 0
        for row in first {
            guard let report = table.reports[row.nonce] else { continue }
            // Also those that are looked at and not shown.
            positions += report.positions.count
            guard positions <= Self.maximumPositions else { break }
            let end = writer.count
            writer.subscriber(row.nonce, report, app: app, at: now, of: engine)
            if writer.count - start > ListBounds.maximumBytes {
                writer.truncate(to: end)
                break
            }
        }
        writer.endArray()
        writer.field("total", total)
        writer.key("silent")
        writer.beginArray()
        for follower in silent.prefix(limit) {
            let end = writer.count
            writer.silent(follower)
            if writer.count - start > ListBounds.maximumBytes {
                writer.truncate(to: end)
                break
            }
        }
        writer.endArray()
        writer.field("silentTotal", silent.count)
        writer.endObject()
    }
}

extension JSONWriter {
    /// So many topics of a silent follower are shown…
    private static var shownTopics: Int { 8 }
    /// …with so many bytes at most.
    private static var topicBytes: Int { 240 }

    /// One that follows and reports nothing: since when, and what.
    fileprivate mutating func silent(_ follower: SilentFollower) {
        beginObject()
        field("age", follower.age)
        key("topics")
        beginArray()
        for topic in follower.topics.sorted(by: { $0.lexicographicallyPrecedes($1) }).prefix(Self.shownTopics) {
            string(String(decoding: topic.prefix(Self.topicBytes), as: UTF8.self))
        }
        endArray()
        field("topicCount", follower.topics.count)
        endObject()
    }

    /// One subscriber: how far it said that it is, and how far behind that is now.
    ///
    /// - Parameter app: the only app that is shown; nil for all.
    fileprivate mutating func subscriber(
        _ nonce: [UInt8], _ report: SubscriberTable.Report, app: [UInt8]?, at now: Milliseconds,
        of engine: borrowing Engine
    ) {
        let lag = report.lag(in: engine, app: app)
        beginObject()
        field("nonce", plain: nonce.span)
        field("age", max(0, now - report.at))
        field("lag", lag)
        field("isLagging", lag > SubscriberTable.maximumLag)
        key("apps")
        beginObject()
        for position in report.positions where app == nil || position.app == app {
            // The name comes from a peer, and only one that the service knows is sure to need no escapes.
            guard let lag = position.lag(in: engine) else { continue }
            key(plain: position.app.span)
            beginObject()
            field("seq", position.seq)
            field("lag", lag)
            endObject()
        }
        endObject()
        endObject()
    }
}
