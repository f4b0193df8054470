/// One chunk of a snapshot or a replay: a header and pairs of topic and JSON.
package struct BulkChunk: Sendable, Hashable {
    /// How the last chunk ends a pull.
    package enum End: Sendable, Hashable {
        /// All is there. `seq` is where the pull ends; of a snapshot, `entities` and `digest` are what holds there.
        case complete(seq: UInt64, entities: Int?, digest: UInt64?)
        /// The service gave up.
        case failed(ServiceError)
    }

    package struct Row: Sendable, Hashable {
        package var topic: String
        package var bytes: [UInt8]

        package init(topic: String, bytes: [UInt8]) {
            self.topic = topic
            self.bytes = bytes
        }
    }

    /// Which pull it belongs to.
    package var req: String
    /// Its place among the pull's chunks, from 0 on; nil where the service does not say, as in a refusal.
    package var number: UInt64?
    package var epoch: String?
    /// In the first chunk of a snapshot: rows are at least as new as this.
    package var fromSeq: UInt64?
    package var rows: [Row] = []
    /// Nil while more follows.
    package var end: End?

    /// Why the service gave up; nil where it did not.
    package var error: ServiceError? {
        guard case .failed(let error) = end else { return nil }
        return error
    }

    /// A chunk of nothing.
    package init(req: String) {
        self.req = req
    }

    /// Reads the frames of one message; nil where they are not what the contract says.
    package static func read(_ frames: [[UInt8]]) -> BulkChunk? {
        guard let first = frames.first, frames.count % 2 == 1, let header = RawObject(first),
            let req = header["req"]?.string
        else { return nil }
        var chunk = BulkChunk(req: req)
        chunk.number = header["chunk"]?.unsigned
        chunk.epoch = header["epoch"]?.string
        chunk.fromSeq = header["fromSeq"]?.sequenceNumber
        chunk.rows = stride(from: 1, to: frames.count, by: 2).map { index in
            Row(topic: String(decoding: frames[index], as: UTF8.self), bytes: frames[index + 1])
        }
        if let error = header["error"] {
            chunk.end = .failed(ServiceError(error) ?? ServiceError(code: .other("unknown"), message: "unknown error"))
        } else if header["end"]?.bool == true {
            guard let seq = header["seq"]?.sequenceNumber else { return nil }
            chunk.end = .complete(
                seq: seq,
                entities: header["entities"]?.unsigned.map { Int(clamping: $0) },
                digest: header["digest"]?.string.flatMap { UInt64($0, radix: 16) })
        }
        return chunk
    }
}
