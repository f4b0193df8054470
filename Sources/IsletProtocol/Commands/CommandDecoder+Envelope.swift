import IsletCore

extension CommandDecoder {
    /// The fields that every command may have.
    @inline(__always)
    func envelope(of name: OperationName, _ frame: Span<UInt8>) throws(Refusal) -> Envelope {
        var envelope = Envelope()
        envelope.req = try text(.req, .req, frame)
        // Most commands have none of the others.
        guard !present.isDisjoint(with: rareEnvelope) else { return envelope }
        envelope.client = try id(.client, frame)
        if let ttl = try count(.ttl, frame) { envelope.ttl = Milliseconds(ttl) }
        if let revision = try count(.ifRevision, frame) {
            guard isRevisionGuarded(name) else { throw .badField(.ifRevision, .notAllowedHere) }
            envelope.ifRevision = revision
        }
        envelope.minSeq = try count(.minSeq, frame)
        if present.contains(.source) {
            envelope.source = try word(.source, frame, ["local": .local, "push": .push]) ?? .local
        }
        if present.contains(.ack) { envelope.wantsAnswer = try word(.ack, frame, ["none": false]) ?? true }
        return envelope
    }

    /// Whether `ifRevision` guards anything: the op changes one entity that may be there already.
    private func isRevisionGuarded(_ name: OperationName) -> Bool {
        switch name {
        case .activityTap, .widgetConfigure, .widgetRemove, .widgetTap, .widgetVisible, .groupSet, .groupDelete: true
        case .widgetReload: present.contains(.id)
        case .widgetAdd, .widgetGet, .widgetHistory, .widgetExplain, .widgetTimeline, .widgetBudget, .widgetList,
            .widgetKinds, .widgetSnapshot, .widgetOptions, .widgetRecommendations, .widgetInvalidateRecommendations,
            .widgetInvalidateRelevance, .widgetStack, .groupCreate, .groupAdmit, .groupLeave, .groupNotify, .groupGet,
            .groupList, .groupInfo:
            false
        case .activityUpdate, .activityEnd, .activityDismiss, .activityRenew, .activityHeartbeat: true
        case .activityStart: present.contains(.ifExists)
        case .controlConfigure, .controlRemove, .controlTap, .controlSet: true
        case .controlReload: present.contains(.id)
        case .controlAdd, .controlGet, .controlHistory, .controlExplain, .controlList, .controlPreview,
            .controlKinds, .controlOptions, .providerRegister, .providerAnswer, .providerFail, .providerPong,
            .providerDrain, .providerLeave, .providerList:
            false
        case .activityGet, .activityHistory, .activityExplain, .activityList, .settingsSet, .settingsGet, .deviceEvent,
            .clockAdvance, .serviceInfo, .servicePing, .serviceBackup, .serviceStats, .timerList, .slotList,
            .subscriberList, .streamApplied, .bulkSnapshot, .bulkReplay, .bulkDigest, .bulkCredit, .bulkCancel:
            false
        }
    }

    /// As much of the envelope as an answer to a refusal needs, whatever else is wrong.
    func readableEnvelope(_ frame: Span<UInt8>) -> Envelope {
        var envelope = Envelope()
        envelope.req = (try? text(.req, .req, frame)) ?? nil
        envelope.client = (try? id(.client, frame)) ?? nil
        envelope.wantsAnswer = (try? word(.ack, frame, ["none": false])) ?? true
        return envelope
    }
}
