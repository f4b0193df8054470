import IsletClient

/// The figures of `service.stats` as people read them.
package enum StatsText {
    private static let nameWidth = 12

    /// The lines, what is wrong first.
    package static func lines(_ reading: StatsReading, style: Style) -> [String] {
        let parts: [[String]] = [
            [head(reading)], warnings(reading).map(style.wrong),
            [
                line("commands", counts(reading.object("commands"))),
                line("events", plain(reading.number("events")).map { "\($0) made" }, joins(reading)),
                line("apps", plain(reading.number("apps"))),
                line("devices", plain(reading.number("devices"))),
                line("activities", counts(reading.object("activities"))),
                line("controls", counts(reading.object("controls"))),
                line("widgets", counts(reading.object("widgets"))),
                line("groups", groups(reading)),
                line("timers", timers(reading)),
            ].compactMap(\.self),
            spans("lateness", reading.object("lateness")), spans("answer", reading.object("answer")),
            spans("commit", reading.object("commit")),
            [line("providers", providers(reading))].compactMap(\.self),
            spans("calls", reading.object("providers", "call")),
            [
                line("subscribers", subscribers(reading)), line("clients", clients(reading)),
                line("waiting", waiting(reading)),
                line("journal", journal(reading)),
                line("memory", reading.number("memory", "resident").map { "\(ByteText.text($0)) resident" }),
            ].compactMap(\.self),
        ]
        return parts.flatMap(\.self)
    }

    private static func head(_ reading: StatsReading) -> String {
        let parts = [
            reading.stats["version"]?.string.map { "islet \($0)" },
            reading.number("uptime").map { "up \(TimeText.span($0))" },
            reading.stats["guarantee"]?.string.map { "guarantee \($0)" }, "its time is \(TimeText.full(reading.now))",
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    /// What an operator must know before any figure.
    private static func warnings(_ reading: StatsReading) -> [String] {
        var lines: [String] = []
        if reading.stats["diskFull"]?.bool == true { lines.append("the disk is full: changes are refused") }
        if reading.stats["stopping"]?.bool == true { lines.append("it is stopping") }
        return lines
    }

    private static func line(_ name: String, _ values: String?...) -> String? {
        let values = values.compactMap(\.self)
        return values.isEmpty ? nil : name.padded(to: nameWidth) + " " + values.joined(separator: ", ")
    }

    private static func plain(_ number: Int64?) -> String? { number.map { RecoveryText.grouped(Int(clamping: $0)) } }

    /// Such as `3 active, 1 stale`: what is not zero, in the order of the contract.
    private static func counts(_ object: RawObject?) -> String? {
        guard let object else { return nil }
        let parts = object.members.compactMap { member -> String? in
            guard let count = member.value.integer, count > 0 else { return nil }
            return "\(plain(count) ?? "") \(member.name)"
        }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }

    private static func joins(_ reading: StatsReading) -> String? {
        plain(reading.number("joins")).map { "\($0) joins of subscribers" }
    }

    private static func groups(_ reading: StatsReading) -> String? {
        guard let groups = plain(reading.number("groups", "groups")) else { return nil }
        let keys = plain(reading.number("groups", "keys")).map { ", \($0) keys" } ?? ""
        return groups + keys + (reading.number("groups", "bytes").map { ", \(ByteText.text($0))" } ?? "")
    }

    private static func timers(_ reading: StatsReading) -> String? {
        guard let armed = plain(reading.number("timers", "armed")) else { return nil }
        let overdue = plain(reading.number("timers", "overdue")).map { ", \($0) overdue" } ?? ""
        let next = reading.number("timers", "nextAt").map { ", next at \(TimeText.full($0, now: reading.now))" } ?? ""
        return "\(armed) armed" + overdue + next
    }

    /// A histogram since the start, and the same of the last while.
    private static func spans(_ name: String, _ object: RawObject?) -> [String] {
        guard let object, let text = SpanText.line(object) else { return [] }
        var lines = [name.padded(to: nameWidth) + " " + text]
        if let recent = object["recent"]?.object, let text = SpanText.line(recent, like: object) {
            let span = recent["span"]?.integer.map { "last \(TimeText.span($0))" } ?? "lately"
            lines.append("  \(span.padded(to: nameWidth - 2)) \(text)")
        }
        return lines
    }

    private static func providers(_ reading: StatsReading) -> String? {
        guard let connected = plain(reading.number("providers", "connected")) else { return nil }
        let parts: [(String, String)] = [
            ("calls", "calls"), ("inFlight", "at work"), ("waiting", "waiting"), ("failures", "failed"),
            ("timedOut", "timed out"), ("dropped", "dropped"),
        ]
        let told = parts.compactMap { name, text in plain(reading.number("providers", name)).map { "\($0) \(text)" } }
        return (["\(connected) connected"] + told).joined(separator: ", ")
    }

    private static func subscribers(_ reading: StatsReading) -> String? {
        guard let reporting = plain(reading.number("subscribers", "reporting")) else { return nil }
        guard reporting != "0" else { return "none reports how far it is" }
        let lagging = plain(reading.number("subscribers", "lagging")).map { ", \($0) lagging" } ?? ""
        let most = reading.number("subscribers", "maximumLag") ?? 0
        return "\(reporting) report" + lagging + (most > 0 ? ", at most \(plain(most) ?? "") events behind" : "")
    }

    /// Such as `5 connected, 1 cut off`; nil where there is nothing to tell.
    private static func clients(_ reading: StatsReading) -> String? {
        let cut = reading.number("clients", "cut") ?? 0
        let parts = [
            plain(reading.number("clients", "connected")).map { "\($0) connected" },
            cut > 0 ? "\(plain(cut) ?? "") cut off, since they did not read" : nil,
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Such as `2 reads, 1 pulls (3 refused)`; nil where nothing waits and nothing was refused.
    private static func waiting(_ reading: StatsReading) -> String? {
        let parts = (reading.object("waiting")?.members ?? []).compactMap { kind -> String? in
            let (count, refused) = (kind.value.object?["count"]?.integer ?? 0, kind.value.object?["refused"]?.integer ?? 0)
            guard count > 0 || refused > 0 else { return nil }
            return "\(plain(count) ?? "") \(kind.name)" + (refused > 0 ? " (\(plain(refused) ?? "") refused)" : "")
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func journal(_ reading: StatsReading) -> String? {
        guard let journal = reading.object("journal") else { return nil }
        let parts = [
            plain(journal["committed"]?.integer).map { "\($0) batches committed" },
            plain(journal["snapshot"]?.integer).map { "the snapshot holds through \($0)" },
            journal["isFull"]?.bool == true ? "full" : nil,
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
