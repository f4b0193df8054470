import IsletCore

/// The names that the field `op` may have.
package enum OperationName: UInt8, Sendable, CaseIterable {
    case activityStart, activityUpdate, activityEnd, activityDismiss, activityRenew, activityHeartbeat
    case activityGet, activityHistory, activityExplain, activityList
    case settingsSet, settingsGet, deviceEvent, clockAdvance, serviceInfo, servicePing, serviceBackup
    case streamApplied, bulkSnapshot, bulkReplay, bulkDigest, bulkCredit, bulkCancel

    /// As it is written in commands.
    package var name: StaticString {
        switch self {
        case .activityStart: "activity.start"
        case .activityUpdate: "activity.update"
        case .activityEnd: "activity.end"
        case .activityDismiss: "activity.dismiss"
        case .activityRenew: "activity.renew"
        case .activityHeartbeat: "activity.heartbeat"
        case .activityGet: "activity.get"
        case .activityHistory: "activity.history"
        case .activityExplain: "activity.explain"
        case .activityList: "activity.list"
        case .settingsSet: "settings.set"
        case .settingsGet: "settings.get"
        case .deviceEvent: "device.event"
        case .clockAdvance: "clock.advance"
        case .serviceInfo: "service.info"
        case .servicePing: "service.ping"
        case .serviceBackup: "service.backup"
        case .streamApplied: "stream.applied"
        case .bulkSnapshot: "bulk.snapshot"
        case .bulkReplay: "bulk.replay"
        case .bulkDigest: "bulk.digest"
        case .bulkCredit: "bulk.credit"
        case .bulkCancel: "bulk.cancel"
        }
    }

    /// The fields that every command may have (contract, Messages).
    ///
    /// `ifRevision` is one of them too; where an op changes no entity it is refused as out of place, never passed over.
    package static let commonFields = FieldSet([.op, .req, .client, .ttl, .ifRevision, .source, .ack])

    /// All fields that this op may have; another one is unknown to it.
    package var fields: FieldSet {
        OperationName.commonFields.union(FieldSet(ownFields))
    }

    private var ownFields: [Field] {
        switch self {
        case .activityStart:
            [
                .app, .type, .attributes, .contentState, .staleDate, .relevanceScore, .style, .startDate, .alert,
                .pushType, .device, .key, .id, .background, .ifExists,
            ]
        case .activityUpdate:
            [.app, .id, .key, .device, .contentState, .staleDate, .relevanceScore, .alert, .timestamp]
        case .activityEnd: [.app, .id, .key, .device, .contentState, .dismissalPolicy, .timestamp]
        case .activityDismiss: [.app, .id, .key, .device, .by]
        case .activityRenew: [.app, .id, .key, .device, .contentState, .staleDate]
        case .activityHeartbeat: [.app, .id, .key, .device]
        case .activityGet, .activityHistory, .activityExplain: [.app, .id, .key, .device, .minSeq]
        case .activityList: [.app, .state, .type, .device, .key, .order, .limit, .cursor, .minSeq]
        case .settingsSet: [.app, .device, .activitiesEnabled, .frequentPushesEnabled]
        case .settingsGet: [.app, .device, .minSeq]
        case .deviceEvent: [.device, .event, .app]
        case .clockAdvance: [.by, .to]
        case .serviceInfo, .servicePing: []
        case .serviceBackup: [.path]
        case .streamApplied: [.nonce, .apps]
        case .bulkSnapshot: [.app, .prefix, .credit]
        case .bulkReplay: [.app, .from, .credit]
        case .bulkDigest: [.app, .prefix]
        case .bulkCredit: [.credit]
        case .bulkCancel: []
        }
    }
}
