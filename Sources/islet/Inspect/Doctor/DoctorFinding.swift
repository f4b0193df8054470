import IsletClient

/// One thing that `islet doctor` has looked at.
struct DoctorFinding: Sendable {
    /// How well it is.
    enum Level: String, Sendable {
        case ok, warn, fail
    }

    let level: Level
    /// As programs read it, such as `openFiles`.
    let name: String
    /// What is so.
    let text: String
    /// What to do about it.
    var advice: String?
    /// What was measured, by name.
    var figures: RawObject = [:]

    static func ok(_ name: String, _ text: String, _ figures: RawObject = [:]) -> DoctorFinding {
        DoctorFinding(level: .ok, name: name, text: text, figures: figures)
    }

    static func warn(_ name: String, _ text: String, advice: String, _ figures: RawObject = [:]) -> DoctorFinding {
        DoctorFinding(level: .warn, name: name, text: text, advice: advice, figures: figures)
    }

    static func fail(_ name: String, _ text: String, advice: String, _ figures: RawObject = [:]) -> DoctorFinding {
        DoctorFinding(level: .fail, name: name, text: text, advice: advice, figures: figures)
    }

    var json: RawJSON {
        var members: [RawObject.Member] = [
            .init("name", .string(name)), .init("level", .string(level.rawValue)), .init("text", .string(text)),
        ]
        if let advice { members.append(.init("advice", .string(advice))) }
        if !figures.members.isEmpty { members.append(.init("figures", figures.json)) }
        return .object(members)
    }

    /// One line, and another with what to do.
    func lines(style: Style) -> [String] {
        let mark = level.rawValue.padded(to: 5)
        let shown =
            switch level {
            case .ok: style.of(state: "active", mark)
            case .warn: style.of(state: "stale", mark)
            case .fail: style.wrong(mark)
            }
        let line = "\(shown) \(name.padded(to: Self.nameWidth)) \(text)"
        return [line] + [advice].compactMap(\.self).map { "".padded(to: 7 + Self.nameWidth) + "→ " + $0 }
    }

    private static let nameWidth = 14
}
