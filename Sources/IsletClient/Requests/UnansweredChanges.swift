/// The changes of a connection that have no answer yet, by their ops, in the order in which they were begun.
package struct UnansweredChanges: Sendable, Hashable {
    /// Handed to the service, or on the way to it: whether they were executed is unknown.
    package private(set) var sent: [String] = []
    /// Still here, as there is no connection.
    package private(set) var unsent: [String] = []

    /// None.
    package init() {}

    package mutating func add(_ change: UnansweredChange) {
        if change.wasSent { sent.append(change.op) } else { unsent.append(change.op) }
    }

    /// Adds those of another connection.
    package mutating func add(_ others: UnansweredChanges) {
        sent += others.sent
        unsent += others.unsent
    }
}

extension UnansweredChanges: CustomStringConvertible {
    /// What people are told of them; empty where there are none.
    package var description: String {
        var parts: [String] = []
        if let first = sent.first {
            parts.append("\(Self.named(first, sent.count)) sent, outcome unknown: look at it before you repeat it")
        }
        if let first = unsent.first { parts.append("\(Self.named(first, unsent.count)) not sent") }
        return parts.joined(separator: "; ")
    }

    private static func named(_ op: String, _ count: Int) -> String {
        count == 1 ? "\(op) was" : "\(op) and \(count - 1) more were"
    }
}
