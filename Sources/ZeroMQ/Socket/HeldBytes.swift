import Synchronization

/// How many bytes libzmq holds of the messages that count here: those that it could not send yet, as the other side
/// does not read them. It tells nobody by itself how much waits in a socket's queue.
///
/// Messages count from when they are made until libzmq frees them, on whichever of its threads; one thread makes them.
package final class HeldBytes: Sendable {
    private let given = Atomic<Int>(0)
    private let returned = Atomic<Int>(0)

    package init() {}

    /// How many it has freed by now of all that ever counted: whether it grows shows whether the other side reads.
    package var freed: Int { returned.load(ordering: .relaxed) }

    /// How many it holds. Never less than it does: what is freed meanwhile may still count.
    package var count: Int {
        let freed = freed
        return given.load(ordering: .relaxed) - freed
    }

    // Numbers alone, which no other memory depends on: no order is needed between them and anything else.
    fileprivate func give(_ bytes: Int) { given.add(bytes, ordering: .relaxed) }
    fileprivate func free(_ bytes: Int) { returned.add(bytes, ordering: .relaxed) }
}

/// The bytes of one message of its own, and what they count as until its end.
///
/// `@safe`: the pointer is to memory that this object alone owns, from its initialiser's end to `deinit`.
@safe
final class CountedBytes {
    let start: UnsafeMutableRawPointer
    private let weight: Int
    private let held: HeldBytes

    init(copying bytes: Span<UInt8>, weighing weight: Int, in held: HeldBytes) {
        let start = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
        // An empty buffer may have no address; then nothing is copied.
        unsafe bytes.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress { unsafe start.copyMemory(from: source, byteCount: bytes.count) }
        }
        unsafe self.start = start
        self.weight = weight
        self.held = held
        held.give(weight)
    }

    deinit {
        unsafe start.deallocate()
        held.free(weight)
    }
}
