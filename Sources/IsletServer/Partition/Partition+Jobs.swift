import IsletCore
import IsletJournal
import IsletProtocol

/// Reads that take more than one turn.
extension Partition {
    /// How many of those that look at entities go on in one turn.
    private static let scansPerTurn = 8
    /// How long a question to a provider may take at most: as long as a kind may declare.
    static let longestQuestion: Milliseconds = DeclarationLimits.deadlines.upperBound

    /// A job for this command, whose answer will need its `req`.
    func job(_ kind: Job.Kind, _ envelope: Envelope, _ frame: Span<UInt8>, from peer: Peer? = nil) -> Job {
        var kept = envelope
        let req = envelope.req.map { frame.bytes($0) } ?? []
        if envelope.req != nil { kept.req = FrameRange(offset: 0, count: req.count) }
        return Job(kind, kept, req: req, peer: peer ?? asker, number: statistics.commands)
    }

    /// Answers later, if there is room for another job of its kind, and for the answers that wait for this one.
    func later(
        _ kind: Job.Kind, _ envelope: Envelope, _ frame: Span<UInt8>, from peer: Peer? = nil
    ) -> FrameResult {
        let job = job(kind, envelope, frame, from: peer)
        let written = waited == nil ? outbound.writer.count - messageStart : 0
        guard let work = kind.work, ledger.shortage(of: .answers, for: job.peer, bytes: written) == nil else {
            ledger.refused(.answers)
            return refuse(envelope, frame, .busy(retryAfter: Self.jobRetry))
        }
        do throws(WorkShortage) {
            job.ticket = try ledger.admit(work, for: job.peer, bytes: job.req.count + kind.bytes)
        } catch {
            return refuse(envelope, frame, .busy(retryAfter: Self.jobRetry))
        }
        jobs.append(job)
        return .later(job)
    }

    /// When to ask again for what may not wait now, in milliseconds.
    private static let jobRetry: Int64 = 100

    /// Gives each waiting read its turn; true where one has work left.
    ///
    /// Of those that look at entities some go on, and stand behind the others in the next turn. Once there is so much to send
    /// that no commands are taken, nothing more is answered either. A peer whose history is read has its other ones behind
    /// those of the others.
    func continueJobs() -> Bool {
        guard !jobs.isEmpty else { return false }
        var hasWork = false
        var scans = Self.scansPerTurn
        let waiting = jobs
        jobs.removeAll(keepingCapacity: true)
        var behind: [Job] = []
        var reading: Set<Peer> = []
        for job in waiting {
            let isFull = !hasRoomForAnswers
            guard !isFull, job.isWaiting || scans > 0 else {
                // What is written leaves with this turn, unless a commit is under way; then its end begins the next.
                if !isFull || flights.areLanded { hasWork = true }
                jobs.append(job)
                continue
            }
            if !job.isWaiting { scans -= 1 }
            messageStart = outbound.writer.count - (job.answer?.message.bytes ?? 0)
            let lastRead = nextRead
            if let result = advance(job) {
                ledger.giveBack(&job.ticket)
                finish(job, with: result)
            } else if job.isWaiting {
                if nextRead != lastRead { reading.insert(job.peer) }
                if job.waitsToBeRead, reading.contains(job.peer) { behind.append(job) } else { jobs.append(job) }
            } else {
                hasWork = true
                behind.append(job)
            }
        }
        jobs += behind
        return hasWork
    }

    /// Gives up what a job has begun; nothing is answered here.
    func drop(_ job: Job) {
        ledger.giveBack(&job.ticket)
        switch job.kind {
        case .digest(let number, _): engine.cancelDigest(number)
        case .question(let question): giveUp(question)
        case .list, .waitForSeq, .past, .controlList, .controlValue, .widgetList, .timerList, .slotList, .subscriberList,
            .problemList, .entityFind, .backup, .clockTravel:
            break
        }
    }

