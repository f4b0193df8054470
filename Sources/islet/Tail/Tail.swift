import ArgumentParser
import IsletClient
import IsletFilter

/// `islet tail`: every change as it happens.
struct Tail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show every change as it happens, with its cause.",
        discussion: """
            EXAMPLES:
              islet tail                                          everything
              islet tail com.example.delivery/                    one app
              islet tail com.example.delivery/activity/Delivery/  one type
              islet tail com.example.home/control/                an app's controls
              islet tail com.example.travel/widget/Flight/        the widgets of a kind
              islet tail --filter 'to=stale or cause=person'      what fits
              islet tail --filter 'lateBy>1s and key~order-*'     late ones of some keys
              islet tail --filter device=phone-1                  all that is on a phone
              islet tail --since 10m                   from ten minutes ago, then on and on
              islet tail --json | jq -c .event         the events' own bytes, a line each
              islet tail --json --topics > morning.jsonl     for islet replay

            It begins when it has joined, or with --since before that: nothing after
            its beginning is lost, and nothing comes twice. Gaps are filled by replay;
            where the service does not keep the events any more (islet info:
            retention), it says which ones were missed. Ctrl-C ends it. Of more than
            1 000 apps it follows one at a time.

            --filter compares members of the event (event, from, to, state, cause, at,
            lateBy), its topic's parts (app, family, type or kind, id), an activity's
            key, and what the event says of its entity, such as contentState.eta. What
            never changes of an entity (device, attributes, style, template) counts in
            each of its events; all else only in the events that change it. Of what was
            removed before it could be asked about, that is unknown, and fits nothing.
            """)

    @Argument(
        help: ArgumentHelp("Topics begin so: app/family/type/id, or less.", valueName: "prefix"),
        completion: .custom(Completions.topics))
    var prefix: String?

    @Option(help: ArgumentHelp("End after so many events.", valueName: "number"))
    var limit: Int?

    @Option(
        name: .customLong("app"),
        help: ArgumentHelp("One app (else ISLET_APP); the same as the prefix APP/.", valueName: "bundle id"))
    var app: String?

    @Flag(name: .customLong("topics"), help: "With --json: each event with its topic, as islet replay likes it best.")
    var showsTopics = false

    @OptionGroup var since: SinceOption
    @OptionGroup var filter: FilterOption<EventRows>
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func validate() throws {
        guard prefix == nil || app == nil else { throw ValidationError("name a prefix or --app, not both") }
        guard !showsTopics || output.json else { throw ValidationError("--topics goes with --json") }
        guard (limit ?? 1) > 0 else { throw ValidationError("--limit must be at least 1") }
    }

    func run() async throws {
        let topics = prefix ?? chosenApp(app).map { $0 + "/" } ?? ""
        let connection = try await connect()
        let summary = TailSummary()
        try await Interruption.telling { signals in
            try await withThrowingTaskGroup { group in
                group.addTask { try await follow(topics, connection, summary) }
                group.addTask { for await _ in signals { return } }
                // Whichever is first: the limit, an error, or the person.
                try await group.next()
                group.cancelAll()
            }
        }
        await connection.close()
        Console.message(filter.filter == nil ? summary.text : summary.fittingText)
    }

    /// Opens the connection, and waits for the service where only that knows where its streams are.
    private func connect() async throws -> IsletConnection {
        let connection = try await IsletConnection.open(service.endpoints, options: service.connectionOptions)
        guard service.asksForStreams else { return connection }
        let info = try await service.patiently {
            try await connection.send(Command("service.info"), timeout: .seconds(2))
        }
        return try await service.withStreams(connection, info: info, .events)
    }

    private func follow(_ topics: String, _ connection: IsletConnection, _ summary: TailSummary) async throws {
        do {
            try await showAll(topics, connection, summary)
        } catch let error as IsletError where Self.isOfTooManyApps(error) && !topics.contains("/") {
            throw KnownApps.tooMany("which nobody follows at once", "name one with --app, or as a prefix")
        }
    }

    /// Whether there were too many apps when it joined, or are by now.
    private static func isOfTooManyApps(_ error: IsletError) -> Bool {
        error.code == .tooMany || error == .overloaded(limit: Replica.maximumStreams)
    }

    private func showAll(_ topics: String, _ connection: IsletConnection, _ summary: TailSummary) async throws {
        var shown = Shown(filter: filter.filter, speed: output.json ? 1 : await ServiceSpeed.of(connection))
        let (stream, merge) = try await deliveries(topics, connection)
        var past = merge
        for try await delivery in stream {
            var events: [StreamEvent] = []
            switch delivery {
            case .joined:
                if !topics.contains("/") { Console.message("following \(topics.isEmpty ? "all apps" : "\(topics)…")") }
            case .synced(let state):
                if let message = summary.synced(state) { Console.message(message) }
                if state.reason != .joined { events = past.giveUp(state.app) }
            case .closing(let app):
                Console.message("\(app): the service is stopping; waiting for its return")
            case .event(let event, _):
                events = past.take(event)
            }
            for event in events {
                summary.saw()
                guard await show(event, &shown, connection) else { continue }
                if summary.counted() == limit { return }
            }
        }
    }

    /// What showing an event needs from those before.
    private struct Shown {
        let filter: Filter?
        var lines: EventLines
        var known: KnownEntities

        init(filter: Filter?, speed: Double) {
            self.filter = filter
            lines = EventLines(style: .output, speed: speed)
            known = KnownEntities(askedBy: filter)
        }
    }

    /// Writes an event, if it fits; whether it does.
    private func show(_ event: StreamEvent, _ shown: inout Shown, _ connection: IsletConnection) async -> Bool {
        let facts: KnownEntities.Facts?
        if output.json, !LastingMembers(event.family, askedBy: shown.filter).isUnknown {
            facts = nil
        } else {
            facts = await shown.known.facts(for: event, connection: connection)
        }
        if let filter = shown.filter {
            let lasting = facts?.lasting ?? LastingMembers(event.family, askedBy: filter)
            guard EventRow(event, lasting).fits(filter, at: event.at) else { return false }
        }
        if output.json {
            Console.data(showsTopics ? event.withTopic : event.bytes)
        } else if let facts {
            let name = name(event, facts)
            for line in shown.lines.lines(event, name: name, next: facts.next, entries: facts.entries) {
                Console.data(line)
            }
        }
        return true
    }

    /// The stream, from the past on where that is asked for, and what puts the past of several apps in order.
    private func deliveries(
        _ topics: String, _ connection: IsletConnection
    ) async throws -> (stream: DeliveryStream, past: PastMerge) {
        guard since.isSet else { return (try await connection.events(topics), PastMerge()) }
        let begin = try await since.date(now: connection.now)
        let timeout = service.timeout.duration
        let (stream, starts) = try await ProgressLine.during({ "looking for the beginning" }) {
            try await connection.events(topics, since: begin, timeout: timeout)
        }
        for (app, start) in starts.sorted(by: { $0.key < $1.key }) {
            if let text = start.text(of: app) { Console.message(text) }
        }
        return (stream, PastMerge(starts.filter { $0.value.seq < $0.value.head }.mapValues(\.head)))
    }

    /// `Delivery/order-7`, and the app before it where there may be several.
    private func name(_ event: StreamEvent, _ facts: KnownEntities.Facts) -> String {
        let isOneApp = (prefix ?? chosenApp(app))?.isEmpty == false
        return isOneApp ? facts.name : "\(event.app)  \(facts.name)"
    }
}
