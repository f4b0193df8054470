import IsletCore
import Testing

@Suite("Packed dates")
struct PackedDatesTests {
    private static let last: Milliseconds = 0x7FFF_FFFF_FFFE

    /// The ends of what fits, of their halves, and of what the contract knows.
    private static let milliseconds: [Milliseconds] = [
        -last - 2, -last - 1, -0x1_0000_0001, -0x1_0000_0000, -1, 0, 1, 0x8000_0000, 0xFFFF_FFFF, 0x1_0000_0000,
        1_000_000_000_000, 1_780_000_000_123, 9_999_999_999_999, last - 1, last,
    ]
    static let dates = milliseconds.map { Instant($0) } + [.never]

    @Test("every date that fits comes back as it was, in each of the five places", arguments: dates)
    func roundTrip(date: Instant) {
        let other = Instant(1_780_000_000_123)
        var packed = PackedDates(
            startedAt: date, staleDate: other, timestamp: date, signOrEnd: other, dismissAt: date)
        #expect(date.isPackable)
        #expect(packed.startedAt == date && packed.staleDate == other && packed.timestamp == date)
        #expect(packed.signOrEnd == other && packed.dismissAt == date)
        packed.startedAt = other
        packed.staleDate = date
        packed.timestamp = other
        packed.signOrEnd = date
        packed.dismissAt = other
        #expect(packed.startedAt == other && packed.staleDate == date && packed.timestamp == other)
        #expect(packed.signOrEnd == date && packed.dismissAt == other)
    }

    @Test("what is later than fits is never")
    func ends() {
        for late in [Self.last + 1, Self.last + 2, Milliseconds.max - 1] {
            let packed = PackedDates(
                startedAt: Instant(late), staleDate: .never, timestamp: .never, signOrEnd: .never, dismissAt: .never)
            #expect(packed.startedAt == .never && !Instant(late).isPackable)
        }
        for early in [-Self.last - 3, Milliseconds.min] { #expect(!Instant(early).isPackable) }
    }

    @Test("random dates come back", arguments: [1, .random(in: .min ... .max)] as [UInt64])
    func random(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<10_000 {
            let date = Instant(Milliseconds(truncatingIfNeeded: random.next()) >> Milliseconds(16 + random.below(40)))
            let packed = PackedDates(
                startedAt: .never, staleDate: date, timestamp: .never, signOrEnd: .never, dismissAt: .never)
            #expect(packed.staleDate == date, "seed \(seed)")
        }
    }

    @Test("an activity takes 96 bytes in its slab, of which 33 are its machine")
    func size() {
        #expect(MemoryLayout<ActivityMachine>.size == 33 && MemoryLayout<ActivityRecord>.stride == 92)
        #expect(MemoryLayout<ActivityRecord>.alignment == 4)
    }
}
