import IsletJournal
import IsletServer
import Testing

/// How the snapshot goes on, without a disk.
@Suite struct SnapshotSweepTests {
    private static let id = "aaaaaaaa-0000-4000-8000-000000000001"

    private let service: PartitionService

    init() throws {
        service = try PartitionService()
        let answer = service.send(
            #"{"op":"activity.start","id":"\#(Self.id)","app":"com.x","type":"T","attributes":{},"contentState":{}}"#)
        #expect(answer.contains(#""ok":true"#), "\(answer)")
        service.sweep()
        for _ in 0..<20 {
            service.turn { _ in }
            service.partition.take(.swept)
        }
    }

    private var pieces: Int { service.journal.states.count - service.journal.state.batchCount }

    /// So many events in one millisecond that a piece of the snapshot is due for them.
    private func update() {
        service.turn { partition in
            for number in 0..<520 {
                let command = #"{"op":"activity.update","app":"com.x","id":"\#(Self.id)","contentState":{"n":\#(number)}}"#
                partition.inbound.set([Array("peer".utf8), [0, 0, 0, 1], [], Array(command.utf8)], isRouted: true)
                partition.takeCommands()
            }
        }
    }

    /// Milliseconds until there is another piece.
    private func nextPiece() -> Int {
        let before = pieces
        for span in 1...100 {
            service.turn { _ in }
            if pieces > before { return span }
        }
        return .max
    }

    @Test("pieces are eight milliseconds apart, and nobody sleeps past one")
    func pace() {
        update()
        #expect(service.events.count > 512)
        #expect(nextPiece() <= 8)
        service.partition.take(.swept)
        update()
        let before = pieces
        service.turn { _ in }
        #expect(pieces == before && (1...6).contains(service.partition.pollTimeout()))
        // It was filled a millisecond before it was written.
        #expect(nextPiece() == 5)
    }

    @Test("what devices report makes no events, and does not wait for time to pass where there is much of it")
    func reports() {
        for first in stride(from: 0, to: 2_000, by: 100) {
            service.turn { partition in
                for number in first..<first + 100 {
                    partition.take(#"{"op":"device.event","device":"d\#(number)","event":"lock"}"#)
                }
            }
        }
        for _ in 0..<2 {
            service.partition.take(.swept)
            #expect(nextPiece() <= 25)
        }
    }

    @Test("a stop that leaves the rest to the next start hands over no piece behind its goodbye")
    func stop() {
        let text = String(repeating: "x", count: 3_500)
        for number in 0..<600 {
            service.send(
                #"{"op":"activity.start","app":"com.x","key":"k\#(number)","type":"T","attributes":{"t":"\#(text)"},"contentState":{}}"#)
        }
        service.turn { $0.stop() }
        service.turn { _ in }
        service.pass(milliseconds: 6_000)
        service.turn { _ in }
        #expect(service.partition.isDone && !service.journal.state.isWhole)
        let before = pieces
        for _ in 0..<3 {
            // The piece that was being written is written, after the journal was told to end.
            service.partition.take(.swept)
            service.turn { _ in }
        }
        #expect(pieces == before)
    }
}
