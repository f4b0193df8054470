import IsletCore
import IsletProtocol

/// What this library asks of the protocol's scanner: the parts of bytes, as slices of them.
///
/// What the service sends nests deeper than the payloads in it.
enum Scan {
    private static let depthLimit = JSONScanner.maximumMessageDepth

    /// Where the one value stands that `bytes` are; nil where they are not well-formed.
    static func value(of bytes: [UInt8]) -> Range<Int>? {
        try? JSONScanner.scanValue(bytes.span, depthLimit: depthLimit).range.indices
    }

    /// The members of the object that `slice` is; nil where it is not well-formed, or a name stands twice.
    static func members(of slice: ArraySlice<UInt8>) -> [RawObject.Member]? {
        let span = slice.span
        let start = slice.startIndex
        var members: [RawObject.Member] = []
        members.reserveCapacity(16)
        do throws(ScanError) {
            try JSONScanner.scanObject(span, depthLimit: depthLimit) { field in
                let name = field.name.string(in: span)
                let range = field.value.range.indices
                let value = RawJSON(trusted: slice[(start + range.lowerBound)..<(start + range.upperBound)])
                members.append(RawObject.Member(name, value))
            }
        } catch {
            return nil
        }
        return hasUniqueNames(members) ? members : nil
    }

    private static func hasUniqueNames(_ members: [RawObject.Member]) -> Bool {
        // Few names are compared with each other faster than they are hashed; many are hashed, so that no frame costs
        // time by the square of its length.
        guard members.count <= 24 else { return Set(members.map { Array($0.name.utf8) }).count == members.count }
        for index in members.indices.dropFirst() {
            let name = members[index].name
            if members[..<index].contains(where: { $0.name.hasSameBytes(as: name) }) { return false }
        }
        return true
    }

    /// The elements of the array that `slice` is; nil where it is not well-formed.
    static func elements(of slice: ArraySlice<UInt8>) -> [RawJSON]? {
        let start = slice.startIndex
        var elements: [RawJSON] = []
        do throws(ScanError) {
            try JSONScanner.scanArray(slice.span, at: FrameRange(0..<slice.count), depthLimit: depthLimit) { value in
                let range = value.range.indices
                elements.append(RawJSON(trusted: slice[(start + range.lowerBound)..<(start + range.upperBound)]))
            }
        } catch {
            return nil
        }
        return elements
    }

    /// The text of the string that `slice` is; nil where it is none.
    static func string(of slice: ArraySlice<UInt8>) -> String? {
        let span = slice.span
        guard let value = try? JSONScanner.scanValue(span, depthLimit: depthLimit), value.kind == .string
        else { return nil }
        return value.text.string(in: span)
    }
}
