/// When widgets of a kind are relevant, as their provider says (`WidgetRelevance`); the earlier in its list, the more.
package struct WidgetRelevance: Equatable, Sendable {
    /// The exact bytes of the configuration that it is about, a JSON object; nil: any.
    package var configuration: [UInt8]?
    /// From when on; nil: at once.
    package var from: Instant?
    /// Until when; nil: without an end.
    package var to: Instant?

    package init(configuration: [UInt8]? = nil, from: Instant? = nil, to: Instant? = nil) {
        self.configuration = configuration
        self.from = from
        self.to = to
    }
}
