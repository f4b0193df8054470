/// A request for stored events, older ones than memory holds.
package struct JournalRead: Sendable, Equatable {
    /// At most this many are asked for at a time.
    package static let maximumInFlight = 16

    package enum Kind: Sendable, Equatable {
        /// An app's events after a sequence number, oldest first.
        case stream(after: UInt64)
        /// An entity's events, newest first: the one with this sequence number, the one that it names as the entity's
        /// previous one, and so on, until the first one or one that is not kept any more.
        case chain(last: UInt64)
    }

    /// The owner's number, which the result carries.
    package var id: UInt64
    package var app: [UInt8]
    package var kind: Kind
    /// The result has at most as many events and bytes of JSON and topics; one event is given however long it is.
    package var maximumRows: Int
    package var maximumBytes: Int

    package init(id: UInt64, app: [UInt8], kind: Kind, maximumRows: Int, maximumBytes: Int) {
        self.id = id
        self.app = app
        self.kind = kind
        self.maximumRows = maximumRows
        self.maximumBytes = maximumBytes
    }
}

/// One stored event, byte for byte as it was published.
package struct StoredEvent: Sendable, Equatable {
    package var seq: UInt64
    /// The sequence number of the event before it of the same entity; 0 where it is the first.
    package var previous: UInt64
    package var topic: [UInt8]
    package var json: [UInt8]
    /// What recovery needs beside the JSON.
    package var image: [UInt8]

    package init(seq: UInt64, previous: UInt64, topic: [UInt8], json: [UInt8], image: [UInt8]) {
        self.seq = seq
        self.previous = previous
        self.topic = topic
        self.json = json
        self.image = image
    }
}

/// What a read found.
package struct JournalReadResult: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        /// In the order of the request's kind; empty where there are none.
        case events([StoredEvent])
        /// The events that were asked for are not kept any more; this is the oldest that is.
        case tooOld(oldest: UInt64)
        /// They are kept, and cannot be read at present: it is to be tried again.
        case notNow
    }

    package var id: UInt64
    package var outcome: Outcome

    package init(id: UInt64, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }
}
