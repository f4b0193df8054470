import IsletCore
import IsletProtocol

/// The manual clock on its way: every deadline before its goal takes effect in order, at its own date.
struct ClockTravel {
    var target: Instant
    var job: Job
    /// Where a retry of the command can be told.
    var claim: RetryClaim?
}

/// A travel that has begun and not arrived, so that a retry after a kill or a stop goes where the first one was to go.
struct UnfinishedTravel: Equatable {
    var command: RetryIdentity
    var target: Instant

    init(_ claim: RetryClaim, to target: Instant) {
        command = RetryIdentity(claim)
        self.target = target
    }

    /// Reads what ``write(to:)`` wrote.
    init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        command = try RetryIdentity(&reader)
        target = try reader.instant()
    }

    func write(to writer: inout ImageWriter) {
        writer.write(byte: Self.version)
        command.write(to: &writer)
        writer.write(target)
    }

    /// The layout of what is stored.
    private static let version: UInt8 = 1
}

extension Partition {
    /// `clock.advance`. All other commands wait until it has arrived; the answer comes when all is committed.
    func advanceClock(
        _ advance: ClockAdvance, _ envelope: Envelope, _ frame: Span<UInt8>, original: Span<UInt8>
    ) -> FrameResult {
        guard clock.isManual else { return refuse(envelope, frame, .unavailable(.clockNotManual)) }
        let claim: RetryClaim?
        switch firstTime(envelope, frame, original: original) {
        case .first where isExpired: return refuse(envelope, frame, .expired)
        case .first(let new): claim = new
        case .settled(let result):
            // What it says has happened waits for room on the disk as the answer to a change does.
            hasChange = true
            return result
        }
        let target: Instant
        switch advance {
        case .by(let span):
            guard span >= 0 else { return refuse(envelope, frame, .badField(.by, .backwards)) }
            target = goal(span, claim)
            // Beyond, it could not be named by any command.
            guard CommandDecoder.plausibleDates.contains(target.milliseconds) else {
                return refuse(envelope, frame, .badField(.by, .outOfRange))
            }
        case .to(let instant):
            guard instant >= now.domain else { return refuse(envelope, frame, .badField(.to, .backwards)) }
            target = instant
        }
        if let claim, case .by = advance {
            unfinishedTravel = UnfinishedTravel(claim, to: target)
            noteFact(.travel)
        }
        hasChange = true
        let job = job(.clockTravel, envelope, frame)
        clockTravel = ClockTravel(target: target, job: job, claim: claim)
        return .later(job)
    }

    /// Where a clock is to go that is moved by a span: where it was to go when this very command had begun before.
    private func goal(_ span: Milliseconds, _ claim: RetryClaim?) -> Instant {
        guard let claim, let unfinishedTravel, unfinishedTravel.command == RetryIdentity(claim) else {
            return now.domain + span
        }
        return max(now.domain, unfinishedTravel.target)
    }

    /// Lets some more deadlines take effect, and arrives when none is left; true while it travels. Between two turns it
    /// stands at the last date of which something was told.
    func continueTravel() -> Bool {
        guard let travel = clockTravel else { return false }
        // It stops wherever providers were called, until they have answered or their time is over.
        if hasOpenCalls { return false }
        let goal = min(travel.target, relevanceRetries.next ?? .never)
        let isUnderway = engine.fireDue(at: goal, dating: .whenDue, limit: Self.deadlinesPerTurn)
        let isAsking = engine.latestCallAt != nil
        let reached = engine.latestEventAt
        encodeEvents(Span(), nil)
        if isUnderway || isAsking {
            // What providers say meanwhile, and that they are lost, is not dated before what was told.
            if let reached { stand(at: max(reached, now.domain)) }
            return true
        }
        guard goal == travel.target else {
            // A relevance is asked for at its own date as well.
            stand(at: max(goal, now.domain))
            return true
        }
        stand(at: travel.target)
        noteClock()
        clockTravel = nil
        if unfinishedTravel != nil, travel.claim.map(RetryIdentity.init) == unfinishedTravel?.command {
            unfinishedTravel = nil
            noteFact(.travel)
        }
        arrivals += 1
        let req = travel.job.req
        let result = answerNow(travel.job.envelope, req.span)
        if let claim = travel.claim { remember(result, claim, req: req.span) }
        finish(travel.job, with: result)
        continueWaiting()
        return false
    }

