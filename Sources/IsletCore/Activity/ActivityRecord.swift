/// One activity in the slab: the machine and where its bytes are. Plain bits, 90 bytes of them: with the slab's four and two
/// that fill up, a million need 96 MB.
///
/// What most activities do not have lies beside it, by slot: a relevance score other than 0, neighbours on a device,
/// renewal links. Numbers have as many bits as their bounds ask for.
package struct ActivityRecord: Sendable, BitwiseCopyable {
    // The words of the id one by one, which ask for no alignment of eight bytes.
    private let idWords: (UInt32, UInt32, UInt32, UInt32)
    package var machine: ActivityMachine
    package let keyCount: UInt8
    private let attributes: UInt16
    /// What is rarely read, one after another: attributes, key, push type, the alert of a scheduled start; and behind
    /// it the exact bytes of the content state.
    package var payload: PayloadPair
    /// Dense within the entity, from 1.
    package var revision: UInt32
    /// The kind, and above it the bytes of the push type.
    private let kindAndPushType: UInt32
    /// The device, or 24 bits for none, and above it the flags.
    private var deviceAndFlags: UInt32
    private var ordinalLow: UInt32
    private var lastSeqLow: UInt32 = 0
    private var ordinalHigh: UInt16
    private var lastSeqHigh: UInt16 = 0
    private var stateAtHigh: Int16
    private var stateAtLow: UInt32

    private static let kindBits: UInt32 = 20
    private static let noDevice: UInt32 = 1 << 24 - 1

    /// The longest push type that fits; what clients may send is shorter.
    package static let maximumPushTypeCount = 1 << 12 - 1
    /// Sequence numbers and ordinals are below: at a million a second they last for nine years.
    package static let numberLimit: UInt64 = 1 << 48

    private enum Flag {
        static let frequentPushes: UInt32 = 1 << 24
        static let hasRenewalLinks: UInt32 = 1 << 25
        static let hasRelevanceScore: UInt32 = 1 << 26
        static let isKeyOnly: UInt32 = 1 << 27
    }

    /// - Parameters:
    ///   - payload: its first part is as long as all counts together, and the alert takes the rest of it.
    ///   - ordinal: below ``numberLimit``.
    ///   - attributesCount: at most ``PayloadPair/maximumCount``.
    init(
        id: EntityID, machine: ActivityMachine, payload: PayloadPair, revision: UInt32, kind: KindID,
        device: DeviceID?, ordinal: UInt64, attributesCount: UInt32, keyCount: UInt8, pushTypeCount: Int
    ) {
        precondition(kind < 1 << Self.kindBits && (device ?? 0) < Self.noDevice && ordinal < Self.numberLimit)
        precondition(pushTypeCount <= Self.maximumPushTypeCount)
        idWords = (
            UInt32(truncatingIfNeeded: id.low), UInt32(truncatingIfNeeded: id.low >> 32),
            UInt32(truncatingIfNeeded: id.high), UInt32(truncatingIfNeeded: id.high >> 32)
        )
        self.machine = machine
        self.keyCount = keyCount
        attributes = UInt16(attributesCount)
        self.payload = payload
        self.revision = revision
        kindAndPushType = kind | UInt32(pushTypeCount) << Self.kindBits
        deviceAndFlags = (device ?? Self.noDevice) | Flag.frequentPushes
        ordinalLow = UInt32(truncatingIfNeeded: ordinal)
        ordinalHigh = UInt16(truncatingIfNeeded: ordinal >> 32)
        (stateAtLow, stateAtHigh) = Instant.never.packed
    }

    package var id: EntityID {
        @inline(__always) get {
            EntityID(
                high: UInt64(idWords.3) << 32 | UInt64(idWords.2), low: UInt64(idWords.1) << 32 | UInt64(idWords.0))
        }
    }

    package var state: ActivityState { machine.state }

    package var kind: KindID { kindAndPushType & (1 << Self.kindBits - 1) }

    package var device: DeviceID? {
        let device = deviceAndFlags & Self.noDevice
        return device == Self.noDevice ? nil : device
    }

    /// The order of starting, for the tie rule of the presentation and for settings that reach many.
    package var ordinal: UInt64 {
        get { UInt64(ordinalHigh) << 32 | UInt64(ordinalLow) }
        set {
            precondition(newValue < Self.numberLimit)
            ordinalLow = UInt32(truncatingIfNeeded: newValue)
            ordinalHigh = UInt16(truncatingIfNeeded: newValue >> 32)
        }
    }

    /// The sequence number of its last event; 0 before the first.
    package internal(set) var lastSeq: UInt64 {
        get { UInt64(lastSeqHigh) << 32 | UInt64(lastSeqLow) }
        set {
            precondition(newValue < Self.numberLimit)
            lastSeqLow = UInt32(truncatingIfNeeded: newValue)
            lastSeqHigh = UInt16(truncatingIfNeeded: newValue >> 32)
        }
    }

    /// The date of the event that brought it into its state, or of the deadline behind that event; `never`: an earlier
    /// release did not keep it.
    package internal(set) var stateAt: Instant {
        get { Instant(stateAtLow, stateAtHigh) }
        set { (stateAtLow, stateAtHigh) = newValue.packed }
    }

    /// It had an event.
    @inline(__always) mutating func stepped(to revision: UInt32, seq: UInt64) {
        self.revision = revision
        lastSeq = seq
    }

    /// The frequent updates setting under which it runs, or will start as things stand.
    var frequentPushes: Bool {
        get { has(Flag.frequentPushes) }
        set { set(Flag.frequentPushes, newValue) }
    }

    /// Whether the side table knows what it renews or is renewed by.
    var hasRenewalLinks: Bool {
        get { has(Flag.hasRenewalLinks) }
        set { set(Flag.hasRenewalLinks, newValue) }
    }

    /// Whether its relevance score is not 0 and stands beside the records.
    var hasRelevanceScore: Bool {
        get { has(Flag.hasRelevanceScore) }
        set { set(Flag.hasRelevanceScore, newValue) }
    }

    /// Whether its retention is over and only its key is still remembered, which is muted: no command reaches it.
    package internal(set) var isKeyOnly: Bool {
        get { has(Flag.isKeyOnly) }
        set { set(Flag.isKeyOnly, newValue) }
    }

    /// What is rarely read.
    package var cold: PayloadPart { payload.first }

    /// The exact bytes of the content state.
    package var content: PayloadPart { payload.second }

    // Where each part lies within the cold bytes.

    package var attributesCount: UInt32 { UInt32(attributes) }
    package var attributesRange: Range<Int> { 0..<Int(attributes) }
    package var keyRange: Range<Int> { Int(attributes)..<Int(attributes) + Int(keyCount) }
    package var pushTypeRange: Range<Int> {
        let start = Int(attributes) + Int(keyCount)
        return start..<start + pushTypeCount
    }
    package var alertRange: Range<Int> { pushTypeRange.upperBound..<cold.count }
    var pushTypeCount: Int { Int(kindAndPushType >> Self.kindBits) }

    private func has(_ flag: UInt32) -> Bool { deviceAndFlags & flag != 0 }

    private mutating func set(_ flag: UInt32, _ isSet: Bool) {
        if isSet { deviceAndFlags |= flag } else { deviceAndFlags &= ~flag }
    }
}

/// The links that `activity.renew` makes.
package struct RenewalLinks: Equatable, Sendable, BitwiseCopyable {
    /// The one that this one replaced.
    package var renews: EntityID?
    /// The one that replaced this one.
    package var renewedBy: EntityID?
}

/// The neighbours of an activity in its device's list, which has the open ones first.
struct DeviceLinks: Equatable, Sendable, BitwiseCopyable {
    var next: Slot = .max
    var previous: Slot = .max
}
