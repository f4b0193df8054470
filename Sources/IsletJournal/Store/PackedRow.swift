/// Columns that do not say what they should.
package struct PackingError: Error, Equatable, CustomStringConvertible {
    /// The column, and what is wrong with it.
    package var reason: String
    /// The byte of the column where that shows.
    package var offset: Int

    package var description: String { "\(reason) (byte \(offset))" }
}

/// Goes through a packed column from its beginning; nothing that it finds can make it go outside.
struct PackedCursor {
    private(set) var offset = 0

    @inline(__always)
    mutating func length(in bytes: Span<UInt8>) throws(PackingError) -> Int {
        Int(UInt32(truncatingIfNeeded: try integer(in: bytes, bytes: 4)))
    }

    @inline(__always)
    mutating func number(in bytes: Span<UInt8>) throws(PackingError) -> UInt64 { try integer(in: bytes, bytes: 8) }

    /// Passes over so many bytes, and says where they are.
    @inline(__always)
    mutating func range(_ count: Int, in bytes: Span<UInt8>) throws(PackingError) -> Range<Int> {
        guard count <= bytes.count - offset else {
            throw PackingError(reason: "a packed column ends too early", offset: offset)
        }
        defer { offset += count }
        return offset..<(offset + count)
    }

    @inline(__always)
    private mutating func integer(in bytes: Span<UInt8>, bytes count: Int) throws(PackingError) -> UInt64 {
        let range = try range(count, in: bytes)
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[range.lowerBound + index]) << UInt64(8 * index) }
        return value
    }
}

/// The rows of a batch as they lie in the file, taken apart.
package enum PackedRow {
    /// Where an event's parts are: its JSON in the body, the rest in the recovery column.
    package struct Event {
        package var index: Int
        package var previous: UInt64
        package var json: Range<Int>
        package var topic: Range<Int>
        package var image: Range<Int>
    }

    /// Calls `visit` with each event of a row, after it has made sure that its parts are inside.
    ///
    /// - Parameters:
    ///   - count: How many there are according to the row's sequence numbers.
    ///   - visit: false ends it.
    /// - Throws: ``PackingError``, and what `visit` throws.
    package static func forEachEvent(
        body: Span<UInt8>, recovery: Span<UInt8>, count: Int, _ visit: (Event) throws -> Bool
    ) throws {
        var cursor = PackedCursor()
        let counted = try cursor.length(in: recovery)
        guard counted == count else {
            throw PackingError(reason: "recovery has \(counted) events, the sequence numbers have \(count)", offset: 0)
        }
        var position = 0
        for index in 0..<count {
            let start = cursor.offset
            let jsonCount = try cursor.length(in: recovery)
            let topicCount = try cursor.length(in: recovery)
            let imageCount = try cursor.length(in: recovery)
            let previous = try cursor.number(in: recovery)
            let topic = try cursor.range(topicCount, in: recovery)
            let image = try cursor.range(imageCount, in: recovery)
            let separator = index == 0 ? UInt8(ascii: "[") : UInt8(ascii: ",")
            guard position < body.count, body[position] == separator, jsonCount < body.count - position else {
                throw PackingError(reason: "body and recovery do not fit at event \(index)", offset: start)
            }
            let json = (position + 1)..<(position + 1 + jsonCount)
            position = json.upperBound
            let event = Event(index: index, previous: previous, json: json, topic: topic, image: image)
            guard try visit(event) else { return }
        }
        guard position == body.count - 1, body[position] == UInt8(ascii: "]"), cursor.offset == recovery.count else {
            throw PackingError(reason: "body or recovery goes on after the last event", offset: position)
        }
    }

    /// Calls `visit` with each note of a column of facts or answers.
    ///
    /// - Throws: ``PackingError``, and what `visit` throws.
    package static func forEachNote(_ column: Span<UInt8>, _ visit: (Span<UInt8>) throws -> Void) throws {
        if column.isEmpty { return }
        var cursor = PackedCursor()
        for _ in 0..<(try cursor.length(in: column)) {
            let count = try cursor.length(in: column)
            try visit(column.extracting(try cursor.range(count, in: column)))
        }
        guard cursor.offset == column.count else {
            throw PackingError(reason: "a packed column goes on after its last note", offset: cursor.offset)
        }
    }
}
