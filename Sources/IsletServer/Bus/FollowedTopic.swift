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

    /// What all topics of an app's events begin with.
    package static func start(of app: [UInt8]) -> [UInt8] { app + [UInt8(ascii: "/")] }

    /// Whether topics of the events that begin so may begin with a topic, or that with it.
    static func mayName(_ start: [UInt8], _ topic: [UInt8]) -> Bool {
        start.starts(with: topic) || topic.starts(with: start)
    }
}

/// A subscriber of events that does not say how far it is.
package struct SilentFollower: Equatable {
    /// Of its connection; another one may have it later.
    let descriptor: Int32
    /// Since when it follows; monotonic milliseconds.
    package let since: Milliseconds
    /// By how many topics it follows events.
    package let topicCount: Int
}
