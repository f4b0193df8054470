import IsletCore

/// Which timers `timer.list` asks for, with its names resolved.
struct TimerFilter {
    let family: EntityFamily?
    private var app: AppID?
    private var device: DeviceID?

    /// nil where a name is unknown, so that nothing matches.
    init?(_ list: TimerList, _ frame: Span<UInt8>, _ engine: borrowing Engine) {
        family = list.family
        if let name = list.app {
            guard let app = engine.apps.find(name, of: frame) else { return nil }
            self.app = app
        }
        if let name = list.device {
            guard let device = engine.devices.find(name, of: frame) else { return nil }
            self.device = device
        }
    }

    /// Whether a call is one of those that are asked for. What is asked for no entity is on no device.
    func matches(_ call: OpenCall, _ partition: Partition) -> Bool {
        guard partition.isThere(call.purpose) else { return false }
        guard let place = call.purpose.place else {
            let kind = ServedKind(number: call.kind)
            if let family, family != kind.family { return false }
            return device == nil && app.map { $0 == partition.engine.app(ofKind: kind) } ?? true
        }
        if let family, family != place.family { return false }
        return matches(place, in: partition.engine)
    }

    /// Whether the timer of the entity at a place is one of those that are asked for.
    func matches(_ place: EntityPlace, in engine: borrowing Engine) -> Bool {
        guard app != nil || device != nil else { return true }
        guard let owner = engine.owner(at: place) else { return false }
        if let app, owner.app != app { return false }
        if let device, owner.device != device { return false }
        return true
    }
}

extension Partition {
    /// Whether what a call is about is still there: the call of what was removed ends at the end of the turn.
    func isThere(_ purpose: ProviderTable.Purpose) -> Bool {
        switch purpose {
        case .value(let control), .perform(let control):
            engine.controls.record(control) != nil
        case .timeline(let widget), .performWidget(let widget):
            engine.widgets.record(widget) != nil
        case .question: true
        }
    }
}
