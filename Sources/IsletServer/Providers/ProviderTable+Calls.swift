import IsletCore

/// A call as somebody sees it who asks what providers are busy with.
struct OpenCall: Equatable {
    /// Of its last attempt, which tells it from others that had its place.
    var id: CallID
    var purpose: ProviderTable.Purpose
    /// The owner's number of its kind.
    var kind: UInt32
    /// Who has it; nil where it waits.
    var provider: EntityID?
    /// Milliseconds of real time since it was sent; nil where it waits.
    var age: Milliseconds?
    /// Milliseconds of real time until it fails; nil where its time begins when it is sent.
    var left: Milliseconds?
    var attempt: Int
}

extension ProviderTable.Purpose {
    /// Where the control or widget stands that it is for; nil of a question, which is for none.
    var place: EntityPlace? {
        switch self {
        case .value(let control), .perform(let control): EntityPlace(.control, control.slot)
        case .timeline(let widget), .performWidget(let widget): EntityPlace(.widget, widget.slot)
        case .question: nil
        }
    }
}

extension ProviderTable {
    /// Places of calls: those that wait, are in flight or are over are below it.
    var callPlaces: UInt32 { calls.capacity }

    /// The call at a place that is not over.
    ///
    /// - Parameter time: the present.
    func openCall(at place: UInt32, now time: Milliseconds) -> OpenCall? {
        guard calls.contains(place) else { return nil }
        let call = calls[place]
        switch call.place {
        case .none, .late: return nil
        case .actions, .retries, .values, .inFlight: break
        }
        let isSent = call.place == .inFlight
        return OpenCall(
            id: call.id, purpose: call.purpose, kind: call.kindNumber, provider: isSent ? call.providerID : nil,
            age: isSent ? max(0, time - call.sentAt) : nil,
            left: !isSent && call.hasTimeAhead ? nil : max(0, call.deadline - time), attempt: Int(call.attempt))
    }
}
