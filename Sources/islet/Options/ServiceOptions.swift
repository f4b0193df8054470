import ArgumentParser
import IsletClient
import IsletFilter

/// Where the service is, and how patient to be: the same for every subcommand that asks it.
struct ServiceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where commands go (else ISLET_COMMANDS, else tcp://127.0.0.1:7411).", valueName: "url"))
    var commands: String?

    @Option(
        help: ArgumentHelp("Where events come from (else ISLET_EVENTS, else as the service says).", valueName: "url"))
    var events: String?

    @Option(
        help: ArgumentHelp("Where snapshots come from (else ISLET_BULK, else as the service says).", valueName: "url"))
    var bulk: String?

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("How long to wait for an answer. (default: 10 s)", valueName: "span"))
    var namedTimeout: Span?

    @Option(
        help: ArgumentHelp("Which service (else ISLET_CONTEXT, else as islet context use says).", valueName: "name"),
        completion: .custom(Completions.contexts))
    var context: String?

    /// How long an answer may take.
    var timeout: Span {
        get {
            namedTimeout ?? ChosenContext[.timeout].flatMap(Span.init(argument:)) ?? Span(milliseconds: 10_000)
        }
        set { namedTimeout = newValue }
    }

    func validate() throws {
        do {
            try ChosenContext.choose(named: context)
        } catch let failure as Failure {
            throw ValidationError(failure.text)
        }
    }

    /// Where nobody has named the commands' endpoint, the context's endpoints hold: its streams are of its own service.
    private func ofContext(_ setting: ContextBook.Setting) -> String? {
        commands == nil && environment("ISLET_COMMANDS") == nil ? ChosenContext[setting] : nil
    }

    /// The endpoints that are named, the rest by default.
    var endpoints: Endpoints {
        var endpoints = Endpoints()
        if let url = commands ?? environment("ISLET_COMMANDS") ?? ofContext(.commands) { endpoints.commands = url }
        if let url = events ?? environment("ISLET_EVENTS") ?? ofContext(.events) { endpoints.events = url }
        if let url = bulk ?? environment("ISLET_BULK") ?? ofContext(.bulk) { endpoints.bulk = url }
        return endpoints
    }

    /// Whether nobody has named where streams are, so that the service may say it.
    var asksForStreams: Bool {
        events == nil && bulk == nil && environment("ISLET_EVENTS") == nil && environment("ISLET_BULK") == nil
            && ofContext(.events) == nil && ofContext(.bulk) == nil
    }

    var connectionOptions: ConnectionOptions {
        ConnectionOptions(timeout: timeout.duration, requestPrefix: "cli")
    }

    /// Opens a connection for `body`, and closes it.
    ///
    /// - Parameter followsStreams: whether `body` reads streams too.
    func withConnection<Result>(
        followsStreams: Bool = false, _ body: (IsletConnection) async throws -> Result
    ) async throws -> Result {
        var connection = try await IsletConnection.open(endpoints, options: connectionOptions)
        do {
            if followsStreams, asksForStreams {
                connection = try await withStreams(connection, info: connection.send(Command("service.info")))
            }
            let result = try await body(connection)
            await connection.close()
            return result
        } catch IsletError.timedOut(let time) {
            await connection.close()
            let waited = TimeText.span(Span(time).milliseconds)
            throw Failure(
                .unreachable, "no answer from \(endpoints.commands) within \(waited): is the service running?")
        } catch {
            await connection.close()
            throw error
        }
    }
}

extension Span {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(
            milliseconds: seconds.multipliedClamped(by: 1_000).addingClamped(attoseconds / 1_000_000_000_000_000))
    }
}

extension ServiceOptions {
    /// Asks again and again, and says so, until there is an answer: for what is meant to be started before the service.
    func patiently<Result>(_ ask: () async throws -> Result) async throws -> Result {
        var hasSaid = false
        while true {
            do {
                return try await ask()
            } catch IsletError.timedOut {
                if !hasSaid { Console.message("waiting for \(endpoints.commands) …") }
                hasSaid = true
            }
        }
    }

    /// The connection whose streams are read: where nobody has named the streams' endpoints, the service says them.
    ///
    /// - Parameters:
    ///   - opened: one for commands; it is closed where another is needed.
    ///   - info: the answer to `service.info`.
    func withStreams(_ opened: IsletConnection, info: Answer) async throws -> IsletConnection {
        guard let named = info["info"]?.object?["endpoints"]?.object else { return opened }
        var asSaid = endpoints
        asSaid.events = named["events"]?.string ?? asSaid.events
        asSaid.bulk = named["bulk"]?.string ?? asSaid.bulk
        guard asSaid != endpoints else { return opened }
        await opened.close()
        return try await IsletConnection.open(asSaid, options: connectionOptions)
    }
}
