import IsletCore
import IsletJournal
import IsletProtocol

/// `service.backup`: the journal copies itself, and its owner waits for it.
extension Partition {
    func backUp(to path: FrameRange, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard isDurable else { return refuse(envelope, frame, .unavailable(.storeInMemory)) }
        guard frame[path.indices.lowerBound] == UInt8(ascii: "/") else {
            return refuse(envelope, frame, .badField(.path, .outOfRange))
        }
        if let backup, !backup.isAsked(by: frame) { return refuse(envelope, frame, .unavailable(.backupRunning)) }
        let result = later(.backup, envelope, frame)
        guard case .later(let job) = result else { return result }
        if backup == nil {
            nextRead += 1
            backup = RunningBackup(id: nextRead, frame: Array(frame))
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
        for job in backup.jobs { finish(job, with: answered(result, job)) }
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
    /// Who waits for it: the command, and those that came again.
    var jobs: [Job] = []

    func isAsked(by other: Span<UInt8>) -> Bool {
        other.withUnsafeBytes { other in frame.withUnsafeBytes { equal($0, other) } }
    }
}
