import IsletClient
import IsletServer
import Synchronization

/// Brings what comes by a subscription into the queue of a stream.
struct EventFeed: Sendable {
    let queue: EventQueue
    let text: EventText
    /// What the first message says beside the streams' positions.
    let version: String
    let canWrite: Bool
    /// The service's time when the stream was asked for.
    let now: RawJSON

    /// Takes what comes; called on the connection's thread.
    func take(_ delivery: RawDelivery) {
        switch delivery {
        case .joined(let answer): greet(answer)
        case .event(let topic, let body): pass(topic, body)
        case .ended: queue.end()
        }
    }

    /// `hello`: all events from here on will come.
    private func greet(_ answer: [UInt8]) {
        let join = RawObject(answer) ?? [:]
        let hello: RawObject = [
            "now": join["at"] ?? now, "version": .string(version), "write": .bool(canWrite),
            // Absent where there are more apps than the service names.
            "apps": join["apps"] ?? .null,
        ]
        queue.greet(ServerSentEvent.named("hello", hello.json.bytes))
    }

    private func pass(_ topic: [UInt8], _ body: [UInt8]) {
        // Watermarks, `<app>/~`, are for replicas. A group's notification ends so too, and is an event.
        let isWatermark = topic.firstIndex(of: UInt8(ascii: "/")).map { topic[$0...].elementsEqual("/~".utf8) } ?? false
        guard !isWatermark else { return }
        queue.put(text.data(topic, body))
    }
}

/// The text of the present event, which is made once for all streams.
final class EventText: Sendable {
    private struct Made {
        var topic: [UInt8] = []
        var body: [UInt8] = []
        var data: [UInt8] = []
    }

    private let last = Mutex(Made())

    /// `{"topic":…,"event":…}` as a message's data.
    func data(_ topic: [UInt8], _ body: [UInt8]) -> [UInt8] {
        last.withLock { last in
            // Arrays that share their memory are equal without a look at it.
            if last.body != body || last.topic != topic {
                let name = RawJSON.string(String(decoding: topic, as: UTF8.self)).bytes
                let data = ServerSentEvent.data(
                    Array("{\"topic\":".utf8), name, Array(",\"event\":".utf8), body, Array("}".utf8))
                last = Made(topic: topic, body: body, data: data)
            }
            return last.data
        }
    }
}
