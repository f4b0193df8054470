/// The answers that were held back, to commands that came again while the disk is full. Clients send again and again until they
/// are answered, which may be for hours.
struct HeldAnswers {
    /// At most so many bytes are held. Beyond, whoever sends again once there is room is answered.
    static let maximumBytes = 16 << 20
    /// What an answer takes beside its bytes.
    private static let overhead = 256

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

    mutating func removeAll() {
        bytes = 0
        known.removeAll()
    }
}
