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
        case .askValue: request(.value(call.control), call, isAction: false)
        case .perform: request(.perform(call.control), call, isAction: true)
        }
    }

    private func request(_ purpose: ProviderTable.Purpose, _ call: ControlCall, isAction: Bool) {
        // What the control wants by now comes with a later flight, and replaces this.
        guard let record = engine.controls.record(call.control), record.callSerial == call.serial,
            let kind = engine.controls.kinds[call.controlKind].declaration
        else { return }
        let within = isAction ? kind.actionDeadline : kind.valueDeadline
        switch providers.request(purpose, kind: call.controlKind, within: within, at: now.monotonic) {
        case .accepted: openCalls[call.control] = OpenCall(serial: call.serial, isAction: isAction)
        case .noProvider: failed(call.control, isAction: isAction, .noProvider, wasSent: false)
        case .busy: failed(call.control, isAction: isAction, .busy, wasSent: false)
        }
    }

    func failed(_ control: SlotRef, isAction: Bool, _ failure: CallFailure, wasSent: Bool) {
        engine.controlCallFailed(control, isAction: isAction, failure, wasSent: wasSent, at: now.domain)
        encodeEvents(Span(), nil)
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
