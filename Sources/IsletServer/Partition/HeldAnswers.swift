/// The answers that were held back, to commands that came again while the disk is full. Clients send again and again until they
/// are answered, which may be for hours.
struct HeldAnswers {
    /// At most so many bytes are held. Beyond, whoever sends again once there is room is answered.
    static let maximumBytes = 16 << 20
    /// What an answer takes beside its bytes.
    private static let overhead = 256

    /// At most so many `req` are known to be of commands that came again; with more, all may be.
    private static let maximumRepeated = 16_384

    /// The `req` of commands that came again, whose first answers are of an earlier batch than the present one.
    private var repeated: Set<[UInt8]> = []

    private var bytes = 0
    /// Each by what it says, and whose it is.
    private var known: [Peer: Set<Int>] = [:]

    /// Whether an answer is to be held, too: not where the very same is already.
    mutating func admit(_ answer: PendingAnswer) -> Bool {
        let size = answer.bytes + answer.route.reduce(0) { $0 + $1.count } + Self.overhead
        guard size <= Self.maximumBytes - bytes else { return false }
        var hasher = Hasher()
        hasher.combine(answer.route)
        hasher.combine(answer.frames)
        guard known[answer.peer, default: []].insert(hasher.finalize()).inserted else { return false }
        bytes += size
        return true
    }

    /// Those of some peers are not held any more, but their bytes still are.
    mutating func forget(_ peers: Set<Peer>) {
        for peer in peers { known[peer] = nil }
    }

    /// A command came again that was executed in an earlier batch.
    mutating func note(repeated req: Span<UInt8>) {
        guard repeated.count < Self.maximumRepeated else { return }
        repeated.insert(req.withUnsafeBytes { Array($0) })
    }

    /// Whether what has this `req` may have been executed in a batch before, so that nobody may say that it was not.
    func mayBeRepeated(_ req: some Sequence<UInt8>) -> Bool {
        repeated.count >= Self.maximumRepeated || repeated.contains(Array(req))
    }

    /// The answers of the present batch are on their way with it.
    mutating func batchDeparts() { if !repeated.isEmpty { repeated.removeAll() } }

    mutating func removeAll() {
        bytes = 0
        known.removeAll()
    }
}
