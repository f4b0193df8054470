import CSystemInfo
import Glibc

/// Processors, as the system numbers them (sched_setaffinity(2)).
package struct ProcessorSet: Equatable, Sendable {
    /// What the kernel can be built for at most, 8,192 processors: with less room it would refuse to tell.
    private static let words = 128

    private var bits: [UInt]

    package init(_ processors: [Int] = []) {
        bits = Array(repeating: 0, count: Self.words)
        for processor in processors { insert(processor) }
    }

    /// Those that the calling thread may run on; nil: the system does not say.
    package static func ofThread() -> ProcessorSet? { of(0) }

    /// Those that the process's first thread may run on.
    package static func ofProcess() -> ProcessorSet? { of(getpid()) }

    private static func of(_ thread: pid_t) -> ProcessorSet? {
        var set = ProcessorSet()
        let got = unsafe system_get_affinity(thread, set.bits.count * MemoryLayout<UInt>.stride, &set.bits)
        return got > 0 ? set : nil
    }

    /// Lets the calling thread run on these alone.
    ///
    /// - Returns: whether the system does it; not where none of them may be used.
    package func restrictThread() -> Bool {
        unsafe system_set_affinity(0, bits.count * MemoryLayout<UInt>.stride, bits) == 0
    }

    /// The one that the calling thread runs on; nil: the system does not say.
    package static func present() -> Int? {
        let processor = Int(sched_getcpu())
        return processor >= 0 ? processor : nil
    }

    package var count: Int { bits.reduce(0) { $0 + $1.nonzeroBitCount } }

    package func contains(_ processor: Int) -> Bool {
        processor < Self.words * UInt.bitWidth && bits[processor / UInt.bitWidth] >> (processor % UInt.bitWidth) & 1 == 1
    }

    package mutating func insert(_ processor: Int) {
        bits[processor / UInt.bitWidth] |= 1 << (processor % UInt.bitWidth)
    }

    package mutating func remove(_ processor: Int) {
        bits[processor / UInt.bitWidth] &= ~(1 << (processor % UInt.bitWidth))
    }
}
