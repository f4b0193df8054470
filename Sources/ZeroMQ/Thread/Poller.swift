import CZeroMQ
import Glibc

/// What a poller waits for, and what it found.
package struct PollEvents: OptionSet, Sendable {
    package let rawValue: Int16

    package init(rawValue: Int16) {
        self.rawValue = rawValue
    }

    /// A message or byte can be received.
    package static let readable = PollEvents(rawValue: Int16(ZMQ_POLLIN))
    /// A message or byte can be sent. Of a ROUTER it says only that *some* peer has room.
    package static let writable = PollEvents(rawValue: Int16(ZMQ_POLLOUT))
    /// A raw descriptor is in error or closed by its other side.
    package static let failed = PollEvents(rawValue: Int16(ZMQ_POLLERR))
}

/// Waits on a few sockets and raw descriptors at once (`zmq_poll`); belongs to the thread of its sockets.
///
/// A turn allocates nothing: libzmq itself needs no memory for up to 16 places.
///
/// `@safe`: the items live as long as the poller, have `capacity` places, and are only used below `places.count`.
@safe
package struct Poller: ~Copyable {
    /// The number of places, each for one socket or descriptor.
    package static let capacity = 16

    /// A socket's or descriptor's place in the poller that gave it.
    package struct Slot: Sendable, Hashable {
        fileprivate let index: Int
    }

    private struct Place {
        /// nil for a raw descriptor, and for a place that was given up.
        var socket: Socket.Handle?
    }

    private let items: UnsafeMutablePointer<zmq_pollitem_t>
    private var places: [Place] = []

    /// A poller that watches nothing.
    package init() {
        unsafe items = .allocate(capacity: Self.capacity)
        places.reserveCapacity(Self.capacity)
    }

    deinit {
        unsafe items.deallocate()
    }

    /// Watches `socket`. Once that is closed, its place is never ready again.
    package mutating func add(_ socket: borrowing Socket, for events: PollEvents = .readable) -> Slot {
        add(Place(socket: socket.handle), descriptor: -1, events: events)
    }

    /// Watches a raw descriptor, which must stay open until it is removed.
    package mutating func add(descriptor: Int32, for events: PollEvents = .readable) -> Slot {
        add(Place(socket: nil), descriptor: descriptor, events: events)
    }

    /// Watches the same thing for other events, none of them to pause it.
    package mutating func watch(_ slot: Slot, for events: PollEvents) {
        precondition(places.indices.contains(slot.index), "a slot of another poller")
        unsafe items[slot.index].events = events.rawValue
    }

    /// Watches what stands at `slot` no more; the place itself is not used again.
    package mutating func remove(_ slot: Slot) {
        precondition(places.indices.contains(slot.index), "a slot of another poller")
        places[slot.index].socket = nil
        unsafe items[slot.index] = zmq_pollitem_t(socket: nil, fd: -1, events: 0, revents: 0)
    }

    /// What the last `wait` found at `slot`.
    package func events(of slot: Slot) -> PollEvents {
        precondition(places.indices.contains(slot.index), "a slot of another poller")
        return unsafe PollEvents(rawValue: items[slot.index].revents)
    }

    /// Whether the last `wait` found something to receive at `slot`.
    package func isReadable(_ slot: Slot) -> Bool {
        events(of: slot).contains(.readable)
    }

    /// Waits until something is ready, at most `milliseconds` (nil: for ever, 0: not at all).
    ///
    /// - Returns: how many places are ready.
    /// - Throws: `terminated` once a watched socket's context was shut down.
    @discardableResult
    package mutating func wait(milliseconds: Int?) throws(ZeroMQError) -> Int {
        // A closed socket's memory is gone: its pointer is asked for anew each time.
        for index in places.indices {
            unsafe items[index].socket = places[index].socket?.pointer
            unsafe items[index].revents = 0
        }
        guard let milliseconds, milliseconds > 0 else { return try poll(milliseconds == nil ? -1 : 0) }
        let limit = min(milliseconds, Self.millisecondsMax)
        let deadline = ContinuousClock.now.advanced(by: .milliseconds(limit))
        var rest = limit
        while true {
            do {
                return try poll(rest)
            } catch .other(code: EINTR) {
                rest = Self.milliseconds(until: deadline)
            }
        }
    }

    /// The longest finite wait in milliseconds (`poll` counts in 32 bits).
    private static let millisecondsMax = Int(Int32.max)

    private mutating func add(_ place: Place, descriptor: Int32, events: PollEvents) -> Slot {
        precondition(places.count < Self.capacity, "more places than a poller has")
        unsafe (items + places.count).initialize(
            to: zmq_pollitem_t(socket: nil, fd: descriptor, events: events.rawValue, revents: 0))
        places.append(place)
        return Slot(index: places.count - 1)
    }

    private func poll(_ milliseconds: Int) throws(ZeroMQError) -> Int {
        while true {
            let ready = unsafe zmq_poll(items, Int32(places.count), milliseconds)
            if ready >= 0 { return Int(ready) }
            let error = ZeroMQError.last
            if error == .other(code: EINTR), milliseconds <= 0 { continue }
            throw error
        }
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
        let milliseconds = seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return max(0, Int(milliseconds))
    }
}
