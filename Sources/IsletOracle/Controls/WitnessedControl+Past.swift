/// What a locked device hides of a sensitive control's past (apple-semantics 4.1, privacySensitive).
extension WitnessedControl {
    /// Whether it was hidden after an event; that of a revision that never was counts as hidden.
    package func isRedacted(at revision: Int) -> Bool {
        guard revision > 0, revision <= versions.count else { return true }
        return versions[revision - 1]["isRedacted"]?.bool ?? false
    }

    /// An event without what it tells of the content. That something was cleared may be told.
    package static func withoutContent(_ event: JSON) -> JSON {
        guard var members = event.object else { return event }
        members["interaction"] = nil
        if let patch = members["control"]?.object {
            members["control"] = .object(
                patch.filter { $0.value == .null || !ControlPassages.hidden.contains($0.key) })
        }
        return .object(members)
    }
}
