import Synchronization

/// What waits between the bus and one browser.
///
/// It never holds more than its limits: where a browser does not read, everything that waits is dropped, and the browser
/// is told so in its place (`lost`); then it has to look at everything anew.
package final class EventQueue: Sendable {
    /// Messages that wait for the browser.
    package static let maximumMessages = 4_096
    /// Bytes that wait for the browser.
    package static let maximumBytes = 4 << 20
    /// Bytes that are handed over at a time.
    fileprivate static let chunkBytes = 64 << 10

    private let state: Mutex<State>

    /// - Parameter bytes: what waits in all queues.
    package init(_ bytes: EventBytes = EventBytes()) {
        state = Mutex(State(bytesInAll: bytes))
    }

    // MARK: The side of the bus

    /// Takes a message that has a number.
    ///
    /// - Parameter data: its lines, as ``ServerSentEvent/data(_:)`` makes them.
    package func put(_ data: [UInt8]) {
        update { state in
            state.lastID += 1
            state.add(Message(kind: .event, id: ServerSentEvent.id(state.lastID), text: data))
        }
    }

    /// Takes the message by which a browser knows where all streams stand. It has no number, and is never dropped but for
    /// the next one.
    package func greet(_ text: [UInt8]) {
        update { $0.add(Message(kind: .greeting, text: text)) }
    }

    /// Shows that the connection lives, where nothing else does.
    package func beat() {
        update { state in
            if state.count == 0 { state.append(Message(kind: .other, text: ServerSentEvent.heartbeat)) }
        }
    }

    /// Nothing comes any more, and what waits is not worth waiting for.
    package func end() {
        update { state in
            state.clear()
            state.hasEnded = true
        }
    }

    private func update(_ body: (inout State) -> Void) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.hasEnded else { return nil }
            body(&state)
            return state.count > 0 || state.hasEnded ? state.reader.take() : nil
        }
        reader?.resume()
    }

    // MARK: The side of the browser

    /// What waits, or a good part of it, as soon as there is something; nil at the end. One task reads.
    package func next() async -> [UInt8]? {
        while true {
            let (text, hasEnded) = state.withLock { ($0.take(), $0.hasEnded) }
            if !text.isEmpty { return text }
            if hasEnded { return nil }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.count > 0 || state.hasEnded { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }
}

/// How many bytes wait in all queues together.
package final class EventBytes: Sendable {
    /// Beyond it a queue has no more than its share, so that all together never have twice as much.
    package static let maximum = 64 << 20
    /// What a queue may have whatever others have.
    package static let share = maximum / EventStreams.maximum

    private let bytes = Atomic(0)

    package init() {}

    package var held: Int { bytes.load(ordering: .relaxed) }

    fileprivate func change(by difference: Int) { bytes.add(difference, ordering: .relaxed) }
}

/// A message that waits. Its text is in memory that all queues share.
private struct Message {
    enum Kind {
        case event
        case greeting
        case lost
        case other
    }

    var kind: Kind
    var id: [UInt8] = []
    var text: [UInt8]

    var count: Int { id.count + text.count }
}

private struct State {
    let bytesInAll: EventBytes
    var waiting: [Message] = []
    /// Those before it are handed over.
    var start = 0
    var bytes = 0
    var lastID: UInt64 = 0
    /// How many the present `lost` stands for.
    var dropped = 0
    var hasEnded = false
    var reader: CheckedContinuation<Void, Never>?

    var count: Int { waiting.count - start }

    mutating func add(_ message: Message) {
        if count >= EventQueue.maximumMessages || !hasRoom(for: message.count) { drop(before: message) }
        append(message)
    }

    mutating func append(_ message: Message) {
        waiting.append(message)
        change(bytesBy: message.count)
    }

    mutating func clear() {
        waiting = []
        start = 0
        change(bytesBy: -bytes)
    }

    mutating func take() -> [UInt8] {
        var text: [UInt8] = []
        while start < waiting.count, text.count < EventQueue.chunkBytes {
            text += waiting[start].id
            text += waiting[start].text
            if waiting[start].kind == .lost { dropped = 0 }
            waiting[start] = Message(kind: .other, text: [])
            start += 1
        }
        change(bytesBy: -text.count)
        // What was handed over is given back in one go, so that a long queue is not moved each time.
        if start * 2 >= waiting.count {
            waiting.removeFirst(start)
            start = 0
        }
        return text
    }

    private func hasRoom(for more: Int) -> Bool {
        bytes + more <= EventBytes.share
            || (bytes + more <= EventQueue.maximumBytes && bytesInAll.held + more <= EventBytes.maximum)
    }

    /// Drops what waits, and says so in its place.
    private mutating func drop(before message: Message) {
        let waits = waiting[start...]
        dropped += waits.count { $0.kind == .event }
        let greeting = message.kind == .greeting ? nil : waits.last { $0.kind == .greeting }
        clear()
        if let greeting { append(greeting) }
        append(Message(kind: .lost, text: ServerSentEvent.lost(dropped)))
    }

    private mutating func change(bytesBy difference: Int) {
        bytes += difference
        bytesInAll.change(by: difference)
    }
}
