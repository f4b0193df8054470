package import IsletCore

/// What subscribers' topics mean.
package enum FollowedTopic {
    /// With this byte begin topics of the service's own words, such as the answers to joins.
    private static let own: UInt8 = 0xFF
    /// Who subscribes to it hands events on to others, as HTTP does, and has applied none itself: it reports nothing, and is
    /// not said to be silent.
    package static let relay: [UInt8] = [own] + Array("relay".utf8)

    /// Whether events or watermarks come by it.
    static func isOfEvents(_ topic: [UInt8]) -> Bool { topic.first != own }

    /// Whether topics of an app's events, all of which begin with `start`, may begin with it.
    fileprivate static func mayName(_ start: [UInt8], _ topic: [UInt8]) -> Bool {
        start.starts(with: topic) || topic.starts(with: start)
    }
}

/// A subscriber of events that does not say how far it is.
package struct SilentFollower: Equatable {
    /// When it came, in monotonic milliseconds.
    package var since: Milliseconds
    /// How many of its topics are of events.
    package var topicCount: Int
    /// All that it has subscribed to, also the service's own words.
    package var topics: Set<[UInt8]>

    /// Whether its topics may have events of an app.
    package func mayFollow(_ app: [UInt8]) -> Bool {
        let start = app + [UInt8(ascii: "/")]
        return topics.contains { FollowedTopic.isOfEvents($0) && FollowedTopic.mayName(start, $0) }
    }

    /// The first of its topics of events, in their order.
    package func firstTopics(_ count: Int) -> [[UInt8]] {
        var first: [[UInt8]] = []
        for topic in topics where FollowedTopic.isOfEvents(topic) {
            let place = first.lastIndex { $0.lexicographicallyPrecedes(topic) }.map { $0 + 1 } ?? 0
            guard place < count else { continue }
            first.insert(topic, at: place)
            if first.count > count { first.removeLast() }
        }
        return first
    }
}
