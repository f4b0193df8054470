import IsletClient

/// Plays a recording into a service: one event after the other, each when its turn is.
struct ReplayRun {
    /// What the person has asked for.
    struct Options {
        var names = ReplayNames()
        /// How recorded dates become the target's.
        var times: ReplayTimes
        /// nil where nothing is waited for in real time.
        var realSpeed: Double?
        /// Whether the target's clock is moved to each event's date.
        var movesClock: Bool
        /// Whether entities get new ids.
        var newIDs: Bool
        var stopsOnError: Bool
    }

    let recording: Recording
    let options: Options
    /// For reads and the clock.
    let target: IsletConnection
    /// For the commands of the recording, which have numbers of their own.
    let changes: IsletConnection
    let progress: ReplayProgress

    private(set) var planner: ReplayPlanner
    /// What recorded ids are at the target, where they are others.
    private(set) var ids: [String: String] = [:]
    /// The recorded entities whose start was refused.
    private var refused: Set<String> = []
    /// Those that did not come to the recorded state, and are waited for no more.
    private var unsettled: Set<String> = []
    private var outbox: [Waiting] = []
    private var begun = ContinuousClock.now
    /// Where the target's clock was moved to.
    private var movedTo: Int64?
    private var isStopped = false

    private struct Waiting {
        let planned: PlannedCommand
        let line: Int
    }

    /// How many commands go together.
    private static let batchMax = 64
    /// How long the state of an entity is waited for in which a provider has a part.
    private static let settling = Duration.seconds(2)
    private static let pause = Duration.milliseconds(5)

    init(
        _ recording: Recording, _ options: Options, target: IsletConnection, changes: IsletConnection,
        progress: ReplayProgress
    ) {
        self.recording = recording
        self.options = options
        self.target = target
        self.changes = changes
        self.progress = progress
        planner = ReplayPlanner(recording)
    }

    /// Plays all of it.
    ///
    /// - Throws: an `IsletError` where the target does not answer any more.
    mutating func run() async throws {
        begun = .now
        var date = Int64.min
        for index in 0..<recording.count {
            guard !isStopped else { return }
            try Task.checkCancellation()
            guard let event = recording.event(index) else { continue }
            date = max(date, event.at)
            switch planner.plan(event) {
            case .follows(let cause): progress.note { $0.seen += 1; $0.follows(cause) }
            case .impossible(let obstacle): progress.note { $0.seen += 1; $0.cannot(obstacle) }
            case .send(let commands):
                try await reach(date)
                for planned in commands where !isStopped { try await post(planned, event) }
            }
        }
        if date > .min, !isStopped { try await reach(date) }
        try await flush()
    }

    // MARK: Time

    /// How long an event is waited for, in milliseconds, some thirty years: nobody waits for more, and every clock can
    /// count it.
    private static let longestWait = 1e12

    /// Waits until it is an event's turn, or moves the target's clock there.
    private mutating func reach(_ date: Int64) async throws {
        if let speed = options.realSpeed {
            let wait = Double(max(0, date.subtractingClamped(options.times.first))) / speed
            let turn = begun + .milliseconds(min(wait, Self.longestWait))
            if turn > .now {
                try await flush()
                try await Task.sleep(until: turn, clock: .continuous)
            }
        }
        guard options.movesClock else { return }
        let there = options.times.date(date)
        guard there > movedTo ?? .min else { return }
        try await flush()
        try await target.send(Command("clock.advance", ["to": .integer(there)]))
        movedTo = there
    }

    // MARK: Commands

    private mutating func post(_ planned: PlannedCommand, _ event: RecordedEvent) async throws {
        if let entity = planned.entity {
            // Whether it is there is known once its start is answered.
            if outbox.contains(where: { $0.planned.begins(entity) }) { try await flush() }
            if planned.opens { forget(entity) }
            guard !refused.contains(entity) else {
                return progress.note { $0.seen += 1; $0.cannot(.startRefused) }
            }
            if let state = planned.from, Self.resting.contains(state), !unsettled.contains(entity) {
                try await flush()
                // What has not come there once would hold up all that follows.
                if try await !settle(entity, in: state) { unsettled.insert(entity) }
            }
        }
        var ready = planned
        ready.command = options.times.shifted(translated(planned), at: event.at)
        outbox.append(Waiting(planned: ready, line: event.line))
        if outbox.count >= Self.batchMax { try await flush() }
    }

