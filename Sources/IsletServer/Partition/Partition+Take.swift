import IsletCore
import IsletJournal
import IsletProtocol

/// The way of a message from the commands socket to the engine.
extension Partition {
    /// A turn takes no more messages once its answers have as many bytes.
    static let answerBytesPerTurn = 16 << 20
    /// Once the answers to one message have as many bytes, its further large reads are refused as `busy`.
    static var answerBytesPerMessage: Int { OutboundMessages.answerBytesPerMessage }

    /// Whether the answers to the present message are so large that no more of its large reads are answered.
    var isAnswerFull: Bool {
        (waited?.answer.bytes ?? outbound.writer.count - messageStart) > Self.answerBytesPerMessage
    }

    /// What became of one command.
    enum FrameResult {
        /// Its answer stands in the buffer.
        case answered(Range<Int>)
        /// It wants no answer.
        case silent
        /// Its answer stands in the buffer, and leaves when the disk has had room for this batch.
        case withheld(Range<Int>, until: UInt64)
        /// Its answer comes when this job is done.
        case later(Job)
    }

    /// Whether commands are taken now: not while a batch waits that is large enough, nor while large answers wait to
    /// leave, nor while a manual clock catches up with what is overdue since before the start, nor while too many wait
    /// for one that travels. But where there are providers, the clock may wait for what
    /// they say, and they are given up if nothing is heard of them: all is read then.
    package var takesCommands: Bool { !isWornOut && readsCommands }

    /// Whether commands are taken now or, where this turn has done enough, in the next one, which begins at once.
    var readsCommands: Bool {
        guard waiting.count < WaitingWork.messages.limits.count || providers.providerCount > 0 else {
            return false
        }
        // What happens now has no place before what was due earlier. While the disk is full neither happens, and reads
        // are answered.
        guard !isCatchingUp || flights.isDiskFull else { return false }
        return !isStopping && hasRoom && hasRoomForAnswers
    }

    /// Whether what waits to leave is less than a turn's share.
    var hasRoomForAnswers: Bool { outbound.writer.count < Self.answerBytesPerTurn }

    /// Whether what waits to leave does so only once a commit is there, which a disk that stalls may hold back for long; its
    /// end begins the next turn.
    package var isHeldBack: Bool { !hasRoomForAnswers && !flights.areLanded && !flights.isDiskFull }

    /// Whether commands of plain publishers are taken now. Where others left them nothing of this turn, they come first
    /// in the next.
    package func takesIngest() -> Bool {
        let hasRoom = takesCommands
        order.ingest(mayBeTaken: hasRoom)
        return hasRoom && !waitsFromNowOn(nobody) && !flights.isDiskFull
    }

    /// Whether plain publishers come before new commands in this turn.
    package var isIngestFirst: Bool { order.first == .ingest }

    /// Whose commands plain publishers' are: they come in one order.
    private var nobody: Peer { Peer(destination: .commands, routingID: []) }

    /// Whether a peer's commands wait, since the clock travels, the turn has done enough, or others of its own wait.
    private func waitsFromNowOn(_ peer: @autoclosure () -> Peer) -> Bool {
        clockTravel != nil || !waiting.isEmpty || isWornOut || !resting.isEmpty && rests(peer())
    }

    /// Takes the message in ``inbound``, which came to the commands socket.
    package func takeCommands() {
        if providers.providerCount > 0, inbound.routeCount > 0 {
            providers.heard(from: inbound.frame(0), at: now.monotonic)
        }
        if !waitsFromNowOn(asker) {
            handleMessage(to: .commands)
        } else {
            wait(
                from: inbound.routeCount, into: PendingAnswer(destination: .commands, route: routeFrames()),
                isBehindStep: false)
        }
    }

    /// Refuses a command that is not looked at, under its `req`.
    func refuseUnlooked(_ frame: Span<UInt8>, isTooLong: Bool, _ refusal: Refusal) -> FrameResult {
        if isTooLong { return refuseTooLong(frame) }
        return decoder.withDecoded(frame) { outcome, frame in
            switch outcome {
            case .success(let command):
                let result = refuse(command.envelope, frame, refusal)
                return command.envelope.wantsAnswer ? result : .silent
            case .failure(let refused):
                let result = refuse(refused.envelope, frame, refused.refusal)
                return refused.envelope.wantsAnswer ? result : .silent
            }
        }
    }

    /// When to send again what could not wait for the clock, in milliseconds.
    private static let clockRetry: Int64 = 100

