import IsletClient
import IsletServer
import Logging
import Testing
import ZeroMQ

/// Runs a test with the real service, on free ports or on those of an earlier one, on a clock that only `clock.advance`
/// moves.
///
/// - Parameters:
///   - data: the directory of its files; nil keeps everything in memory.
///   - deadline: a port of an earlier one may be another test's for a while, which took it as a free one.
func withService<Result>(
    at endpoints: Endpoints = .free, data: String? = nil,
    until deadline: ContinuousClock.Instant = .now + .seconds(300), _ body: (Endpoints) async throws -> Result
) async throws -> Result {
    var configuration = ServeConfiguration()
    configuration.store = data == nil ? .memory : .sqlite
    if let data { configuration.data = data }
    configuration.journal.allowVolatile = true
    configuration.commands = endpoints.commands
    configuration.events = endpoints.events
    configuration.bulk = endpoints.bulk
    configuration.clock = ServeConfiguration.manualClock
    let (cards, ready) = AsyncStream.makeStream(of: ServiceCard.self, bufferingPolicy: .bufferingNewest(1))
    let service = IsletService(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { card, _ in
        ready.yield(card)
    }
    let running = Task {
        defer { ready.finish() }
        try await service.run()
    }
    guard let bound = await cards.first(where: { _ in true })?.endpoints else {
        do {
            try await running.value
        } catch let error as StartError where error.reason == .addressInUse && .now < deadline {
            return try await withService(at: endpoints, data: data, until: deadline, body)
        }
        throw CancellationError()
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

/// Runs a test with the real service and a session of an app, which is the task's.
func withSession(
    app: String = "com.example.pizza", _ body: (IsletConnection) async throws -> Void
) async throws {
    try await withService { endpoints in
        let session = IsletSession(app: app, endpoints: endpoints)
        try await Islet.$session.withValue(session) {
            try await body(try await session.connection)
        }
        await session.close()
    }
}

/// Runs a test with a service, a session of an app and a registered provider, whose answers the service awaits as long
/// as it ever does, however busy the machine is.
func withProvider(
    app: String = "com.example.pizza", @WidgetBundleBuilder kinds: () -> [ProviderKind],
    _ body: (IsletConnection, ProviderRun) async throws -> Void
) async throws {
    try await withSession(app: app) { connection in
        let run = ProviderRun(try #require(Islet.session)) { return kinds().map(\.patient) }
        try await run.registered()
        try await body(connection, run)
        try await run.stop()
    }
}

extension ProviderKind {
    /// The same kind with the longest deadlines.
    fileprivate var patient: ProviderKind {
        let longest = Duration.seconds(60)
        return switch self {
        case .control(let control): .control(control.deadlines(value: longest, action: longest).definition)
        case .widget(let widget): .widget(widget.deadlines(timeline: longest, action: longest).definition)
        }
    }
}

extension IsletConnection {
    /// Moves the manual clock.
    func advance(minutes: Int) async throws {
        try await send(Command("clock.advance", ["by": .integer(minutes * 60_000)]))
    }
}
