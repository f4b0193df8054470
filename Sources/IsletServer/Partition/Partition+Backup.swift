import IsletCore
import IsletJournal
import IsletProtocol

/// `service.backup`: the journal copies itself, and its owner waits for it.
extension Partition {
    func backUp(
        to path: FrameRange, _ envelope: Envelope, _ frame: Span<UInt8>, original: Span<UInt8>
    ) -> FrameResult {
        guard isDurable else { return refuse(envelope, frame, .unavailable(.storeInMemory)) }
        guard frame[path.indices.lowerBound] == UInt8(ascii: "/") else {
            return refuse(envelope, frame, .badField(.path, .outOfRange))
        }
        var claim: RetryClaim?
        let isAgain = backup?.isAsked(by: original) ?? false
        if !isAgain {
            // Also while another one is made: what became of an earlier one is known.
            switch firstTime(envelope, frame, original: original) {
            case .settled(let result): return result
            case .first(let found): claim = found
            }
            guard backup == nil else { return refuse(envelope, frame, .unavailable(.backupRunning)) }
        }
        // As with changes: what was made already is told, however late the question is.
        if backup == nil, isExpired { return refuse(envelope, frame, .expired) }
        let result = later(.backup, envelope, frame)
        guard case .later(let job) = result else { return result }
        if backup == nil {
            nextRead += 1
            backup = RunningBackup(id: nextRead, frame: Array(original))
            if let claim {
                let req = job.req
                backup?.inFlight = RetryInFlight(claim: claim, ticket: retries.begin(claim, req: req.span))
            }
            journal.backUp(BackupRequest(id: nextRead, path: frame.text(path)))
        }
        backup?.jobs.append(job)
        return result
    }

    /// A backup is made, or not.
    func take(_ result: BackupResult) {
        guard let backup, backup.id == result.id else { return }
        self.backup = nil
        jobs.removeAll { job in backup.jobs.contains { $0 === job } }
        var remembered: UInt64?
        for (index, job) in backup.jobs.enumerated() {
            ledger.giveBack(&job.ticket)
            let (req, answer) = (job.req, answered(result, job))
            // All have asked with the same bytes.
            if index == 0, let inFlight = backup.inFlight {
                remember(answer, inFlight, req: req.span)
                if wasAccepted { remembered = batch.number }
            }
            finish(job, with: answer, rememberedIn: remembered)
        }
    }

    private func answered(_ result: BackupResult, _ job: Job) -> FrameResult {
        let req = job.req
        switch result.outcome {
        case .success(let bytes):
            return answer { writer in
                writer.beginAnswer(job.envelope, req.span, ok: true)
                writer.field("bytes", bytes)
                writer.endObject()
            }
        case .failure(let failure):
            return refuse(job.envelope, req.span, .backupFailed(failure.reason))
        }
    }
}

/// A backup that is being made.
struct RunningBackup {
    /// The journal's number of it.
    let id: UInt64
    /// The command that asked for it. A copy takes longer than clients wait before they send a command again, and then
    /// they send the same bytes.
    let frame: [UInt8]
    /// Where a retry after its end can be told.
    var inFlight: RetryInFlight?
    /// Who waits for it: the command, and those that came again.
    var jobs: [Job] = []

    /// A peer is gone. The first command stays: what became of it is remembered for a retry.
    mutating func forget(_ peer: Peer) {
        let first = jobs.first
        jobs.removeAll { $0.peer == peer && $0 !== first }
    }

    func isAsked(by other: Span<UInt8>) -> Bool {
        other.withUnsafeBytes { other in frame.withUnsafeBytes { equal($0, other) } }
    }
}
