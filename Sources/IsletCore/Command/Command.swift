/// One decoded command: what one frame asks for.
package struct Command: Equatable, Sendable, BitwiseCopyable {
    package var envelope: Envelope
    package var operation: Operation

    package init(envelope: Envelope = Envelope(), operation: Operation) {
        self.envelope = envelope
        self.operation = operation
    }
}

/// What a command does: one case for each `op` of the contract.
package enum Operation: Equatable, Sendable, BitwiseCopyable {
    case activityStart(ActivityStart)
    case activityUpdate(ActivityUpdate)
    case activityEnd(ActivityEnd)
    case activityDismiss(ActivityDismiss)
    case activityRenew(ActivityRenew)
    case activityHeartbeat(ActivityAddress)
    case activityGet(ActivityAddress)
    case activityHistory(ActivityAddress)
    case activityExplain(ActivityAddress)
    case activityList(ActivityList)
    case settingsSet(SettingsSet)
    case settingsGet(SettingsAddress)
    case deviceEvent(DeviceEvent)
    case clockAdvance(ClockAdvance)
    case serviceInfo
    case servicePing
    /// The path of a file to make.
    case serviceBackup(FrameRange)
    case streamApplied(StreamApplied)
    case bulkSnapshot(BulkSnapshot)
    case bulkReplay(BulkReplay)
    case bulkDigest(BulkDigest)
    case bulkCredit(Int)
    case bulkCancel
}
