import CZeroMQ
import Glibc

/// One frame: bytes that libzmq holds.
///
/// A message is 64 bytes and may be moved freely: libzmq itself keeps messages by value in its queues, and nothing in
/// one points at itself. Up to 33 bytes of content stand in the message, more stand behind a counted pointer.
package struct Message: ~Copyable {
    /// Always initialised; only libzmq looks into it.
    var raw = zmq_msg_t()

    /// An empty message, to send, or to receive into.
    package init() {
        _ = unsafe zmq_msg_init(&raw)
    }

    /// A message of `size` bytes, which `fill` must write, all of them.
    package init<Failure: Error>(
        size: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        // One access for both: the bytes of a short message stand in `raw`, which may not move between them.
        try unsafe withUnsafeMutablePointer(to: &raw) { (pointer) throws(Failure) in
            guard unsafe zmq_msg_init_size(pointer, size) == 0 else { preconditionFailure("no memory for a message") }
            try unsafe fill(UnsafeMutableRawBufferPointer(start: zmq_msg_data(pointer), count: size))
        }
    }

    /// A message with its own copy of `bytes`.
    package init(copying bytes: UnsafeRawBufferPointer) {
        unsafe self.init(size: bytes.count) { unsafe $0.copyMemory(from: bytes) }
    }

    /// A message with its own copy of `bytes`.
    package init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBytes { unsafe Message(copying: $0) }
    }

    /// A message with its own copy of `bytes`.
    package init(copying bytes: [UInt8]) {
        self.init(copying: bytes.span)
    }

    /// A message with its own copy of `bytes`, which counts as `weight` in `held` until libzmq frees it.
    package init(copying bytes: Span<UInt8>, weighing weight: Int, in held: HeldBytes) {
        let copy = CountedBytes(copying: bytes, weighing: weight, in: held)
        // The message owns one reference to the copy, which `freeCounted` takes: libzmq calls it once, when the last
        // message that shares the bytes is closed, and never touches them after that. Until then the reference keeps
        // them where they are, whatever becomes of the socket, its peer and whoever counts.
        let owned = unsafe Unmanaged.passRetained(copy)
        guard unsafe zmq_msg_init_data(&raw, copy.start, bytes.count, freeCounted, owned.toOpaque()) == 0 else {
            preconditionFailure("no memory for a message")
        }
    }

    /// A message with the UTF-8 bytes of `text`.
    package init(copying text: String) {
        self.init(copying: text.utf8.span)
    }

    deinit {
        // The copy is bitwise and replaces the original, which nobody uses after this.
        var raw = raw
        _ = unsafe zmq_msg_close(&raw)
    }

    /// The number of bytes.
    package var count: Int {
        unsafe withUnsafePointer(to: raw) { unsafe zmq_msg_size($0) }
    }

    /// Whether the message has no bytes.
    package var isEmpty: Bool { count == 0 }

    /// Whether more frames of the same multipart message follow this received one.
    package var more: Bool {
        unsafe withUnsafePointer(to: raw) { unsafe zmq_msg_more($0) } != 0
    }

    /// Calls `body` with the bytes, which it must not keep: they may stand in the message itself.
    @inline(__always)
    package borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe withUnsafePointer(to: raw) { (pointer) throws(Failure) -> Result in
            // `zmq_msg_data` and `zmq_msg_size` only read, although the first one's parameter is not const.
            let bytes = unsafe UnsafeRawBufferPointer(
                start: zmq_msg_data(UnsafeMutablePointer(mutating: pointer)), count: zmq_msg_size(pointer))
            return try unsafe body(bytes)
        }
    }

    /// Calls `body` with the bytes as a span, which cannot leave it.
    @inline(__always)
    package borrowing func withSpan<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe withUnsafeBytes { (bytes) throws(Failure) -> Result in
            let typed = unsafe bytes.assumingMemoryBound(to: UInt8.self)
            return try unsafe body(typed.span)
        }
    }

    /// The bytes, copied into an array.
    package var bytes: [UInt8] {
        unsafe withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// Another message with the same bytes, which the two share where they are more than 33.
    ///
    /// Mutating, because libzmq marks the original as shared.
    package mutating func copy() -> Message {
        var other = Message()
        _ = unsafe zmq_msg_copy(&other.raw, &raw)
        return other
    }

    /// The descriptor of the connection that a received message came by; nil for `inproc` and for messages made here.
    ///
    /// Take it from a frame after the routing id, which may lack it in libzmq 4.3.4. It looks the value up by name, so
    /// it costs much more than the rest of receiving: ask once per connection, not per message. The number is that of
    /// another connection as soon as this one has ended.
    package var sourceDescriptor: Int32? {
        let descriptor = unsafe withUnsafePointer(to: raw) { unsafe zmq_msg_get($0, ZMQ_SRCFD) }
        return descriptor >= 0 ? descriptor : nil
    }
}

/// Ends what a message owned; not a closure, which would inherit the isolation of where it is written.
///
/// libzmq calls it on any of its threads, and on that of the socket: it does nothing but give up a reference, which any
/// thread may, and the object's end frees memory and adds to an atomic number. It calls nothing of libzmq's.
private func freeCounted(_: UnsafeMutableRawPointer?, _ owned: UnsafeMutableRawPointer?) {
    guard let owned = unsafe owned else { preconditionFailure("a counted message without its bytes") }
    unsafe Unmanaged<CountedBytes>.fromOpaque(owned).release()
}
