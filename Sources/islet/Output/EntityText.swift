import ArgumentParser
import IsletClient

/// What activities, controls and widgets have in common, as people read it.
enum EntityText {
    /// The entity that an answer is about.
    static func entity(_ answer: Answer) -> RawObject? {
        (answer["activity"] ?? answer["control"] ?? answer["widget"] ?? answer["group"])?.object
    }

    /// Whether a text has the form 8-4-4-4-12 of a UUID.
    static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy(\.isHexDigit)
    }

    /// Refuses a device beside an id, which names one thing whatever device it is on. What has the form of an id may be
    /// an activity's key, and on a device is one.
    ///
    /// - Throws: a `ValidationError`.
    static func checkAddress(_ target: String?, device: String?, of family: any CommandFamily.Type) throws {
        guard let target, device != nil, isID(target), family != Activities.self else { return }
        throw ValidationError(idTakesNoDevice)
    }

    static let idTakesNoDevice = "an id says which one it is: it takes no --device"

    /// The end of an id: its beginning is its time, which is the same for many.
    static func shortID(_ id: String) -> String { String(id.suffix(12)) }

    /// The state in its colour.
    static func state(_ members: RawObject, style: Style) -> String {
        let state = members["state"]?.string
        return style.of(state: state, state ?? "?")
    }

    /// How long it has been in its state; `-` where the service does not say it.
    static func timeInState(_ members: RawObject, now: Int64) -> String {
        members["stateAt"]?.integer.map { TimeText.span(max(0, now.subtractingClamped($0))) } ?? "-"
    }

    /// The next deadline as seen from `now`; nil where there is none.
    static func next(_ members: RawObject, now: Int64) -> String? {
        members["next"].flatMap(Deadline.init).map { TimeText.deadline($0.cause, at: $0.at, now: now) }
    }

    /// The next deadline, and a reload that waits longer than that.
    static func upcoming(_ members: RawObject, now: Int64) -> [String] {
        var parts = [next(members, now: now)].compactMap(\.self)
        let isHeldNext = members["next"]?.object?["cause"]?.string == "held"
        if !isHeldNext, let until = members["held"]?.object?["until"]?.integer {
            parts.append(TimeText.deadline("held", at: until, now: now))
        }
        return parts
    }

    /// A line for each member but the state, dates both in UTC and from `now`.
    static func memberLines(_ members: RawObject, now: Int64) -> [String] {
        members.members.filter { $0.name != "state" }.map { member in
            "  " + member.name.printable.padded(to: 15) + " " + value(member, now: now).printable
        }
    }

    private static func value(_ member: RawObject.Member, now: Int64) -> String {
        if member.name == "next" {
            return member.value.object.flatMap { next(["next": $0.json], now: now) } ?? ""
        }
        if member.name == "policy" { return WidgetText.policy(member.value, now: now) }
        if member.name == "held" { return WidgetText.held(member.value, now: now) ?? "" }
        let isDate = member.name.hasSuffix("Date") || member.name.hasSuffix("At") || member.name == "timestamp"
        if isDate, let date = member.value.integer {
            return TimeText.full(date, now: now)
        }
        return member.value.text
    }
}
