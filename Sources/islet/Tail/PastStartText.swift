import IsletClient

extension PastStart {
    /// What is to be said where older events of an app are not kept; nil where all are.
    func text(of app: String) -> String? {
        guard isCut else { return nil }
        let oldest = firstAt.map { "what happened before \(TimeText.full($0))" } ?? "what has happened"
        return "\(app): \(oldest) is not kept any more"
    }
}
