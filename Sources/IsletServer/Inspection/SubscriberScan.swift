import IsletCore
import IsletProtocol

/// `subscriber.list` on its way through all reports, and all who report nothing, in bounded turns.
final class SubscriberScan {
    /// To look at a report, and at each of its positions, takes as long as to look at so many slots…
    private static let slotsPerPosition: Slot = 16
    /// …and to look at a topic of one that reports nothing.
    private static let slotsPerTopic: Slot = 4
    /// So many topics of one that reports nothing are shown…
    private static let shownTopics = 8
    /// …with so many bytes of each at most.
    private static let topicBytes = 240
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

    /// One that reports nothing.
    private struct SilentRow {
        var since: Milliseconds
        var topics: [[UInt8]]
        var topicCount: Int
    }

    private let app: [UInt8]?
    private let limit: Int
    private var hasBegun = false
    /// Those that are to be looked at in later turns.
    private var rest: [[UInt8]] = []
    /// The first that were found; more than `limit` of them until they are sorted out.
    private var first: [Row] = []
    /// One that comes behind this is none of them.
    private var last: Row?
    private var total = 0
    /// Those who report nothing and are to be looked at, the one that came first last.
    private var silentRest: [SilentFollower] = []
    /// The first of those that were found.
    private var silent: [SilentRow] = []
    private var silentTotal = 0

    /// - Parameter app: only those are asked for that report on it, or whose topics may have events of it.
    init(app: [UInt8]?, limit: Int) {
        self.app = app
        self.limit = limit
    }

    /// Looks at some more; true when it is through.
    func advance(_ partition: Partition) -> Bool {
        var left = ListBounds.slotsPerTurn
        return advance(partition, left: &left)
    }

    /// - Parameter left: how many slots' time it may take; what is left of it afterwards.
    func advance(_ partition: Partition, left: inout Slot) -> Bool {
        let reports = partition.subscribers.reports
        if !hasBegun {
            hasBegun = true
            silentRest = partition.silentFollowers.reversed()
            for (nonce, report) in reports {
                if left > 0 { look(at: report, of: nonce, partition.engine, left: &left) } else { rest.append(nonce) }
            }
        } else {
            while left > 0, let nonce = rest.popLast() {
                if let report = reports[nonce] { look(at: report, of: nonce, partition.engine, left: &left) }
            }
        }
        while left > 0, let follower = silentRest.popLast() { look(at: follower, left: &left) }
        return rest.isEmpty && silentRest.isEmpty
    }

    private func look(at follower: SilentFollower, left: inout Slot) {
        let isShown = silent.count < limit
        let looks = (app == nil ? 0 : 1) + (isShown ? 1 : 0)
        left -= min(left, Slot(looks * follower.topics.count + 1) * Self.slotsPerTopic)
        if let app, !follower.mayFollow(app) { return }
        silentTotal += 1
        guard isShown else { return }
        silent.append(
            SilentRow(
                since: follower.since, topics: follower.firstTopics(Self.shownTopics), topicCount: follower.topicCount))
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
        at now: Milliseconds, of engine: borrowing Engine
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
        for row in silent {
            let end = writer.count
            write(row, to: &writer, at: now)
            if writer.count - start > ListBounds.maximumBytes {
                writer.truncate(to: end)
                break
            }
        }
        writer.endArray()
        writer.field("silentTotal", silentTotal)
        writer.endObject()
    }

    /// One that follows and reports nothing: since when, and what.
    private func write(_ row: SilentRow, to writer: inout JSONWriter, at now: Milliseconds) {
        writer.beginObject()
        writer.field("age", now - row.since)
        writer.key("topics")
        writer.beginArray()
        for topic in row.topics { writer.string(String(decoding: topic.prefix(Self.topicBytes), as: UTF8.self)) }
        writer.endArray()
        writer.field("topicCount", row.topicCount)
        writer.endObject()
    }
}

extension JSONWriter {
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
        field("isLagging", report.isLagging(in: engine, app: app, at: now))
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
