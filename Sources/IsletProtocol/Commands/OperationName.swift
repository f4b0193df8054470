import IsletCore

/// The names that the field `op` may have.
package enum OperationName: UInt8, Sendable, CaseIterable {
    case activityStart, activityUpdate, activityEnd, activityDismiss, activityRenew, activityHeartbeat
    case activityGet, activityHistory, activityExplain, activityList
    case controlAdd, controlConfigure, controlRemove, controlTap, controlSet, controlReload
    case controlGet, controlHistory, controlExplain, controlList, controlPreview, controlKinds, controlOptions
    case providerRegister, providerAnswer, providerFail, providerPong, providerDrain, providerLeave, providerList
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
        case .controlAdd: "control.add"
        case .controlConfigure: "control.configure"
        case .controlRemove: "control.remove"
        case .controlTap: "control.tap"
        case .controlSet: "control.set"
        case .controlReload: "control.reload"
        case .controlGet: "control.get"
        case .controlHistory: "control.history"
        case .controlExplain: "control.explain"
        case .controlList: "control.list"
        case .controlPreview: "control.preview"
        case .controlKinds: "control.kinds"
        case .controlOptions: "control.options"
        case .providerRegister: "provider.register"
        case .providerAnswer: "provider.answer"
        case .providerFail: "provider.fail"
        case .providerPong: "provider.pong"
        case .providerDrain: "provider.drain"
        case .providerLeave: "provider.leave"
        case .providerList: "provider.list"
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
        case .controlAdd: [.app, .kind, .configuration, .device, .id]
        case .controlConfigure: [.app, .id, .configuration]
        case .controlRemove, .controlTap: [.app, .id]
        case .controlSet: [.app, .id, .value]
        case .controlReload: [.app, .id, .kind]
        case .controlGet: [.app, .id, .maxAge, .minSeq]
        case .controlHistory, .controlExplain: [.app, .id, .minSeq]
        case .controlList: [.app, .kind, .device, .state, .limit, .cursor, .minSeq]
        case .controlPreview: [.app, .kind]
        case .controlKinds: [.app]
        case .controlOptions: [.app, .kind, .parameter, .configuration]
        case .providerRegister: [.app, .provider, .kinds, .capacity]
        case .providerAnswer: [.provider, .call, .value, .status, .isActive, .tint, .actionHint, .disabled]
        case .providerFail: [.provider, .call, .message, .retryable]
        case .providerPong, .providerDrain, .providerLeave: [.provider]
        case .providerList: []
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
