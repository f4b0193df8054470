/// Which command a claim is of, as it is known after a restart as well: these bytes of that client.
package struct RetryIdentity: Equatable, Sendable, BitwiseCopyable {
    private let client: EntityID
    private let frameHash: FrameHash

    package init(_ claim: RetryClaim) {
        client = claim.client
        frameHash = claim.frameHash
    }

    /// Reads what ``write(to:)`` wrote.
    package init(_ reader: inout ImageReader) throws(ImageError) {
        client = try reader.entityID()
        frameHash = FrameHash(value: try reader.integer())
    }

    package func write(to writer: inout ImageWriter) {
        writer.write(client)
        writer.write(frameHash.value)
    }
}
