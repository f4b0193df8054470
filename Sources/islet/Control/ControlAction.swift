import IsletClient

/// A tap, and where it is asked for all that follows from it.
struct ControlAction: Sendable {
    let target: ControlTarget
    /// What was done, such as `tapped`.
    let done: String
    let output: OutputOptions
    let service: ServiceOptions

    /// The service ends every call at its deadline, of a minute at most: an action, and twice its value.
    private static let waitMax = Duration.seconds(200)
    /// The states in which nothing is on its way.
    private static let resting: Set = ["shown", "disabled", "preview"]

    /// - Parameter isOn: what a toggle is set to; nil for a tap.
    func run(_ op: String, isOn: Bool?, waits: Bool) async throws {
        try await service.withConnection(followsStreams: waits) { connection in
            var command = try await target.command(op, connection)
            command["value"] = isOn.map(RawJSON.bool)
            guard waits else {
                _ = try await act(command, connection)
                return
            }
            try await withThrowingTaskGroup { [command] group in
                group.addTask { try await actAndFollow(command, connection) }
                group.addTask {
                    try await Task.sleep(for: Self.waitMax)
                    throw Failure(.unreachable, "\(target.target) does not come to rest")
                }
                // Whichever is first.
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Sends the command and tells what happened at once; the revision of that.
    private func act(_ command: Command, _ connection: IsletConnection) async throws -> UInt64 {
        let answer = try await connection.send(command)
        let revision = answer["control"]?.object?["revision"]?.unsigned ?? 0
        let wish = output.json ? nil : await wish(command, revision, connection)
        try await Report.change(
            answer, done: done, name: target.target, details: wish.map { [$0] } ?? [], output: output,
            now: connection.now)
        return revision
    }

    /// What the control shows since that revision; nil where it is a button, or hidden. It is told by the history, since
    /// what it shows by now may be another thing; where that is not there, what was done has been done nevertheless.
    private func wish(_ command: Command, _ revision: UInt64, _ connection: IsletConnection) async -> String? {
        var history = Command("control.history", fields: command.fields)
        history["value"] = nil
        let events = (try? await connection.send(history))?["events"]?.elements ?? []
        let patches = events.compactMap { $0.object?["control"]?.object }
        return patches.last { $0["revision"]?.unsigned == revision }?["value"].map(ControlText.text)
    }

    /// Joins the stream before, so that nothing that follows is missed.
    private func actAndFollow(_ command: Command, _ connection: IsletConnection) async throws {
        let id = command["id"]?.string
        var deliveries = try await connection.events("\(target.app.app)/control/").makeAsyncIterator()
        var isJoined = false
        while !isJoined, let delivery = try await deliveries.next() { isJoined = delivery == .joined }
        let begun = ContinuousClock.now
        let acted = try await act(command, connection)
        var lines = EventLines(style: .output)
        var failure: String?
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
                if event.name == "control.acting" { failure = nil }
                if event.name == "control.failed", event.object["from"]?.string == "acting" {
                    failure = event.patch["failure"]?.string ?? "unknown"
                }
                if event.isLast { throw Failure(.notFound, "\(target.target) was removed") }
                guard let to = event.object["to"]?.string, Self.resting.contains(to) else { continue }
            }
            if let control = try await atRest(after: delivery, command, connection) {
                return try finish(control, failure, after: begun.duration(to: .now))
            }
        }
    }

    /// The control, where it rests and nothing more is to come from the stream.
    private func atRest(
        after delivery: Delivery, _ command: Command, _ connection: IsletConnection
    ) async throws -> RawObject? {
        var get = Command("control.get", fields: command.fields)
        get["value"] = nil
        guard let control = try await connection.send(get)["control"]?.object,
            let state = control["state"]?.string, Self.resting.contains(state)
        else { return nil }
        guard case .event(let event, _) = delivery else { return control }
        return control["revision"]?.unsigned == event.revision ? control : nil
    }

    /// Tells how it ended.
    private func finish(_ control: RawObject, _ failure: String?, after time: Duration) throws {
        let value = ControlText.value(control)
        if output.json {
            Console.data(control.json.bytes)
        } else {
            let status = control["status"]?.string.map { "“\($0)”" }
            let parts = [
                EntityText.state(control, style: .output), value, status,
                control["revision"].map { "revision \($0)" }, "after \(TimeText.span(Span(time).milliseconds))",
            ]
            Console.data("\(ControlText.name(control)): " + parts.compactMap(\.self).joined(separator: ", "))
        }
        if let failure { throw Failure(.failure, "the action failed: \(failure)") }
        if let failure = control["failure"]?.string {
            throw Failure(.failure, "the action was performed, but the value could not be had: \(failure)")
        }
    }
}

extension Command {
    /// A command of these fields, the app among them.
    fileprivate init(_ op: String, fields: RawObject) {
        self.init(op, app: nil, fields)
    }
}
