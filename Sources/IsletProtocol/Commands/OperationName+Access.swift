/// What a command may do, so far as its name tells.
package enum OperationAccess: Sendable, Equatable {
    /// It changes nothing, whoever sends it.
    case read
    /// It may change something.
    case change
    /// It belongs to the connection that sends it, or reaches files of the service's machine: nothing to be passed on
    /// for others.
    case connection
}

extension OperationName {
    /// The operation of that name; nil where there is none.
    package init?(name: String) {
        guard let found = Self.byName[name] else { return nil }
        self = found
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ("\($0.name)", $0) })

    /// What it may do. A new operation does not compile until it stands here.
    package var access: OperationAccess {
        switch self {
        case .activityGet, .activityHistory, .activityExplain, .activityList: .read
        case .activityStart, .activityUpdate, .activityEnd, .activityDismiss, .activityRenew, .activityHeartbeat,
            .activityTap:
            .change
        case .controlGet, .controlHistory, .controlExplain, .controlList, .controlPreview, .controlKinds,
            .controlOptions:
            .read
        case .controlAdd, .controlConfigure, .controlRemove, .controlTap, .controlSet, .controlReload: .change
        case .widgetGet, .widgetHistory, .widgetExplain, .widgetTimeline, .widgetBudget, .widgetList, .widgetKinds,
            .widgetSnapshot, .widgetOptions, .widgetRecommendations, .widgetStack:
            .read
        case .widgetAdd, .widgetConfigure, .widgetRemove, .widgetReload, .widgetVisible, .widgetTap,
            .widgetInvalidateRecommendations, .widgetInvalidateRelevance:
            .change
        case .groupGet, .groupList, .groupInfo: .read
        case .groupCreate, .groupAdmit, .groupLeave, .groupRemove, .groupSet, .groupDelete, .groupNotify: .change
        case .providerList: .read
        case .providerRegister, .providerAnswer, .providerFail, .providerPong, .providerDrain, .providerLeave:
            .connection
        case .settingsGet: .read
        case .settingsSet, .deviceEvent, .clockAdvance: .change
        case .serviceInfo, .servicePing, .serviceStats, .timerList, .slotList, .subscriberList, .problemList,
            .entityFind:
            .read
        case .serviceBackup: .connection
        case .streamApplied, .bulkSnapshot, .bulkReplay, .bulkDigest, .bulkCredit, .bulkCancel: .connection
        }
    }
}
