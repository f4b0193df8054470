/// The last event that a reader has of each app: the content of `stream.applied`, a command without an answer.
package struct AppliedReport: Sendable, Hashable {
    /// That of its join, under which the service knows it.
    package var nonce: String
    /// The last event that it has of each app, in the order of their names.
    package var positions: [Position]

    package struct Position: Sendable, Hashable {
        package var app: String
        package var seq: UInt64

        package init(app: String, seq: UInt64) {
            self.app = app
            self.seq = seq
        }
    }

    /// A report that would be larger leaves out the remaining apps, since a command has at most 65,536 bytes.
    private static let maximumBytes = 60_000

    package init(nonce: String, positions: [Position]) {
        self.nonce = nonce
        self.positions = positions
    }

    /// The command.
    package var frame: [UInt8] {
        var apps: [RawObject.Member] = []
        var size = 0
        for position in positions {
            size += position.app.utf8.count + 32
            guard size <= Self.maximumBytes else { break }
            let place: RawObject = ["seq": .integer(Int64(clamping: position.seq))]
            apps.append(.init(position.app, place.json))
        }
        let command: RawObject = ["op": .string("stream.applied"), "nonce": .string(nonce), "apps": .object(apps)]
        return command.json.bytes
    }
}
