import IsletClient
import IsletFilter

/// What is told of a replay: before it what the recording lacks, and in the end what has become of it.
struct ReplayReport {
    private let recording: Recording
    private let options: ReplayOptions
    private let output: OutputOptions
    private let progress: ReplayProgress
    private var begun: ContinuousClock.Instant?
    private var took = Duration.zero
    /// By how many milliseconds dates were moved.
    var offset: Int64?
    /// What differs from the recording; nil where nobody has asked.
    var differences: [ReplayVerification.Difference]?

    /// How many gaps are named.
    private static let gapsToldMax = 5

    init(_ recording: Recording, _ options: ReplayOptions, _ output: OutputOptions, _ progress: ReplayProgress) {
        self.recording = recording
        self.options = options
        self.output = output
        self.progress = progress
        guard let line = recording.cutLine else { return }
        Console.message("line \(line) is cut off: the end of the recording is missing")
        progress.note {
            $0.events += 1
            $0.seen += 1
            $0.cannot(.cutOff)
        }
    }

    /// Says what would be done to which service, before anything is.
    func announce(_ target: ReplayTarget, at url: String) {
        let progress = ReplayProgress(recording)
        ReplayDraft(recording, options.names).plan(progress)
        let counts = progress.counts
        let holdings = target.holdings.map { "which has \($0)" } ?? "which is empty"
        let plan = ["would replay \(counts.progress)"] + counts.rest
        Console.message("into \(url), \(holdings): \(plan.joined(separator: "; "))")
    }

    /// Says what the recording lacks or has twice, and that it begins now.
    mutating func begin() {
        if let lack = recording.lack { Console.message("the snapshot is not whole: \(lack)") }
        if recording.rows > 0 {
            let begin = recording.rows == 1 ? "begins" : "begin"
            Console.message(
                "\(RecordCounts.entities(recording.rows)) of the snapshot \(begin) anew: without a past, with revisions "
                    + "from 1 on, and with limits that count from now")
        }
        for gap in recording.gaps.prefix(Self.gapsToldMax) {
            let what = gap.first == gap.last ? "event \(gap.first) is" : "events \(gap.first) to \(gap.last) are"
            Console.message("\(gap.app.printable): \(what) not in the recording")
        }
        if recording.gaps.count > Self.gapsToldMax {
            Console.message("\(RecoveryText.grouped(Int(clamping: recording.missing))) events are missing in all")
        }
        if recording.repeated > 0 {
            let events = ReplayCounts.counted(recording.repeated, "event")
            Console.message("left out \(events) that the recording has twice, or behind later ones")
        }
        begun = .now
    }

    mutating func end() {
        took = begun.map { .now - $0 } ?? .zero
    }

    /// Says how it ended.
    ///
    /// - Parameters:
    ///   - error: what ended it before its end; nil where nothing did.
    ///   - unanswered: what is told of the changes that had no answer when the person stopped it, such as
    ///     `; activity.update was sent, outcome unknown`; nil where nobody has.
    /// - Throws: a `Failure` with the exit code, unless all that is recorded has come about.
    func conclude(_ error: (any Error)? = nil, stopped unanswered: String? = nil) throws {
        let counts = progress.counts
        let rest = counts.events - counts.seen
        if output.json, !options.isDryRun {
            Console.data(json(counts, isStopped: unanswered != nil || error != nil).bytes)
        }
        for difference in differences ?? [] where !output.json { Console.data(difference.text) }
        var text = summary(counts)
        let open = unanswered ?? ""
        if rest > 0 {
            let others = "the other \(RecoveryText.grouped(rest))"
            // What was sent may have come about: it was not stopped before that.
            text += open.isEmpty ? "; stopped before \(others)" : "; stopped with \(others) open"
        }
        let isUnverified = options.verify && !options.isDryRun && differences == nil
        if isUnverified, rest == 0 { text += "; not all of it was compared with the recording" }
        text += open
        if let failure = error.flatMap(Failure.init) {
            throw Failure(failure.code, "\(text): \(failure.text)")
        }
        if let error { throw error }
        if let reason = past(counts) { text += "\n\(reason): --new-ids plays it once more as new things" }
        guard counts.isWhole, differences?.isEmpty ?? !isUnverified else { throw Failure(.failure, text) }
        Console.message(text)
    }

    /// Why things of before are in the way; nil where none are.
    private func past(_ counts: ReplayCounts) -> String? {
        // The service knows the numbers of whoever is called as this recording is: nobody else has them.
        if !options.makesIDs, counts.refused["requestReused"] != nil || counts.refused["outcomeUnknown"] != nil {
            return "it, or a recording that begins as it does, was replayed here before"
        }
        // Whose these are is not known: what was recorded here has them too.
        return counts.refused["reconnectNotPermitted"].map { _ in "things of these ids are there already" }
    }

    /// Such as `replayed 1 234 of 1 300 events as 1 234 commands in 12.0 s (×10); 66 follow from deadlines`.
    private func summary(_ counts: ReplayCounts) -> String {
        var text = options.isDryRun ? "would replay \(counts.progress)" : "replayed \(counts.progress)"
        if !options.isDryRun {
            text += " in \(TimeText.span(Span(took).milliseconds))"
            if let speed = options.speed { text += " (\(speed.text))" }
        }
        if !counts.rest.isEmpty { text += "; " + counts.rest.joined(separator: ", ") }
        if let differences {
            text += differences.isEmpty ? "; all is as recorded" : "; \(Self.counted(differences.count))"
        }
        return text
    }

    private static func counted(_ differences: Int) -> String {
        ReplayCounts.counted(differences, "difference") + " from the recording"
    }

    private func json(_ counts: ReplayCounts, isStopped: Bool) -> RawJSON {
        var members = counts.members
        members.append(
            .init(
                "gaps",
                .array(
                    recording.gaps.map {
                        .object([
                            .init("app", .string($0.app)), .init("first", .integer($0.first)),
                            .init("last", .integer($0.last)),
                        ])
                    })))
        members.append(.init("repeated", .integer(recording.repeated)))
        if let offset { members.append(.init("offset", .integer(offset))) }
        members.append(.init("took", .integer(Span(took).milliseconds)))
        members.append(.init("isStopped", .bool(isStopped)))
        if let differences { members.append(.init("differences", .array(differences.map(\.json)))) }
        return .object(members)
    }
}
