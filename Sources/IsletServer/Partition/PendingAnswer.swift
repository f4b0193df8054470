import IsletCore

/// An answer message that waits for some of its frames: lists over many turns, reads that wait for a sequence number,
/// a clock that travels.
final class PendingAnswer {
    let destination: OutboundMessages.Destination
    /// Routing id and envelope.
    let route: [[UInt8]]
    private(set) var frames: [[UInt8]?] = []
    private var missing = 0
    /// Of all frames that are here.
    private(set) var bytes = 0
    /// The last batch that its frames may show something of; 0: none.
    private(set) var shows: UInt64 = 0
    /// The first one.
    private(set) var showsFirst = UInt64.max
    /// Whether a command of its message was a change, as far as anybody knows.
    var hasChange = true
    /// Whether all commands of its message have been looked at.
    var isClosed = true
    /// Whether nobody gets it: its peer is gone, and another one may have its name or some of its frames never come; or
    /// it is a plain publisher, which gets no answers. Its commands are executed all the same.
    private(set) var isAbandoned = false
    /// Its place in the ledger while it waits.
    var ticket: WorkLedger.Ticket?

    /// What a plain publisher's commands are answered with.
    static func nobodys() -> PendingAnswer {
        let answer = PendingAnswer(destination: .commands, route: [])
        answer.isAbandoned = true
        return answer
    }

    init(destination: OutboundMessages.Destination, route: [[UInt8]]) {
        self.destination = destination
        self.route = route
    }

    var isComplete: Bool { isClosed && missing == 0 }

    /// Whose message it is.
    var peer: Peer { Peer(destination: destination, routingID: route.first ?? []) }

    /// The first frame with a `req` that says whose answer it is, and where that stands.
    var firstReq: (frame: [UInt8], req: FrameRange)? {
        for frame in frames {
            if let frame, let req = Self.req(of: frame) { return (frame, req) }
        }
        return nil
    }

    /// Where an answer has the `req` that it is for: it is the first member, and needs no escapes.
    static func req(of answer: [UInt8]) -> FrameRange? {
        let start = Array(#"{"req":""#.utf8)
        guard answer.starts(with: start), let end = answer[start.count...].firstIndex(of: UInt8(ascii: "\"")) else {
            return nil
        }
        return FrameRange(offset: start.count, count: end - start.count)
    }

    /// Nobody waits for it any more.
    func abandon() { isAbandoned = true }

    func add(_ frame: [UInt8], shows batch: UInt64) {
        frames.append(frame)
        bytes += frame.count
        (shows, showsFirst) = (max(shows, batch), min(showsFirst, batch))
    }

    /// Keeps a place for a frame to come.
    func addMissing() -> Job.Answer {
        frames.append(nil)
        missing += 1
        return Job.Answer(message: self, index: frames.count - 1)
    }

    func fill(_ index: Int, _ frame: [UInt8], shows batch: UInt64) {
        precondition(frames[index] == nil, "a frame is answered once")
        frames[index] = frame
        bytes += frame.count
        (shows, showsFirst) = (max(shows, batch), min(showsFirst, batch))
        missing -= 1
    }
}

/// The messages of one peer that go on in later turns, in the order in which they came.
struct RestingMessages {
    var peer: Peer
    var messages: [WaitingMessage]

    /// A connection has ended, and another one may get its descriptor.
    mutating func hasEnded(_ descriptor: Int32) {
        for index in messages.indices { messages[index].hasEnded(descriptor) }
    }
}

/// Commands that came while the clock travels, or behind it in its own message; or in a turn that had done enough.
struct WaitingMessage {
    enum Frame {
        case command([UInt8], isTooLong: Bool)
        /// What a provider said was taken at once; this is what it is answered.
        case answered([UInt8], shows: UInt64)

        var bytes: [UInt8] {
            switch self {
            case .command(let bytes, _), .answered(let bytes, _): bytes
            }
        }
    }

    var frames: [Frame] = []
    var hasTooManyFrames: Bool
    /// Whether it came from a plain publisher.
    var isIngest = false
    /// What the message is answered with; the results of earlier frames are in it already.
    var answer: PendingAnswer
    /// Monotonic milliseconds.
    var receivedAt: Milliseconds
    /// Over which connection it came; nil where nobody knows, or once that has ended.
    var connection: Int32?
    /// Whether that has ended.
    var isCutOff = false
    /// Its place in the ledger.
    var ticket: WorkLedger.Ticket?

    /// What is kept of it.
    var bytes: Int { frames.reduce(answer.bytes) { $0 + $1.bytes.count } }

    /// A connection has ended, and another one may get its descriptor.
    mutating func hasEnded(_ descriptor: Int32) {
        guard connection == descriptor else { return }
        connection = nil
        isCutOff = true
    }
}

/// A message that waited, some of whose commands are executed.
struct WaitedMessage {
    /// What it is answered with.
    let answer: PendingAnswer
    /// Over which connection it came; nil where nobody knows, or once that has ended.
    var connection: Int32?
    /// Whether that has ended.
    var isCutOff = false
}

/// Work that takes more than one turn and ends with an answer.
final class Job {
    /// Where the answer goes.
    struct Answer {
        var message: PendingAnswer
        var index: Int
    }

    enum Kind {
        case list(ListScan<ActivityFilter>)
        /// The number of a digest scan of the engine, and its app.
        case digest(Int, app: AppID)
        /// A read that waits until its app's stream has come to `seq`, at most until `deadline` (monotonic ms).
        case waitForSeq(UInt64, app: [UInt8], frame: [UInt8], deadline: Int64)
        /// An activity's past, some of which is read from files.
        case past(StoredPast)
        /// Controls, listed over many turns.
        case controlList(ListScan<ControlFilter>)
        /// A control's value is asked for, and waited for.
        case controlValue(WantedValue)
        /// Widgets, listed over many turns.
        case widgetList(ListScan<WidgetFilter>)
        /// Timers, listed over many turns.
        case timerList(TimerScan)
        /// Devices that hold slots, listed over many turns.
        case slotList(ListScan<SlotFilter>)
        /// Subscribers, listed over many turns.
        case subscriberList(SubscriberScan)
        /// What is wrong, looked for over many turns.
        case problemList(ProblemScan)
        /// What has a name, looked for over many turns.
        case entityFind(FindScan)
        /// A provider is asked.
        case question(ProviderQuestion)
        /// The journal copies itself.
        case backup
        /// The clock travels; the engine's owner ends this one.
        case clockTravel
    }

    let kind: Kind
    /// The command, for its `req`.
    let envelope: Envelope
    let req: [UInt8]
    /// Who asked.
    let peer: Peer
    /// The number of the command, since the start.
    let number: UInt64
    var answer: Answer?
    /// Its place in the ledger.
    var ticket: WorkLedger.Ticket?

    init(_ kind: Kind, _ envelope: Envelope, req: [UInt8], peer: Peer, number: UInt64) {
        self.kind = kind
        self.peer = peer
        self.envelope = envelope
        self.req = req
        self.number = number
    }
}
