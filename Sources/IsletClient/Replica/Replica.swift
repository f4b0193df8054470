/// All streams of one reader: joins them, sorts out what comes in, and keeps a `StreamReplica` for each app.
///
/// A pure value. Joining is one conversation for all of them:
///
///     start ──► subscribe prefixes, join ──► answer ──► every stream has its position
///                                   ▲                        │
///                                   └── an answer by itself ─┘
///
/// An answer that comes by itself means that the connection is new; a fresh nonce then tells what was missed. Readers of a
/// part must know it before anything else comes by that connection, so they join as soon as the old one is lost.
package struct Replica: Sendable {
    /// More apps than a join answers at once.
    package static let maximumStreams = 1_000

    package let scope: ReplicaScope
    package private(set) var streams: [String: StreamReplica] = [:]
    /// The topic of the join under way or last answered.
    private var joinTopic: [UInt8]?
    /// Whether that one was answered.
    private var isAnswered = false
    /// Whether a fresh join was asked for and not begun.
    private var isJoinDue = false
    private var isFirstJoin = true
    /// The epoch that the last answer to a join named beside the apps.
    private var joinedEpoch: String?
    private var isPaused = false
    /// Whether the service was heard since this was last set back.
    package var isHeard = false
    /// After which event each app's stream begins; nil: with the join.
    private let starts: [String: UInt64]?

    /// A replica of nothing yet.
    ///
    /// - Parameter starts: for events alone: after which event each app's stream begins. An app that is not named has
    ///   begun since, and is read from its first event on. nil: with the join.
    package init(scope: ReplicaScope, startingAfter starts: [String: UInt64]? = nil) {
        self.scope = scope
        self.starts = starts
    }

    /// The first effects.
    package mutating func start() -> [ReplicaEffect] {
        isJoinDue = true
        return scope.subscriptions.map { .subscribe(Array($0.utf8)) } + [.join]
    }

    /// Joins with this nonce: 32 hexadecimal digits that were never used before.
    package mutating func join(nonce: String) -> [ReplicaEffect] {
        var topic = Self.joinPrefix + Array(nonce.utf8)
        if let app = scope.app { topic.append(contentsOf: "/\(app)".utf8) }
        // The new one before the old one goes: one of them always tells of a new connection.
        let effects = [ReplicaEffect.subscribe(topic)] + (joinTopic.map { [.unsubscribe($0)] } ?? [])
        joinTopic = topic
        isAnswered = false
        for app in streams.keys { streams[app]?.joinAsked() }
        isJoinDue = false
        return effects
    }

    /// Whether a join waits for its answer.
    package var isJoining: Bool { joinTopic != nil && !isAnswered }

    /// The report of its positions, which bears the nonce of its join; nil while the join has no answer, or it is nowhere yet.
    /// Where no app has events it has none, and yet follows all there is.
    package var applied: AppliedReport? {
        guard isAnswered, !isJoinDue, let joinTopic else { return nil }
        let positions = streams.values.compactMap { stream in
            stream.isSynced ? stream.position.map { AppliedReport.Position(app: stream.app, $0) } : nil
        }
        guard !positions.isEmpty || streams.values.allSatisfy(\.isSynced) else { return nil }
        let nonce = joinTopic.dropFirst(Self.joinPrefix.count).prefix { $0 != UInt8(ascii: "/") }
        return AppliedReport(
            nonce: String(decoding: nonce, as: UTF8.self), positions: positions.sorted { $0.app < $1.app })
    }

    /// What the topic of a join begins with, before its nonce.
    private static let joinPrefix: [UInt8] = [0xFF] + Array("join/".utf8)

    /// Whether a message of this topic is the answer that its join waits for.
    package func awaits(topic: [UInt8]) -> Bool { topic == joinTopic && !isAnswered && !isJoinDue }

    /// Gives up all subscriptions.
    package func stop() -> [ReplicaEffect] {
        let topics = scope.subscriptions.map { Array($0.utf8) } + (joinTopic.map { [$0] } ?? [])
        return topics.map { .unsubscribe($0) } + streams.keys.map { .cancelPull(app: $0) }
    }

    /// A message has come by the subscription; those of other readers of the same socket are left alone.
    package mutating func received(topic bytes: [UInt8], body: [UInt8]) -> [ReplicaEffect] {
        if bytes.first == 0xFF { return bytes == joinTopic ? joinAnswered(body) : [] }
        let topic = String(decoding: bytes, as: UTF8.self)
        guard let slash = topic.firstIndex(of: "/") else { return [] }
        let app = String(topic[..<slash])
        // Before the first answer nothing is known to be missing, and all that comes is older than the answer.
        guard scope.includes(app: app), isAnswered || !streams.isEmpty else { return [] }
        isHeard = true

        if topic[slash...] == "/~" {
            guard let object = RawObject(body), let watermark = Watermark(object) else { return [] }
            let effects = update(app) { $0.received(watermark) }
            return object["closing"]?.bool == true ? effects + [.deliver(.closing(app: app))] : effects
        }
        guard let event = StreamEvent(topic: topic, bytes: body) else { return [] }
        return update(app) { $0.received(event) }
    }

    /// The connection of the subscriptions was lost; told before anything that came by another one.
    package mutating func disconnected() -> [ReplicaEffect] {
        guard isFiltered else { return [] }
        connectionIsAnother()
        return freshJoin()
    }

    /// A chunk for the pull of this app.
    package mutating func received(_ chunk: BulkChunk, app: String) -> [ReplicaEffect] {
        update(app) { $0.received(chunk) }
    }

    /// The pull of this app has brought nothing for too long.
    package mutating func pullTimedOut(app: String) -> [ReplicaEffect] {
        update(app) { $0.pullTimedOut() }
    }

    /// The answer to `bulk.digest` for this app.
    package mutating func received(digest: Watermark, app: String) -> [ReplicaEffect] {
        update(app) { $0.received(digest: digest) }
    }

    /// The digest of this app that was asked for does not come: lost, or refused.
    package mutating func digestFailed(_ error: ServiceError?, app: String) -> [ReplicaEffect] {
        update(app) { $0.digestFailed(error) }
    }

    /// Whether digests should be compared before the usual time.
    package var isCheckDue: Bool { scope.app.flatMap { streams[$0]?.isCheckDue } ?? false }

    /// It is time to compare digests.
    package mutating func checkDue() -> [ReplicaEffect] {
        updateAll { $0.checkDue() }
    }

    /// Nothing was heard for longer than the service is silent about an app that has events. The answer that tells of a new
    /// connection may have been lost, and a new history that has no events yet shows in nothing else. Where there are no
    /// events yet, nothing but the answer tells whether the connection leads anywhere.
    package mutating func silent() -> [ReplicaEffect] {
        isJoining ? [] : freshJoin()
    }

    /// The reader is behind.
    package mutating func pause() -> [ReplicaEffect] {
        isPaused = true
        return updateAll { $0.pause() }
    }

    /// The reader has caught up.
    package mutating func resume() -> [ReplicaEffect] {
        isPaused = false
        return updateAll { $0.resumed() }
    }

    // MARK: Joining

    private mutating func joinAnswered(_ body: [UInt8]) -> [ReplicaEffect] {
        guard let answer = JoinAnswer.read(body) else { return [] }
        isHeard = true
        // It may be from before what a fresh join was asked for after.
        guard !isJoinDue else { return [] }
        // Nobody asked for a second answer: the connection is new.
        guard !isAnswered else {
            connectionIsAnother()
            return freshJoin()
        }
        switch answer {
        case .failure(let error):
            // What is refused for now has no answer yet: it is asked for again.
            return error.retry == .later || error.code == .busy ? [] : [.fail(error)]
        case .success(let answer):
            isAnswered = true
            var effects: [ReplicaEffect] = isFirstJoin ? [.deliver(.joined)] : []
            isFirstJoin = false
            // What it names for the first time has begun since the one before, unless the history is another one.
            let goesOn = joinedEpoch != nil && joinedEpoch == answer.epoch
            joinedEpoch = answer.epoch
            let known =
                answer.positions.keys.filter(scope.includes(app:)) + streams.keys + (scope.app.map { [$0] } ?? [])
            for app in Set(known).sorted() {
                let position = answer.positions[app]
                if streams[app] == nil, !goesOn {
                    // Only the first join leads into the past: what it did not name has begun later.
                    let start = starts.map { $0[app] ?? 0 }
                    var stream = StreamReplica(app: app, interest: scope.interest, startingAfter: start)
                    if isPaused { _ = stream.pause() }
                    streams[app] = stream
                }
                effects += update(app) { $0.joined(position) }
            }
            return effects
        }
    }

    private var isFiltered: Bool {
        switch scope.interest {
        case .filtered: true
        case .events, .wholeApp: false
        }
    }

    private mutating func connectionIsAnother() {
        for app in streams.keys { streams[app]?.reconnected() }
    }

    private mutating func freshJoin() -> [ReplicaEffect] {
        guard !isJoinDue else { return [] }
        isJoinDue = true
        return [.join]
    }

    // MARK: Streams

    /// Lets a stream decide. One that was not heard of has no events before its first, since the join did not name it; so it
    /// begins there, however many it has by the time its reader has caught up.
    private mutating func update(_ app: String, _ body: (inout StreamReplica) -> [ReplicaEffect]) -> [ReplicaEffect] {
        var effects: [ReplicaEffect] = []
        var stream: StreamReplica
        if let known = streams.removeValue(forKey: app) {
            stream = known
        } else {
            guard streams.count < Self.maximumStreams else {
                return [.fail(.overloaded(limit: Self.maximumStreams))]
            }
            stream = StreamReplica(app: app, interest: scope.interest, startingAfter: 0)
            if isPaused { _ = stream.pause() }
            effects = stream.joined(nil)
        }
        effects += body(&stream)
        streams[app] = stream
        return settle(effects)
    }

    private mutating func updateAll(_ body: (inout StreamReplica) -> [ReplicaEffect]) -> [ReplicaEffect] {
        streams.keys.sorted().flatMap { app in update(app, body) }
    }

    /// One join serves all streams, and readers of a part get no other events.
    private mutating func settle(_ effects: [ReplicaEffect]) -> [ReplicaEffect] {
        effects.filter { effect in
            switch effect {
            case .join:
                guard !isJoinDue, !isJoining else { return false }
                isJoinDue = true
                return true
            case .deliver(.event(let event, _)):
                return scope.wants(topic: event.topic)
            case .subscribe, .unsubscribe, .snapshot, .replay, .digest, .credit, .cancelPull, .fail,
                .deliver(.joined), .deliver(.synced), .deliver(.closing):
                return true
            }
        }
    }
}