    /// What a provider says.
    private enum ProviderWord {
        /// What became of a call, for which a clock that travels waits.
        case ofCall
        /// That it is there, rests or goes: this has its place behind its registration.
        case ofItself
    }

    /// What a frame of ``inbound`` says as a provider's; nil where it is none of those.
    private func providerWord(_ index: Int) -> ProviderWord? {
        guard providers.providerCount > 0 else { return nil }
        if inbound[index].isTooLong {
            return inbound.withFrame(index) { CommandDecoder.answer(in: $0) } == nil ? nil : .ofCall
        }
        do throws(RefusedCommand) {
            try inbound.withFrame(index) { frame throws(RefusedCommand) in
                try decoder.decode(frame, into: &command)
            }
            guard decoder.name.isOfProvider else { return nil }
            return decoder.name.endsCall ? .ofCall : .ofItself
        } catch {
            return decoder.refusedAnswer == nil ? nil : .ofCall
        }
    }

    /// Takes the message in ``inbound``, which came from a plain publisher: it gets no answers.
    package func takeIngest() {
        // All or none, as on `commands`.
        guard !inbound.hasTooManyFrames else { return statistics.refused += 1 }
        for index in inbound.commands {
            // Since messages that were received together began, the clock may travel.
            guard !waitsFromNowOn(nobody) else {
                return wait(from: index, into: .nobodys(), isBehindStep: true, isIngest: true)
            }
            _ = execute(index, isIngest: true)
        }
    }

    /// Executes the commands of the message in `inbound`, and answers with as many frames in their order.
    private func handleMessage(to destination: OutboundMessages.Destination) {
        guard !inbound.commands.isEmpty else { return }
        if log.tellsMessages { tellMessage() }
        beginResults()
        if inbound.hasTooManyFrames { return refuseTooMany(to: destination) }
        for index in inbound.commands {
            results.append(execute(index, isIngest: false))
            // The clock travels: what follows in this message waits for it, as all other commands do.
            // So it does where this turn has done enough.
            if clockTravel != nil || isWornOut, index + 1 < inbound.count {
                let answer = PendingAnswer(destination: .commands, route: routeFrames())
                for result in results { collect(result, into: answer) }
                wait(from: index + 1, into: answer, isBehindStep: true)
                return
            }
        }
        answerResults(to: destination)
    }

    /// The commands of a message begin, each of which leaves something in `results`.
    func beginResults() {
        messageStart = outbound.writer.count
        results.removeAll(keepingCapacity: true)
        hasChange = false
    }

    /// Refuses the message in `inbound` because it has too many commands.
    func refuseTooMany(to destination: OutboundMessages.Destination) {
        beginRoute(to: destination)
        let start = outbound.beginFrame()
        outbound.writer.refused(Envelope(), Span(), .badMessage(.tooManyFrames, offset: 0))
        outbound.endFrame(from: start, to: destination, more: false)
    }

    /// The one frame that answers a message with too many commands, which waited or may not wait.
    func refuseTooManyFrames() -> FrameResult {
        refuse(Envelope(), Span(), .badMessage(.tooManyFrames, offset: 0))
    }

    /// Answers the message in `inbound` with what its commands left, in their order: now, or once all is there.
    func answerResults(to destination: OutboundMessages.Destination) {
        var hasAnswer = false
        var isComplete = true
        for result in results {
            switch result {
            case .answered: hasAnswer = true
            case .silent: break
            case .withheld, .later: (hasAnswer, isComplete) = (true, false)
            }
        }
        guard hasAnswer else { return }
        if isComplete { answerAtOnce(to: destination) } else { answerLater(to: destination) }
    }

    private func answerAtOnce(to destination: OutboundMessages.Destination) {
        let first = outbound.parts.count
        beginRoute(to: destination)
        for index in results.indices {
            if case .answered(let range) = results[index] { outbound.add(range, to: destination, more: true) }
        }
        outbound.endMessage()
        if hasChange {
            outbound.answered(receivedAt: now.monotonicNanoseconds)
        } else if destination == .commands {
            outbound.readAnswered(from: first)
        }
    }

    private func answerLater(to destination: OutboundMessages.Destination) {
        let pending = PendingAnswer(destination: destination, route: routeFrames())
        pending.hasChange = hasChange
        for result in results { collect(result, into: pending) }
        send(pending)
    }

