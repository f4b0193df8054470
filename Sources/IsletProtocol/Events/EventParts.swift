package import IsletCore

/// Where the payloads and names of an activity stand in the JSON of one of its events.
package struct EventParts: Equatable, Sendable {
    package private(set) var key: FrameRange?
    package private(set) var device: FrameRange?
    package private(set) var attributes: FrameRange?
    package private(set) var contentState: FrameRange?

    /// Looks through the event's `activity`.
    ///
    /// - Throws: where it is no JSON object.
    package init(of json: Span<UInt8>) throws(ScanError) {
        var parts = self
        try JSONScanner.scanObject(json, under: "activity") { member in parts.note(member, in: json) }
        self = parts
    }

    private mutating func note(_ member: JSONField, in json: Span<UInt8>) {
        if member.name.equals("contentState", in: json) {
            contentState = member.value.range
        } else if member.name.equals("attributes", in: json) {
            attributes = member.value.range
        } else if member.value.kind != .string {
            // Names are strings; whatever else stands there has no quotes to leave out.
            return
        } else if member.name.equals("key", in: json) {
            key = member.value.text.range
        } else if member.name.equals("device", in: json) {
            device = member.value.text.range
        }
    }
}
