package import IsletCore

/// Reads the timelines that providers answer with, and says what is wrong with them (contract, `widget.timeline`).
package enum TimelineReading {
    /// The longest URL of an entry, in bytes as it was sent.
    package static let maximumURL = 2_048

    /// Reads a whole timeline. Its entries are ranges of the frame.
    ///
    /// - Parameters:
    ///   - entries: the bytes of the JSON array.
    ///   - policy: the bytes of the JSON value.
    ///   - family: of the widget that it is for: not all may have links.
    ///   - limit: the rule set's `maximumTimelineEntries`.
    package static func read(
        _ frame: Span<UInt8>, entries: FrameRange?, policy: FrameRange?, needsLogin: Bool?, family: WidgetFamily,
        limit: Int
    ) throws(BadTimeline) -> WidgetTimeline {
        var timeline = WidgetTimeline(entries: try read(frame, entries, family, limit: limit))
        timeline.policy = try self.policy(policy, frame)
        timeline.needsLogin = needsLogin ?? false
        if timeline.needsLogin, timeline.entries.count != 1 { throw BadTimeline(.needsLoginEntries) }
        return timeline
    }

    /// Reads the one entry that a snapshot is.
    package static func readSnapshot(
        _ frame: Span<UInt8>, entries: FrameRange?, family: WidgetFamily
    ) throws(BadTimeline) -> TimelineEntry {
        let read = try read(frame, entries, family, limit: 1)
        guard let entry = read.first else { throw BadTimeline(.emptyTimeline) }
        return entry
    }

    private static func read(
        _ frame: Span<UInt8>, _ range: FrameRange?, _ family: WidgetFamily, limit: Int
    ) throws(BadTimeline) -> [TimelineEntry] {
        guard let range else { throw BadTimeline(.emptyTimeline) }
        var objects: [JSONValue] = []
        var isTooLong = false
        do {
            try JSONScanner.scanArray(frame, at: range) { element in
                if objects.count < limit { objects.append(element) } else { isTooLong = true }
            }
        } catch {
            throw BadTimeline(.badEntry)
        }
        if isTooLong { throw BadTimeline(.tooManyEntries, limit: limit) }
        guard !objects.isEmpty else { throw BadTimeline(.emptyTimeline) }
        var entries: [TimelineEntry] = []
        entries.reserveCapacity(objects.count)
        for (index, object) in objects.enumerated() {
            let entry = try EntryReader(index: index, family: family).read(object, frame)
            if let last = entries.last, entry.date < last.date { throw BadTimeline(.entriesOutOfOrder, index: index) }
            entries.append(entry)
        }
        return entries
    }

    /// `"atEnd"`, `"never"` or `{"after":ms}`; nil where nothing is said.
    private static func policy(
        _ range: FrameRange?, _ frame: Span<UInt8>
    ) throws(BadTimeline) -> TimelineReloadPolicy? {
        guard let range else { return nil }
        let bytes = frame.extracting(range.indices)
        guard let value = try? JSONScanner.scanValue(bytes) else { throw BadTimeline(.badPolicy) }
        switch value.kind {
        case .null: return nil
        case .string:
            if value.text.equals("atEnd", in: bytes) { return .atEnd }
            if value.text.equals("never", in: bytes) { return .never }
            throw BadTimeline(.badPolicy)
        case .object:
            var after: JSONValue?
            var isWell = true
            try? JSONScanner.scanObject(bytes) { member in
                isWell = isWell && after == nil && member.name.equals("after", in: bytes)
                after = member.value
            }
            guard isWell, let after, let date = Instant(plausible: after, bytes) else { throw BadTimeline(.badPolicy) }
            return .after(date)
        case .array, .integer, .number, .true, .false: throw BadTimeline(.badPolicy)
        }
    }
}

/// Reads one entry of a timeline.
private struct EntryReader {
    /// The place of the entry in the timeline.
    let index: Int
    let family: WidgetFamily

    private static let names: [StaticString] = ["date", "content", "relevance", "url", "links"]

    func read(_ object: JSONValue, _ frame: Span<UInt8>) throws(BadTimeline) -> TimelineEntry {
        guard let found = ClosedObject.members(of: object, Self.names, frame), let date = found[0] else {
            throw bad(.badEntry)
        }
        var entry = TimelineEntry(date: try self.date(date, frame), bytes: object.range)
        if let content = found[1], content.kind != .object { throw bad(.badEntry) }
        if let relevance = found[2] { try read(relevance, into: &entry, frame) }
        if let url = found[3] { try checkURL(url) }
        if let links = found[4] { try check(links: links, frame) }
        return entry
    }

    private func bad(_ reason: BadTimeline.Reason) -> BadTimeline { BadTimeline(reason, index: index) }

    private func date(_ value: JSONValue, _ frame: Span<UInt8>) throws(BadTimeline) -> Instant {
        // A fraction is what a date in seconds looks like in many languages.
        guard value.kind == .integer || value.kind == .number else { throw bad(.badEntry) }
        guard let date = Instant(plausible: value, frame) else { throw bad(.implausibleDate) }
        return date
    }

    private func read(
        _ value: JSONValue, into entry: inout TimelineEntry, _ frame: Span<UInt8>
    ) throws(BadTimeline) {
        guard let found = ClosedObject.members(of: value, ["score", "duration"], frame), let score = found[0],
            score.kind == .integer || score.kind == .number,
            let number = JSONNumber.double(frame, at: score.range), number >= 0, Float(number).isFinite
        else { throw bad(.badRelevance) }
        entry.score = Float(number)
        guard let duration = found[1] else { return }
        guard duration.kind == .integer, let span = JSONNumber.integer(frame, at: duration.range),
            (0...CommandDecoder.maximumInteger).contains(span)
        else { throw bad(.badRelevance) }
        entry.duration = span
    }

    private func check(links: JSONValue, _ frame: Span<UInt8>) throws(BadTimeline) {
        guard links.kind == .object else { throw bad(.badEntry) }
        guard family.allowsLinks else { throw bad(.linksNotAllowed) }
        var names: Set<[UInt8]> = []
        var areWell = true
        do {
            try JSONScanner.scanObject(frame, at: links.range) { link in
                var name: [UInt8] = []
                let isText = link.name.unescape(in: frame, into: &name)
                let isName = TextRule.name.refusal(of: name.span, at: FrameRange(0..<name.count)) == nil
                let isURL = link.value.kind == .string && link.value.text.range.count <= TimelineReading.maximumURL
                areWell = areWell && isText && isName && isURL && names.insert(name).inserted
            }
        } catch {
            throw bad(.badEntry)
        }
        guard areWell else { throw bad(.badEntry) }
    }

    private func checkURL(_ value: JSONValue) throws(BadTimeline) {
        guard value.kind == .string, value.text.range.count <= TimelineReading.maximumURL else { throw bad(.badEntry) }
    }
}
