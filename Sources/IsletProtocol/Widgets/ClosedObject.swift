import IsletCore

/// Objects whose members are all known, as providers answer with.
enum ClosedObject {
    /// The elements of an array, which must all be objects; nil where they are not, or are too many.
    static func objects(_ frame: Span<UInt8>, at range: FrameRange, atMost limit: Int) -> [JSONValue]? {
        guard range.count > 0, frame[Int(range.offset)] == UInt8(ascii: "[") else { return nil }
        var objects: [JSONValue] = []
        var areWell = true
        do {
            try JSONScanner.scanArray(frame, at: range) { element in
                guard element.kind == .object, objects.count < limit else {
                    areWell = false
                    return
                }
                objects.append(element)
            }
        } catch {
            return nil
        }
        return areWell ? objects : nil
    }

    /// The members of an object by their place in `names`; absent ones and nulls are nil. nil where it is no object, or
    /// has others, or one of these twice.
    static func members(of object: JSONValue, _ names: [StaticString], _ frame: Span<UInt8>) -> [JSONValue?]? {
        guard object.kind == .object else { return nil }
        var values: [JSONValue?] = Array(repeating: nil, count: names.count)
        var isSeen = [Bool](repeating: false, count: names.count)
        var areWell = true
        do {
            try JSONScanner.scanObject(frame, at: object.range) { member in
                guard let place = names.firstIndex(where: { member.name.equals($0, in: frame) }), !isSeen[place] else {
                    areWell = false
                    return
                }
                isSeen[place] = true
                if member.value.kind != .null { values[place] = member.value }
            }
        } catch {
            return nil
        }
        return areWell ? values : nil
    }
}

extension Instant {
    /// The date that a JSON value is; nil where it is none in milliseconds since 1970.
    init?(plausible value: JSONValue, _ frame: Span<UInt8>) {
        guard value.kind == .integer, let integer = JSONNumber.integer(frame, at: value.range),
            CommandDecoder.plausibleDates.contains(integer)
        else { return nil }
        self.init(integer)
    }
}
