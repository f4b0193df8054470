import IsletJournal

/// What a life is like.
package struct LifePlan: Sendable {
    let seed: UInt64
    var sync: SyncMode
    var segmentBytes: Int
    var retentionBytes: Int
    /// About so many calls, as a power of two at most, are between two stops.
    var callBits: Int
    /// Pieces of the snapshot that are large enough for checkpoints.
    var hasLargePieces: Bool
    var fault: CrashDisk.Fault?
    /// Microseconds at most.
    var syncDelay: Int
    /// For the proof that the disk really loses something: its syncs do nothing.
    package var ignoresSyncs = false
    /// For the proof that reads are judged.
    package var spoiledReads: SpoiledReads?

    init(_ dice: inout Dice) {
        seed = dice.next()
        sync = dice.oneIn(4) ? .normal : .full
        segmentBytes = (64 + dice.below(192)) << 10
        retentionBytes = 3 * segmentBytes
        callBits = 5 + dice.below(7)
        hasLargePieces = dice.oneIn(16)
        if hasLargePieces { callBits = 13 }
        fault = dice.oneIn(3) ? CrashDisk.Fault.allCases[dice.below(CrashDisk.Fault.allCases.count)] : nil
        syncDelay = dice.oneIn(8) ? 300 : 0
    }
}
