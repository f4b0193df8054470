public import FoundationEssentials

/// The ledger of a widget's reloads over the last 24 hours.
public struct WidgetBudget: Sendable, Hashable {
    /// How many reloads may be charged within 24 hours.
    public let limit: Int
    /// How many are.
    public let spent: Int
    /// How many more may be now.
    public let left: Int
    /// Whether it was placed a short while ago, and has more.
    public let isLearning: Bool
    /// Whether nothing is charged or held at present.
    public let isDeveloperMode: Bool
    /// When a reload of any sort was asked for last; nil: none was.
    public let lastReloadAt: Date?
    /// From when on a reload is left; nil where one is.
    public let freeAt: Date?
    /// When each was charged, the oldest first.
    public let spentAt: [Date]
    /// How many reloads were not charged since it was placed, by the name of the exemption, such as `foreground`.
    public let exempt: [String: Int]
    /// The reload that waits; nil: none does.
    public let held: HeldReload?

    /// Reads an answer's; nil where it has no figures.
    init?(_ members: RawObject) {
        func count(_ name: String) -> Int? { members[name]?.integer.map(Int.init(clamping:)) }
        guard let limit = count("limit"), let spent = count("spent"), let left = count("left") else { return nil }
        (self.limit, self.spent, self.left) = (limit, spent, left)
        isLearning = members["isLearning"]?.bool ?? false
        isDeveloperMode = members["developerMode"]?.bool ?? false
        lastReloadAt = members["lastReloadAt"]?.integer.map(Date.init(milliseconds:))
        freeAt = members["freeAt"]?.integer.map(Date.init(milliseconds:))
        spentAt = (members["spentAt"]?.elements ?? []).compactMap(\.integer).map(Date.init(milliseconds:))
        var exempt: [String: Int] = [:]
        for member in members["exempt"]?.object?.members ?? [] {
            exempt[member.name] = member.value.integer.map(Int.init(clamping:))
        }
        self.exempt = exempt
        held = members["held"]?.object.flatMap(HeldReload.init)
    }
}

/// A reload that its budget, or the distance from the last one, does not allow yet. It is never lost.
public struct HeldReload: Sendable, Hashable {
    /// Until when.
    public let until: Date
    /// What holds it: `budget` or `spacing`.
    public let reason: String
    /// Why the first of the requests was made that became this one.
    public let cause: String
    /// How many further requests became one with it.
    public let merged: Int

    /// Reads a budget's; nil where it has no end.
    init?(_ members: RawObject) {
        guard let until = members["until"]?.integer else { return nil }
        self.until = Date(milliseconds: until)
        reason = members["reason"]?.string ?? ""
        cause = members["cause"]?.string ?? ""
        merged = members["merged"]?.integer.map(Int.init(clamping:)) ?? 0
    }
}
