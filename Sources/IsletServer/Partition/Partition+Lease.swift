import IsletCore
import IsletJournal

/// How far a clock of another speed may go before the journal knows more: a start begins there, so that time never goes back
/// behind what anybody has seen of it. A clock of the usual speed needs none, as the wall's goes on while nothing runs.
struct ClockLease {
    var until: Instant
    /// The batch that tells of it.
    var batch: UInt64

    init(until: Instant, batch: UInt64) {
        self.until = until
        self.batch = batch
    }

    /// Reads what ``write(to:)`` wrote.
    init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        (until, batch) = (try reader.instant(), 0)
    }

    func write(to writer: inout ImageWriter) {
        writer.write(byte: Self.version)
        writer.write(until)
    }

    /// The layout of what is stored.
    private static let version: UInt8 = 1
    /// For how many milliseconds of real time there is one.
    static let span: Milliseconds = 2_000
    /// The same while the disk is full: time goes on then, as what is kept for a time must go, and each lease takes
    /// room.
    static let fullSpan: Milliseconds = 20_000

    /// What a clock makes of so many milliseconds of real time.
    static func domainSpan(of real: Milliseconds, at factor: Double) -> Milliseconds {
        Milliseconds(exactly: (Double(real) * factor).rounded(.up)) ?? .max
    }
}

extension Partition {
    /// Asks for more time before the lease is over.
    func renewLease() {
        guard isDurable, case .speed(_, let factor) = clock.mode else { return }
        let span = ClockLease.domainSpan(of: flights.isDiskFull ? ClockLease.fullSpan : ClockLease.span, at: factor)
        if let lease, lease.batch > flights.committedThrough || lease.until - now.domain > span / 2 { return }
        lease = ClockLease(until: now.domain + span, batch: batch.number)
        noteFact(.lease)
    }

    /// Commits were made: time may go on.
    func extendLease() {
        guard let lease, lease.batch <= flights.committedThrough else { return }
        clock.mayReach(lease.until)
    }

    /// A clock of another speed begins where the last one may have come, and waits there for its first lease.
    func beginLease() {
        guard isDurable, case .speed = clock.mode else { return }
        if let lease { now.domain = clock.begin(at: lease.until) }
        lease = nil
        clock.mayReach(now.domain)
    }

    /// Takes a lease back; false where the key is of another fact.
    func restoreLease(_ key: Span<UInt8>, _ value: Span<UInt8>) throws(ImageError) -> Bool {
        guard key.count == 1, key[0] == Self.leaseKey[0] else { return false }
        lease = try ImageReader.read(value) { reader throws(ImageError) in try ClockLease(&reader) }
        return true
    }
}
