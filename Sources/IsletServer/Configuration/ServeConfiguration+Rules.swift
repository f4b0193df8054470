import IsletCore

extension ServeConfiguration {
    private static let rulePrefix = "ruleSet."

    /// The names of all rules, as they stand under `ruleSet` in the file.
    package static let ruleNames = Setting.all(now: manualStart).map(\.name).filter { $0.hasPrefix(rulePrefix) }
        .map { String($0.dropFirst(rulePrefix.count)) }

    /// Sets a rule from its text, as the file has it.
    ///
    /// - Returns: why it cannot be so, worded to follow "is"; nil where it was set.
    package mutating func setRule(_ name: String, _ text: String) -> String? {
        guard let setting = Setting.all(now: Self.manualStart).first(where: { $0.name == Self.rulePrefix + name })
        else {
            return "of no rule that there is"
        }
        do throws(SettingRefusal) {
            try setting.read(text, &self)
            return nil
        } catch {
            return error.reason
        }
    }

    /// No rule depends on the clock.
    private static var manualStart: Instant { Instant(0) }
}
