/// A change that had no answer in time.
public struct UnansweredChange: Sendable, Hashable {
    /// The command's `op`.
    public var op: String
    /// Whether it was handed to the service, or was on the way to it: then nobody knows whether it was executed. Else it
    /// was not.
    public var wasSent: Bool

    package init(op: String, wasSent: Bool) {
        (self.op, self.wasSent) = (op, wasSent)
    }
}

extension UnansweredChange: CustomStringConvertible {
    /// Such as `activity.update was sent, outcome unknown: look at it before you repeat it`.
    public var description: String {
        var changes = UnansweredChanges()
        changes.add(self)
        return changes.description
    }
}
