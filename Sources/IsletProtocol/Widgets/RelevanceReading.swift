package import IsletCore

/// Reads when a kind is relevant, as providers answer it (contract, `widget.relevance`).
package enum RelevanceReading {
    /// A provider gives at most this many times for a kind.
    package static let maximumCount = 100

    /// The elements of the array at `range`, in their order; nil where it is none.
    package static func read(_ frame: Span<UInt8>, at range: FrameRange) -> [WidgetRelevance]? {
        guard let objects = ClosedObject.objects(frame, at: range, atMost: maximumCount) else { return nil }
        var read: [WidgetRelevance] = []
        for object in objects {
            guard let found = ClosedObject.members(of: object, ["configuration", "from", "to"], frame) else {
                return nil
            }
            var relevance = WidgetRelevance()
            if let configuration = found[0] {
                guard configuration.kind == .object else { return nil }
                relevance.configuration = frame.copy(configuration.range)
            }
            if let from = found[1] {
                guard let date = Instant(plausible: from, frame) else { return nil }
                relevance.from = date
            }
            if let to = found[2] {
                guard let date = Instant(plausible: to, frame) else { return nil }
                if let from = relevance.from, date < from { return nil }
                relevance.to = date
            }
            read.append(relevance)
        }
        return read
    }
}
