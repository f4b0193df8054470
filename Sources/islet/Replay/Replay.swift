import ArgumentParser
import IsletClient

/// `islet replay`: a recorded stream once more, into another service.
struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play a recorded stream into another service.",
        discussion: """
            EXAMPLES:
              islet record morning.jsonl                           until Ctrl-C
              islet replay morning.jsonl --commands tcp://127.0.0.1:7511
              islet replay morning.jsonl --context staging --speed 10 --prefix staging.
              islet replay morning.jsonl --commands tcp://127.0.0.1:7511 \\
                  --speed max --verify                             is all as it was?
              islet replay morning.jsonl --dry-run | jq -c .op     what would be sent
              islet journal dump --data /srv/islet | islet replay - --context staging

            The target is named here, by --commands or --context: neither the environment nor
            the context in use is taken for it. What would be done is said first; where the
            target is not empty, it is asked for (--yes), and where the recording is of that
            very service, it is refused.

            Events become the commands that brought them about: in their order, with their
            times between them, and under their ids. What follows by itself is not sent: the
            target has deadlines of its own, and providers of controls and widgets must be
            there. Dates are moved by as much as lies between the first event and now.

            Where the target has a manual clock, that is moved from event to event and nothing
            is waited for, unless --speed names a number: then everything comes out as it was.
            On a clock that runs, only --speed 1 keeps deadlines between the same commands.

            What islet record has written begins with a snapshot, so that everything is
            there that events change: activities are started in the state that they had
            (and ended, where they were), keys of groups are set, controls and widgets are
            added, and their providers say what they show. All of it begins anew: revisions,
            and what counts from a start. One that was cut within its snapshot is refused,
            unless --incomplete says to play what there is.

            WHAT IS NOT REPLAYED, and said in the end: events of what began before a
            recording without a snapshot, as of islet tail --json --topics; signs of life
            and other commands that changed nothing, since they made no event; push tokens.
            Groups are made where they are missing. What the switch for frequent pushes has
            ended is ended by a command.

            The same recording into the same service twice does no harm: each command is known
            again and not executed. Only a manual clock is moved on once more, by as much as the
            recording is long. --new-ids plays it once more as new things.

            An id that was used again is used again: each life is played. Where the target keeps
            what was dismissed, the second start is refused until that is over, as it was then.

            EXIT CODES: 0 all that is recorded has come about; 1 something was refused or
            could not be replayed, or --verify found differences; 2 no readable recording,
            no named target, or nobody there to ask; 5 the target does not answer; 6 the
            recording is the target's own.
            """)

    @Argument(help: ArgumentHelp("The recording; - is standard input.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var options: ReplayOptions
    @OptionGroup var consent: ConsentOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        // Whoever plays a recording changes a service: which one is not left to what happens to be set.
        guard options.isDryRun || service.namesService else {
            throw Failure(
                .usage,
                "say into which service: --commands URL, or --context NAME of one with an address "
                    + "(the environment and the context in use are not taken)")
        }
        let recording = try read()
        let progress = ReplayProgress(recording)
        var report = ReplayReport(recording, options, output, progress)
        guard !options.isDryRun else {
            ReplayDraft(recording, options.names).write(progress)
            return try report.conclude()
        }
        try await service.withConnection { target in
            let there = try ReplayTarget(
                try await target.send(Command("service.info")), try await target.send(Command("service.stats")))
            // What would be wrong usage is that before anybody is asked.
            _ = try options.plan(there, first: recording.beginning ?? there.now)
            let url = service.endpoints.commands
            if let epoch = there.epoch, recording.epochs.contains(epoch) {
                throw Failure(
                    .refused,
                    "it was recorded at \(url) itself (epoch \(epoch)): what it tells of is there, and would be "
                        + "changed; play it into another service")
            }
            report.announce(there, at: url)
            if there.holdings != nil { try consent.require("replay it into \(url), which is not empty") }
            try await play(recording, into: there, target, &report, progress)
        }
    }

    private func read() throws -> Recording {
        let name = file == "-" ? "standard input" : file
        let recording: Recording
        do throws(RecordingError) {
            recording = try RecordingFile.read(file)
        } catch {
            throw Failure(.usage, "\(name) \(error.description)")
        }
        if let lack = recording.lack, !options.playsIncomplete {
            throw Failure(
                .usage,
                "\(name) has no whole snapshot: \(lack); --incomplete plays what there is; nothing was sent")
        }
        return recording
    }

    private func play(
        _ recording: Recording, into there: ReplayTarget, _ target: IsletConnection, _ report: inout ReplayReport,
        _ progress: ReplayProgress
    ) async throws {
        var own = service.connectionOptions
        own.requestPrefix = "replay"
        own.client = options.makesIDs ? nil : ReplayIdentity.client(recording, options.names)
        let changes = try await IsletConnection.open(service.endpoints, options: own)
        await Interruption.watch(changes)
        defer { Interruption.unwatch(changes) }
        report.begin()
        let result: Result<Ending<ReplayRun>, any Error>
        do {
            // Dates are moved to when it begins, however long was thought about that, and the way there is open then.
            var there = there
            there.now = try await changes.now()
            let plan = try options.plan(there, first: recording.beginning ?? there.now)
            report.offset = plan.times.offset
            result = .success(
                try await ProgressLine.during {
                    "replayed \(progress.counts.progress)"
                } _: {
                    try await Self.untilStopped {
                        var run = ReplayRun(recording, plan, target: target, changes: changes, progress: progress)
                        try await run.run()
                        return run
                    }
                })
        } catch {
            result = .failure(error)
        }
        report.end()
        await changes.close()
        switch result {
        case .success(.through(let run)):
            guard options.verify else { return try report.conclude() }
            try await verify(run, &report)
        case .success(.stopped(let unanswered)): try report.conclude(stopped: unanswered)
        case .failure(let error): try report.conclude(error)
        }
    }

    /// What was replayed is told however the comparison ends.
    private func verify(_ run: ReplayRun, _ report: inout ReplayReport) async throws {
        let ending: Ending<[ReplayVerification.Difference]>
        do {
            ending = try await Self.untilStopped { try await run.verify() }
        } catch {
            return try report.conclude(error)
        }
        switch ending {
        case .through(let differences):
            report.differences = differences
            try report.conclude()
        case .stopped(let unanswered): try report.conclude(stopped: unanswered)
        }
    }

    /// How something ends that does not fail.
    private enum Ending<Value: Sendable>: Sendable {
        case through(Value)
        /// By the person; with what is told of the changes that had no answer then.
        case stopped(unanswered: String)
    }

    private static func untilStopped<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Ending<Value> {
        try await Interruption.telling { signals in
            try await withThrowingTaskGroup(of: Ending<Value>.self) { group in
                group.addTask { .through(try await body()) }
                group.addTask {
                    for await _ in signals { break }
                    // Before the run is cancelled, which waits for no answer any more.
                    return .stopped(unanswered: await Interruption.unanswered())
                }
                defer { group.cancelAll() }
                return try await group.next() ?? .stopped(unanswered: "")
            }
        }
    }
}
