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

    /// Whether topics of an app's events may begin with it.
    static func mayName(_ app: [UInt8], _ topic: [UInt8]) -> Bool {
        let start = app + [UInt8(ascii: "/")]
        return start.starts(with: topic) || topic.starts(with: start)
    }
}

/// A subscriber of events that does not say how far it is.
package struct SilentFollower: Equatable {
    /// Milliseconds of real time since it came.
    package var age: Milliseconds
    package var topics: Set<[UInt8]>
}
