import IsletClient
import IsletFilter

/// A family of entities as the command speaks of it.
protocol CommandFamily: FilteredRows, Sendable {
    /// What one is called, here and on the wire: `activity`.
    static var noun: String { get }
    static var plural: String { get }
    /// How a person may call one, for examples.
    static var example: String { get }

    /// What a filter may ask of the events of its history.
    static var historySubject: FilterSubject { get }

    /// What a person calls it.
    static func name(_ members: RawObject) -> String
    /// What names it alone to other subcommands.
    static func address(_ members: RawObject) -> String
    /// What it shows; nil where that is not said beside its state.
    static func shown(_ members: RawObject) -> String?
    /// The lines of a whole one.
    static func lines(_ members: RawObject, now: Int64, style: Style) -> [String]
    /// A table of them with a head.
    ///
    /// - Parameter isWide: whether it may have more columns than a small screen.
    static func table(_ rows: [RawObject], isWide: Bool, now: Int64, style: Style) -> [String]
}

extension CommandFamily {
    /// `an activity`, `a control`.
    static var one: String { "\("aeiou".contains(noun.prefix(1)) ? "an" : "a") \(noun)" }

    static func address(_ members: RawObject) -> String { name(members) }

    /// A table for small screens too.
    static func table(_ rows: [RawObject], now: Int64, style: Style) -> [String] {
        table(rows, isWide: false, now: now, style: style)
    }
}

/// A family of what persons place on their devices, of kinds that providers have declared.
protocol PlacedFamily: CommandFamily {
    /// The states in which nothing is on its way.
    static var restingStates: Set<String> { get }
    /// What a provider is asked for, in a sentence.
    static var result: String { get }
    /// What a tap has brought about at once, as its event tells; nil: nothing that is seen.
    static func effect(of event: RawObject) -> String?
}

/// Live Activities.
enum Activities: CommandFamily {
    static let noun = "activity"
    static let plural = "activities"
    static let example = "order-7"
    static let filterSubject = FilterSubject.activity
    static let historySubject = FilterSubject.activityEvent

    static func name(_ members: RawObject) -> String { ActivityText.name(members) }

    /// A key alone names only what is on no device.
    static func address(_ members: RawObject) -> String {
        let isOnDevice = members["device"]?.string != nil
        return (isOnDevice ? members["id"]?.string : nil) ?? ActivityText.name(members)
    }

    static func shown(_ members: RawObject) -> String? { nil }

    static func lines(_ members: RawObject, now: Int64, style: Style) -> [String] {
        ActivityText.lines(members, now: now, style: style)
    }

    static func table(_ rows: [RawObject], isWide: Bool, now: Int64, style: Style) -> [String] {
        ActivityText.table(rows, isWide: isWide, now: now, style: style)
    }
}

/// Controls.
enum Controls: PlacedFamily {
    static let noun = "control"
    static let plural = "controls"
    static let example = "Torch"
    static let filterSubject = FilterSubject.control
    static let historySubject = FilterSubject.controlEvent
    static let restingStates: Set = ["shown", "disabled", "preview"]
    static let result = "the value"

    static func name(_ members: RawObject) -> String { PlacedText.name(members) }

    static func shown(_ members: RawObject) -> String? {
        let status = members["status"]?.string.map { "“\($0.printable)”" }
        let parts = [ControlText.value(members), status].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    static func effect(of event: RawObject) -> String? {
        event["control"]?.object?["value"].map(ControlText.text)
    }

    static func lines(_ members: RawObject, now: Int64, style: Style) -> [String] {
        ControlText.lines(members, now: now, style: style)
    }

    static func table(_ rows: [RawObject], isWide: Bool, now: Int64, style: Style) -> [String] {
        ControlText.table(rows, isWide: isWide, now: now, style: style)
    }
}

/// Widgets.
enum Widgets: PlacedFamily {
    static let noun = "widget"
    static let plural = "widgets"
    static let example = "Flight"
    static let filterSubject = FilterSubject.widget
    static let historySubject = FilterSubject.widgetEvent
    static let restingStates: Set = ["shown", "placeholder"]
    static let result = "the timeline"

    static func name(_ members: RawObject) -> String { PlacedText.name(members) }
    static func shown(_ members: RawObject) -> String? { WidgetText.content(members["entry"]) }

    static func effect(of event: RawObject) -> String? {
        event["interaction"]?.object?["url"]?.string.map { "opens \($0.printable)" }
    }

    static func lines(_ members: RawObject, now: Int64, style: Style) -> [String] {
        WidgetText.lines(members, now: now, style: style)
    }

    static func table(_ rows: [RawObject], isWide: Bool, now: Int64, style: Style) -> [String] {
        WidgetText.table(rows, isWide: isWide, now: now, style: style)
    }
}
