package import IsletCore

extension JSONWriter {
    /// A watermark of an app: `{"epoch","seq","entities","digest","at"}`.
    package mutating func watermark(
        epoch: [UInt8], seq: UInt64, entities: Int, digest: Digest, at now: Instant, isClosing: Bool
    ) {
        beginObject()
        position(epoch: epoch, seq: seq, entities: entities, digest: digest)
        field("at", now)
        if isClosing { field("closing", true) }
        endObject()
    }

    /// The members that say where a stream stands and what its entities add up to.
    package mutating func position(epoch: [UInt8], seq: UInt64, entities: Int, digest: Digest) {
        field("epoch", plain: epoch.span)
        field("seq", seq)
        field("entities", entities)
        self.digest(digest)
    }

    /// A digest as 16 hexadecimal digits in lower case.
    package mutating func digest(_ digest: Digest) {
        key("digest")
        beginString()
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            append(EntityID.hexDigit(UInt8(truncatingIfNeeded: digest.value >> shift) & 15))
        }
        append(UInt8(ascii: "\""))
    }

    /// The topic of an app's watermarks: `<app>/~`.
    package mutating func watermarkTopic(_ app: [UInt8]) {
        app.withUnsafeBytes { append($0) }
        append("/~")
    }

    mutating func appendTopic(prefix: Span<UInt8>, _ id: EntityID) {
        prefix.withUnsafeBytes { append($0) }
        append(id)
    }

    /// A member whose value needs no escapes.
    package mutating func field(_ name: StaticString, plain value: [UInt8]) {
        field(name, plain: value.span)
    }

    /// A member's name that needs no escapes.
    package mutating func key(plain name: [UInt8]) {
        key(plain: name.span)
    }

    /// Bytes as they are, outside any document.
    package mutating func plainBytes(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Bytes as they are, outside any document: topics and routing ids that share the buffer.
    package mutating func plainBytes(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { append($0) }
    }
}
