import IsletClient
import IsletFilter

/// Writes what there is, and then what happens.
struct RecordRun {
    /// What topics begin with.
    let prefix: String
    /// After how many events it ends.
    let limit: Int?
    /// How long events are recorded, in real time.
    let span: Span?
    /// From when on events are recorded that have happened already; nil: from now on.
    let since: SinceOption?
    let timeout: Duration
    let sink: RecordingSink
    let counts: RecordCounts
    let connection: IsletConnection
    /// Where the streams of the apps stood when it began.
    let apps: [String: StreamPosition]
    /// The service's, as `service.info` says it.
    let ruleSet: RawJSON?

    /// Records to the end that was asked for.
    func run() async throws {
        let starts = try await writeSnapshot()
        guard limit != 0 else { return }
        Console.message("\(counts.snapshot) recorded; following \(prefix.isEmpty ? "all apps" : "\(prefix)…")")
        guard let span else { return try await follow(starts) }
        try await withThrowingTaskGroup { group in
            group.addTask { try await follow(starts) }
            group.addTask { try await Task.sleep(for: .milliseconds(span.milliseconds)) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: Snapshot

    /// Writes what there is, with the line before and behind it.
    ///
    /// - Returns: the moment of each app's part.
    private func writeSnapshot() async throws -> [String: StreamPosition] {
        let now = try await connection.now()
        let past = try await beginnings(now: now)
        var header = RecordedHeader(at: past?.at ?? now, prefix: prefix)
        header.apps = apps
        header.ruleSet = ruleSet
        try sink.write(header.json.bytes, isAwaited: true)
        var ends: [String: SnapshotCut] = [:]
        for app in apps.keys.sorted() {
            var cut = try await snapshot(of: app)
            if let start = past?.starts[app] { try await bringBack(&cut, of: app, to: start) }
            for (topic, row) in cut.rows.sorted(by: { $0.key < $1.key }) {
                let line = RecordedRow(topic: topic, row: row.bytes, seq: cut.knownTo)
                try sink.write(line.bytes, isAwaited: false)
            }
            counts.wrote(entities: cut.rows.count)
            cut.forgetRows()
            ends[app] = cut
        }
        try sink.write(RecordedEnd(ends).bytes, isAwaited: true)
        counts.wroteSnapshot()
        return ends.mapValues { StreamPosition(epoch: $0.position.epoch, seq: $0.knownTo) }
    }

    /// Where the streams of the apps stand that are recorded.
    ///
    /// - Parameter prefix: what topics begin with.
    static func positions(
        _ prefix: String, _ connection: IsletConnection, timeout: Duration
    ) async throws(IsletError) -> [String: StreamPosition] {
        let scope = ReplicaScope(prefix: prefix, keepsEntities: false)
        return try await connection.apps(of: scope.app, timeout: timeout).filter { scope.includes(app: $0.key) }
    }

    private func snapshot(of app: String) async throws -> SnapshotCut {
        try await withRoom(for: app) { room throws(IsletError) in
            try await connection.snapshot(of: app, prefix: prefix, bytesMax: room, timeout: timeout)
        }
    }

    /// Pulls something of an app, for which a recording must have the room.
    func withRoom<Pulled>(
        for app: String, _ pull: (Int) async throws(IsletError) -> Pulled
    ) async throws -> Pulled {
        let room = max(0, RecordingFile.bytesMax - sink.bytes)
        do throws(IsletError) {
            return try await pull(room)
        } catch {
            guard error == .overloaded(limit: room) else { throw error }
            let most = RecoveryText.grouped(RecordingFile.bytesMax)
            throw Failure(
                .refused,
                "with what \(app) has it would be more than the \(most) bytes that can be replayed: name a part, as in "
                    + "\(app)/activity/")
        }
    }

    // MARK: Events

    /// Writes what happens after the snapshot, until there are as many events as were asked for.
    private func follow(_ starts: [String: StreamPosition]) async throws {
        let heads = try await Self.positions(prefix, connection, timeout: timeout).mapValues(\.seq)
        var past = PastMerge(heads.filter { $0.value > starts[$0.key]?.seq ?? 0 })
        for try await delivery in try await connection.events(prefix, after: starts.mapValues(\.seq)) {
            let events: [StreamEvent]
            switch delivery {
            case .joined: continue
            case .synced(let state): events = try synced(state, starts, &past)
            case .closing(let app):
                Console.message("\(app): the service is stopping; waiting for its return")
                continue
            case .event(let event, _): events = past.take(event)
            }
            for event in events {
                try sink.write(event.withTopic, isAwaited: true)
                if counts.wroteEvent() == limit { return }
            }
        }
    }

    /// A stream begins, or begins again.
    ///
    /// - Returns: the events that waited for it.
    /// - Throws: a `Failure` where its history is another one than that of the snapshot.
    private func synced(
        _ state: SyncedState, _ starts: [String: StreamPosition], _ past: inout PastMerge
    ) throws -> [StreamEvent] {
        let isNew =
            switch state.reason {
            case .joined: starts[state.app].map { $0.epoch != state.position?.epoch } ?? false
            case .epochChanged: true
            case .eventsLost, .inconsistent: false
            }
        guard !isNew else {
            throw Failure(
                .failure, "\(state.app): the service began a new history, of which the recording has no beginning")
        }
        guard state.reason == .eventsLost else { return [] }
        counts.missed(state.missed)
        let missed = state.missed.map { "\($0.lowerBound) to \($0.upperBound)" } ?? "some"
        Console.message(
            "\(state.app): events \(missed) were missed, and the service does not keep them any more: what changed in "
                + "them is not in the recording")
        return past.giveUp(state.app)
    }
}
