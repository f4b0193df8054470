/// The number of one call to a provider, as the wire carries it: decimal text.
///
/// A retried value has another one for each attempt. None is used twice in a run of the service; the owner's random base
/// keeps those of an earlier run apart.
package struct CallID: Hashable, Sendable, BitwiseCopyable {
    package let value: UInt64

    package init(_ value: UInt64) {
        self.value = value
    }

    /// The number that a decimal text means; nil unless it is written as the service writes it.
    package init?(text: some Sequence<UInt8>) {
        var value: UInt64 = 0
        var digits = 0
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            // No leading zero: one number has one text.
            if digits > 0, value == 0 { return nil }
            let (product, isTooBig) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !isTooBig, !overflows else { return nil }
            value = sum
            digits += 1
        }
        guard digits > 0 else { return nil }
        self.value = value
    }
}

extension CallID: CustomStringConvertible {
    package var description: String { String(value) }
}

/// The numbers of the calls of one run: a base, and above it how many were sent before, and in the lowest bits the slot of
/// the call's record, so that an answer finds it without a search.
struct CallNumbers {
    /// So many bits name the slot; the other 44 count 100 000 calls a second for five years.
    static let slotBits: UInt64 = 20
    /// At most so many records: calls that wait, are in flight, or may still be answered late.
    static let maximumSlots = 1 << Int(slotBits)

    private let base: UInt64
    /// How many were given out.
    private(set) var given: UInt64 = 0

    init(base: UInt64) {
        self.base = base
    }

    /// The number of the next call, whose record is in `slot`.
    mutating func next(slot: UInt32) -> CallID {
        let number = given << Self.slotBits | UInt64(slot)
        given += 1
        return CallID(base &+ number)
    }

    /// Where the record of a call would be.
    func slot(of id: CallID) -> UInt32 { UInt32(truncatingIfNeeded: (id.value &- base) & (1 << Self.slotBits - 1)) }

    /// How many calls were sent before this one; at least ``given`` where it is none of this run.
    func position(of id: CallID) -> UInt64 { (id.value &- base) >> Self.slotBits }
}
