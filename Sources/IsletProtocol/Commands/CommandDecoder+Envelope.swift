package import IsletCore

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
            .widgetInvalidateRelevance, .widgetStack, .groupCreate, .groupAdmit, .groupLeave, .groupRemove,
            .groupNotify, .groupGet, .groupList, .groupInfo:
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
            .subscriberList, .problemList, .entityFind, .streamApplied, .bulkSnapshot, .bulkReplay, .bulkDigest, .bulkCredit, .bulkCancel:
            false
        }
    }

    /// As much of the envelope as stands in the beginning of a frame that is too long to be read.
    ///
    /// - Parameter beginning: its first bytes, which end anywhere.
    package static func envelope(in beginning: Span<UInt8>) -> Envelope {
        var envelope = Envelope()
        // The scan fails where the bytes end; what it visited before stands there whole.
        try? JSONScanner.scanObject(beginning) { member in
            guard member.value.kind == .string else { return }
            let text = member.value.text.range
            if member.name.equals("req", in: beginning), TextRule.req.refusal(of: beginning, at: text) == nil {
                envelope.req = text
            }
            if member.name.equals("ack", in: beginning), member.value.text.equals("none", in: beginning) {
                envelope.wantsAnswer = false
            }
        }
        return envelope
    }

    /// The call that a `provider.answer` or `provider.fail` names in the beginning of a frame that is too long to be read;
    /// nil where that says neither.
    ///
    /// - Parameter beginning: its first bytes, which end anywhere.
    package static func answer(in beginning: Span<UInt8>) -> RefusedAnswer? {
        var isAnswer = false
        var provider: EntityID?
        var call: FrameRange?
        try? JSONScanner.scanObject(beginning) { member in
            guard member.value.kind == .string else { return }
            let text = member.value.text
            if member.name.equals("op", in: beginning) {
                isAnswer = text.equals("provider.answer", in: beginning) || text.equals("provider.fail", in: beginning)
            } else if member.name.equals("provider", in: beginning) {
                provider = EntityID(text: beginning, at: text.range)
            } else if member.name.equals("call", in: beginning) {
                call = text.range
            }
        }
        guard isAnswer, let provider, let call else { return nil }
        return RefusedAnswer(provider: provider, call: call)
    }

    /// The `req` with which an answer begins; empty where it has none.
    package static func req(ofAnswer answer: Span<UInt8>) -> [UInt8] {
        let head: StaticString = "{\"req\":\""
        let count = head.utf8CodeUnitCount
        guard answer.count > count, (0..<count).allSatisfy({ answer[$0] == head.utf8Start[$0] }) else { return [] }
        // It needs no escapes, so it ends with the first quote.
        var end = count
        while end < answer.count, answer[end] != UInt8(ascii: "\"") { end += 1 }
        return answer.extracting(count..<end).withUnsafeBytes { Array($0) }
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
