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

    fileprivate struct State {
        var waiting: [[UInt8]] = []
        /// Those before it are handed over.
        var start = 0
        var bytes = 0
        var lastID: UInt64 = 0
        /// How many the present `lost` stands for.
        var dropped = 0
        var hasEnded = false
        var reader: CheckedContinuation<Void, Never>?

        var count: Int { waiting.count - start }

        mutating func append(_ text: [UInt8]) {
            waiting.append(text)
            bytes += text.count
        }

        mutating func clear() {
            waiting = []
            start = 0
            bytes = 0
        }
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: The side of the bus

    /// Takes a message that has a number.
    ///
    /// - Parameter data: its lines, as ``ServerSentEvent/data(_:)`` makes them.
    package func put(_ data: [UInt8]) {
        update { state in
            state.lastID += 1
            let text = ServerSentEvent.id(state.lastID) + data
            if state.count >= Self.maximumMessages || state.bytes + text.count > Self.maximumBytes {
                // A `lost` that still waits is one of them.
                state.dropped += state.count - (state.dropped > 0 ? 1 : 0)
                state.clear()
                state.append(ServerSentEvent.lost(state.dropped))
            }
            state.append(text)
        }
    }

    /// Takes a message without a number.
    package func putUnnumbered(_ text: [UInt8]) {
        update { $0.append(text) }
    }

    /// Shows that the connection lives, where nothing else does.
    package func beat() {
        update { state in
            if state.count == 0 { state.append(ServerSentEvent.heartbeat) }
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

extension EventQueue.State {
    fileprivate mutating func take() -> [UInt8] {
        var text: [UInt8] = []
        while start < waiting.count, text.count < EventQueue.chunkBytes {
            text += waiting[start]
            start += 1
        }
        bytes -= text.count
        // The `lost` comes first, so it is handed over now.
        if !text.isEmpty { dropped = 0 }
        if start == waiting.count { clear() }
        return text
    }
}
