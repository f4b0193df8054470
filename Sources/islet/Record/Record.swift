import ArgumentParser
import IsletClient
import IsletFilter

/// `islet record`: a recording that a replay can play whole.
struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record what there is and what happens, for a replay.",
        discussion: """
            EXAMPLES:
              islet record morning.jsonl                      until Ctrl-C
              islet record morning.jsonl --for 1h             for an hour
              islet record delivery.jsonl com.example.delivery/
              islet record state.jsonl --limit 0              only what there is now
              islet record hour.jsonl --since 1h --for 1s     the last hour
              islet record - --limit 1000 | gzip > morning.jsonl.gz
              islet replay morning.jsonl --commands tcp://127.0.0.1:7511

            The recording begins with a snapshot: all activities, controls, widgets and
            keys of groups that there are at one moment of each app. The events after that
            moment follow, none left out and none twice, each with its topic. So a replay
            knows how everything began that the events change; in what islet tail has
            written it does not.

            With --since it begins in the past: the snapshot is as of then, put together
            from what there is now and the events that are kept. It says what those do not
            tell.

            A prefix takes a part of it, as islet tail does. A snapshot does not have what
            was dismissed or removed before, past states, push tokens, settings, what
            devices have reported, and what a locked device hides.

            The file is made anew, and only its owner may read it: it has what users are
            shown. - is standard output. A service that is restarted meanwhile is waited
            for, and nothing is missing then. Of more than 1 000 apps it records one at a
            time.

            EXIT CODES: 0 it is whole, also after Ctrl-C; 1 events were missed, the service
            began a new history (as after a restore), the file could not be written, or it
            was stopped within its snapshot; 2 the file is there already; 5 nobody answers.
            """)

    @Argument(
        help: ArgumentHelp("The file, which must not be there yet; - is standard output.", valueName: "file"),
        completion: .file())
    var file: String

    @Argument(
        help: ArgumentHelp("Topics begin so: app/family/type/id, or less.", valueName: "prefix"),
        completion: .custom(Completions.topics))
    var prefix: String?

    @Option(help: ArgumentHelp("End after so many events; 0: only what there is.", valueName: "number"))
    var limit: Int?

    @Option(name: .customLong("for"), help: ArgumentHelp("Record events for so long.", valueName: "span"))
    var span: Span?

    @Option(
        name: .customLong("app"),
        help: ArgumentHelp("One app (else ISLET_APP); the same as the prefix APP/.", valueName: "bundle id"))
    var app: String?

    @OptionGroup var since: SinceOption
    @OptionGroup var service: ServiceOptions

    func validate() throws {
        guard prefix == nil || app == nil else { throw ValidationError("name a prefix or --app, not both") }
        guard (limit ?? 0) >= 0 else { throw ValidationError("--limit must not be negative") }
        guard (span?.milliseconds ?? 1) > 0 else { throw ValidationError("--for must be longer than 0 s") }
    }

    func run() async throws {
        let topics = prefix ?? chosenApp(app).map { $0 + "/" } ?? ""
        do {
            try await service.withConnection(.events) { try await record(topics, $0) }
        } catch let error as IsletError where error.code == .tooMany && !topics.contains("/") {
            throw KnownApps.tooMany("which nobody records at once", "name one with --app, or as a prefix")
        }
    }

    private func record(_ topics: String, _ connection: IsletConnection) async throws {
        let info = try await connection.send(Command("service.info"))["info"]?.object ?? [:]
        let timeout = service.timeout.duration
        // Where nobody tells it, no file is made.
        let apps: [String: StreamPosition]
        do throws(IsletError) {
            apps = try await RecordRun.positions(topics, connection, timeout: timeout)
        } catch {
            guard case .timedOut(let time, _) = error else { throw error }
            throw KnownApps.unanswered(connection, after: time)
        }
        let (sink, counts) = (try RecordingSink(file), RecordCounts())
        let run = RecordRun(
            prefix: topics, limit: limit, span: span, since: since, timeout: timeout, sink: sink, counts: counts,
            connection: connection, apps: apps, ruleSet: info["ruleSet"])
        do {
            try await ProgressLine.during({ "recorded \(counts.text)" }) { try await Self.untilStopped(run) }
            try sink.close()
        } catch {
            // What is whole of it stays: a replay says what is missing.
            try? sink.close()
            guard let failure = Failure(error) else { throw error }
            throw Failure(failure.code, "\(failure.text); recorded \(counts.text), to \(sink.name)")
        }
        if counts.isTooLong || sink.bytes > RecordingFile.bytesMax {
            Console.message("\(sink.name) is longer than what islet replay plays")
        }
        let text = "recorded \(counts.text), to \(sink.name)"
        guard counts.isWhole else {
            throw Failure(.failure, counts.isSnapshotWhole ? text : "stopped within the snapshot: \(text)")
        }
        Console.message(text)
    }

    /// Records until it is through or the person stops it.
    private static func untilStopped(_ run: RecordRun) async throws {
        try await Interruption.telling { signals in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    do {
                        try await run.run()
                    } catch let error as IsletError {
                        guard run.counts.isStopped else { throw error }
                    }
                }
                group.addTask {
                    for await _ in signals { break }
                    guard !Task.isCancelled else { return }
                    run.counts.stop()
                    // A part of the snapshot that is waited for does not hold up the end.
                    await run.connection.close()
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}