    /// Gives up the jobs of a peer that is gone. A backup is made all the same, and told to whoever asks for it again.
    func dropJobs(of peer: Peer) {
        for job in jobs where job.peer == peer {
            drop(job)
            // Its message may wait for the clock still, and then nobody would give its place back.
            job.answer?.message.abandon()
        }
        jobs.removeAll { $0.peer == peer }
        backup?.forget(peer)
    }

    /// Whether the message that a job answers in has as many bytes as it may, or its peer as many in all messages that wait:
    /// other jobs ended before.
    private func isFull(_ job: Job) -> Bool {
        guard let message = job.answer?.message else { return false }
        return message.bytes > Self.answerBytesPerMessage
            || ledger.shortage(of: .answers, for: job.peer, bytes: ListBounds.maximumBytes) != nil
    }

    /// Goes on with one; its answer once it is through.
    private func advance(_ job: Job) -> FrameResult? {
        let req = job.req
        if job.hasLargeAnswer, isFull(job) {
            drop(job)
            return refuse(job.envelope, req.span, .busy(retryAfter: Self.fullAnswerRetry))
        }
        switch job.kind {
        case .list(let scan):
            return scan.advance(engine) ? answer { scan.write(to: &$0, job.envelope, req.span) } : nil
        case .digest(let number, let app):
            guard let scan = engine.continueDigest(number) else { return nil }
            return digest(scan, app: app, job.envelope, req.span)
        case .waitForSeq(let seq, let app, let frame, let deadline):
            if engine.apps.find(app).map({ engine.apps.seq(of: $0) }) ?? 0 >= seq {
                // Like every command it waits for a clock on its way: what it asks of a provider would be dated before what
                // has happened.
                guard clockTravel == nil else { return nil }
                // It was counted when it came.
                statistics.commands -= 1
                waited = job.answer.map { WaitedMessage(answer: $0.message) }
                defer { waited = nil }
                return execute(frame.span, isTooLong: false, isIngest: false, receivedAt: now.monotonic)
            }
            return now.monotonic >= deadline ? refuse(job.envelope, req.span, .expired) : nil
        case .past(let past): return advance(past, job)
        case .controlList(let scan):
            return scan.advance(engine) ? answer { scan.write(to: &$0, job.envelope, req.span) } : nil
        case .controlValue(let wanted): return finishValue(wanted, job)
        case .widgetList(let scan):
            return scan.advance(engine) ? answer { scan.write(to: &$0, job.envelope, req.span) } : nil
        case .timerList(let scan):
            return scan.advance(self) ? answer(scan, job.envelope, req.span) : nil
        case .slotList(let scan):
            return scan.advance(engine) ? answer(scan, job.envelope, req.span) : nil
        case .subscriberList(let scan):
            return scan.advance(self) ? answer(scan, job.envelope, req.span) : nil
        case .problemList(let scan):
            return scan.advance(self) ? answer(scan, job.envelope, req.span) : nil
        case .entityFind(let scan):
            return scan.advance(engine) ? answer(scan, job.envelope, req.span) : nil
        case .question(let question): return finish(question, job)
        case .backup, .clockTravel: return nil
        }
    }

    /// Puts a job's answer into its message, which leaves if it was the last that was missing.
    ///
    /// - Parameter batch: The one in which it is remembered; it does not leave before. nil: it only shows what is there.
    func finish(_ job: Job, with result: FrameResult, rememberedIn batch: UInt64? = nil) {
        guard let answer = job.answer else { return }
        // What is remembered was done: it is no read that may be asked again.
        if batch != nil { answer.message.hasChange = true }
        if log.tellsCommands { tell(result, answering: job) }
        switch result {
        case .answered(let range):
            answer.message.fill(answer.index, copy(range), shows: batch ?? shownBatch)
            ledger.weigh(&answer.message.ticket, bytes: answer.message.bytes)
        case .withheld(let range, let shown): answer.message.fill(answer.index, copy(range), shows: shown)
        // A read that waited was found to want no answer after all: there is none such.
        case .silent: preconditionFailure("a job without an answer")
        case .later(let next): next.answer = answer
        }
        send(answer.message)
    }

