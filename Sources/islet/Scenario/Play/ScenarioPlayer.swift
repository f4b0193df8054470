import IsletClient

/// Scenarios one after the other, each with what it needs around it.
struct ScenarioPlayer: Sendable {
    /// The service to play against; nil: each scenario has its own.
    let service: Endpoints?
    /// How long an answer may take.
    let answerPatience: Duration

    /// Where others are at work too, what is expected may take this long to come.
    private static let patience = Duration.seconds(5)
    /// So many of the last events are told with a failure.
    private static let eventsTold = 12

    /// Plays one.
    ///
    /// - Throws: where the service that was named does not answer.
    func play(_ scenario: Scenario) async throws -> ScenarioResult {
        let begun = ContinuousClock.now
        var steps = 0
        var failure: ScenarioFailure?
        if let service {
            (steps, failure) = try await play(scenario, at: service)
        } else {
            do {
                (steps, failure) = try await ScenarioService.with(scenario) { try await play(scenario, at: $0) }
            } catch {
                // Of its own service nobody else hears what is wrong; the next scenario has another one.
                let text = Failure(error)?.text ?? "\(error)"
                failure = ScenarioFailure(place: scenario.place, message: text)
            }
        }
        return ScenarioResult(
            name: scenario.name, path: scenario.path, place: scenario.place, steps: steps,
            duration: .now - begun, failure: failure)
    }

    private func play(_ scenario: Scenario, at endpoints: Endpoints) async throws -> (Int, ScenarioFailure?) {
        let link = try await ScenarioLink.open(endpoints, outlivesIt: service != nil, patience: answerPatience)
        let provider: ScenarioProvider?
        do {
            if let script = scenario.provider {
                provider = try await ScenarioProvider.start(script, at: endpoints.commands)
            } else {
                provider = nil
            }
        } catch {
            await link.close()
            guard let failure = error as? Failure else { throw error }
            return (0, ScenarioFailure(place: scenario.place, message: failure.text))
        }
        let isAlone = service == nil && provider == nil
        var play = ScenarioPlay(scenario, link, provider: provider, patience: isAlone ? .zero : Self.patience)
        let result: Result<ScenarioFailure?, any Error>
        do {
            var failure = try await play.play()
            if failure == nil, let provider { failure = await misunderstanding(of: provider, in: scenario) }
            if failure != nil { await explain(&failure, play) }
            result = .success(failure)
        } catch {
            result = .failure(error)
        }
        await provider?.stop()
        await link.close()
        return (play.played, try result.get())
    }

    /// Why nothing is shown though all is as expected: what the provider was to say the service refused, and no step is
    /// about that. What is not to come would never have come, and what was there before stays.
    private func misunderstanding(of provider: ScenarioProvider, in scenario: Scenario) async -> ScenarioFailure? {
        guard !scenario.steps.contains(where: { $0.checks.contains(where: \.isAboutFailure) }) else { return nil }
        // Answers come in order: whatever was refused before is known then.
        await provider.leave()
        guard await provider.wasMisunderstood else { return nil }
        return ScenarioFailure(
            place: scenario.place, message: "all is as expected, but the provider was not understood")
    }

    /// Adds what may explain a failure: the last events, and the decisions about the entity.
    private func explain(_ failure: inout ScenarioFailure?, _ play: ScenarioPlay) async {
        guard var told = failure else { return }
        let events = play.link.events.all.suffix(Self.eventsTold)
        told.events = events.compactMap { RawJSON($0.bytes) }
        // In domain time, as all that a scenario says.
        var lines = EventLines(style: Style(isOn: false), speed: 1)
        for event in events { told.eventLines += lines.lines(event, name: play.link.events.name(of: event)) }
        if let refusals = await play.provider?.refusals(), !refusals.isEmpty {
            told.message += "; the service would not have what the provider said: " + refusals.joined(separator: "; ")
        }
        if let subject = play.subject,
            let connection = try? await IsletConnection.open(
                play.link.endpoints, options: ConnectionOptions(timeout: answerPatience))
        {
            let command = Command("\(subject.family).explain", app: subject.app, ["id": .string(subject.id)])
            if let answer = try? await connection.send(command) {
                let now = (try? await connection.now()) ?? 0
                told.explanation = ExplainText.lines(answer, shown: { _ in nil }, now: now, style: Style(isOn: false))
            }
            await connection.close()
            told.entity = "\(subject.family) \(play.link.events.key(of: subject.id) ?? EntityText.shortID(subject.id))"
        }
        failure = told
    }
}
