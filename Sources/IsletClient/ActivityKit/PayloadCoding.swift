import FoundationEssentials

/// The JSON of users' own types, as ActivityKit reads it on the device: with Foundation's default strategies. So a
/// `Date` inside a content is written in seconds since 2001, other than the dates of the bus itself.
enum PayloadCoding {
    /// - Throws: ``IsletError/invalid(_:)`` where the value cannot be written, or is no JSON object.
    static func encode(_ value: some Encodable, as field: String) throws(IsletError) -> RawJSON {
        let json = try encodeAny(value, as: field)
        guard json.slice.first == UInt8(ascii: "{") else { throw .invalid("\(field) must be a JSON object") }
        return json
    }

    /// - Throws: ``IsletError/invalid(_:)`` where the value cannot be written.
    static func encodeAny(_ value: some Encodable, as field: String) throws(IsletError) -> RawJSON {
        let encoder = JSONEncoder()
        // Equal values have equal bytes, so that a repeated update is seen to be none.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value), let json = RawJSON([UInt8](data)) else {
            throw .invalid("\(field) cannot be written as JSON")
        }
        return json
    }

    /// Nil where the JSON is not of that type.
    static func decode<Value: Decodable>(_ type: Value.Type, from json: RawJSON?) -> Value? {
        guard let json else { return nil }
        return try? JSONDecoder().decode(type, from: Data(json.slice))
    }
}
