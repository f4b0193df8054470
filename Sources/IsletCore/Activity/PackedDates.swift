/// The five dates of an activity in 30 bytes instead of 40: 48 bits each, the low halves before the high ones, so that
/// nothing between them only fills up.
///
/// Exact to the millisecond for 4 458 years before and after 1970; the contract's dates are from 2001 to 2286. What is
/// later becomes ``Instant/never``; nothing is earlier.
package struct PackedDates: Equatable, Sendable, BitwiseCopyable {
    private var startedLow: UInt32
    private var staleLow: UInt32
    private var timestampLow: UInt32
    private var signOrEndLow: UInt32
    private var dismissLow: UInt32
    private var startedHigh: Int16
    private var staleHigh: Int16
    private var timestampHigh: Int16
    private var signOrEndHigh: Int16
    private var dismissHigh: Int16

    /// - Parameter signOrEnd: see ``signOrEnd``.
    @inline(__always)
    package init(
        startedAt: Instant, staleDate: Instant, timestamp: Instant, signOrEnd: Instant, dismissAt: Instant
    ) {
        (startedLow, startedHigh) = startedAt.packed
        (staleLow, staleHigh) = staleDate.packed
        (timestampLow, timestampHigh) = timestamp.packed
        (signOrEndLow, signOrEndHigh) = signOrEnd.packed
        (dismissLow, dismissHigh) = dismissAt.packed
    }

    /// When it started, or is due to start.
    package var startedAt: Instant {
        @inline(__always) get { Instant(startedLow, startedHigh) }
        @inline(__always) set { (startedLow, startedHigh) = newValue.packed }
    }

    /// When its content is out of date.
    package var staleDate: Instant {
        @inline(__always) get { Instant(staleLow, staleHigh) }
        @inline(__always) set { (staleLow, staleHigh) = newValue.packed }
    }

    /// The highest timestamp that was accepted.
    package var timestamp: Instant {
        @inline(__always) get { Instant(timestampLow, timestampHigh) }
        @inline(__always) set { (timestampLow, timestampHigh) = newValue.packed }
    }

    /// Of an open activity the last sign of life of its publisher, of another one when it ended: nobody asks for both.
    package var signOrEnd: Instant {
        @inline(__always) get { Instant(signOrEndLow, signOrEndHigh) }
        @inline(__always) set { (signOrEndLow, signOrEndHigh) = newValue.packed }
    }

    /// When it will be or was removed.
    package var dismissAt: Instant {
        @inline(__always) get { Instant(dismissLow, dismissHigh) }
        @inline(__always) set { (dismissLow, dismissHigh) = newValue.packed }
    }
}

extension Instant {
    /// Stands for ``never`` in 48 bits; all dates are below.
    private static var packedNever: Milliseconds { 1 << 47 - 1 }

    /// Whether it comes out of ``PackedDates`` as it went in.
    package var isPackable: Bool {
        !isSet || milliseconds < Instant.packedNever && milliseconds >= -Instant.packedNever - 1
    }

    /// The low 32 and the high 16 bits.
    var packed: (low: UInt32, high: Int16) {
        @inline(__always) get {
            let value = min(milliseconds, Instant.packedNever)
            return (UInt32(truncatingIfNeeded: value), Int16(truncatingIfNeeded: value >> 32))
        }
    }

    @inline(__always) init(_ low: UInt32, _ high: Int16) {
        let value = Milliseconds(high) << 32 | Milliseconds(low)
        self.init(value == Instant.packedNever ? .max : value)
    }
}
