import IsletClient

/// What a replay would send, written instead.
struct ReplayDraft {
    private let recording: Recording
    private let names: ReplayNames

    init(_ recording: Recording, _ names: ReplayNames) {
        self.recording = recording
        self.names = names
    }

    /// Writes a line for each command, with the dates of the recording.
    func write(_ progress: ReplayProgress) {
        plan(progress) { planned in
            let req = "replay-\(planned.command.requestNumber ?? 0)"
            Console.data(names.renamed(planned.command).frame(req: req, client: nil))
        }
    }

    /// Plans the commands of all events, and notes what would become of these.
    func plan(_ progress: ReplayProgress, each: (PlannedCommand) -> Void = { _ in }) {
        var planner = ReplayPlanner(recording)
        for index in 0..<recording.count {
            guard let event = recording.event(index) else { continue }
            switch planner.plan(event) {
            case .follows(let cause): progress.note { $0.seen += 1; $0.follows(cause) }
            case .impossible(let obstacle): progress.note { $0.seen += 1; $0.cannot(obstacle) }
            case .send(let commands):
                commands.forEach(each)
                progress.note {
                    $0.seen += 1
                    $0.replayed += 1
                    $0.commands += commands.count
                }
            }
        }
    }
}
