import IsletClient

/// One scenario against a service, step by step, until the end or the first thing that is not as expected.
struct ScenarioPlay {
    let scenario: Scenario
    let link: ScenarioLink
    let provider: ScenarioProvider?
    /// How long what is expected may take to come, where a step does not say it.
    let patience: Duration

    var scope = ScenarioScope(now: 0)
    /// How many events were looked at: a step that does nothing looks at those behind.
    private var seen = 0
    /// What a failure is explained by.
    var subject: (family: String, app: String, id: String)?
    private(set) var played = 0

    /// A clock that is moved stops wherever providers are called, which may take its time.
    private static let movePatience = Duration.seconds(120)
    /// Between two looks at what has not come yet.
    private static let pause = Duration.milliseconds(5)

    init(_ scenario: Scenario, _ link: ScenarioLink, provider: ScenarioProvider?, patience: Duration) {
        self.scenario = scenario
        self.link = link
        self.provider = provider
        self.patience = patience
        seen = link.events.count
    }

    /// Plays it.
    ///
    /// - Returns: the first failure; nil where all is as expected.
    mutating func play() async throws -> ScenarioFailure? {
        for (index, step) in scenario.steps.enumerated() {
            played = index + 1
            do {
                try await play(step)
            } catch var failure as ScenarioFailure {
                failure.step = index + 1
                failure.title = step.title
                return failure
            } catch let miss as ScenarioMiss {
                return ScenarioFailure(place: step.place, step: index + 1, title: step.title, message: miss.text)
            } catch let error as IsletError {
                return ScenarioFailure(
                    place: step.place, step: index + 1, title: step.title, message: error.description)
            }
        }
        return nil
    }

    private mutating func play(_ step: ScenarioStep) async throws {
        scope.now = try await now()
        let begun = step.action == nil ? seen : link.events.count
        var answer: RawObject?
        switch step.action {
        case .command(let form): answer = try await send(form, step)
        case .provider(let changes): await provider?.apply(changes)
        case nil: break
        }
        if let answer, let name = step.capture { scope.answers[name] = answer }
        try await link.settle()
        let end = ContinuousClock.now + (step.within ?? .zero)
        // What is to come is waited for before what is not to come.
        for check in step.checks where !check.isAboutNothing {
            try await hold(check, answer, since: begun, within: step.within ?? patience)
        }
        if step.checks.contains(where: { step.within == nil ? $0.isAboutRest : $0.isExact }), step.within != .zero {
            try await rest(until: end)
            for check in step.checks where check.isExact {
                try await hold(check, answer, since: begun, within: .zero)
            }
        }
        for check in step.checks where check.isAboutNothing {
            if let within = step.within {
                try await Task.sleep(for: within)
                try await link.settle()
            }
            try await hold(check, answer, since: begun, within: .zero)
        }
    }

    /// Returns when providers have answered all that they were asked: what is not to come would have come by then.
    ///
    /// A manual clock waits for them, also where it is not moved on.
    ///
    /// - Parameter end: how long is waited where the clock runs, which is not moved, and brings more by itself.
    private func rest(until end: ContinuousClock.Instant) async throws {
        // Where nobody else is at work, nothing is on its way.
        guard patience > .zero else { return }
        let answer = try await link.ask(
            ["op": .string("clock.advance"), "by": .integer(0)], patience: Self.movePatience)
        if answer["ok"]?.bool != true { try await Task.sleep(until: end, clock: .continuous) }
        try await link.settle()
    }

    /// The service's time.
    private func now() async throws -> Int64 {
        guard let now = try await link.ask(["op": .string("service.ping")])["now"]?.integer else {
            throw IsletError.unreadable("a ping without now")
        }
        return now
    }

    // MARK: Commands

    private mutating func send(_ form: ScenarioCommandForm, _ step: ScenarioStep) async throws -> RawObject {
        var command: RawObject = ["op": .string(form.op)]
        if !form.fields.contains(where: { $0.name == "req" }) {
            // So that events and explain say which line it was.
            command["req"] = .string("line-\(step.place.line)")
        }
        for field in form.fields { command[field.name] = try field.value.json(scope) }
        if let placed = form.placed {
            let app = command["app"]?.string ?? scenario.defaults.app
            let device = scenario.defaults.device.map(RawJSON.string)
            let rows = try await rows(placed.family, kind: placed.kind.json(scope), app: app, device: device)
            guard rows.count == 1, let id = rows[0]["id"] else {
                throw ScenarioMiss(Self.several(rows.count, placed.family, try placed.kind.json(scope).string ?? "?"))
            }
            command["id"] = id
        }
        let isMove = form.op == "clock.advance"
        let answer = try await link.ask(command, patience: isMove ? Self.movePatience : nil)
        noteSubject(of: answer, command)
        return answer
    }

    /// Remembers the entity that a command was about.
    private mutating func noteSubject(of answer: RawObject, _ command: RawObject) {
        guard let app = command["app"]?.string else { return }
        for family in ["activity", "control", "widget"] {
            let holder = answer["error"]?.object?["detail"]?.object?["id"]?.string
            guard let id = answer[family]?.object?["id"]?.string ?? command["id"]?.string ?? holder,
                command["op"]?.string?.hasPrefix(family + ".") == true
            else { continue }
            subject = (family, app, id)
        }
    }

    // MARK: Expectations

