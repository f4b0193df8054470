import IsletCore
import IsletProtocol

/// Calls to providers: asked for once the event that made them is committed, and what comes of them.
extension Partition {
    /// The call that is out for a control.
    struct OpenCall: Equatable {
        /// The control's serial number of calls when it was asked for.
        var serial: UInt32
        var isAction: Bool
    }

    /// The events of a flight are committed: what they want of providers is asked for in ``continueCalls(_:)``.
    func wantCalls(_ calls: [ControlCall]) {
        wantedCalls += calls
        callsOnTheWay -= calls.count
    }

    private func requestWanted() {
        for call in wantedCalls {
            switch call.kind {
            case .cancel(let isRemoved):
                let reason: ProviderTable.CancelReason = isRemoved ? .removed : .superseded
                _ = providers.cancel(.value(call.control), reason, at: now.monotonic)
                _ = providers.cancel(.perform(call.control), reason, at: now.monotonic)
                openCalls[call.control] = nil
            case .askValue: request(.value(call.control), call, isAction: false)
            case .perform: request(.perform(call.control), call, isAction: true)
            }
        }
        wantedCalls.removeAll(keepingCapacity: true)
    }

    private func request(_ purpose: ProviderTable.Purpose, _ call: ControlCall, isAction: Bool) {
        // What the control wants by now comes with a later flight, and replaces this.
        guard let record = engine.controls.record(call.control), record.callSerial == call.serial,
            let kind = engine.controls.kinds[call.controlKind].declaration
        else { return }
        let within = isAction ? kind.actionDeadline : kind.valueDeadline
        switch providers.request(purpose, kind: call.controlKind, within: within, at: now.monotonic) {
        case .accepted: openCalls[call.control] = OpenCall(serial: call.serial, isAction: isAction)
        case .noProvider: failed(call.control, isAction: isAction, .noProvider)
        case .busy: failed(call.control, isAction: isAction, .busy)
        }
    }

    private func failed(_ control: SlotRef, isAction: Bool, _ failure: CallFailure) {
        engine.controlCallFailed(control, isAction: isAction, failure, at: now.domain)
        encodeEvents(Span(), nil)
    }

    /// Whether a call that ended is what its control waits for; it is out no more.
    private func isNewest(_ control: SlotRef, isAction: Bool) -> Bool {
        guard let call = openCalls[control], call.isAction == isAction else { return false }
        openCalls[control] = nil
        return engine.controls.record(control)?.callSerial == call.serial
    }

    /// Whether the call that is out for a control is what it waits for.
    private func isOpen(_ control: SlotRef, isAction: Bool) -> Bool {
        guard let record = engine.controls.record(control) else { return false }
        return openCalls[control] == OpenCall(serial: record.callSerial, isAction: isAction)
    }

    /// Lets take effect what is due of calls, and sends what providers are to get. True where more is due at once.
    ///
    /// - Parameter send: to a connection; says what became of it.
    package func continueCalls(_ send: (_ peer: [UInt8], _ frame: Span<UInt8>) -> ProviderDelivery) -> Bool {
        if isStopping {
            takeBackCalls(send)
            return false
        }
        let isLate = providers.advance(to: now.monotonic)
        // What ended is known before anything new is asked for a control. Each round ends something or sends it, and
        // nothing is sent more than twice.
        while providers.hasEffects || !wantedCalls.isEmpty {
            providers.takeEffects(into: &effects)
            let batch = effects
            for effect in batch { perform(effect, send) }
            if !providers.hasEffects { requestWanted() }
        }
        return isLate
    }

    /// The service stops: providers are told that nobody waits any more, and nothing changes by it. Whatever was asked
    /// for is asked for again at the next start, but for actions.
    private func takeBackCalls(_ send: (_ peer: [UInt8], _ frame: Span<UInt8>) -> ProviderDelivery) {
        wantedCalls.removeAll()
        providers.takeEffects(into: &effects)
        let batch = effects
        for effect in batch {
            if case .cancel = effect { perform(effect, send) }
        }
    }

    private func perform(
        _ effect: ProviderTable.Effect, _ send: (_ peer: [UInt8], _ frame: Span<UInt8>) -> ProviderDelivery
    ) {
        switch effect {
        case .send(let call, let provider, let purpose, let attempt, let within):
            callWriter.removeAll()
            callWriter.beginDocument()
            guard write(call, purpose, attempt: attempt, within: within) else {
                // What it was for has gone meanwhile.
                _ = providers.cancel(purpose, .superseded, at: now.monotonic)
                return
            }
            deliver(to: provider, send)
        case .cancel(let call, let provider, let reason):
            callWriter.removeAll()
            callWriter.beginDocument()
            callWriter.providerCancel(call.value, reason: reason.wireName)
            deliver(to: provider, send)
        case .ping(let provider):
            callWriter.removeAll()
            callWriter.beginDocument()
            callWriter.providerPing(at: now.domain)
            deliver(to: provider, send)
        case .dropped(let provider, let reason):
            statistics.droppedProviders += 1
            // Another process may have taken its place before it was missed.
            if reason == .unreachable || reason == .silent {
                for kind in providers.lostKinds(of: provider) where providers.isServed(kind) {
                    engine.controlProviderIsLost(kind, at: now.domain)
                }
                encodeEvents(Span(), nil)
            }
            // Whoever left, or came back on another connection, knows it.
            guard reason == .faults || reason == .silent else { return }
            callWriter.removeAll()
            callWriter.beginDocument()
            callWriter.providerDropped(providers.id(of: provider), reason: reason.wireName)
            deliver(to: provider, send)
        case .failed(let purpose, let failure):
            switch purpose {
            case .value(let control): if isNewest(control, isAction: false) { failed(control, isAction: false, failure) }
            case .perform(let control): if isNewest(control, isAction: true) { failed(control, isAction: true, failure) }
            case .options(let number): optionsFailed(number, failure)
            }
        }
    }

