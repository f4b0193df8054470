/// The last event that a reader has of each app: the content of `stream.applied`, a command without an answer.
package struct AppliedReport: Sendable, Hashable {
    /// That of its join, under which the service knows it.
    package var nonce: String
    /// The last event that it has of each app, in the order of their names.
    package var positions: [Position]

    package struct Position: Sendable, Hashable {
        package var app: String
        package var stream: StreamPosition

        package init(app: String, _ stream: StreamPosition) {
            self.app = app
            self.stream = stream
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
            let place: RawObject = [
                "epoch": .string(position.stream.epoch), "seq": .integer(Int64(clamping: position.stream.seq)),
            ]
            // The name in its quotation marks, a colon and a comma.
            size += position.app.utf8.count + place.json.bytes.count + 4
            guard size <= Self.maximumBytes else { break }
            apps.append(.init(position.app, place.json))
        }
        let command: RawObject = ["op": .string("stream.applied"), "nonce": .string(nonce), "apps": .object(apps)]
        return command.json.bytes
    }
}
