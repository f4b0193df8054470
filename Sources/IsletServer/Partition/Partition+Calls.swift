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
    func wantCalls(_ calls: WantedCalls) {
        guard !isCatchingUp else { return callsOfStart.append(calls) }
        wantedCalls.append(calls)
        callsOnTheWay -= calls.count
    }

    /// How many calls one ``continueCalls(_:)`` asks for. After a start there may be half a million, each of which is
    /// an event at once where nobody provides its kind yet.
    private static let requestsAtOnce = 4_096

    /// Asks for so many of those that are wanted, in their order.
    private func requestWanted(atMost limit: Int) {
        let controls = min(limit, wantedCalls.controls.count)
        for index in 0..<controls { request(wantedCalls.controls[index]) }
        let widgets = min(limit - controls, wantedCalls.widgets.count)
        for index in 0..<widgets { request(wantedCalls.widgets[index]) }
        wantedCalls.removeFirst(controls: controls, widgets: widgets)
    }

    /// Lets take effect what is due of calls, and sends what providers are to get. True where more is due at once.
    ///
    /// - Parameter send: to a connection; says what became of it.
    package func continueCalls(_ send: (_ peer: [UInt8], _ frame: Span<UInt8>) -> ProviderDelivery) -> Bool {
        if isStopping {
            takeBackCalls(send)
            return false
        }
        let isLate = providers.advance(to: now.monotonic, isListening: readsCommands)
        retryRelevance()
        var room = Self.requestsAtOnce
        var heldRoom = Self.requestsAtOnce
        // What ended is known before anything new is asked for a control. Each round ends something, sends it or loses
        // the provider that it could not be sent to.
        while providers.hasEffects || !wantedCalls.isEmpty && room > 0 || heldRoom > 0 && mayGoOnWithReads {
            providers.takeEffects(into: &effects)
            let batch = effects
            for effect in batch { perform(effect, send) }
            guard !providers.hasEffects else { continue }
            let wanted = wantedCalls.count
            requestWanted(atMost: room)
            room -= wanted - wantedCalls.count
            goOnWithReads(&heldRoom)
        }
        return isLate || !wantedCalls.isEmpty || mayGoOnWithReads || hasRelevanceToRetry
    }

    /// The service stops: providers are told that nobody waits any more, and nothing changes by it. Whatever was asked
    /// for is asked for again at the next start, but for actions.
    private func takeBackCalls(_ send: (_ peer: [UInt8], _ frame: Span<UInt8>) -> ProviderDelivery) {
        wantedCalls.removeAll()
        heldReads.removeAll()
        heldWidgetReads.removeAll()
        providers.takeEffects(into: &effects)
        let batch = effects
        for effect in batch {
            if case .cancel = effect { perform(effect, send) }
        }
    }

    /// What a command has ended takes effect before the next one, as if each came in a turn of its own: a provider that
    /// registers after a loss finds what that left behind.
    func settleCalls() {
        providers.takeEnds(into: &ends)
        guard !ends.isEmpty else { return }
        let batch = ends
        for effect in batch { ended(effect) }
    }

    /// A call that nobody answered waits or is out no more.
    private func ended(_ effect: ProviderTable.Effect) {
        switch effect {
        case .failed(let purpose, let failure, let wasSent): ended(purpose, failure, wasSent: wasSent)
        case .givenBack(let purpose, let isAwaited): holdBack(purpose, isAwaited: isAwaited)
        case .send, .cancel, .ping, .dropped: preconditionFailure("these are no ends of calls")
        }
    }

    /// A call is over without an answer.
    private func ended(_ purpose: ProviderTable.Purpose, _ failure: CallFailure, wasSent: Bool) {
        let reason = failure == .threw ? providers.takeReason(of: purpose) : []
        switch purpose {
        case .value(let control): controlCallEnded(control, isAction: false, failure, wasSent: wasSent, reason)
        case .perform(let control): controlCallEnded(control, isAction: true, failure, wasSent: wasSent, reason)
        case .timeline(let widget): widgetCallEnded(widget, isAction: false, failure, wasSent: wasSent, reason)
        case .performWidget(let widget): widgetCallEnded(widget, isAction: true, failure, wasSent: wasSent, reason)
        case .question(let number): questionFailed(number, failure)
        }
    }

    private func perform(
        _ effect: ProviderTable.Effect, _ send: (_ peer: [UInt8], _ frame: Span<UInt8>) -> ProviderDelivery
    ) {
        switch effect {
        case .send(let call, let provider, let purpose, let attempt, let within):
            // One for the same control or widget may be wanted by now, which this must not be taken for: an action would be
            // performed twice.
            guard providers.isInFlight(call) else { return }
            callWriter.removeAll()
            callWriter.beginDocument()
            guard write(call, purpose, attempt: attempt, within: within) else {
                // What it was for has gone meanwhile.
                _ = providers.cancel(purpose, .superseded, at: now.monotonic)
                return
            }
            if deliver(to: provider, send) { providers.delivered(call) }
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
            tellProvider(providers.id(of: provider), droppedFor: reason)
            // Another process may have taken its place before it was missed.
            let isMissed = reason == .unreachable || reason == .silent
            for kind in providers.lostKinds(of: provider) where providers.isServed(kind) {
                switch ServedKind(number: kind) {
                case .control(let kind):
                    if isMissed { engine.controlProviderIsLost(kind, at: now.domain) }
                case .widget(let kind):
                    if isMissed { engine.widgetProviderIsLost(kind, at: now.domain) }
                    // What it said of the whole kind stays for good, however it went, unless those that are left say it anew.
                    askRelevance(of: kind)
                }
            }
            if isMissed { encodeEvents(Span(), nil) }
            // Whoever left, or came back on another connection, knows it. Of a connection that is gone another may have
            // the name by now, over which another provider has registered.
            guard reason == .faults || isMissed, let id = providers.id(of: provider), providers.provider(id) == nil
            else { return }
            callWriter.removeAll()
            callWriter.beginDocument()
            callWriter.providerDropped(id, reason: reason.wireName)
            deliver(to: provider, send)
        case .failed, .givenBack: ended(effect)
        }
    }

    /// Sends what was written; false where the provider cannot be reached, and is lost.
    @discardableResult
    private func deliver(
        to provider: ProviderRef, _ send: (_ peer: [UInt8], _ frame: Span<UInt8>) -> ProviderDelivery
    ) -> Bool {
        guard let peer = providers.peer(of: provider) else { return false }
        switch callWriter.withSpan({ send(peer, $0) }) {
        case .sent: return true
        case .unreachable:
            providers.unreachable(peer, at: now.monotonic)
            return false
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
        case .timeline(let widget), .performWidget(let widget):
            return writeCall(call, of: widget, isAction: purpose.isAction, attempt: attempt, within: within)
        case .question(let number): return writeQuestion(call, number, attempt: attempt, within: within)
        }
    }

    // MARK: What providers say

    /// `provider.answer`: nothing is said where it is taken.
    func answered(_ answer: ProviderAnswer, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let peer = routeFrames().first ?? []
        guard let call = CallID(text: frame.bytes(answer.call)) else {
            let verdict = providers.unreadable(by: answer.provider, peer: peer, at: now.monotonic)
            return self.verdict(verdict, nil, answer.call, answer.provider, envelope, frame)
        }
        guard let purpose = providers.purpose(of: call, by: answer.provider, peer: peer) else {
            let late = providers.lateCall(call, of: answer.provider)
            return verdict(
                providers.answered(by: answer.provider, peer: peer, call: call, at: now.monotonic), late, answer.call,
                answer.provider, envelope, frame)
        }
        if let refusal = misfit(purpose, answer, frame) {
            _ = providers.rejected(by: answer.provider, peer: peer, call: call, at: now.monotonic)
            settleCalls()
            return refuse(envelope, frame, refusal)
        }
        return verdict(
            providers.answered(by: answer.provider, peer: peer, call: call, at: now.monotonic), nil, answer.call,
            answer.provider, envelope, frame)
    }

    /// Takes an answer's content; why it is none for what was asked, where it is not.
    private func misfit(_ purpose: ProviderTable.Purpose, _ answer: ProviderAnswer, _ frame: Span<UInt8>) -> Refusal? {
        switch purpose {
        case .value(let control), .perform(let control):
            // Where it is nothing to the control any more, it may say whatever it likes.
            guard isOpen(control, isAction: purpose.isAction) else { return nil }
            guard engine.controlAnswered(control, isAction: purpose.isAction, answer, frame, at: now.domain) else {
                return .badAnswer(call: answer.call, .wrongType)
            }
            openCalls[control] = nil
            encodeEvents(Span(), nil)
            return nil
        case .timeline(let widget): return timelineAnswered(widget, answer, frame)
        case .performWidget(let widget): return widgetPerformed(widget)
        case .question(let number): return questionAnswered(number, answer, frame)
        }
    }

    /// `provider.fail`.
    func failed(_ fail: ProviderFail, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let peer = routeFrames().first ?? []
        guard let call = CallID(text: frame.bytes(fail.call)) else {
            let verdict = providers.unreadable(by: fail.provider, peer: peer, at: now.monotonic)
            return self.verdict(verdict, nil, fail.call, fail.provider, envelope, frame)
        }
        let late = providers.lateCall(call, of: fail.provider)
        let reason = fail.message.map { FailureReason.json(of: $0, in: frame) } ?? []
        return verdict(
            providers.failed(
                by: fail.provider, peer: peer, call: call, isRetryable: fail.isRetryable, reason: reason,
                at: now.monotonic),
            late, fail.call, fail.provider, envelope, frame)
    }

    /// A provider's answer or failure was refused before it was looked at: the call that it is about fails at once, as with
    /// any other answer that is none. Where nobody waits for it any more, an action has ended by it all the same.
    func refused(_ answer: CommandDecoder.RefusedAnswer, _ frame: Span<UInt8>) {
        let peer = routeFrames().first ?? []
        guard let call = CallID(text: frame.bytes(answer.call)) else { return }
        guard providers.purpose(of: call, by: answer.provider, peer: peer) != nil else {
            return endedUnnoticed(call, answer.provider)
        }
        _ = providers.rejected(by: answer.provider, peer: peer, call: call, at: now.monotonic)
        settleCalls()
    }

    /// - Parameter late: what the call was for, where nobody waited for it any more.
    private func verdict(
        _ verdict: ProviderTable.Verdict, _ late: ProviderTable.LateCall?, _ text: FrameRange, _ provider: EntityID,
        _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        settleCalls()
        switch verdict {
        case .taken: return .silent
        case .late:
            if let late { endedLate(late) }
            return .silent
        case .unknownCall:
            if let call = CallID(text: frame.bytes(text)) { endedUnnoticed(call, provider) }
            return refuse(envelope, frame, .unknownCall(text))
        case .notRegistered:
            if let call = CallID(text: frame.bytes(text)) { endedUnnoticed(call, provider) }
            return refuse(envelope, frame, .providerUnknown(call: text))
        }
    }

    /// A call has ended that nobody waited for any more.
    private func endedLate(_ call: ProviderTable.LateCall) {
        switch call.purpose {
        case .value, .timeline, .question: return
        // Whatever it was taken for, by now it has had its effect.
        case .performWidget(let widget): engine.widgetActedLate(widget, at: now.domain)
        case .perform(let control): engine.controlActedLate(control, of: call.kind, at: now.domain)
        }
        encodeEvents(Span(), nil)
    }

    /// An answer is refused, and may all the same be the end of an action: of one that nobody waits for any more, be its
    /// provider registered or not, or of one that an earlier run of the service asked for.
    private func endedUnnoticed(_ call: CallID, _ provider: EntityID) {
        if let late = providers.takeLate(call, of: provider) { return endedLate(late) }
        // As long as any other that is late.
        let isRemembered = now.monotonic - statistics.startedAt < ProviderTable.Limits().lateSpan
        guard isRemembered, providers.isOfEarlierRun(call) else { return }
        hasActedBeforeStart = true
    }

    /// Actions may have ended in this turn that an earlier run had asked for: however many they were, what their providers
    /// hold by now is asked for once.
    func continueInterrupted() {
        guard hasActedBeforeStart else { return }
        hasActedBeforeStart = false
        engine.actedBeforeStart(at: now.domain)
        encodeEvents(Span(), nil)
    }

    /// Whether ``continueCalls(_:)`` has something to do.
    package var hasProviderWork: Bool {
        providers.hasEffects || !wantedCalls.isEmpty || mayGoOnWithReads || hasRelevanceToRetry
            || providers.nextWork().map { $0 <= now.monotonic } ?? false
    }

    /// Whether a call is out, or waits for its commit.
    var hasOpenCalls: Bool {
        // What the batch wants that is being filled is on its way as well: a journal that is slow must not let the clock go
        // on without it.
        let isAsking = hasUncommitted && !(engine.controls.calls.isEmpty && engine.widgets.calls.isEmpty)
        return isAsking || callsOnTheWay > 0 || !wantedCalls.isEmpty || heldCalls > 0 || providers.openCalls > 0
            || providers.hasEffects || hasRelevanceToRetry
    }
}

/// What became of a frame for a provider.
package enum ProviderDelivery: Sendable {
    case sent
    /// There is no such connection any more, or it takes nothing.
    case unreachable
}
