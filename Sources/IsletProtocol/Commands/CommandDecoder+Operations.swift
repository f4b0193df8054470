import IsletCore

extension CommandDecoder {
    /// What the command does, by its `op`.
    @inline(__always)
    func operation(_ name: OperationName, _ frame: Span<UInt8>) throws(Refusal) -> Operation {
        switch name {
        case .activityStart: .activityStart(try activityStart(frame))
        case .activityUpdate: .activityUpdate(try activityUpdate(frame))
        case .activityEnd: .activityEnd(try activityEnd(frame))
        case .activityDismiss: .activityDismiss(try activityDismiss(frame))
        case .activityRenew: .activityRenew(try activityRenew(frame))
        case .activityHeartbeat: .activityHeartbeat(try activityAddress(frame))
        case .activityGet: .activityGet(try activityAddress(frame))
        case .activityHistory: .activityHistory(try activityAddress(frame))
        case .activityExplain: .activityExplain(try activityAddress(frame))
        case .activityList: .activityList(try activityList(frame))
        case .controlAdd: .controlAdd(try controlAdd(frame))
        case .controlConfigure: .controlConfigure(try controlConfigure(frame))
        case .controlRemove: .controlRemove(try controlAddress(frame))
        case .controlTap: .controlTap(try controlAddress(frame))
        case .controlSet: .controlSet(try controlSet(frame))
        case .controlReload: .controlReload(try controlReload(frame))
        case .controlGet: .controlGet(try controlGet(frame))
        case .controlHistory: .controlHistory(try controlAddress(frame))
        case .controlExplain: .controlExplain(try controlAddress(frame))
        case .controlList: .controlList(try controlList(frame))
        case .controlPreview: .controlPreview(try controlKindAddress(frame))
        case .controlKinds: .controlKinds(app: try requiredText(.app, .app, frame))
        case .controlOptions: .controlOptions(try controlOptions(frame))
        case .providerRegister: .providerRegister(try providerRegister(frame))
        case .providerAnswer: .providerAnswer(try providerAnswer(frame))
        case .providerFail: .providerFail(try providerFail(frame))
        case .providerPong: .providerPong(try requiredID(.provider, frame))
        case .providerDrain: .providerDrain(try requiredID(.provider, frame))
        case .providerLeave: .providerLeave(try requiredID(.provider, frame))
        case .providerList: .providerList
        case .settingsSet: .settingsSet(try settingsSet(frame))
        case .settingsGet: .settingsGet(try settingsAddress(frame))
        case .deviceEvent: .deviceEvent(try deviceEvent(frame))
        case .clockAdvance: .clockAdvance(try clockAdvance(frame))
        case .serviceInfo: .serviceInfo
        case .servicePing: .servicePing
        case .serviceBackup: .serviceBackup(try requiredText(.path, .path, frame))
        case .streamApplied: .streamApplied(try streamApplied(frame))
        case .bulkSnapshot: .bulkSnapshot(try bulkSnapshot(frame))
        case .bulkReplay: .bulkReplay(try bulkReplay(frame))
        case .bulkDigest: .bulkDigest(try bulkDigest(frame))
        case .bulkCredit: .bulkCredit(try bulkCredit(frame))
        case .bulkCancel: try bulkCancel(frame)
        }
    }
}
