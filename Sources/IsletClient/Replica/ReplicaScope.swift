/// What a reader follows, from a prefix of topics.
package struct ReplicaScope: Sendable, Hashable {
    /// Topics that the reader is interested in begin so.
    package let prefix: String
    /// The one app that the prefix names; nil where it may reach several.
    package let app: String?
    /// Whether entities are held.
    package let keepsEntities: Bool

    /// The scope of a prefix: `""` is everything, `com.example.pizza/` an app, `com.example.pizza/activity/Delivery/` a
    /// part of one.
    package init(prefix: String, keepsEntities: Bool) {
        self.prefix = prefix
        self.keepsEntities = keepsEntities
        app = prefix.firstIndex(of: "/").map { String(prefix[..<$0]) }
    }

    /// Whether the prefix asks for less than whole apps.
    private var isPartial: Bool {
        guard let app else { return false }
        return prefix.utf8.count > app.utf8.count + 1
    }

    /// Readers of events alone get whole apps and sort out by themselves, because only a whole stream shows its gaps.
    package var interest: StreamReplica.Interest {
        guard keepsEntities else { return .events }
        return isPartial ? .filtered(prefix: prefix) : .wholeApp
    }

    /// What is subscribed to.
    package var subscriptions: [String] {
        guard let app, isPartial else { return [prefix] }
        return keepsEntities ? [prefix, app + "/~"] : [app + "/"]
    }

    /// Whether an app's stream belongs to this scope.
    package func includes(app other: String) -> Bool {
        app.map { $0 == other } ?? other.hasPrefix(prefix)
    }

    /// Whether the reader wants this topic's events.
    package func wants(topic: String) -> Bool {
        topic.hasPrefix(prefix)
    }
}