    /// What is known of whoever had the id before is nothing to what begins with it now.
    private mutating func forget(_ entity: String) {
        ids[entity] = nil
        refused.remove(entity)
        unsettled.remove(entity)
    }

    /// The command with the target's names and ids.
    private func translated(_ planned: PlannedCommand) -> Command {
        var command = options.names.renamed(planned.command)
        guard let entity = planned.entity, command["id"] != nil else { return command }
        if planned.opens {
            if options.newIDs { command["id"] = nil }
        } else if let id = ids[entity] {
            command["id"] = .string(id)
        }
        return command
    }

    /// Sends what is waiting.
    private mutating func flush() async throws {
        guard !outbox.isEmpty else { return }
        let batch = outbox
        outbox = []
        let results = await changes.send(batch: batch.map(\.planned.command))
        try Task.checkCancellation()
        for (waiting, result) in zip(batch, results) { try take(result, waiting) }
    }

    private mutating func take(_ result: Result<Answer, IsletError>, _ waiting: Waiting) throws {
        let planned = waiting.planned
        switch result {
        case .success(let answer):
            name(planned, by: answer)
            if planned.isPreparation { return progress.note { $0.commands += 1 } }
            guard case .ignored(let reason) = answer.outcome else {
                return progress.note {
                    $0.commands += 1
                    $0.seen += 1
                    $0.replayed += 1
                }
            }
            refuse(waiting, "ignored: \(reason)", "ignored: \(reason)")
        case .failure(.refused(let error)):
            if planned.isPreparation, !planned.opens, error.code == .conflict { return }
            if planned.opens, let entity = planned.entity { refused.insert(entity) }
            guard !planned.isPreparation else {
                if planned.opens, options.stopsOnError { isStopped = true }
                return progress.tell("line \(waiting.line): \(planned.command.op): \(Failure(.refused(error)).text)")
            }
            refuse(waiting, error.code.name, Failure(.refused(error)).text)
        case .failure(let error): throw error
        }
    }

    /// Notes what the answer calls an entity whose id was not chosen here.
    private mutating func name(_ planned: PlannedCommand, by answer: Answer) {
        guard let recorded = planned.successor ?? (planned.opens ? planned.entity : nil),
            let id = EntityText.entity(answer)?["id"]?.string, id != recorded
        else { return }
        ids[recorded] = id
    }

    private mutating func refuse(_ waiting: Waiting, _ code: String, _ text: String) {
        progress.note { $0.seen += 1; $0.refused[code, default: 0] += 1 }
        progress.tell("line \(waiting.line): \(waiting.planned.command.op): \(text)")
        if options.stopsOnError { isStopped = true }
    }

    // MARK: Providers

    /// The states in which nothing is on its way to a provider. Of the others nobody knows how long they last.
    static let resting = Controls.restingStates.union(Widgets.restingStates).union(["authenticating"])

    /// Waits until an entity stands where the recorded one stood, since a provider takes real time; not for ever.
    ///
    /// - Returns: whether it stands there; also where it is not there at all, which is said of its next command.
    func settle(_ recorded: String, in state: String) async throws -> Bool {
        guard let entity = planner.entities[recorded] else { return true }
        let get = get(recorded, entity)
        let end = ContinuousClock.now + Self.settling
        while ContinuousClock.now < end {
            let found: RawObject?
            do throws(IsletError) {
                found = EntityText.entity(try await target.send(get))
            } catch {
                guard case .refused = error else { throw error }
                return true
            }
            if found?["state"]?.string == state { return true }
            try await Task.sleep(for: Self.pause)
        }
        return false
    }
}