    /// The clock that travels has come so far.
    private func stand(at instant: Instant) {
        do throws(DomainClock.AdvanceError) {
            try clock.advance(to: instant)
        } catch {
            preconditionFailure("the clock was moved while it travelled: \(error)")
        }
        now.domain = instant
    }

    /// How many of the commands that waited for the clock a turn executes.
    package static let waitedPerTurn = 128

    /// Whether commands that waited are executed now: not while as much waits for the journal or to be sent as keeps others
    /// from being taken.
    var executesWaiting: Bool {
        !waiting.isEmpty && goesOn
    }

    /// Whether this turn goes on with messages that waited.
    private var goesOn: Bool {
        guard clockTravel == nil, !isStopping, !isWornOut else { return false }
        return (hasRoom || flights.isDiskFull) && hasRoomForAnswers
    }

    /// Goes on with some of the commands that waited, until one lets the clock travel again. Those that come meanwhile wait
    /// behind them.
    func continueWaiting() {
        var left = Self.waitedPerTurn
        while left > 0, executesWaiting {
            var message = waiting.removeFirst()
            if !goOn(with: &message, &left) { waiting.insert(message, at: 0) }
        }
    }

    // MARK: Turns that have done enough

    /// A turn takes nothing more once devices' events and settings have looked at as many activities, controls and widgets:
    /// a message may have 256 of them, each about thousands.
    static let visitsPerTurn = 4_096

    /// Whether the turn has done enough.
    var isWornOut: Bool { engine.visits >= Self.visitsPerTurn || budget.isSpent }

    /// Whether messages that went beyond their turn are gone on with now.
    var executesResting: Bool { !resting.isEmpty && goesOn }

    /// Whether a peer's messages wait behind one of its own.
    func rests(_ peer: Peer) -> Bool { !resting.isEmpty && resting.contains { $0.peer == peer } }

    /// A message goes on in a later turn, behind those of its own peer.
    func rest(_ message: WaitingMessage) {
        let peer = message.answer.peer
        guard let place = resting.firstIndex(where: { $0.peer == peer }) else {
            return resting.append(RestingMessages(peer: peer, messages: [message]))
        }
        resting[place].messages.append(message)
    }

    /// Goes on with messages that went beyond their turn, one of each peer in its turn.
    func continueResting() {
        guard !resting.isEmpty else { return }
        order.resting(mayGoOn: goesOn)
        var left = Self.waitedPerTurn
        while left > 0, executesResting {
            var next = resting.removeFirst()
            var message = next.messages.removeFirst()
            if !goOn(with: &message, &left) { next.messages.insert(message, at: 0) }
            if !next.messages.isEmpty { resting.append(next) }
        }
    }

    /// Executes some of a message's commands; true where all are through and the message is answered.
    private func goOn(with message: inout WaitingMessage, _ left: inout Int) -> Bool {
        if message.hasTooManyFrames {
            collect(refuseTooManyFrames(), into: message.answer)
            message.frames.removeAll()
        }
        var done = 0
        waited = WaitedMessage(answer: message.answer, connection: message.connection, isCutOff: message.isCutOff)
        defer { waited = nil }
        messageStart = outbound.writer.count - message.answer.bytes
        while done < message.frames.count, left > 0, clockTravel == nil, !isWornOut {
            left -= 1
            switch message.frames[done] {
            case .command(let bytes, let isTooLong):
                let made = bytesMade
                let result = execute(
                    bytes.span, isTooLong: isTooLong, isIngest: message.isIngest, receivedAt: message.receivedAt)
                budget.didExecute(bytes.count + bytesMade - made)
                collect(result, into: message.answer)
            case .answered(let bytes, let shown): message.answer.add(bytes, shows: shown)
            }
            done += 1
        }
        message.frames.removeFirst(done)
        guard message.frames.isEmpty else { return false }
        ledger.giveBack(&message.ticket)
        message.answer.isClosed = true
        send(message.answer)
        return true
    }
}
