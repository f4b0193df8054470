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
        guard backup == nil else { return refuse(envelope, frame, .unavailable(.backupRunning)) }
        let result = later(.backup, envelope, frame)
        if case .later(let job) = result {
            nextRead += 1
            backup = (nextRead, job)
            journal.backUp(BackupRequest(id: nextRead, path: frame.text(path)))
        }
        return result
    }

    /// A backup is made, or not.
    func take(_ result: BackupResult) {
        guard let backup, backup.id == result.id else { return }
        self.backup = nil
        jobs.removeAll { $0 === backup.job }
        let req = backup.job.req
        let answered: FrameResult
        switch result.outcome {
        case .success(let bytes):
            answered = answer { writer in
                writer.beginAnswer(backup.job.envelope, req.span, ok: true)
                writer.field("bytes", bytes)
                writer.endObject()
            }
        case .failure(let failure):
            answered = refuse(backup.job.envelope, req.span, .backupFailed(failure.reason))
        }
        finish(backup.job, with: answered)
    }
}
