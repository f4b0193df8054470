/// One activity in the slab: the machine and where its bytes are. Plain bits.
package struct ActivityRecord: Sendable, BitwiseCopyable {
    package let id: EntityID
    package var machine: ActivityMachine
    /// The exact bytes of the content state.
    package var content: PayloadHandle
    /// What is rarely read, one after another: attributes, key, push type, the alert of a scheduled start.
    package var cold: PayloadHandle
    package var relevanceScore: Double
    /// Dense within the entity, from 1.
    package var revision: UInt32
    package let kind: KindID
    package let device: DeviceID?
    package let keyCount: UInt8
    /// The frequent updates setting under which it runs, or will start as things stand.
    var frequentPushes = true
    /// The order of starting, for the tie rule of the presentation and for settings that reach many.
    package var ordinal: UInt64
    /// Neighbours in the device's list, which has the open ones first.
    var nextOnDevice: Slot = .max
    var previousOnDevice: Slot = .max
    package let attributesCount: UInt32
    let pushTypeCount: UInt16
    let alertCount: UInt16
    /// The sequence number of its last event; 0 before the first.
    package internal(set) var lastSeq: UInt64 = 0
    /// Whether the side table knows what it renews or is renewed by.
    var hasRenewalLinks = false

    package var state: ActivityState { machine.state }

    /// Where each part lies within the cold bytes.
    package var attributesRange: Range<Int> { 0..<Int(attributesCount) }
    package var keyRange: Range<Int> { Int(attributesCount)..<Int(attributesCount) + Int(keyCount) }
    package var pushTypeRange: Range<Int> { keyRange.upperBound..<keyRange.upperBound + Int(pushTypeCount) }
    package var alertRange: Range<Int> { pushTypeRange.upperBound..<pushTypeRange.upperBound + Int(alertCount) }
}

/// The links that `activity.renew` makes.
package struct RenewalLinks: Equatable, Sendable, BitwiseCopyable {
    /// The one that this one replaced.
    package var renews: EntityID?
    /// The one that replaced this one.
    package var renewedBy: EntityID?
}
