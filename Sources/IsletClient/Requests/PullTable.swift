/// The snapshots, replays and digests that are being pulled from the bulk endpoint.
///
/// A pure value; time is passed in. At most four run at once, which is what the service allows a peer; the others wait
/// for their turn, or for the time to try again.
package struct PullTable: Sendable {
    /// Pulls of one peer at once, by the contract.
    package static let maximumRunning = 4
    /// Chunks that may be under way for one pull.
    package static let credit = 4
    /// A connection that has brought nothing for so long has lost the pulls that run on it: they are given up, and asked for
    /// again.
    ///
    /// What comes of one holds up the end of all, also what is left of those that were given up: it comes one behind the
    /// other, so that by a slow connection a chunk may take longer than this to have its turn.
    package static let silence = Duration.seconds(5)

    /// Who wants it. A stream has one pull at a time, and digests beside it.
    package struct Owner: Sendable, Hashable {
        package var reader: Int
        package var app: String

        package init(reader: Int, app: String) {
            self.reader = reader
            self.app = app
        }

        /// Whether no reader follows it: those have positive numbers.
        var isPeek: Bool { reader < 0 }
    }

    package enum Kind: Sendable, Hashable {
        case snapshot(prefix: String?)
        case replay(from: UInt64)
        case digest(prefix: String)

        package var isDigest: Bool {
            guard case .digest = self else { return false }
            return true
        }
    }

    package enum Action: Sendable, Hashable {
        /// For as long as it is wanted; see ``wants(req:)``.
        case send(req: String, frame: [UInt8])
        /// Let one more chunk of it come. It begins nothing.
        case credit(frame: [UInt8])
        /// Tell the service that it is not wanted any more, if that has heard of it.
        case cancel(req: String, frame: [UInt8])
        /// It was lost, or nothing has come for too long, and is forgotten.
        case timeOut(Owner, isDigest: Bool)
    }

    /// What a message on the bulk connection is.
    package enum Received: Sendable, Hashable {
        case chunk(Owner, BulkChunk)
        /// A chunk before this one has not come, and will not: the pull is of no use any more, and is to be given up.
        case chunksLost(Owner)
        case digest(Owner, Watermark)
        /// The digest was refused, or cannot be read.
        case digestFailed(Owner, ServiceError?)
        /// Of a pull that was given up, a chunk that came before, or unreadable.
        case unknown
    }

    private struct Pull: Sendable {
        var number: UInt64
        var owner: Owner
        var kind: Kind
        var notBefore: ContinuousClock.Instant
        /// Nil while it waits.
        var silentUntil: ContinuousClock.Instant?
        /// The number of the chunk that comes next.
        var nextChunk: UInt64 = 0
    }

    /// In the order in which they were asked for.
    private var pulls: [Pull] = []
    private var lastNumber: UInt64 = 0

    /// How many run or wait.
    package var count: Int { pulls.count }

    /// Whether what was to be sent of this pull is still of use.
    package func wants(req: String) -> Bool {
        pulls.contains { self.req($0) == req }
    }

    package init() {}

    /// Asks for a pull, instead of the same owner's present one; digests stand beside.
    package mutating func request(_ kind: Kind, for owner: Owner, notBefore: ContinuousClock.Instant) -> [Action] {
        let actions = remove { $0.owner == owner && $0.kind.isDigest == kind.isDigest }
        lastNumber += 1
        pulls.append(Pull(number: lastNumber, owner: owner, kind: kind, notBefore: notBefore))
        return actions
    }

    /// Stops the pull of this owner.
    package mutating func cancel(_ owner: Owner) -> [Action] {
        remove { $0.owner == owner && !$0.kind.isDigest }
    }

    /// Stops all that a reader wanted.
    package mutating func cancel(reader: Int) -> [Action] {
        remove { $0.owner.reader == reader }
    }

    /// Lets one more chunk come.
    package func credit(_ owner: Owner) -> [Action] {
        pulls.filter { $0.owner == owner && !$0.kind.isDigest && $0.silentUntil != nil }.map { pull in
            .credit(frame: frame("bulk.credit", pull, ["credit": .integer(1)]))
        }
    }

    /// Takes a message in.
    package mutating func received(_ frames: [[UInt8]], now: ContinuousClock.Instant) -> Received {
        for index in pulls.indices where pulls[index].silentUntil != nil {
            pulls[index].silentUntil = now + Self.silence
        }
        guard let chunk = BulkChunk.read(frames), let index = pulls.firstIndex(where: { req($0) == chunk.req })
        else { return .unknown }
        let pull = pulls[index]
        // The question came twice, and its first copy is being answered.
        if chunk.error?.code == .requestReused { return .unknown }
        guard !pull.kind.isDigest else {
            pulls.remove(at: index)
            if let error = chunk.error { return .digestFailed(pull.owner, error) }
            guard let header = frames.first.flatMap(RawObject.init), let digest = Watermark(header) else {
                return .digestFailed(pull.owner, nil)
            }
            return .digest(pull.owner, digest)
        }
        if let number = chunk.number, chunk.error == nil {
            guard number >= pull.nextChunk else { return .unknown }
            guard number == pull.nextChunk else { return .chunksLost(pull.owner) }
            pulls[index].nextChunk += 1
        }
        if chunk.end != nil { pulls.remove(at: index) }
        return .chunk(pull.owner, chunk)
    }

    /// The connection was lost, and with it all that was asked for on it.
    ///
    /// - Parameter isWaiting: whether what begins a pull was not sent yet, and goes by the next connection.
    package mutating func connectionLost(isWaiting: (String) -> Bool) -> [Action] {
        let lost = pulls.filter { $0.silentUntil != nil && !isWaiting(req($0)) }
        pulls.removeAll { pull in lost.contains { $0.number == pull.number } }
        return lost.map { .timeOut($0.owner, isDigest: $0.kind.isDigest) }
    }

    /// What can begin, and what has been silent for too long.
    package mutating func due(now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        for pull in pulls {
            guard let silentUntil = pull.silentUntil, silentUntil <= now else { continue }
            actions.append(.timeOut(pull.owner, isDigest: pull.kind.isDigest))
            actions += remove { $0.number == pull.number }
        }
        var running = pulls.count { $0.silentUntil != nil }
        for index in pulls.indices where running < Self.maximumRunning {
            guard pulls[index].silentUntil == nil, pulls[index].notBefore <= now else { continue }
            pulls[index].silentUntil = now + Self.silence
            running += 1
            actions.append(.send(req: req(pulls[index]), frame: begin(pulls[index])))
        }
        return actions
    }

    /// When `due` has something to do by the passing of time; nil while nothing waits.
    package var nextWakeUp: ContinuousClock.Instant? {
        let isFull = pulls.count { $0.silentUntil != nil } >= Self.maximumRunning
        return pulls.compactMap { $0.silentUntil ?? (isFull ? nil : $0.notBefore) }.min()
    }

    // MARK: Frames

    private func req(_ pull: Pull) -> String { "p-\(pull.number)" }

    private func begin(_ pull: Pull) -> [UInt8] {
        // Of most peeks nobody wants the second chunk, which would only stand before what is asked for next.
        let credit = pull.owner.isPeek ? 1 : Self.credit
        switch pull.kind {
        case .snapshot(let prefix):
            var fields: RawObject = ["app": .string(pull.owner.app)]
            if let prefix { fields["prefix"] = .string(prefix) }
            fields["credit"] = .integer(credit)
            return frame("bulk.snapshot", pull, fields)
        case .replay(let from):
            return frame(
                "bulk.replay", pull,
                ["app": .string(pull.owner.app), "from": .integer(from), "credit": .integer(credit)])
        case .digest(let prefix):
            return frame("bulk.digest", pull, ["app": .string(pull.owner.app), "prefix": .string(prefix)])
        }
    }

    private func frame(_ op: String, _ pull: Pull, _ fields: RawObject) -> [UInt8] {
        Command(op, fields).frame(req: req(pull), client: nil)
    }

    /// Forgets some; those that run are cancelled at the service too.
    private mutating func remove(where isUnwanted: (Pull) -> Bool) -> [Action] {
        let unwanted = pulls.filter(isUnwanted)
        pulls.removeAll(where: isUnwanted)
        return unwanted.filter { $0.silentUntil != nil && !$0.kind.isDigest }.map { pull in
            .cancel(req: req(pull), frame: frame("bulk.cancel", pull, [:]))
        }
    }
}
