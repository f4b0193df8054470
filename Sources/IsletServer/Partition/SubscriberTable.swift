import IsletCore
import IsletProtocol

/// How far a subscriber says that it has got in one app's stream.
struct AppliedPosition: Equatable, Sendable {
    var app: [UInt8]
    var seq: UInt64

    /// The positions in the object of a `stream.applied`; what has not the contract's shape is left out.
    static func all(in object: FrameRange, of frame: Span<UInt8>) -> [AppliedPosition] {
        var positions: [AppliedPosition] = []
        // Objects that were checked by the decoder scan again without a failure.
        try? JSONScanner.scanObject(frame, at: object) { app in
            guard app.value.kind == .object, positions.count < SubscriberTable.maximumApps else { return }
            try? JSONScanner.scanObject(frame, at: app.value.range) { member in
                guard member.name.equals("seq", in: frame),
                    let seq = JSONNumber.integer(frame, at: member.value.range), seq >= 0
                else { return }
                positions.append(AppliedPosition(app: frame.bytes(app.name.range), seq: UInt64(seq)))
            }
        }
        return positions
    }
}

/// What subscribers report of themselves with `stream.applied`: the only way in which a publisher can know how far
/// they are.
struct SubscriberTable {
    /// At most this many are remembered; the one that has been silent longest makes room.
    static let maximumSubscribers = 10_000
    /// At most this many apps of one report are looked at.
    static let maximumApps = 1_000
    /// One that is further behind than this is told so: half of what waits for it before it loses events.
    static let maximumLag: UInt64 = 10_000

    struct Report {
        var positions: [AppliedPosition]
        /// Monotonic milliseconds.
        var at: Milliseconds
    }

    private(set) var reports: [[UInt8]: Report] = [:]

    /// - Parameters:
    ///   - nonce: the subscriber's own, which its join carried.
    ///   - time: monotonic milliseconds.
    mutating func report(nonce: [UInt8], positions: [AppliedPosition], at time: Milliseconds) {
        if reports[nonce] == nil, reports.count >= Self.maximumSubscribers,
            let oldest = reports.min(by: { $0.value.at < $1.value.at })
        {
            reports[oldest.key] = nil
        }
        reports[nonce] = Report(positions: positions, at: time)
    }
}
