import IsletCore

extension CommandDecoder {
    /// A nonce: 16 random bytes in hexadecimal digits.
    static let nonceLength = 32
    /// The most chunks that may be asked for at a time (contract, Bulk).
    static let maximumCredit: Int64 = 16

    func streamApplied(_ frame: Span<UInt8>) throws(Refusal) -> StreamApplied {
        guard let nonce = try text(.nonce, .name, frame) else { throw .missingField(.nonce) }
        for index in nonce.indices where HexDigit.value(frame[index]) == nil {
            throw .badField(.nonce, .badCharacters)
        }
        guard Int(nonce.count) == CommandDecoder.nonceLength else { throw .badField(.nonce, .outOfRange) }
        return StreamApplied(nonce: nonce, apps: try requiredObject(.apps))
    }

    func bulkSnapshot(_ frame: Span<UInt8>) throws(Refusal) -> BulkSnapshot {
        try requireReq()
        return BulkSnapshot(
            app: try requiredText(.app, .app, frame), prefix: try text(.prefix, .prefix, frame),
            credit: try bulkCredit(frame))
    }

    func bulkReplay(_ frame: Span<UInt8>) throws(Refusal) -> BulkReplay {
        try requireReq()
        let app = try requiredText(.app, .app, frame)
        guard let from = try count(.from, frame) else { throw .missingField(.from) }
        return BulkReplay(app: app, from: from, credit: try bulkCredit(frame))
    }

    func bulkDigest(_ frame: Span<UInt8>) throws(Refusal) -> BulkDigest {
        BulkDigest(app: try requiredText(.app, .app, frame), prefix: try text(.prefix, .prefix, frame))
    }

    /// `bulk.credit`, and the field `credit` of the pulls.
    func bulkCredit(_ frame: Span<UInt8>) throws(Refusal) -> Int {
        try requireReq()
        guard let credit = try integer(.credit, in: 1...CommandDecoder.maximumCredit, frame) else {
            throw .missingField(.credit)
        }
        return credit
    }

    func bulkCancel(_ frame: Span<UInt8>) throws(Refusal) -> Operation {
        try requireReq()
        return .bulkCancel
    }

    /// A pull is known by its `req`.
    private func requireReq() throws(Refusal) {
        guard present.contains(.req) else { throw .missingField(.req) }
    }
}
