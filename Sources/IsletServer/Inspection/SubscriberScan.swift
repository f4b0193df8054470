import IsletCore
import IsletProtocol

/// `subscriber.list` on its way through all reports, and the topics of those that report nothing, in bounded turns.
final class SubscriberScan {
    /// To look at a report, and at each of its positions, takes as long as to look at so many slots.
    private static let slotsPerPosition: Slot = 16
    /// Rows stop before those of an answer, written in one turn, have more positions than this; one row has fewer.
    private static let maximumPositions = 16_384
    /// To look at a topic takes as long as to look at so many slots.
    private static let slotsPerTopic: Slot = 4
    /// Rows of those that report nothing stop before they have more topics than this, for the same reason.
    private static let maximumTopics = 16_384

    private struct Row {
        var nonce: [UInt8]
        var lag: UInt64

        /// The one that lags most comes first.
        func isBefore(_ other: Row) -> Bool {
            lag == other.lag ? nonce.lexicographicallyPrecedes(other.nonce) : lag > other.lag
        }
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
    /// Those that report nothing, the one that came first first; nil until they are looked for.
    private var followers: [SilentFollower]?
    /// How many of them were looked at.
    private var seenFollowers = 0
    /// Those of them that may have events of the app.
    private var silent: [SilentFollower] = []

    /// - Parameter app: only those are asked for that report on it.
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
        advance(partition.subscribers, partition.engine, left: &left) && lookAtFollowers(partition, left: &left)
    }

    /// Looks at some of those that report nothing; true when it is through.
    private func lookAtFollowers(_ partition: Partition, left: inout Slot) -> Bool {
        let found =
            followers
            ?? partition.subscriptions.silent(at: partition.now.monotonic) { partition.subscribers.reports[$0] != nil }
        followers = found
        guard let start = app.map(FollowedTopic.start) else {
            silent = found
            return true
        }
        while seenFollowers < found.count {
            guard left > 0 else { return false }
            let follower = found[seenFollowers]
            seenFollowers += 1
            left -= min(left, Slot(follower.topicCount) * Self.slotsPerTopic)
            if partition.subscriptions.follows(follower, start: start) { silent.append(follower) }
        }
        return true
    }

    private func advance(_ table: SubscriberTable, _ engine: borrowing Engine, left: inout Slot) -> Bool {
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
        _ subscriptions: SubscriptionTable, at now: Milliseconds, of engine: borrowing Engine
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
        var topicCount = 0
        for follower in silent.prefix(limit) {
            topicCount += follower.topicCount
            guard topicCount <= Self.maximumTopics else { break }
            guard let topics = subscriptions.topics(of: follower, most: JSONWriter.shownTopics) else { continue }
            let end = writer.count
            writer.silent(follower, topics, at: now)
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
    fileprivate static var shownTopics: Int { 8 }
    /// …with so many bytes at most.
    private static var topicBytes: Int { 240 }

    /// One that follows and reports nothing: since when, and what.
    fileprivate mutating func silent(_ follower: SilentFollower, _ topics: [[UInt8]], at now: Milliseconds) {
        beginObject()
        field("age", now - follower.since)
        key("topics")
        beginArray()
        for topic in topics { string(String(decoding: topic.prefix(Self.topicBytes), as: UTF8.self)) }
        endArray()
        field("topicCount", follower.topicCount)
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
