import ArgumentParser
import IsletClient
import IsletFilter
import Synchronization

/// A tap, and where it is asked for all that follows from it.
struct PlacedAction<Family: PlacedFamily>: Sendable {
    let target: PlacedTarget<Family>
    /// What was done, such as `tapped`.
    let done: String
    let output: OutputOptions
    let service: ServiceOptions

    /// How long it may take in all where nobody says it. The service ends every call at its deadline, of a minute at
    /// most: an action, and twice its value.
    private let waitMax = Duration.seconds(200)

    /// - Parameter fields: what the command says beside the address.
    func run(_ verb: String, _ fields: RawObject = [:], waits: Bool) async throws {
        try await service.withConnection(waits ? .events : .nothing) { connection in
            var command = try await target.command(verb, connection)
            for field in fields.members { command[field.name] = field.value }
            guard waits else {
                _ = try await act(command, connection)
                return
            }
            let begun = ContinuousClock.now
            let step = Step()
            try await Stoppable.during({ [command] in
                guard !step.giveUp() else { return "\(target.target) was not \(done)" }
                return await still(command, since: begun, connection)
            }) { [command] in
                try await withThrowingTaskGroup { group in
                    group.addTask { try await actAndFollow(command, connection, step) }
                    group.addTask { try await giveUp(command, connection, step, since: begun) }
                    // Whichever is first.
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }

    /// Ends what takes too long: the way to the events, before which nothing is done, or all of it.
    private func giveUp(
        _ command: Command, _ connection: IsletConnection, _ step: Step, since begun: ContinuousClock.Instant
    ) async throws {
        try await Task.sleep(until: begun + service.timeout.duration)
        if step.giveUp() {
            throw Failure(
                .unreachable,
                "no events from \(connection.endpoints.events) within \(TimeText.span(service.timeout.milliseconds)), "
                    + "so \(target.target) was not \(done): name where they come from with --events, or leave --wait "
                    + "out")
        }
        try await Task.sleep(until: begun + (service.namedTimeout?.duration ?? waitMax))
        let text = await still(command, since: begun, connection)
        throw Failure(.unreachable, text + (await Interruption.unanswered()))
    }

    /// Such as `Torch is still acting after 3 s, and what was asked for goes on`.
    private func still(
        _ command: Command, since begun: ContinuousClock.Instant, _ connection: IsletConnection
    ) async -> String {
        let get = Command("\(Family.noun).get", addressedAs: command)
        let entity = (try? await connection.send(get, timeout: .seconds(1))).flatMap(EntityText.entity)
        let time = TimeText.span(Span(begun.duration(to: .now)).milliseconds)
        guard let entity else { return "the service did not say within \(time) what became of \(target.target)" }
        let state = entity["state"]?.string ?? "not at rest"
        guard !Family.restingStates.contains(state) else { return "\(target.target) is \(state) after \(time)" }
        return "\(target.target) is still \(state) after \(time), and what was asked for goes on"
    }

    /// Sends the command and tells what happened at once; the revision of that.
    private func act(_ command: Command, _ connection: IsletConnection) async throws -> UInt64 {
        let answer = try await connection.send(command)
        let revision = EntityText.entity(answer)?["revision"]?.unsigned ?? 0
        let effect = output.json ? nil : await effect(command, revision, connection)
        try await Report.change(
            answer, done: done, name: target.target, details: effect.map { [$0] } ?? [], output: output,
            now: connection.now)
        return revision
    }

    /// What is seen of it since that revision, such as a toggle's wish. It is told by the history, since what is shown
    /// by now may be another thing; where that is not there, what was done has been done nevertheless.
    private func effect(_ command: Command, _ revision: UInt64, _ connection: IsletConnection) async -> String? {
        let history = Command("\(Family.noun).history", addressedAs: command)
        let events = (try? await connection.send(history))?["events"]?.elements ?? []
        let event = events.compactMap(\.object).last { $0[Family.noun]?.object?["revision"]?.unsigned == revision }
        return event.flatMap(Family.effect)
    }

    /// Joins the stream before, so that nothing that follows is missed.
    private func actAndFollow(_ command: Command, _ connection: IsletConnection, _ step: Step) async throws {
        let id = command["id"]?.string
        let app = command["app"]?.string ?? ""
        var deliveries = try await connection.events("\(app)/\(Family.noun)/").makeAsyncIterator()
        var isJoined = false
        while !isJoined, let delivery = try await deliveries.next() { isJoined = delivery == .joined }
        guard step.act() else { return }
        let begun = ContinuousClock.now
        let acted = try await act(command, connection)
        var lines = EventLines(style: .output, speed: output.json ? 1 : await ServiceSpeed.of(connection))
        var fate = Fate.open
        while let delivery = try await deliveries.next() {
            switch delivery {
            case .joined, .closing: continue
            case .synced(let state):
                // What was missed is not known any more, but where it has led to is.
                guard state.reason != .joined else { continue }
            case .event(let event, _):
                guard event.id == id, let revision = event.revision, revision >= acted else { continue }
                if revision > acted, !output.json {
                    for line in lines.lines(event, name: EntityTopic(event.topic).name) { Console.data(line) }
                }
                fate = Self.fate(fate, after: event)
                if event.isLast { throw Failure(.notFound, "\(target.target) was removed") }
                guard let to = event.object["to"]?.string, Family.restingStates.contains(to) else { continue }
            }
            if let entity = try await atRest(after: delivery, command, connection) {
                return try finish(entity, fate, after: begun.duration(to: .now))
            }
        }
    }

    /// What has become of the action, as far as events tell.
    private enum Fate {
        case open, performed
        case failed(String)
        /// The person who was to unlock the device did not come in time.
        case cancelled
    }

    private static func fate(_ fate: Fate, after event: StreamEvent) -> Fate {
        switch event.name {
        case "\(Family.noun).acting": return .open
        case "\(Family.noun).performed": return .performed
        case "\(Family.noun).failed" where event.object["from"]?.string == "acting":
            return .failed(PlacedText.failureWords(event.patch) ?? "unknown")
        case "\(Family.noun).cancelled":
            // What was over before is no other thing by a later tap that nobody unlocks the device for.
            guard case .open = fate else { return fate }
            return .cancelled
        case _: return fate
        }
    }

    /// The entity, where it rests and nothing more is to come from the stream.
    private func atRest(
        after delivery: Delivery, _ command: Command, _ connection: IsletConnection
    ) async throws -> RawObject? {
        let get = Command("\(Family.noun).get", addressedAs: command)
        guard let entity = EntityText.entity(try await connection.send(get)),
            let state = entity["state"]?.string, Family.restingStates.contains(state)
        else { return nil }
        guard case .event(let event, _) = delivery else { return entity }
        return entity["revision"]?.unsigned == event.revision ? entity : nil
    }

    /// Tells how it ended.
    private func finish(_ entity: RawObject, _ fate: Fate, after time: Duration) throws {
        if output.json {
            Console.data(entity.json.bytes)
        } else {
            let parts = [
                EntityText.state(entity, style: .output), Family.shown(entity),
                entity["revision"].map { "revision \($0)" }, "after \(TimeText.span(Span(time).milliseconds))",
            ]
            Console.data("\(Family.name(entity)): " + parts.compactMap(\.self).joined(separator: ", "))
        }
        switch fate {
        case .open, .performed: break
        case .failed(let failure): throw Failure(.failure, "the action failed: \(failure)")
        case .cancelled:
            throw Failure(.failure, "the action was not performed: the device was not unlocked in time")
        }
        if let failure = PlacedText.failureWords(entity) {
            throw Failure(.failure, "the action was performed, but \(Family.result) could not be had: \(failure)")
        }
    }
}

/// Whether an action is begun, or was given up before: one of the two, whichever is first.
private final class Step: Sendable {
    private enum State { case joining, acting, givenUp }

    private let state = Mutex(State.joining)

    /// Whether it may be begun.
    func act() -> Bool { leave(for: .acting) }

    /// Whether it was given up before it was begun.
    func giveUp() -> Bool { leave(for: .givenUp) }

    private func leave(for next: State) -> Bool {
        state.withLock { state in
            guard state == .joining else { return false }
            state = next
            return true
        }
    }
}

/// Whether a subcommand waits for what becomes of an action.
struct WaitOption: ParsableArguments {
    @Flag(
        name: .customLong("wait"),
        help: "Wait until it rests, for --timeout or 200 s, and show it; exit code 1 where it failed or was given up.")
    var isSet = false
}

extension Command {
    /// A command about the same entity.
    init(_ op: String, addressedAs other: Command) {
        self.init(op, app: other["app"]?.string)
        self["id"] = other["id"]
    }
}
