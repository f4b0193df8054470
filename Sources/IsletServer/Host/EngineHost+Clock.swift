import IsletCore
import IsletProtocol

/// The manual clock on its way: every deadline before its goal takes effect in order, at its own date.
struct ClockTravel {
    var target: Instant
    var job: Job
}

extension EngineHost {
    /// `clock.advance`. All other commands wait until it has arrived; the answer comes when all is committed.
    func advanceClock(_ advance: ClockAdvance, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard time.clock.isManual else { return refuse(envelope, frame, .unavailable(.clockNotManual)) }
        let target: Instant
        switch advance {
        case .by(let span):
            guard span >= 0 else { return refuse(envelope, frame, .badField(.by, .backwards)) }
            target = now.domain + span
        case .to(let instant):
            guard instant >= now.domain else { return refuse(envelope, frame, .badField(.to, .backwards)) }
            target = instant
        }
        let job = job(.clockTravel, envelope, frame)
        clockTravel = ClockTravel(target: target, job: job)
        return .later(job)
    }

    /// Lets some more deadlines take effect, and arrives when none is left; true while it travels.
    func continueTravel() -> Bool {
        guard let travel = clockTravel else { return false }
        let isUnderway = engine.fireDue(at: travel.target, dating: .whenDue, limit: Self.deadlinesPerTurn)
        encodeEvents(Span(), nil)
        if isUnderway { return true }
        do throws(DomainClock.AdvanceError) {
            try time.clock.advance(to: travel.target)
        } catch {
            preconditionFailure("the clock was moved while it travelled: \(error)")
        }
        now.domain = travel.target
        clockTravel = nil
        let req = travel.job.req
        finish(travel.job, with: answerNow(travel.job.envelope, req.span))
        continueDeferred()
        return false
    }

    /// Goes on with the commands that came in one message behind the travel.
    private func continueDeferred() {
        guard let message = deferred else { return }
        deferred = nil
        message.answer.isClosed = true
        for (index, frame) in message.frames.enumerated() {
            collect(execute(frame.bytes.span, isTooLong: frame.isTooLong, isIngest: false), into: message.answer)
            guard clockTravel != nil, index + 1 < message.frames.count else { continue }
            message.answer.isClosed = false
            deferred = DeferredMessage(frames: Array(message.frames[(index + 1)...]), answer: message.answer)
            return
        }
        send(message.answer)
    }
}
