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
    case activityTap(ActivityTap)
    case activityGet(ActivityAddress)
    case activityHistory(ActivityAddress)
    case activityExplain(ActivityAddress)
    case activityList(ActivityList)
    case controlAdd(ControlAdd)
    case controlConfigure(ControlConfigure)
    case controlRemove(ControlAddress)
    case controlTap(ControlAddress)
    case controlSet(ControlSet)
    case controlReload(ControlReload)
    case controlGet(ControlGet)
    case controlHistory(ControlAddress)
    case controlExplain(ControlAddress)
    case controlList(ControlList)
    case controlPreview(ControlKindAddress)
    case controlKinds(KindList)
    case controlOptions(ControlOptions)
    case widget(WidgetOperation)
    case group(GroupOperation)
    case providerRegister(ProviderRegister)
    case providerAnswer(ProviderAnswer)
    case providerFail(ProviderFail)
    /// These three name the provider.
    case providerPong(EntityID)
    case providerDrain(EntityID)
    case providerLeave(EntityID)
    case providerList(ProviderList)
    case settingsSet(SettingsSet)
    case settingsGet(SettingsAddress)
    case deviceEvent(DeviceEvent)
    case clockAdvance(ClockAdvance)
    case serviceInfo
    case servicePing
    /// The path of a file to make.
    case serviceBackup(FrameRange)
    /// Reads for who runs the service.
    case inspection(InspectionOperation)
    case streamApplied(StreamApplied)
    case bulkSnapshot(BulkSnapshot)
    case bulkReplay(BulkReplay)
    case bulkDigest(BulkDigest)
    case bulkCredit(Int)
    case bulkCancel
}