    /// Sends an answer if nothing is missing; else it waits.
    func send(_ answer: PendingAnswer) {
        guard answer.isComplete else { return wait(answer) }
        ledger.giveBack(&answer.ticket)
        guard !answer.frames.isEmpty, !answer.isAbandoned else { return }
        // While the disk is full everything leaves at once but what waits for it.
        if flights.isDiskFull, answer.shows > flights.committedThrough { return withhold(answer) }
        let first = outbound.parts.count
        outbound.add(answer, with: batch.number)
        if answer.destination == .commands, !answer.hasChange { outbound.readAnswered(from: first) }
    }

    /// An answer waits for those of its frames that are missing; that there is room was seen when the first of them was.
    func wait(_ answer: PendingAnswer) {
        if answer.ticket == nil, !answer.isAbandoned { answer.ticket = ledger.enter(.answers, for: answer.peer, bytes: answer.bytes) }
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
        let rest = bulkRest.take().map { [$0] } ?? []
        for var message in waiting + resting.flatMap(\.messages) + rest {
            ledger.giveBack(&message.ticket)
            if message.hasTooManyFrames {
                collect(refuseTooManyFrames(), into: message.answer)
                message.frames.removeAll()
            }
            for frame in message.frames {
                switch frame {
                case .command(let bytes, let isTooLong):
                    let result = refuseUnlooked(bytes.span, isTooLong: isTooLong, .unavailable(.stopping))
                    collect(result, into: message.answer)
                case .answered(let bytes, let shown): message.answer.add(bytes, shows: shown)
                }
            }
            message.answer.isClosed = true
            send(message.answer)
        }
        waiting.removeAll()
        resting.removeAll()
        for job in unfinished {
            ledger.giveBack(&job.ticket)
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
            .subscriberList, .problemList, .entityFind, .question:
            true
        case .backup, .clockTravel: false
        }
    }

    /// Whether its answer may have as many bytes as a frame may.
    var hasLargeAnswer: Bool {
        switch kind {
        case .list, .past, .controlList, .widgetList, .timerList, .slotList, .subscriberList, .problemList, .entityFind: true
        case .digest, .waitForSeq, .controlValue, .question, .backup, .clockTravel: false
        }
    }

    /// Whether it is a history whose read has not begun.
    var waitsToBeRead: Bool {
        switch kind {
        case .past(let past): past.read == nil
        case .list, .digest, .waitForSeq, .controlList, .controlValue, .widgetList, .timerList, .slotList, .subscriberList,
            .problemList, .entityFind, .question, .backup, .clockTravel:
            false
        }
    }

    /// Whether it only waits for something to happen.
    var isWaiting: Bool {
        switch kind {
        case .waitForSeq, .past, .controlValue, .question, .backup, .clockTravel: true
        case .list, .digest, .controlList, .widgetList, .timerList, .slotList, .subscriberList, .problemList, .entityFind: false
        }
    }
}

extension Job.Kind {
    /// What it counts as; nil for the travelling clock, of which there is one.
    var work: WaitingWork? {
        switch self {
        case .waitForSeq: .reads
        case .list, .controlList, .widgetList, .timerList, .slotList, .subscriberList, .problemList, .entityFind: .lists
        case .digest: .digests
        case .past: .histories
        case .controlValue, .question: .questions
        case .backup: .backups
        case .clockTravel: nil
        }
    }

    /// What it keeps, beside the `req`: of its command, of a list the page that it gathers, and of a past what it begins with.
    var bytes: Int {
        switch self {
        case .waitForSeq(_, let app, let frame, _): app.count + frame.count
        case .question(let question): question.sort.bytes
        case .list, .controlList, .widgetList, .timerList, .slotList, .subscriberList, .problemList, .entityFind:
            ListBounds.maximumBytes
        case .past(let past): past.bytes
        case .digest, .controlValue, .backup, .clockTravel: 0
        }
    }
}
