import IsletClient
import IsletCore
import IsletServer
import Logging

/// A service of a scenario's own, in this process: in memory, on free ports, on a clock that only the scenario moves.
enum ScenarioService {
    private static let anyPort = "tcp://127.0.0.1:*"

    /// Runs one for as long as `body` needs it.
    static func with<Result: Sendable>(
        _ scenario: Scenario, _ body: (Endpoints) async throws -> Result
    ) async throws -> Result {
        var configuration = ServeConfiguration()
        configuration.store = .memory
        configuration.commands = anyPort
        configuration.events = anyPort
        configuration.bulk = anyPort
        configuration.http = nil
        configuration.clock = .manual(from: Instant(scenario.clock))
        for rule in scenario.rules {
            if let reason = configuration.setRule(rule.name, rule.text) {
                throw Failure(.usage, "\(scenario.path): \(rule.name): '\(rule.text)' is \(reason)")
            }
        }
        let (cards, ready) = AsyncStream.makeStream(of: ServiceCard.self, bufferingPolicy: .bufferingNewest(1))
        // What goes wrong the scenario tells.
        let service = IsletService(configuration, logger: Logger(label: "islet") { _ in SwiftLogNoOpLogHandler() }) {
            card, _ in
            ready.yield(card)
        }
        let running = Task {
            defer { ready.finish() }
            try await service.run()
        }
        var bound: ServiceEndpoints?
        for await card in cards {
            bound = card.endpoints
            break
        }
        guard let bound else {
            try await running.value
            throw Failure(.failure, "the scenario's service did not start")
        }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(
                try await body(Endpoints(commands: bound.commands, events: bound.events, bulk: bound.bulk)))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        try await running.value
        return try result.get()
    }
}
