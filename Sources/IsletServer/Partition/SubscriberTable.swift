import IsletCore
import IsletProtocol

/// How far a subscriber says that it has got in one app's stream.
struct AppliedPosition: Equatable, Sendable {
    var app: [UInt8]
    var seq: UInt64

    /// How many events of the app were published or are about to be behind it; nil where the app is not known.
    func lag(in engine: borrowing Engine) -> UInt64? {
        guard let app = engine.apps.find(app) else { return nil }
        let last = engine.apps[app].seq
        return last > seq ? last - seq : 0
    }

    /// The positions in the object of a `stream.applied`, one of each app: the last. What has not the contract's shape is
    /// left out.
    static func all(in object: FrameRange, of frame: Span<UInt8>) -> [AppliedPosition] {
        var positions: [AppliedPosition] = []
        var places: [[UInt8]: Int] = [:]
        // Objects that were checked by the decoder scan again without a failure.
        try? JSONScanner.scanObject(frame, at: object) { app in
            guard app.value.kind == .object else { return }
            let name = frame.bytes(app.name.range)
            try? JSONScanner.scanObject(frame, at: app.value.range) { member in
                guard member.name.equals("seq", in: frame),
                    let seq = JSONNumber.integer(frame, at: member.value.range), seq >= 0
                else { return }
                if let place = places[name] {
                    positions[place].seq = UInt64(seq)
                } else if positions.count < SubscriberTable.maximumApps {
                    places[name] = positions.count
                    positions.append(AppliedPosition(app: name, seq: UInt64(seq)))
                }
            }
        }
        return positions
    }
}

/// What subscribers report of themselves with `stream.applied`: the only way in which a publisher can know how far
/// they are.
package struct SubscriberTable {
    /// At most this many apps of one report are looked at.
    static let maximumApps = 1_000
    /// One report is answered on the topics of so many apps at most; who follows more listens on its nonce's.
    static let maximumToldApps = 16
    /// One that is further behind than this is told so: half of what waits for it before it loses events.
    package static let maximumLag: UInt64 = 10_000
    /// The figures of all look at so many positions at most.
    private static let positionsInFigures = 65_536

    /// Who reports does so at least this often, in milliseconds: beyond it he may have stopped as well.
    private static let longestPause: Milliseconds = 30_000

    struct Report {
        var positions: [AppliedPosition]
        /// How many events of all its apps it was behind when it reported. What was published since may be on its way.
        var backlogThen: UInt64 = 0
        /// Monotonic milliseconds.
        var at: Milliseconds
        /// Its place in the ledger.
        var ticket: WorkLedger.Ticket?

        /// What it weighs, as far as its reporter can know.
        var bytes: Int { positions.reduce(0) { $0 + $1.app.count + MemoryLayout<AppliedPosition>.size } }

        /// How many events it is behind: in one app or, with nil, in the one in which it is furthest.
        func lag(in engine: borrowing Engine, app: [UInt8]? = nil) -> UInt64 {
            var lag: UInt64 = 0
            for position in positions where app == nil || position.app == app {
                lag = max(lag, position.lag(in: engine) ?? 0)
            }
            return lag
        }

        /// How many events it is behind, of all its apps together or of one: they wait for it in one queue.
        func backlog(in engine: borrowing Engine, app: [UInt8]? = nil) -> UInt64 {
            var backlog: UInt64 = 0
            for position in positions where app == nil || position.app == app {
                backlog = min(backlog + (position.lag(in: engine) ?? 0), 1 << 62)
            }
            return backlog
        }

        /// Whether it loses events before long: it is far behind in one app, or was in all together when it reported.
        func isLagging(in engine: borrowing Engine, app: [UInt8]? = nil, at now: Milliseconds) -> Bool {
            if lag(in: engine, app: app) > SubscriberTable.maximumLag { return true }
            guard app == nil else { return false }
            return backlogThen > SubscriberTable.maximumLag
                || now - at > SubscriberTable.longestPause && backlog(in: engine) > SubscriberTable.maximumLag
        }
    }

    /// Who has reported nothing for so long is forgotten, in milliseconds.
    static let longestSilence: Milliseconds = 3_600_000
    /// How often those are looked for, in milliseconds.
    private static let silenceCheck: Milliseconds = 60_000

    private(set) var reports: [[UInt8]: Report] = [:]
    /// Whose reports came over which connection, so that its end looks at no others.
    private var noncesOfPeers: [Peer: Set<[UInt8]>] = [:]
    private var nextCheck: Milliseconds = 0

    /// - Parameter nonce: the subscriber's own, which its join carried.
    /// - Returns: the place in the ledger of what it reported before.
    mutating func remember(_ report: Report, of nonce: [UInt8]) -> WorkLedger.Ticket? {
        let former = forget(nonce: nonce)
        reports[nonce] = report
        if let peer = report.ticket?.peer { noncesOfPeers[peer, default: []].insert(nonce) }
        return former
    }

    /// A subscriber is gone; its report's place in the ledger.
    mutating func forget(nonce: [UInt8]) -> WorkLedger.Ticket? {
        guard let ticket = reports.removeValue(forKey: nonce)?.ticket else { return nil }
        noncesOfPeers[ticket.peer]?.remove(nonce)
        if noncesOfPeers[ticket.peer]?.isEmpty == true { noncesOfPeers[ticket.peer] = nil }
        return ticket
    }

    /// Who reported over this connection is forgotten, as it is gone.
    mutating func forget(reportedBy peer: Peer) {
        for nonce in noncesOfPeers.removeValue(forKey: peer) ?? [] { reports[nonce] = nil }
    }

    /// Those of whom nothing was heard for too long; looked for from time to time.
    mutating func silent(at time: Milliseconds) -> [[UInt8]] {
        guard time >= nextCheck else { return [] }
        nextCheck = time + Self.silenceCheck
        return reports.filter { time - $0.value.at > Self.longestSilence }.map(\.key)
    }

    /// How many there are, and how far behind. Where they report more positions than one turn may look at, the rest counts
    /// as not behind.
    func figures(of engine: borrowing Engine, at now: Milliseconds) -> SubscriberFigures {
        var figures = SubscriberFigures(reporting: reports.count)
        var left = Self.positionsInFigures
        for report in reports.values {
            left -= report.positions.count
            guard left >= 0 else { break }
            let lag = report.lag(in: engine)
            if report.isLagging(in: engine, at: now) { figures.lagging += 1 }
            figures.maximumLag = max(figures.maximumLag, lag)
        }
        return figures
    }
}
