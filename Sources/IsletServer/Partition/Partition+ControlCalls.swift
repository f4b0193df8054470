import IsletCore
import IsletProtocol

/// The calls of controls.
extension Partition {
    /// Asks for what a control wants.
    func request(_ call: ControlCall) {
        switch call.kind {
        case .cancel(let isRemoved):
            let reason: ProviderTable.CancelReason = isRemoved ? .removed : .superseded
            _ = providers.cancel(.value(call.control), reason, at: now.monotonic)
            _ = providers.cancel(.perform(call.control), reason, at: now.monotonic)
            openCalls[call.control] = nil
            heldReads.remove(call.control)
        case .askValue:
            let read = read(call.control, call.serial, of: call.controlKind, isAwaited: call.isAwaited)
            if holdsBack(controlRead: read) { heldReads.hold(read) } else { requestValue(read) }
        case .perform: request(.perform(call.control), call.control, call.serial, isAction: true)
        }
    }

    private func read(_ control: SlotRef, _ serial: UInt32, of kind: ControlKindID, isAwaited: Bool) -> HeldReads.Read {
        HeldReads.Read(
            entity: control, serial: serial, kind: ServedKind.control(kind).number, isAwaited: isAwaited,
            hasFailed: hasFailed(control: control))
    }

    /// Asks for a value, now that there is room.
    func requestValue(_ read: HeldReads.Read) {
        request(.value(read.entity), read.entity, read.serial, isAction: false, read)
    }

    /// A control's value was asked for, and is held back from now on.
    func holdBack(valueOf control: SlotRef, isAwaited: Bool) {
        guard isNewest(control, isAction: false), let record = engine.controls.record(control) else { return }
        heldReads.hold(read(control, record.callSerial, of: record.kind, isAwaited: isAwaited))
    }

    /// Whether a provider was asked for its value the last time, and it could not be had.
    private func hasFailed(control reference: SlotRef) -> Bool {
        guard let machine = engine.controls.record(reference)?.machine else { return false }
        return machine.failures > 0 && !machine.failure.askedNobody
    }

    private func request(
        _ purpose: ProviderTable.Purpose, _ control: SlotRef, _ serial: UInt32, isAction: Bool,
        _ read: HeldReads.Read? = nil
    ) {
        // What the control wants by now comes with a later flight, and replaces this.
        guard let record = engine.controls.record(control), record.callSerial == serial,
            let kind = engine.controls.kinds[record.kind].declaration
        else { return }
        let within = isAction ? kind.actionDeadline : kind.valueDeadline
        switch providers.request(
            purpose, kind: ServedKind.control(record.kind).number, within: within, hasFailed: read?.hasFailed ?? false,
            isAwaited: read?.isAwaited ?? false, at: now.monotonic)
        {
        case .accepted: openCalls[control] = OpenCall(serial: serial, isAction: isAction)
        case .noProvider: failed(control, isAction: isAction, .noProvider, wasSent: false)
        case .busy: failed(control, isAction: isAction, .busy, wasSent: false)
        }
    }

    private func failed(
        _ control: SlotRef, isAction: Bool, _ failure: CallFailure, wasSent: Bool, _ reason: [UInt8] = []
    ) {
        engine.controlCallFailed(
            control, isAction: isAction, failure, wasSent: wasSent, reason: reason, at: now.domain)
        encodeEvents(Span(), nil)
    }

    /// A call of a control ended without an answer.
    ///
    /// - Parameter reason: what its provider said of it; empty: nothing.
    func controlCallEnded(
        _ control: SlotRef, isAction: Bool, _ failure: CallFailure, wasSent: Bool, _ reason: [UInt8]
    ) {
        guard isNewest(control, isAction: isAction) else { return }
        failed(control, isAction: isAction, failure, wasSent: wasSent, reason)
    }

    /// Whether a call that ended is what its control waits for; it is out no more.
    func isNewest(_ control: SlotRef, isAction: Bool) -> Bool {
        guard let call = openCalls[control], call.isAction == isAction else { return false }
        openCalls[control] = nil
        return engine.controls.record(control)?.callSerial == call.serial
    }

    /// Whether the call that is out for a control is what it waits for.
    func isOpen(_ control: SlotRef, isAction: Bool) -> Bool {
        guard let record = engine.controls.record(control) else { return false }
        return openCalls[control] == OpenCall(serial: record.callSerial, isAction: isAction)
    }
}
