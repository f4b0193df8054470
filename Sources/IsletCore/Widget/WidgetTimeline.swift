/// One entry of a timeline (`TimelineEntry`), without its bytes.
package struct TimelineEntry: Equatable, Sendable, BitwiseCopyable {
    package var date: Instant
    /// `TimelineEntryRelevance.score`; nil: it says nothing of its relevance.
    package var score: Float?
    /// How long that holds from its date on; 0: until the next entry.
    package var duration: Milliseconds = 0
    /// The exact bytes of the JSON object: in the frame that brought it, or in the stored timeline.
    package var bytes: FrameRange

    package init(date: Instant, bytes: FrameRange) {
        self.date = date
        self.bytes = bytes
    }
}

/// A timeline as a provider gave it, checked (``BadTimeline``): one entry at least, in the order of their dates.
package struct WidgetTimeline: Equatable, Sendable {
    package var entries: [TimelineEntry]
    /// nil: the default, which is `atEnd`, or `never` where it asks for a login.
    package var policy: TimelineReloadPolicy?
    package var needsLogin = false

    package init(entries: [TimelineEntry]) {
        self.entries = entries
    }

    /// The policy that holds (apple-semantics 5, policy .atEnd: the default).
    var effectivePolicy: TimelineReloadPolicy { policy ?? (needsLogin ? .never : .atEnd) }
}
