/// What happens next to one entity by itself.
package struct ArmedTimer: Equatable, Sendable, BitwiseCopyable {
    package var at: Instant
    package var place: EntityPlace
    package var cause: TimerCause
}

/// Why it will happen, in the words of its family.
package enum TimerCause: Equatable, Sendable, BitwiseCopyable {
    case activity(Cause)
    case control(ControlCause)
    case widget(WidgetMachine.NextCause)
}

/// The timers, for readers.
extension Engine {
    /// The families whose entities have timers, in the order in which they take effect at one date.
    package static let timedFamilies: [EntityFamily] = [.activity, .control, .widget]

    /// The timer of the entity at a place; nil where none is armed.
    package func timer(at place: EntityPlace) -> ArmedTimer? {
        let slot = place.slot
        switch place.family {
        case .activity:
            guard wheel.isArmed(slot), let record = record(at: slot) else { return nil }
            // It may be armed for earlier, before the silence of its publisher counted anew.
            let next = record.machine.nextDeadline(rules, unheard)
            return ArmedTimer(at: next.at, place: place, cause: .activity(next.cause))
        case .control:
            let at = controls.wheel.deadline(of: slot)
            guard at.isSet, let record = controls.record(at: slot) else { return nil }
            return ArmedTimer(at: at, place: place, cause: .control(record.machine.next.cause))
        case .widget:
            let at = widgets.wheel.deadline(of: slot)
            guard at.isSet, let record = widgets.record(at: slot) else { return nil }
            let next = record.machine.next
            return ArmedTimer(at: at, place: place, cause: .widget(next.at <= at ? next.cause : .relevance))
        case .group: return nil
        }
    }

    /// The app and the device of the entity at a place, which must be in use.
    package func owner(at place: EntityPlace) -> (app: AppID, device: DeviceID?)? {
        switch place.family {
        case .activity: record(at: place.slot).map { (app(of: $0), $0.device) }
        case .control: controls.record(at: place.slot).map { (controls.kinds.app(of: $0.kind), $0.device) }
        case .widget: widgets.record(at: place.slot).map { (widgets.kinds.app(of: $0.kind), $0.device) }
        case .group: nil
        }
    }

    /// How many timers are due that have not taken effect yet. Looks at no more than `limit` of each family, and is too
    /// small where more are.
    package func overdueTimers(at now: Instant, limit: Int) -> Int {
        wheel.overdueCount(at: now, limit: limit) + controls.wheel.overdueCount(at: now, limit: limit)
            + widgets.wheel.overdueCount(at: now, limit: limit)
    }
}
