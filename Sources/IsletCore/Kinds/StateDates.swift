/// Since when a control or a widget is in its state, and since when it fails.
///
/// Only answers to reads show them: who follows events has the dates of those that brought another state.
package struct StateDates: Equatable, Sendable, BitwiseCopyable {
    /// The date of the event that brought it into its state, or of the deadline behind that event; `never`: an earlier
    /// release did not keep it.
    package var stateAt = Instant.never
    /// The same of the first event since when it has a failure; `never` where it has none.
    package var failingSince = Instant.never

    /// Of what has not had an event.
    package init() {}

    /// It had an event.
    mutating func take(isOtherState: Bool, isFailing: Bool, at date: Instant) {
        if isOtherState { stateAt = date }
        if !isFailing { failingSince = .never } else if !failingSince.isSet { failingSince = date }
    }
}

/// What images of controls and widgets have behind the rest.
extension StateDates {
    /// What else stands there.
    struct Parts: OptionSet {
        let rawValue: UInt8

        static let givenUpAction = Parts(rawValue: 1)
        static let failureReason = Parts(rawValue: 2)
        static let failingSince = Parts(rawValue: 4)

        static let all: Parts = [.givenUpAction, .failureReason, .failingSince]

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ hasGivenUpAction: Bool, _ hasReason: Bool, _ dates: StateDates) {
            self = hasGivenUpAction ? .givenUpAction : []
            if hasReason { insert(.failureReason) }
            if dates.failingSince.isSet { insert(.failingSince) }
        }
    }

    init(_ reader: inout ImageReader, hasFailure: Bool, _ parts: Parts) throws(ImageError) {
        stateAt = try reader.instant()
        if parts.contains(.failingSince) { failingSince = try reader.instant() }
        for date in [stateAt, failingSince] where !date.isPlausible { throw .contradiction("a date in no century") }
        guard hasFailure || !failingSince.isSet else { throw .contradiction("the date of a failure that is none") }
    }
}

extension ImageWriter {
    mutating func write(_ dates: StateDates) {
        write(dates.stateAt)
        if dates.failingSince.isSet { write(dates.failingSince) }
    }
}
