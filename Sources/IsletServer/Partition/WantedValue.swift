import IsletCore

/// What `control.get` with `maxAge` waits for.
struct WantedValue {
    let control: SlotRef
    let maxAge: Milliseconds
    /// When it was asked for.
    let since: Instant
    /// The control's serial number of calls then, before anything was asked for it.
    let callsBefore: UInt32
    /// Until when it is waited for, in monotonic ms.
    let deadline: Milliseconds

    /// Whether a control whose value is asked for once more has one that is fresh enough: it is young, or came of a call
    /// that was asked for since. Somebody may reload it as fast as its provider answers.
    func isThere(in record: ControlRecord, at now: Instant) -> Bool {
        if record.machine.isFresh(within: maxAge, at: now) { return true }
        let callsSince = Int32(bitPattern: record.callSerial &- callsBefore)
        return callsSince > 1 && record.machine.isFresh(within: now - since, at: now)
    }
}

extension ControlMachine {
    /// Whether its value is known and not older than a reader accepts.
    func isFresh(within maxAge: Milliseconds, at now: Instant) -> Bool {
        guard hasValue else { return true }
        return isValueKnown && source == .provider && failure == .none && valueAt.isSet && now - valueAt <= maxAge
    }
}
