import IsletHTTP
import IsletJournal
import IsletServer
import Logging
import Testing
import ZeroMQ

struct HTTPServiceTests {
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs a test with the pages of a service that may not be there.
    private static func withPages(_ body: (HTTPService, String) async throws -> Void) async throws {
        let pages = HTTPService(HTTPAddress(host: "127.0.0.1", port: 0), canWrite: false, logger: quiet)
        let running = Task { try await pages.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(pages, try await pages.url))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        try await running.value
        try result.get()
    }

    /// A service that has bound these addresses and answers nothing.
    private static let silent: ServiceCard = {
        let nowhere = "ipc:///nonexistent/islet"
        return ServiceCard(
            ServeConfiguration(), endpoints: ServiceEndpoints(commands: nowhere, events: nowhere, bulk: nowhere),
            guarantee: .none)
    }()

    private static func inspection(_ health: ServiceHealth) -> Inspection {
        Inspection(metrics: { Array("metrics".utf8) }, health: { health })
    }

    @Test func beforeTheServiceServesItIsAliveAndNotReady() async throws {
        try await Self.withPages { _, url in
            try await #expect(visit(url, "/healthz") == Visit(status: 200, body: #"{"status":"starting"}"#))
            try await #expect(
                visit(url, "/readyz") == Visit(status: 503, body: #"{"ready":false,"reason":"starting"}"#))
            for path in ["/metrics", "/api/session", "/api/events"] {
                try await #expect(visit(url, path).status == 503)
            }
            let command = #"{"op":"service.ping"}"#
            try await #expect(visit(url, "/api/commands", method: "POST", body: command).status == 503)
            try await #expect(visit(url, "/").status == 200)
        }
    }

    @Test func aServiceThatDoesNotAnswerIsNeitherAliveNorReady() async throws {
        try await Self.withPages { pages, url in
            pages.show(Self.silent, Self.inspection(.notReady("why")))
            try await #expect(visit(url, "/healthz") == Visit(status: 503, body: #"{"status":"why"}"#))
            try await #expect(visit(url, "/readyz") == Visit(status: 503, body: #"{"ready":false,"reason":"why"}"#))
            try await #expect(visit(url, "/metrics") == Visit(status: 200, body: "metrics"))
        }
    }

    @Test(arguments: [(ServiceHealth.diskFull, "diskFull"), (.commitHangs, "commitHangs")])
    func aServiceThatCommitsNothingLivesAndIsNotReady(_ health: ServiceHealth, _ reason: String) async throws {
        try await Self.withPages { pages, url in
            pages.show(Self.silent, Self.inspection(health))
            try await #expect(visit(url, "/healthz") == Visit(status: 200, body: #"{"status":"ok"}"#))
            try await #expect(
                visit(url, "/readyz") == Visit(status: 503, body: #"{"ready":false,"reason":"\#(reason)"}"#))
        }
    }

    @Test func aCommandWithoutAnAnswerIs504AndSaysThatNobodyKnows() async throws {
        try await Self.withPages { pages, url in
            pages.show(Self.silent, Self.inspection(.ok))
            let reply = try await visit(url, "/api/commands", method: "POST", body: #"{"op":"service.ping"}"#)
            #expect(reply.status == 504 && reply.body.contains(#""code":"outcomeUnknown""#))
        }
    }

    @Test func aPortThatIsTakenEndsItWithTheAddress() async throws {
        try await Self.withPages { _, url in
            let port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
            let second = HTTPService(HTTPAddress(host: "127.0.0.1", port: port), canWrite: false, logger: Self.quiet)
            let error = StartError(address: url, reason: .addressInUse)
            await #expect(throws: error) { try await second.run() }
            await #expect(throws: error) { try await second.url }
        }
    }
}
