import ArgumentParser
import IsletClient
import IsletFilter
import Synchronization

/// `islet wait`: until an entity is as one wants it.
struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until something is in a state, or has a value.",
        discussion: """
            EXAMPLES:
              islet wait order-7 --for ended --timeout 5m
              islet wait order-7 --for stale,ended            either of them
              islet wait order-7 --for contentState.eta=0     a member's value
              islet wait Torch --for value=on
              islet wait Flight --for shown --family widget --app com.example.travel

            It follows the events and asks for nothing in between; it ends at once where
            it holds already. Dismissed counts as ended, which it is and more. Who names an
            activity by its key goes on with the one as which it is renewed.
            --timeout is how long it may take in all, in real time. Ctrl-C stops it.

            EXIT CODES: 0 it holds; 1 stopped; 3 there is no such thing, or a service with a new
            history does not know it; 4 it can never hold any more, since it was dismissed or
            removed, or is beyond that; 5 it did not hold in time.
            """)

    @OptionGroup var target: AnyTarget

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("A state, several with commas between them, or member=value.", valueName: "condition"))
    var condition: WaitCondition

    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let begun = ContinuousClock.now
        try await service.withConnection(.events) { connection in
            let found = try await target.find(connection)
            var wait = self
            wait.condition = try condition.resolved(found.family.noun, found.family.filterSubject)
            try await wait.wait(for: found, since: begun, connection)
        }
    }

    private func wait(
        for first: FoundEntity, since begun: ContinuousClock.Instant, _ connection: IsletConnection
    ) async throws {
        let end = begun + service.timeout.duration
        var found = first
        var seen = LastSeen(found.whole)
        try await follow(found, seen, since: begun, until: end, connection)
        while let id = Self.successor(of: found, seen.entity) {
            let get = Command("activity.get", app: found.app, ["id": .string(id)])
            let left = max(Self.lastLook, ContinuousClock.now.duration(to: end))
            guard let whole = EntityText.entity(try await connection.send(get, timeout: left)) else { break }
            found = FoundEntity(family: found.family, app: found.app, target: found.target, whole: whole)
            seen = LastSeen(whole)
            try await follow(found, seen, since: begun, until: end, connection)
        }
        try await tell(seen.entity, found, after: ContinuousClock.now - begun, connection)
    }

    /// The id of the activity as which it was renewed, where it was named by the key, which that one has now.
    private static func successor(of found: FoundEntity, _ entity: RawObject) -> String? {
        guard found.family == Activities.self, found.whole["key"]?.string == found.target else { return nil }
        return entity["renewedBy"]?.string
    }

    /// Whether there is nothing more to wait for: it holds, or goes on with another activity.
    ///
    /// - Throws: a `Failure` where it can never hold any more.
    private func isOver(_ found: FoundEntity, _ entity: RawObject) throws -> Bool {
        if Self.successor(of: found, entity) != nil || condition.holds(for: entity) { return true }
        try refuseIfLost(entity)
        return false
    }

    /// Waits until it is over with one entity.
    private func follow(
        _ found: FoundEntity, _ seen: LastSeen, since begun: ContinuousClock.Instant,
        until end: ContinuousClock.Instant, _ connection: IsletConnection
    ) async throws {
        guard try !isOver(found, seen.entity) else { return }
        try await ProgressLine.during({ "\(still(found, seen)), waiting for \(condition.text)" }) {
            try await Stoppable.during {
                "\(still(found, seen, since: begun)): waited for \(condition.text)"
            } _: {
                try await follow(found, seen, until: end, connection)
            }
        }
    }

    /// How long it may take to see the entity once more when the time is over.
    private static let lastLook = Duration.seconds(1)

    /// Reads the events until it is over or the time is, whichever is first.
    private func follow(
        _ found: FoundEntity, _ seen: LastSeen, until end: ContinuousClock.Instant, _ connection: IsletConnection
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await read(found, seen, connection) }
            group.addTask {
                try await Task.sleep(until: end, clock: .continuous)
                try await lookAgain(found, seen, connection)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Looks once more, since the time is over. Where no events come, as through an address that leads nowhere, only
    /// the entity says what it is.
    ///
    /// - Throws: a `Failure` where it is not over, or nobody says whether it is.
    private func lookAgain(_ found: FoundEntity, _ seen: LastSeen, _ connection: IsletConnection) async throws {
        let time = TimeText.span(service.timeout.milliseconds)
        do throws(IsletError) {
            let now = try await connection.send(found.command("get"), timeout: Self.lastLook)
            seen.replace(EntityText.entity(now) ?? seen.entity)
        } catch {
            guard error.code != .notFound else {
                throw Failure(
                    .notFound,
                    "the service does not know \(found.target) any more: what became of it is unknown (notFound)")
            }
            throw Failure(
                .unreachable,
                "\(found.target) was \(Self.place(of: seen.entity)) when it was last seen; waited \(time) for "
                    + "\(condition.text); \(connection.endpoints.commands): \(Failure(error).text)")
        }
        if try isOver(found, seen.entity) { return }
        throw Failure(.unreachable, "\(still(found, seen)) after \(time): waited for \(condition.text)")
    }

    /// Such as `order-7 is still active at revision 3 after 12 s`.
    private func still(
        _ found: FoundEntity, _ seen: LastSeen, since begun: ContinuousClock.Instant? = nil
    ) -> String {
        let time = begun.map { " after \(TimeText.span(Span(ContinuousClock.now - $0).milliseconds))" } ?? ""
        return "\(found.target) is still \(Self.place(of: seen.entity))\(time)"
    }

    /// Such as `active at revision 3`.
    private static func place(of entity: RawObject) -> String {
        let revision = entity["revision"].map { " at revision \($0)" } ?? ""
        return "\(entity["state"]?.string ?? "?")\(revision)"
    }

    private func read(_ found: FoundEntity, _ seen: LastSeen, _ connection: IsletConnection) async throws {
        for try await delivery in try await connection.events(found.topic) {
            switch delivery {
            case .joined, .closing: continue
            case .synced(let state):
                // From here on nothing is missed; what has happened until now, the entity itself says.
                seen.replace(try await whole(found, seen.entity, state.reason, connection))
            case .event(let event, _):
                guard event.id == found.id else { continue }
                seen.apply(event)
            }
            if try isOver(found, seen.entity) { return }
        }
    }

    /// The entity as it is now; where it is gone, as it was, and removed.
    ///
    /// - Throws: a `Failure` where a service with a new history does not know it: then nobody knows what became of it.
    private func whole(
        _ found: FoundEntity, _ last: RawObject, _ reason: SyncedState.Reason, _ connection: IsletConnection
    ) async throws -> RawObject {
        do throws(IsletError) {
            return EntityText.entity(try await connection.send(found.command("get"))) ?? last
        } catch {
            guard error.code == .notFound else { throw error }
            guard reason != .epochChanged else {
                throw Failure(
                    .notFound,
                    "the service began a new history, and does not know \(found.target) any more: what became of it is "
                        + "unknown (notFound)")
            }
            var gone = last
            gone["state"] = .string(found.family == Activities.self ? "dismissed" : "removed")
            return gone
        }
    }

    private func refuseIfLost(_ entity: RawObject) throws {
        guard condition.isLost(for: entity) else { return }
        let state = entity["state"]?.string ?? "?"
        let be = ["dismissed", "removed"].contains(state) ? "was" : "is"
        throw Failure(.conflict, "\(target.target) \(be) \(state) and will not be \(condition.text) any more")
    }

    private func tell(
        _ entity: RawObject, _ found: FoundEntity, after time: Duration, _ connection: IsletConnection
    ) async throws {
        guard !output.json else { return Console.data(entity.json.bytes) }
        // It holds, whether the service still answers or not.
        let now = try? await connection.now()
        let parts = [
            EntityText.state(entity, style: .output), found.family.shown(entity),
            entity["revision"].map { "revision \($0)" }, now.flatMap { EntityText.next(entity, now: $0) },
            "waited \(TimeText.span(Span(time).milliseconds))",
        ]
        Console.data("\(found.family.name(entity)): " + parts.compactMap(\.self).joined(separator: ", "))
    }
}

/// An entity as it was seen last.
private final class LastSeen: Sendable {
    private let members: Mutex<RawObject>

    init(_ entity: RawObject) {
        members = Mutex(entity)
    }

    var entity: RawObject { members.withLock { $0 } }

    func replace(_ entity: RawObject) {
        members.withLock { $0 = entity }
    }

    /// Takes an event in, unless it is in already.
    func apply(_ event: StreamEvent) {
        members.withLock { members in
            guard let revision = event.revision, revision > members["revision"]?.unsigned ?? 0 else { return }
            members.merge(event.patch)
            if let to = event.object["to"] { members["state"] = to }
        }
    }
}
