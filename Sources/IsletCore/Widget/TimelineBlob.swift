/// A timeline as it is stored: a table of its entries and their bytes, as one payload.
///
/// It also keeps what was shown first of it, so that what is shown at any date can be computed.
package struct TimelineBlob: Equatable, Sendable {
    private static let headBytes = 12
    private static let rowBytes = 28
    private static let noScore = UInt32.max
    private static let noIndex = UInt16.max

    /// The ranges are of the payload.
    package private(set) var entries: [TimelineEntry]
    /// The place of the entry that was shown when it came; nil: all were ahead.
    package private(set) var firstIndex: Int?
    /// The date from which the distance to the next one counts.
    package private(set) var firstShownAt: Instant

    /// The payload of a timeline whose entries lie in a frame.
    ///
    /// - Returns: nil where it does not fit, which no frame can bring about.
    static func bytes(
        of timeline: WidgetTimeline, _ frame: Span<UInt8>, firstIndex: Int?, firstShownAt: Instant
    ) -> [UInt8]? {
        let table = headBytes + timeline.entries.count * rowBytes
        let total = timeline.entries.reduce(table) { $0 + Int($1.bytes.count) }
        guard timeline.entries.count < Int(noIndex), total <= PayloadStore.maximumCount else { return nil }
        var writer = ImageWriter()
        writer.write(UInt16(timeline.entries.count))
        writer.write(firstIndex.map { UInt16($0) } ?? noIndex)
        writer.write(firstShownAt)
        var offset = table
        for entry in timeline.entries {
            writer.write(entry.date)
            writer.write(Instant(entry.duration))
            writer.write(entry.score?.bitPattern ?? noScore)
            writer.write(UInt32(offset))
            writer.write(entry.bytes.count)
            offset += Int(entry.bytes.count)
        }
        var bytes = writer.bytes
        bytes.reserveCapacity(total)
        for entry in timeline.entries { bytes += frame.bytes(entry.bytes) }
        return bytes
    }

    /// Reads what ``bytes(of:_:firstIndex:firstShownAt:)`` made; nil where it is none, as it may come from a disk.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headBytes else { return nil }
        let count = Int(Self.integer(bytes, 0, UInt16.self))
        let table = Self.headBytes + count * Self.rowBytes
        guard count > 0, table <= bytes.count else { return nil }
        let first = Self.integer(bytes, 2, UInt16.self)
        firstIndex = first == Self.noIndex ? nil : Int(first)
        firstShownAt = Instant(Self.integer(bytes, 4, Milliseconds.self))
        entries = []
        entries.reserveCapacity(count)
        var last = Instant(.min)
        for index in 0..<count {
            let row = Self.headBytes + index * Self.rowBytes
            let place = FrameRange(
                offset: Int(Self.integer(bytes, row + 20, UInt32.self)),
                count: Int(Self.integer(bytes, row + 24, UInt32.self)))
            var entry = TimelineEntry(date: Instant(Self.integer(bytes, row, Milliseconds.self)), bytes: place)
            entry.duration = Self.integer(bytes, row + 8, Milliseconds.self)
            let score = Self.integer(bytes, row + 16, UInt32.self)
            entry.score = score == Self.noScore ? nil : Float(bitPattern: score)
            guard entry.date.isSet, entry.date.isPlausible, entry.date >= last, entry.duration >= 0,
                entry.score.map({ $0.isFinite && $0 >= 0 }) ?? true, Int(place.offset) >= table,
                place.indices.upperBound <= bytes.count
            else { return nil }
            last = entry.date
            entries.append(entry)
        }
        guard firstIndex.map({ $0 < count }) ?? true, firstShownAt.isPlausible else { return nil }
    }

    private static func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int, _: Value.Type
    ) -> Value {
        Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
}

/// Where a timeline stands: which entry is shown, and when the next one is.
///
/// Entries are shown at their dates, in order, but not closer to each other than the spacing (apple-semantics 5, entry
/// spacing): the next step is at the later of the next date and the last step plus the spacing, and shows the newest
/// entry that is past by then.
package struct TimelineCourse: Equatable, Sendable {
    /// nil: none of its entries yet.
    package private(set) var index: Int?
    /// The date from which the distance to the next one counts.
    package private(set) var shownAt: Instant
    /// When the next entry is shown; `never`: there is none.
    package private(set) var nextAt: Instant

    /// Where it stands when it comes: the newest entry that is past is shown, whatever was shown before.
    ///
    /// The distance counts from the date of that entry, but not from before it was asked for; the time that its way
    /// took must not make everything that follows late.
    init(_ entries: [TimelineEntry], at now: Instant, askedAt: Instant, spacing: Milliseconds) {
        index = Self.newest(entries, by: now)
        shownAt = index.map { max(entries[$0].date, min(askedAt, now)) } ?? .never
        nextAt = .never
        nextAt = next(entries, spacing)
    }

    /// Where it stood at a step.
    init(_ entries: [TimelineEntry], index: Int?, shownAt: Instant, spacing: Milliseconds) {
        self.index = index
        self.shownAt = shownAt
        nextAt = .never
        nextAt = next(entries, spacing)
    }

    private func next(_ entries: [TimelineEntry], _ spacing: Milliseconds) -> Instant {
        let following = index.map { $0 + 1 } ?? 0
        guard following < entries.count else { return .never }
        return index == nil ? entries[following].date : max(entries[following].date, shownAt + spacing)
    }

    /// Goes on by every step until a date.
    ///
    /// - Parameter planned: when the first of them is, as it was computed earlier; nil: as it is computed now.
    /// - Returns: the date of the last step, and whether one skipped an entry or was late; nil where there was none.
    mutating func advance(
        _ entries: [TimelineEntry], from planned: Instant? = nil, to date: Instant, spacing: Milliseconds
    ) -> (due: Instant, coalesces: Bool)? {
        var last: (due: Instant, coalesces: Bool)?
        if let planned, nextAt.isSet { nextAt = planned }
        while nextAt <= date {
            let due = nextAt
            let following = index.map { $0 + 1 } ?? 0
            let newest = Self.newest(entries, by: due) ?? following
            let coalesces = newest > following || due > entries[following].date
            last = (due, coalesces || last?.coalesces ?? false)
            (index, shownAt) = (newest, due)
            nextAt = next(entries, spacing)
        }
        return last
    }

    /// The last entry whose date is not after a date; of equal dates the later one.
    private static func newest(_ entries: [TimelineEntry], by date: Instant) -> Int? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].date <= date { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }
}

extension WidgetMachine.Showing {
    /// What a machine takes over of a timeline's course.
    init(_ course: TimelineCourse, of entries: [TimelineEntry]) {
        self.init()
        nextAt = course.nextAt
        guard let index = course.index else { return }
        self.index = UInt16(index)
        shownAt = course.shownAt
        let entry = entries[index]
        let highest = entries.reduce(Float(0)) { max($0, $1.score ?? 0) }
        guard let own = entry.score, own > 0, highest > 0 else { return }
        score = own / highest
        guard entry.duration > 0 else { return }
        // One that ends beyond all dates ends with the next entry, as one without end does.
        let end = entry.date + entry.duration
        if end < .endOfDates { relevanceEndsAt = end }
    }
}
