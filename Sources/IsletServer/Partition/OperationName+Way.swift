import IsletCore
import IsletProtocol

/// Which way a command goes, by its name: a byte, where its operation is 147 of them, and each look at one copied it.
extension OperationName {
    /// Whether it can change anything, so that a retry must not do it twice. The clock, which all wait for, sees to
    /// that itself.
    var isChange: Bool {
        guard case .change = access else { return false }
        if case .clockAdvance = self { return false }
        return true
    }

    /// Whether it makes its connection a provider's.
    var registersProvider: Bool {
        if case .providerRegister = self { true } else { false }
    }

    /// Whose change it is. Settings and devices belong to activities.
    var family: EntityFamily {
        switch self {
        case .controlAdd, .controlConfigure, .controlRemove, .controlTap, .controlSet, .controlReload: .control
        case .widgetAdd, .widgetConfigure, .widgetRemove, .widgetReload, .widgetVisible, .widgetTap,
            .widgetInvalidateRecommendations, .widgetInvalidateRelevance:
            .widget
        case .groupCreate, .groupAdmit, .groupLeave, .groupRemove, .groupSet, .groupDelete, .groupNotify: .group
        default: .activity
        }
    }

    /// Whether it belongs to a provider's connection: what it says of its calls, and of itself.
    var isOfProvider: Bool {
        switch self {
        case .providerAnswer, .providerFail, .providerPong, .providerDrain, .providerLeave: true
        default: false
        }
    }

    /// Whether it is what a provider says of a call.
    var endsCall: Bool {
        switch self {
        case .providerAnswer, .providerFail: true
        default: false
        }
    }

    /// Whether it shows nothing that a journal must hold first.
    var needsNoJournal: Bool {
        switch self {
        case .serviceStats, .serviceInfo, .servicePing, .serviceBackup, .streamApplied, .providerAnswer, .providerFail, .providerPong,
            .providerDrain, .providerLeave, .providerList, .problemList:
            true
        default: false
        }
    }

    /// Whether it may make an entity, which needs a fresh id.
    var makesEntity: Bool {
        switch self {
        case .activityStart, .activityRenew, .controlAdd, .widgetAdd: true
        default: false
        }
    }
}
