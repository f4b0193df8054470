import IsletCore
import IsletProtocol

/// The calls of widgets: timelines and actions.
extension Partition {
    /// Asks for what a widget wants.
    func request(_ call: WidgetCall) {
        switch call.kind {
        case .cancel(let isRemoved):
            let reason: ProviderTable.CancelReason = isRemoved ? .removed : .superseded
            _ = providers.cancel(.timeline(call.widget), reason, at: now.monotonic)
            _ = providers.cancel(.performWidget(call.widget), reason, at: now.monotonic)
            openWidgetCalls[call.widget] = nil
            heldWidgetReads.remove(call.widget)
        case .askTimeline:
            let read = read(call.widget, call.serial, of: call.widgetKind, isAwaited: call.isAwaited)
            if holdsBack(widgetRead: read) { heldWidgetReads.hold(read) } else { requestTimeline(read) }
        case .perform: request(.performWidget(call.widget), call.widget, call.serial, isAction: true)
        }
    }

    private func read(_ widget: SlotRef, _ serial: UInt32, of kind: DeclaredKindID, isAwaited: Bool) -> HeldReads.Read {
        HeldReads.Read(
            entity: widget, serial: serial, kind: ServedKind.widget(kind).number, isAwaited: isAwaited,
            hasFailed: hasFailed(widget: widget))
    }

    /// Asks for a timeline, now that there is room.
    func requestTimeline(_ read: HeldReads.Read) {
        request(.timeline(read.entity), read.entity, read.serial, isAction: false, read)
    }

    /// A widget's timeline was asked for, and is held back from now on.
    func holdBack(timelineOf widget: SlotRef, isAwaited: Bool) {
        guard isNewestCall(of: widget, isAction: false), let record = engine.widgets.record(widget) else { return }
        heldWidgetReads.hold(read(widget, record.callSerial, of: record.kind, isAwaited: isAwaited))
    }

    /// Whether a provider was asked for its timeline the last time, and it could not be had.
    private func hasFailed(widget reference: SlotRef) -> Bool {
        guard let machine = engine.widgets.record(reference)?.machine else { return false }
        return machine.failures > 0 && !machine.failure.askedNobody
    }

    private func request(
        _ purpose: ProviderTable.Purpose, _ widget: SlotRef, _ serial: UInt32, isAction: Bool,
        _ read: HeldReads.Read? = nil
    ) {
        // What the widget wants by now comes with a later flight, and replaces this.
        guard let record = engine.widgets.record(widget), record.callSerial == serial,
            let kind = engine.widgets.kinds[record.kind].declaration
        else { return }
        let number = ServedKind.widget(record.kind).number
        let within = isAction ? kind.actionDeadline : kind.timelineDeadline
        switch providers.request(
            purpose, kind: number, within: within, hasFailed: read?.hasFailed ?? false,
            isAwaited: read?.isAwaited ?? false, at: now.monotonic)
        {
        case .accepted: openWidgetCalls[widget] = OpenCall(serial: serial, isAction: isAction)
        case .noProvider: widgetFailed(widget, isAction: isAction, .noProvider, wasSent: false)
        case .busy: widgetFailed(widget, isAction: isAction, .busy, wasSent: false)
        }
    }

    private func widgetFailed(
        _ widget: SlotRef, isAction: Bool, _ failure: CallFailure, wasSent: Bool, _ reason: [UInt8] = []
    ) {
        engine.widgetCallFailed(widget, isAction: isAction, failure, wasSent: wasSent, reason: reason, at: now.domain)
        encodeEvents(Span(), nil)
    }

    /// A call of a widget ended without an answer.
    ///
    /// - Parameter reason: what its provider said of it; empty: nothing.
    func widgetCallEnded(
        _ widget: SlotRef, isAction: Bool, _ failure: CallFailure, wasSent: Bool, _ reason: [UInt8]
    ) {
        guard isNewestCall(of: widget, isAction: isAction) else { return }
        widgetFailed(widget, isAction: isAction, failure, wasSent: wasSent, reason)
    }

    /// Whether a call that ended is what its widget waits for; it is out no more.
    private func isNewestCall(of widget: SlotRef, isAction: Bool) -> Bool {
        guard let call = openWidgetCalls[widget], call.isAction == isAction else { return false }
        openWidgetCalls[widget] = nil
        return engine.widgets.record(widget)?.callSerial == call.serial
    }

    /// Whether the call that is out for a widget is what it waits for.
    private func isOpenCall(of widget: SlotRef, isAction: Bool) -> Bool {
        guard let record = engine.widgets.record(widget) else { return false }
        return openWidgetCalls[widget] == OpenCall(serial: record.callSerial, isAction: isAction)
    }

    /// Writes a call; false where nobody waits for it any more.
    func writeCall(
        _ call: CallID, of widget: SlotRef, isAction: Bool, attempt: Int, within: Milliseconds
    ) -> Bool {
        guard let record = engine.widgets.record(widget), isOpenCall(of: widget, isAction: isAction) else {
            return false
        }
        if isAction {
            callWriter.providerCall(
                call.value, performFor: record, now: now.domain, attempt: attempt, within: within, of: engine)
        } else {
            callWriter.providerCall(
                call.value, timelineFor: record, now: now.domain, attempt: attempt, within: within, of: engine)
        }
        return true
    }

    /// A provider gave a timeline; why it is none, where it is none.
    func timelineAnswered(_ widget: SlotRef, _ answer: ProviderAnswer, _ frame: Span<UInt8>) -> Refusal? {
        // Where it is nothing to the widget any more, it may say whatever it likes.
        guard isOpenCall(of: widget, isAction: false), let record = engine.widgets.record(widget) else { return nil }
        let timeline: WidgetTimeline
        do throws(BadTimeline) {
            timeline = try TimelineReading.read(
                frame, entries: answer.entries, policy: answer.policy, needsLogin: answer.needsLogin,
                family: record.family, limit: engine.rules.maximumTimelineEntries)
        } catch {
            return .badTimeline(call: answer.call, error)
        }
        engine.widgetAnswered(widget, isAction: false, timeline: timeline, frame, at: now.domain)
        openWidgetCalls[widget] = nil
        encodeEvents(Span(), nil)
        return nil
    }

    /// A provider has performed a widget's action; whatever it says of it is well.
    func widgetPerformed(_ widget: SlotRef) -> Refusal? {
        guard isOpenCall(of: widget, isAction: true) else { return nil }
        engine.widgetAnswered(widget, isAction: true, timeline: nil, Span(), at: now.domain)
        openWidgetCalls[widget] = nil
        encodeEvents(Span(), nil)
        return nil
    }
}