    private func deliver(
        to provider: ProviderRef, _ send: (_ peer: [UInt8], _ frame: Span<UInt8>) -> ProviderDelivery
    ) {
        guard let peer = providers.peer(of: provider) else { return }
        let delivery = callWriter.withSpan { send(peer, $0) }
        switch delivery {
        case .sent: break
        case .unreachable: providers.unreachable(peer, at: now.monotonic)
        }
    }

    /// Writes a call; false where nobody waits for it any more.
    private func write(_ call: CallID, _ purpose: ProviderTable.Purpose, attempt: Int, within: Milliseconds) -> Bool {
        switch purpose {
        case .value(let control), .perform(let control):
            guard let record = engine.controls.record(control), isOpen(control, isAction: purpose.isAction) else {
                return false
            }
            callWriter.providerCall(call.value, record, attempt: attempt, within: within, of: engine)
            return true
        case .options(let number):
            guard let job = optionsJobs[number], case .controlOptions(let question) = job.kind else { return false }
            callWriter.providerCall(
                call.value, optionsOf: question.kind, question.parameter, question.configuration, attempt: attempt,
                within: within, of: engine)
            return true
        }
    }

    // MARK: What providers say

    /// `provider.answer`: nothing is said where it is taken.
    func answered(_ answer: ProviderAnswer, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let peer = routeFrames().first ?? []
        guard let call = CallID(text: frame.bytes(answer.call)) else {
            let verdict = providers.unreadable(by: answer.provider, peer: peer, at: now.monotonic)
            return self.verdict(verdict, answer.call, envelope, frame)
        }
        guard let purpose = providers.purpose(of: call, by: answer.provider, peer: peer) else {
            return verdict(providers.answered(by: answer.provider, peer: peer, call: call, at: now.monotonic), answer.call, envelope, frame)
        }
        guard fits(purpose, answer, frame) else {
            _ = providers.rejected(by: answer.provider, peer: peer, call: call, at: now.monotonic)
            return refuse(envelope, frame, .badAnswer(call: answer.call, .wrongType))
        }
        return verdict(providers.answered(by: answer.provider, peer: peer, call: call, at: now.monotonic), answer.call, envelope, frame)
    }

    /// Takes an answer's content; false where it is none for what was asked.
    private func fits(_ purpose: ProviderTable.Purpose, _ answer: ProviderAnswer, _ frame: Span<UInt8>) -> Bool {
        switch purpose {
        case .value(let control), .perform(let control):
            // Where it is nothing to the control any more, it may say whatever it likes.
            guard isOpen(control, isAction: purpose.isAction) else { return true }
            guard engine.controlAnswered(control, isAction: purpose.isAction, answer, frame, at: now.domain) else {
                return false
            }
            openCalls[control] = nil
            encodeEvents(Span(), nil)
            return true
        case .options(let number): return optionsAnswered(number, answer.value, frame)
        }
    }

    /// `provider.fail`.
    func failed(_ fail: ProviderFail, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let peer = routeFrames().first ?? []
        guard let call = CallID(text: frame.bytes(fail.call)) else {
            let verdict = providers.unreadable(by: fail.provider, peer: peer, at: now.monotonic)
            return self.verdict(verdict, fail.call, envelope, frame)
        }
        return verdict(
            providers.failed(
                by: fail.provider, peer: peer, call: call, isRetryable: fail.isRetryable, at: now.monotonic),
            fail.call, envelope, frame)
    }

    private func verdict(
        _ verdict: ProviderTable.Verdict, _ call: FrameRange, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        switch verdict {
        case .taken, .late(nil), .late(.value), .late(.options): return .silent
        case .late(.perform(let control)):
            // Whatever it was taken for, by now it has had its effect.
            engine.controlActedLate(control, at: now.domain)
            encodeEvents(Span(), nil)
            return .silent
        case .unknownCall: return refuse(envelope, frame, .unknownCall(call))
        case .notRegistered: return refuse(envelope, frame, .providerUnknown(call: call))
        }
    }

    /// Whether ``continueCalls(_:)`` has something to do.
    package var hasProviderWork: Bool {
        providers.hasEffects || !wantedCalls.isEmpty || providers.nextWork().map { $0 <= now.monotonic } ?? false
    }

    /// Whether a call is out, or waits for its commit.
    var hasOpenCalls: Bool { callsOnTheWay > 0 || !wantedCalls.isEmpty || providers.openCalls > 0 || providers.hasEffects }
}

/// What became of a frame for a provider.
package enum ProviderDelivery: Sendable {
    case sent
    /// There is no such connection any more, or it takes nothing.
    case unreachable
}
