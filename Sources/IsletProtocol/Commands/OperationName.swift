import IsletCore

/// The names that the field `op` may have.
package enum OperationName: UInt8, Sendable, CaseIterable {
    case activityStart, activityUpdate, activityEnd, activityDismiss, activityRenew, activityHeartbeat
    case activityTap
    case activityGet, activityHistory, activityExplain, activityList
    case controlAdd, controlConfigure, controlRemove, controlTap, controlSet, controlReload
    case controlGet, controlHistory, controlExplain, controlList, controlPreview, controlKinds, controlOptions
    case widgetAdd, widgetConfigure, widgetRemove, widgetReload, widgetVisible, widgetTap, widgetGet, widgetHistory
    case widgetExplain, widgetTimeline, widgetBudget, widgetList, widgetKinds, widgetSnapshot, widgetOptions
    case widgetRecommendations, widgetInvalidateRecommendations, widgetInvalidateRelevance, widgetStack
    case groupCreate, groupAdmit, groupLeave, groupRemove, groupSet, groupDelete, groupNotify, groupGet, groupList, groupInfo
    case providerRegister, providerAnswer, providerFail, providerPong, providerDrain, providerLeave, providerList
    case settingsSet, settingsGet, deviceEvent, clockAdvance, serviceInfo, servicePing, serviceBackup
    case serviceStats, timerList, slotList, subscriberList, problemList, entityFind
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
        case .activityTap: "activity.tap"
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
        case .widgetAdd: "widget.add"
        case .widgetConfigure: "widget.configure"
        case .widgetRemove: "widget.remove"
        case .widgetReload: "widget.reload"
        case .widgetVisible: "widget.visible"
        case .widgetTap: "widget.tap"
        case .widgetGet: "widget.get"
        case .widgetHistory: "widget.history"
        case .widgetExplain: "widget.explain"
        case .widgetTimeline: "widget.timeline"
        case .widgetBudget: "widget.budget"
        case .widgetList: "widget.list"
        case .widgetKinds: "widget.kinds"
        case .widgetSnapshot: "widget.snapshot"
        case .widgetOptions: "widget.options"
        case .widgetRecommendations: "widget.recommendations"
        case .widgetInvalidateRecommendations: "widget.invalidateRecommendations"
        case .widgetInvalidateRelevance: "widget.invalidateRelevance"
        case .widgetStack: "widget.stack"
        case .groupCreate: "group.create"
        case .groupAdmit: "group.admit"
        case .groupLeave: "group.leave"
        case .groupRemove: "group.remove"
        case .groupSet: "group.set"
        case .groupDelete: "group.delete"
        case .groupNotify: "group.notify"
        case .groupGet: "group.get"
        case .groupList: "group.list"
        case .groupInfo: "group.info"
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
        case .serviceStats: "service.stats"
        case .timerList: "timer.list"
        case .slotList: "slot.list"
        case .subscriberList: "subscriber.list"
        case .problemList: "problem.list"
        case .entityFind: "entity.find"
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
        case .activityTap: [.app, .id, .key, .device, .url]
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
        case .controlKinds: [.app, .limit, .cursor]
        case .controlOptions: [.app, .kind, .parameter, .configuration]
        case .widgetAdd: [.app, .kind, .family, .configuration, .rendering, .device, .id]
        case .widgetConfigure: [.app, .id, .configuration, .rendering]
        case .widgetRemove: [.app, .id]
        case .widgetReload: [.app, .id, .kind]
        case .widgetVisible: [.app, .id]
        case .widgetTap: [.app, .id, .link, .action, .parameters]
        case .widgetGet: [.app, .id, .minSeq]
        case .widgetHistory: [.app, .id, .minSeq]
        case .widgetExplain: [.app, .id, .minSeq]
        case .widgetTimeline: [.app, .id, .at, .minSeq]
        case .widgetBudget: [.app, .id, .minSeq]
        case .widgetList: [.app, .kind, .family, .device, .state, .limit, .cursor, .minSeq]
        case .widgetKinds: [.app, .limit, .cursor]
        case .widgetSnapshot: [.app, .kind, .family, .configuration, .isPreview]
        case .widgetOptions: [.app, .kind, .parameter, .configuration, .query, .identifiers]
        case .widgetRecommendations: [.app, .kind]
        case .widgetInvalidateRecommendations: [.app, .kind]
        case .widgetInvalidateRelevance: [.app, .kind]
        case .widgetStack: [.device]
        case .groupCreate: [.app, .group, .members]
        case .groupAdmit: [.app, .group, .member]
        case .groupLeave: [.app, .group]
        case .groupRemove: [.app, .group]
        case .groupSet: [.app, .group, .key, .value]
        case .groupDelete: [.app, .group, .key]
        case .groupNotify: [.app, .group, .name]
        case .groupGet: [.app, .group, .key, .minSeq]
        case .groupList: [.app, .group, .prefix, .limit, .cursor, .minSeq]
        case .groupInfo: [.app, .group, .minSeq]
        case .providerRegister: [.app, .provider, .kinds, .widgets, .capacity]
        case .providerAnswer:
            [
                .provider, .call, .value, .status, .isActive, .tint, .actionHint, .disabled, .url, .entries, .policy,
                .needsLogin,
            ]
        case .providerFail: [.provider, .call, .message, .retryable]
        case .providerPong, .providerDrain, .providerLeave: [.provider]
        case .providerList: [.limit, .cursor]
        case .settingsSet: [.app, .device, .activitiesEnabled, .frequentPushesEnabled]
        case .settingsGet: [.app, .device, .minSeq]
        case .deviceEvent: [.device, .event, .app]
        case .clockAdvance: [.by, .to]
        case .serviceInfo, .servicePing, .serviceStats: []
        case .timerList: [.app, .device, .family, .limit]
        case .slotList: [.app, .device, .limit, .cursor]
        case .subscriberList: [.app, .limit]
        case .problemList: [.app, .family, .limit]
        case .entityFind: [.name, .family, .app, .device, .limit]
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
