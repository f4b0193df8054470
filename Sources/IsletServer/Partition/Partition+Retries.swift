import IsletCore
import IsletJournal
import IsletProtocol

/// A command that changes something is executed once, however often it is sent.
extension Partition {
    enum FirstTime {
        /// It is to be executed; the claim is nil where a retry could not be told.
        case first(RetryClaim?)
        /// It was executed before, or must not be: this is its answer.
        case settled(FrameResult)
    }

    /// Whether a command comes for the first time.
    ///
    /// - Parameters:
    ///   - frame: where its own strings stand without their escapes.
    ///   - original: its bytes as they came, by which it is told from another with the same `req`.
    func firstTime(_ envelope: Envelope, _ frame: Span<UInt8>, original: Span<UInt8>) -> FirstTime {
        guard let client = envelope.client, let req = envelope.req else { return .first(nil) }
        switch retries.check(client: client, req: frame.extracting(req.indices), frameHash: FrameHash(of: original)) {
        case .new(let claim): return .first(claim)
        case .answered(let remembered):
            let repeated = retries.withAnswer(remembered) { bytes in answer { $0.plainBytes(bytes) } }
            guard let repeated else { preconditionFailure("an answer was forgotten within a turn") }
            // While the disk is full everything leaves at once, and this one must not before what makes it true. A refusal would
            // be wrong: it has been executed.
            if flights.isDiskFull, remembered.batch > flights.committedThrough, case .answered(let range) = repeated {
                return .settled(.withheld(range, until: remembered.batch))
            }
            if remembered.batch < batch.number { outbound.noteExecutedBefore(frame.extracting(req.indices)) }
            // It leaves with the present batch, so after the one that makes it true.
            return .settled(repeated)
        // Only a backup is in flight while other commands are looked at, and its own bytes are told before.
        case .inFlight, .reused: return .settled(refuse(envelope, frame, .requestReused))
        case .unknown: return .settled(refuse(envelope, frame, .outcomeUnknown))
        }
    }

    /// Remembers the answer that was written last, if it says `ok:true`.
    func remember(_ result: FrameResult, _ claim: RetryClaim, req: Span<UInt8>) {
        guard case .answered(let range) = result, wasAccepted else { return }
        outbound.writer.withSpan { bytes in
            let answer = bytes.extracting(range)
            retries.remember(claim, req: req, answer: answer, batch: batch.number, at: now.domain)
            keep(answer, claim, req: req)
        }
    }

    /// The same of a command whose answer came in a later turn; one that was refused may come again.
    func remember(_ result: FrameResult, _ kept: RetryInFlight, req: Span<UInt8>) {
        guard case .answered(let range) = result, wasAccepted else { return retries.abandon(kept.ticket) }
        outbound.writer.withSpan { bytes in
            let answer = bytes.extracting(range)
            retries.finish(kept.ticket, answer: answer, batch: batch.number, at: now.domain)
            keep(answer, kept.claim, req: req)
        }
    }

    private func keep(_ answer: Span<UInt8>, _ claim: RetryClaim, req: Span<UInt8>) {
        guard isDurable else { return }
        image.removeAll()
        RetryWindow.write(claim, req: req, answer: answer, to: &image)
        image.withSpan { batch.remember($0) }
    }
}

/// A command whose answer is to be remembered when it comes.
struct RetryInFlight {
    let claim: RetryClaim
    let ticket: RetryTicket
}
