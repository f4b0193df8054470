import IsletCore
import IsletJournal
import IsletProtocol

/// Reads that take more than one turn.
extension Partition {
    /// At most this many wait at a time; one more is refused as `busy`.
    static let maximumJobs = 1_024
    /// And so many of one connection: as many commands as a message may have.
    static let maximumJobsOfPeer = 256

    /// A job for this command, whose answer will need its `req`.
    func job(_ kind: Job.Kind, _ envelope: Envelope, _ frame: Span<UInt8>) -> Job {
        let peer = continued?.peer ?? routeFrames().first ?? []
        var kept = envelope
        let req = envelope.req.map { frame.bytes($0) } ?? []
        if envelope.req != nil { kept.req = FrameRange(offset: 0, count: req.count) }
        return Job(kind, kept, req: req, peer: peer, number: statistics.commands)
    }

    func later(_ kind: Job.Kind, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let job = job(kind, envelope, frame)
        guard jobs.count < Self.maximumJobs, jobs.count(where: { $0.peer == job.peer }) < Self.maximumJobsOfPeer else {
            drop(job)
            return refuse(envelope, frame, .busy(retryAfter: 100))
        }
        jobs.append(job)
        return .later(job)
    }

    /// Nobody goes on with a job: what it holds beside itself is given back.
    func drop(_ job: Job) {
        switch job.kind {
        case .digest(let number, _): engine.cancelDigest(number)
        case .list, .waitForSeq, .past, .controlList, .controlValue, .widgetList, .timerList, .slotList, .subscriberList,
            .question, .backup, .clockTravel:
            break
        }
    }

    /// Gives each waiting read its turn; true where one has work left.
    func continueJobs() -> Bool {
        guard !jobs.isEmpty else { return false }
        var hasWork = false
        let waiting = jobs
        jobs.removeAll(keepingCapacity: true)
        for job in waiting {
            if let result = advance(job) {
                finish(job, with: result)
            } else {
                if !job.isWaiting { hasWork = true }
                jobs.append(job)
            }
        }
        return hasWork
    }

    /// Goes on with one; its answer once it is through.
    private func advance(_ job: Job) -> FrameResult? {
        let req = job.req
        switch job.kind {
        case .list(let scan):
            return scan.advance(engine) ? answer { scan.write(to: &$0, job.envelope, req.span) } : nil
        case .digest(let number, let app):
            guard let scan = engine.continueDigest(number) else { return nil }
            return digest(scan, app: app, job.envelope, req.span)
        case .waitForSeq(let seq, let app, let frame, let deadline):
            if engine.apps.find(app).map({ engine.apps.seq(of: $0) }) ?? 0 >= seq {
                continued = job
                defer { continued = nil }
                return execute(frame.span, isTooLong: false, isIngest: false, receivedAt: now.monotonic)
            }
            return now.monotonic >= deadline ? refuse(job.envelope, req.span, .expired) : nil
        case .past(let past): return advance(past, job)
        case .controlList(let scan):
            return scan.advance(engine) ? answer { scan.write(to: &$0, job.envelope, req.span) } : nil
        case .controlValue(let control, let deadline): return finishValue(control, deadline: deadline, job)
        case .widgetList(let scan):
            return scan.advance(engine) ? answer { scan.write(to: &$0, job.envelope, req.span) } : nil
        case .timerList(let scan):
            return scan.advance(engine) ? answer(scan, job.envelope, req.span) : nil
        case .slotList(let scan):
            return scan.advance(engine) ? answer(scan, job.envelope, req.span) : nil
        case .subscriberList(let scan):
            return scan.advance(subscribers, engine) ? answer(scan, job.envelope, req.span) : nil
        case .question(let question): return finish(question, job)
        case .backup, .clockTravel: return nil
        }
    }

    /// Puts a job's answer into its message, which leaves if it was the last that was missing.
    func finish(_ job: Job, with result: FrameResult) {
        guard let answer = job.answer else { return }
        if log.tellsCommands { tell(result, answering: job) }
        switch result {
        case .answered(let range): answer.message.fill(answer.index, copy(range), shows: shownBatch)
        // A read that waited was found to want no answer after all: there is none such.
        case .silent: preconditionFailure("a job without an answer")
        case .later(let next): next.answer = answer
        }
        send(answer.message)
    }

    /// Sends an answer if nothing is missing.
    func send(_ answer: PendingAnswer) {
        guard answer.isComplete, !answer.frames.isEmpty else { return }
        // While the disk is full everything leaves at once but what waits for it.
        let waitsForRoom = flights.isDiskFull && answer.shows > flights.committedThrough
        if waitsForRoom { leaveNow() }
        defer { if waitsForRoom { flights.hold(flights.board(&outbound)) } }
        let first = outbound.parts.count
        for frame in answer.route { outbound.add(copying: frame, to: answer.destination, more: true) }
        for frame in answer.frames {
            if let frame { outbound.add(copying: frame, to: answer.destination, more: true) }
        }
        outbound.endMessage()
        if answer.destination == .commands, !answer.hasChange { outbound.readAnswered(from: first) }
    }

    /// The last batch that an answer may show something of that is written now; 0: none, as while the disk is full.
    var shownBatch: UInt64 {
        if flights.isDiskFull { return 0 }
        return batch.isEmpty ? batch.number - 1 : batch.number
    }

    /// Ends reads that take many turns, but for backups, which show only what is committed.
    func refuseJobs(_ reason: Refusal.Unavailable) {
        let refused = jobs.filter { $0.isRead }
        jobs.removeAll { $0.isRead }
        for job in refused {
            drop(job)
            let req = job.req
            finish(job, with: refuse(job.envelope, req.span, .unavailable(reason)))
        }
    }

    /// The service stops: what waits is answered now.
    func refuseWaiting() {
        let unfinished = jobs + (clockTravel.map { [$0.job] } ?? [])
        jobs.removeAll()
        // It is not made any more, and nobody waits for it.
        backup = nil
        questions.removeAll()
        clockTravel = nil
        for message in waiting {
            for _ in message.frames {
                collect(refuse(Envelope(), Span(), .unavailable(.stopping)), into: message.answer)
            }
            message.answer.isClosed = true
            send(message.answer)
        }
        waiting.removeAll()
        for job in unfinished {
            let req = job.req
            finish(job, with: refuse(job.envelope, req.span, .unavailable(.stopping)))
        }
    }
}

extension Job {
    /// Whether it shows something of the engine.
    var isRead: Bool {
        switch kind {
        case .list, .digest, .waitForSeq, .past, .controlList, .controlValue, .widgetList, .timerList, .slotList,
            .subscriberList, .question:
            true
        case .backup, .clockTravel: false
        }
    }

    /// Whether it only waits for something to happen.
    var isWaiting: Bool {
        switch kind {
        case .waitForSeq, .past, .controlValue, .question, .backup, .clockTravel: true
        case .list, .digest, .controlList, .widgetList, .timerList, .slotList, .subscriberList: false
        }
    }
}
