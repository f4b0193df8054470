import IsletCore
import IsletProtocol

/// `subscriber.list` on its way through all reports, in bounded turns.
final class SubscriberScan {
    /// How many positions a turn looks at.
    private static let positionsPerTurn = ListBounds.slotsPerTurn

    private struct Row {
        var nonce: [UInt8]
        var lag: UInt64
    }

    private let app: [UInt8]?
    private let limit: Int
    private let nonces: [[UInt8]]
    private var next = 0
    private var rows: [Row] = []

    /// - Parameter app: only those are asked for that report on it.
    init(_ table: SubscriberTable, app: [UInt8]?, limit: Int) {
        self.app = app
        self.limit = limit
        nonces = Array(table.reports.keys)
    }

    /// Looks at some more; true when it is through.
    func advance(_ table: SubscriberTable, _ engine: borrowing Engine) -> Bool {
        var left = Self.positionsPerTurn
        return advance(table, engine, left: &left)
    }

    /// - Parameter left: how many positions it may look at; what is left of them afterwards.
    func advance(_ table: SubscriberTable, _ engine: borrowing Engine, left: inout Slot) -> Bool {
        while next < nonces.count {
            guard left > 0 else { return false }
            let nonce = nonces[next]
            next += 1
            guard let report = table.reports[nonce] else { continue }
            left -= min(left, Slot(report.positions.count + 1))
            if let app, !report.positions.contains(where: { $0.app == app }) { continue }
            rows.append(Row(nonce: nonce, lag: report.lag(in: engine, app: app)))
        }
        return true
    }

    /// Writes the answer, the one that lags most first.
    func write(
        to writer: inout JSONWriter, _ envelope: Envelope, _ frame: Span<UInt8>, _ table: SubscriberTable,
        at now: Milliseconds, of engine: borrowing Engine
    ) {
        rows.sort { one, other in
            one.lag == other.lag ? one.nonce.lexicographicallyPrecedes(other.nonce) : one.lag > other.lag
        }
        writer.beginAnswer(envelope, frame, ok: true)
        let start = writer.count
        writer.key("subscribers")
        writer.beginArray()
        for row in rows.prefix(limit) {
            guard let report = table.reports[row.nonce] else { continue }
            let end = writer.count
            writer.subscriber(row.nonce, report, app: app, at: now, of: engine)
            if writer.count - start > ListBounds.maximumBytes {
                writer.truncate(to: end)
                break
            }
        }
        writer.endArray()
        writer.field("total", rows.count)
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