    /// Puts one result into an answer that waits for others.
    func collect(_ result: FrameResult, into pending: PendingAnswer) {
        switch result {
        case .silent: break
        case .answered(let range): pending.add(copy(range), shows: shownBatch)
        case .withheld(let range, let batch): pending.add(copy(range), shows: batch)
        case .later(let job): job.answer = pending.addMissing()
        }
    }

    /// Lets the commands of the message in `inbound` wait from a frame on until the clock has arrived, or for a turn. On a manual
    /// clock what providers say of their calls is taken now, wherever in the message it stands, as a travel may wait for it; on
    /// others it keeps its place. Whose peer has its share of those that wait is refused, but for what stands behind the step
    /// itself and for what providers say.
    private func wait(from first: Int, into answer: PendingAnswer, isBehindStep: Bool, isIngest: Bool = false) {
        answer.isClosed = false
        var message = WaitingMessage(
            hasTooManyFrames: inbound.hasTooManyFrames, isIngest: isIngest, answer: answer,
            receivedAt: now.monotonic, connection: inbound.connection, isCutOff: inbound.isCutOff)
        var hasCommand = message.hasTooManyFrames
        // Behind what waits of the same peer; and the clock does not travel for a turn's sake.
        let isOfTurn = rests(answer.peer) || clockTravel == nil && waiting.isEmpty
        for index in first..<inbound.count {
            if clock.isManual, !message.hasTooManyFrames, !isIngest, let word = providerWord(index),
                // Only a clock that travels may be waiting for a goodbye.
                word == .ofCall || !isOfTurn
            {
                switch execute(index, isIngest: false) {
                case .silent: break
                case .answered(let range): message.frames.append(.answered(copy(range), shows: shownBatch))
                case .withheld, .later: preconditionFailure("what a provider says is taken at once")
                }
            } else {
                hasCommand = true
                message.frames.append(.command(inbound.frame(index), isTooLong: inbound[index].isTooLong))
            }
        }
        do throws(WorkShortage) {
            if hasCommand {
                // What was received with others in a turn that has done enough cannot be given back to its socket.
                message.ticket =
                    isBehindStep || isOfTurn && !clock.isManual && !rests(answer.peer)
                    ? ledger.enter(.messages, for: answer.peer, bytes: message.bytes)
                    : try ledger.admit(.messages, for: answer.peer, bytes: message.bytes)
                return isOfTurn ? rest(message) : waiting.append(message)
            }
        } catch {}
        if message.hasTooManyFrames {
            collect(refuseTooManyFrames(), into: answer)
            message.frames.removeAll()
        }
        for (place, frame) in message.frames.enumerated() {
            switch frame {
            case .command where !clock.isManual && providerWord(first + place) != nil:
                collect(execute(first + place, isIngest: false), into: answer)
            case .command(let bytes, let isTooLong):
                let refusal = Refusal.busy(retryAfter: Self.clockRetry)
                collect(refuseUnlooked(bytes.span, isTooLong: isTooLong, refusal), into: answer)
            case .answered(let bytes, let shown): answer.add(bytes, shows: shown)
            }
        }
        answer.isClosed = true
        send(answer)
    }

    /// Executes one frame of `inbound`.
    private func execute(_ index: Int, isIngest: Bool) -> FrameResult {
        let made = bytesMade
        let result = inbound.withFrame(index) { frame in
            execute(frame, isTooLong: inbound[index].isTooLong, isIngest: isIngest, receivedAt: now.monotonic)
        }
        budget.didExecute(inbound[index].range.count + bytesMade - made)
        return result
    }

    /// How many bytes of events and answers wait to leave.
    @inline(__always)
    var bytesMade: Int { batch.byteCount + outbound.writer.count }

    /// Routing id and envelope of the message in `inbound`.
    private func beginRoute(to destination: OutboundMessages.Destination) {
        for index in 0..<inbound.routeCount {
            inbound.withFrame(index) { outbound.add(copying: $0, to: destination, more: true) }
        }
    }

    /// Who sent the message whose commands are executed, where that came to the commands socket.
    var asker: Peer { Peer(destination: .commands, routingID: routeFrames().first ?? []) }

    /// Routing id and envelope of the message whose commands are executed.
    func routeFrames() -> [[UInt8]] { waited?.answer.route ?? (0..<inbound.routeCount).map { inbound.frame($0) } }

    /// A copy of bytes in the outbound buffer.
    func copy(_ range: Range<Int>) -> [UInt8] {
        outbound.writer.withBytes { Array(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