    /// Waits until it holds, and fails where it does not in time.
    private mutating func hold(
        _ check: ScenarioCheck, _ answer: RawObject?, since begun: Int, within: Duration
    ) async throws {
        let end = ContinuousClock.now + within
        while true {
            guard let failure = try await failure(check, answer, since: begun) else { return }
            guard !check.isFinal, ContinuousClock.now < end else { throw await told(failure, of: check, since: begun) }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// A failure, with what is known to be missing of the events that it is about.
    private func told(
        _ failure: ScenarioFailure, of check: ScenarioCheck, since begun: Int
    ) async -> ScenarioFailure {
        guard case .events = check.expectation else { return failure }
        // The connection may have been lost since the step has looked where it stands.
        try? await link.settle()
        guard let problem = link.events.problem(since: begun), failure.message != problem else { return failure }
        var told = failure
        told.message += "; \(problem)"
        return told
    }

    /// Why it does not hold now; nil where it does.
    private mutating func failure(
        _ check: ScenarioCheck, _ answer: RawObject?, since begun: Int
    ) async throws -> ScenarioFailure? {
        if check.isAboutRest, let problem = link.events.problem(since: begun) {
            return ScenarioFailure(place: check.place, message: problem)
        }
        switch check.expectation {
        case .answer(let pattern):
            guard let answer else { return nil }
            let differences = try pattern.differences(from: answer.json, scope)
            guard !differences.isEmpty else { return nil }
            return ScenarioFailure(
                place: check.place, message: Self.sentence(about: answer), differences: differences, came: answer.json)
        case .state(let subject, let state): return try await failure(check, subject, state)
        case .events(let patterns, let order):
            try await learn(since: begun)
            let events = events(since: begun)
            switch try ScenarioEventMatch.verdict(patterns, order, events, scope) {
            case .fit(let first):
                seen = max(seen, begun + first)
                return nil
            case .problem(let message, let pattern):
                return ScenarioFailure(
                    place: pattern?.place ?? check.place,
                    message: message,
                    differences: try pattern?.nearest(events, scope) ?? [])
            }
        case .noEvents(let patterns):
            if !patterns.isEmpty { try await learn(since: begun) }
            let events = events(since: begun, wholly: !patterns.isEmpty)
            for event in events {
                guard !patterns.isEmpty else {
                    return ScenarioFailure(
                        place: check.place, message: "no event was expected, and \(event.title) came")
                }
                for pattern in patterns {
                    switch try pattern.forbids(event, scope) {
                    case false?: continue
                    case true?:
                        return ScenarioFailure(
                            place: pattern.place, message: "\(event.title) came, and was not to come")
                    case nil:
                        return ScenarioFailure(
                            place: pattern.place,
                            message: "\(event.title) came, and whether it was not to come cannot be told",
                            differences: try pattern.nearest([event], scope))
                    }
                }
            }
            seen = max(seen, begun + events.count)
            return nil
        }
    }

    /// - Parameter wholly: whether with their entities as they were then.
    private func events(since begun: Int, wholly: Bool = false) -> [ScenarioEvent] {
        let all = link.events.all
        let wholes = wholly ? link.events.wholes(of: all) : []
        return all.indices.dropFirst(begun).map { index in
            let event = all[index]
            return ScenarioEvent(
                object: event.object, id: event.id, constants: event.id.flatMap { link.events.constants(of: $0) },
                whole: wholly ? wholes[index] : nil, kind: EntityTopic(event.topic).type)
        }
    }

    /// What an answer says, in one sentence.
    private static func sentence(about answer: RawObject) -> String {
        if let error = answer["error"]?.object {
            let code = error["code"]?.string ?? "?"
            return "refused: \(error["message"]?.string ?? code) (\(code))"
        }
        if answer["outcome"]?.string == "ignored" { return "ignored: \(answer["reason"]?.string ?? "?")" }
        return "the answer is not as expected"
    }

    /// Why a kind names no single thing.
    static func several(_ count: Int, _ family: String, _ kind: String) -> String {
        count == 0
            ? "there is no \(family) of the kind \(kind)"
            : "there are several \(family)s of the kind \(kind): name one with as:, and say \(family): $name"
    }
}

extension ScenarioCheck {
    /// Whether it is about what must not come.
    var isAboutNothing: Bool {
        if case .noEvents = expectation { true } else { false }
    }

    /// Whether it lists all events that come.
    var isExact: Bool {
        switch expectation {
        case .events(_, .exactly): true
        case .answer, .state, .events(_, .inOrder), .events(_, .anyOrder), .noEvents: false
        }
    }

    /// Whether what comes later may be too much for it.
    var isAboutRest: Bool { isExact || isAboutNothing }

    /// Whether it is about a provider that fails: then it may be one whose answers the service refuses.
    var isAboutFailure: Bool {
        let isRefused = ErrorCode.badAnswer.name
        return switch expectation {
        case .answer(let pattern): pattern.text.contains(isRefused)
        case .state(_, .members(let members)): ScenarioPattern.members(members).text.contains(isRefused)
        case .events(let patterns, _):
            patterns.contains { $0.name?.hasSuffix(".failed") == true || $0.members.text.contains(isRefused) }
        case .state(_, .gone), .noEvents: false
        }
    }

    /// Whether waiting cannot change it.
    var isFinal: Bool {
        switch expectation {
        case .answer, .noEvents: true
        case .state, .events: false
        }
    }
}
