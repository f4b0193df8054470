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
        help: ArgumentHelp(
            "Which service, over the environment (else ISLET_CONTEXT, else as islet context use says).",
            valueName: "name"),
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
        // Nothing is answered within no time: it would only look as if nobody was there.
        guard timeout.milliseconds > 0 else { throw ValidationError("--timeout must be longer than 0 s") }
    }

    /// Where commands go, as somebody has named it: an option, a context that an option names, the environment, the
    /// context in use.
    private var namedCommands: String? {
        commands ?? ChosenContext.value(of: .commands, orEnvironment: "ISLET_COMMANDS")
    }

    /// Where a stream comes from, as somebody has named it. The streams of the environment and of a context are those
    /// of their own service: they do not hold where commands go to another one. An environment that names none is of the
    /// service that is meant without options.
    private func stream(_ option: String?, _ setting: ContextBook.Setting, _ variable: String) -> String? {
        if let option { return option }
        let target = namedCommands
        let ofContext = target == ChosenContext[.commands] ? ChosenContext[setting] : nil
        let usual = ChosenContext.isOption ? nil : ChosenContext[.commands]
        let own = environment("ISLET_COMMANDS") ?? usual ?? Endpoints().commands
        let ofEnvironment = own == target ?? Endpoints().commands ? environment(variable) : nil
        return ChosenContext.isOption ? ofContext ?? ofEnvironment : ofEnvironment ?? ofContext
    }

    private var namedEvents: String? { stream(events, .events, "ISLET_EVENTS") }
    private var namedBulk: String? { stream(bulk, .bulk, "ISLET_BULK") }

    /// The endpoints that are named, the rest by default.
    var endpoints: Endpoints {
        var endpoints = Endpoints()
        if let url = namedCommands { endpoints.commands = url }
        if let url = namedEvents { endpoints.events = url }
        if let url = namedBulk { endpoints.bulk = url }
        return endpoints
    }

    /// Whether there are streams of which nobody has named where they are, so that the service is to say it.
    var asksForStreams: Bool { namedEvents == nil || namedBulk == nil }

    /// Whether the command line itself says which service is meant.
    var namesService: Bool { commands != nil || context != nil && ChosenContext[.commands] != nil }

    /// The options by which the command line names the service, as they stand after another command.
    var spelled: String {
        Invocation.options(["context": context, "commands": commands, "events": events, "bulk": bulk])
    }

    var connectionOptions: ConnectionOptions {
        ConnectionOptions(timeout: timeout.duration, requestPrefix: "cli")
    }

    /// Opens a connection for `body`, and closes it.
    ///
    /// - Parameters:
    ///   - use: what `body` reads of the streams.
    ///   - checksStreams: whether they must be the service's own then.
    func withConnection<Result>(
        _ use: StreamUse = .nothing, checksStreams: Bool = true, _ body: (IsletConnection) async throws -> Result
    ) async throws -> Result {
        var connection = try await IsletConnection.open(endpoints, options: connectionOptions)
        defer { Interruption.unwatch(connection) }
        do {
            if use != .nothing, asksForStreams {
                connection = try await withStreams(
                    connection, info: connection.send(Command("service.info")), use, checks: checksStreams)
            }
            await Interruption.watch(connection)
            let result = try await body(connection)
            await connection.close()
            return result
        } catch IsletError.timedOut(let time, let change) {
            await connection.close()
            let waited = TimeText.span(Span(time).milliseconds)
            let outcome = change.map { " \($0)" } ?? ""
            throw Failure(
                .unreachable,
                "no answer from \(endpoints.commands) within \(waited): "
                    + "\(Listener.question(endpoints.commands))\(outcome)")
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
                if !hasSaid {
                    let url = endpoints.commands
                    Console.message(Listener.denial(url).map { "\($0); trying again …" } ?? "waiting for \(url) …")
                }
                hasSaid = true
            }
        }
    }

    /// The endpoints that are named, and of the streams that nobody has named those that the service says.
    ///
    /// - Parameter info: the answer to `service.info`.
    func endpoints(asSaidBy info: Answer) -> Endpoints {
        var asSaid = endpoints
        guard let said = info["info"]?.object?["endpoints"]?.object else { return asSaid }
        asSaid.events = namedEvents ?? said["events"]?.string ?? asSaid.events
        asSaid.bulk = namedBulk ?? said["bulk"]?.string ?? asSaid.bulk
        return asSaid
    }

    /// The connection whose streams are read: where nobody has named the streams' endpoints, the service says them.
    ///
    /// - Parameters:
    ///   - opened: one for commands; it is closed where another is needed.
    ///   - info: the answer to `service.info`.
    ///   - use: what is read of them.
    ///   - checksStreams: whether they must be the service's own.
    ///
    /// - Throws: where they are another's: commands go through a tunnel, and the streams do not.
    func withStreams(
        _ opened: IsletConnection, info: Answer, _ use: StreamUse, checks checksStreams: Bool = true
    ) async throws(IsletError) -> IsletConnection {
        let asSaid = endpoints(asSaidBy: info)
        var connection = opened
        if asSaid != endpoints {
            await opened.close()
            connection = try await IsletConnection.open(asSaid, options: connectionOptions)
        }
        guard checksStreams else { return connection }
        do throws(IsletError) {
            try await checkStreams(of: connection, use)
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    /// Whether the streams that a service has named are its own.
    func checkStreams(of connection: IsletConnection, _ use: StreamUse) async throws(IsletError) {
        let asksBulk = use == .events && namedBulk == nil
        guard namedEvents == nil || asksBulk else { return }
        let foreign = await foreignStreams(of: connection, bulk: asksBulk)
        if namedEvents == nil, let error = foreign.events { throw error }
        if let error = foreign.bulk { throw error }
    }

    /// What is wrong with streams that are another service's, whoever has named them; nil where that is not known.
    func foreignStreams(
        of connection: IsletConnection, bulk asksBulk: Bool
    ) async -> (events: IsletError?, bulk: IsletError?) {
        let patience = min(timeout.duration, Self.patienceWithStreams)
        var owned = await connection.ownsStreams(bulk: asksBulk, timeout: patience)
        // The epoch of a service that keeps nothing changes when it starts: it may have done so in between.
        if owned.events == false || owned.bulk == false {
            owned = await connection.ownsStreams(bulk: asksBulk, timeout: patience)
        }
        func error(_ stream: StreamOwnership.Stream) -> IsletError {
            .otherService(
                connection.endpoints, stream, advice: "say where this one's streams are with --events and --bulk")
        }
        return (owned.events == false ? error(.events) : nil, owned.bulk == false ? error(.bulk) : nil)
    }

    /// How long to wait for whose streams they are; where nobody answers, whoever follows them finds out.
    private static let patienceWithStreams = Duration.seconds(2)
}
