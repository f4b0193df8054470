import IsletCore

extension CommandDecoder {
    /// The longest `pushType`: a channel's id is a short piece of base64.
    static let maximumPushTypeLength = 256

    func activityStart(_ frame: Span<UInt8>) throws(Refusal) -> ActivityStart {
        var start = ActivityStart(
            app: try requiredText(.app, .app, frame), type: try requiredText(.type, .name, frame),
            attributes: try requiredObject(.attributes), contentState: try requiredObject(.contentState))
        start.staleDate = try date(.staleDate, frame)
        start.relevanceScore = try number(.relevanceScore, frame)
        start.style = try word(.style, frame, ["standard": .standard, "transient": .transient]) ?? .standard
        start.startDate = try date(.startDate, frame)
        start.alert = try object(.alert)
        if start.startDate != nil, start.alert == nil { throw .missingField(.alert) }
        start.pushType = try pushType(frame)
        start.device = try text(.device, .name, frame)
        start.key = try text(.key, .name, frame)
        start.id = try id(.id, frame)
        start.background = try flag(.background)
        start.updatesExisting = try word(.ifExists, frame, ["update": true]) ?? false
        if start.updatesExisting, start.key == nil { throw .missingField(.key) }
        return start
    }

    @inline(__always) func activityUpdate(_ frame: Span<UInt8>) throws(Refusal) -> ActivityUpdate {
        var update = ActivityUpdate(
            address: try activityAddress(frame), contentState: try requiredObject(.contentState))
        update.staleDate = try date(.staleDate, frame)
        guard !present.isDisjoint(with: rareInUpdate) else { return update }
        update.relevanceScore = try number(.relevanceScore, frame)
        update.alert = try object(.alert)
        update.timestamp = try date(.timestamp, frame)
        return update
    }

    func activityEnd(_ frame: Span<UInt8>) throws(Refusal) -> ActivityEnd {
        var end = ActivityEnd(address: try activityAddress(frame))
        end.contentState = try object(.contentState)
        end.dismissalPolicy = try dismissalPolicy(frame)
        end.timestamp = try date(.timestamp, frame)
        return end
    }

    func activityDismiss(_ frame: Span<UInt8>) throws(Refusal) -> ActivityDismiss {
        var dismiss = ActivityDismiss(address: try activityAddress(frame))
        dismiss.by = try word(.by, frame, ["person": .person, "system": .system]) ?? .person
        return dismiss
    }

    func activityRenew(_ frame: Span<UInt8>) throws(Refusal) -> ActivityRenew {
        var renew = ActivityRenew(address: try activityAddress(frame))
        renew.contentState = try object(.contentState)
        renew.staleDate = try date(.staleDate, frame)
        return renew
    }

    func activityList(_ frame: Span<UInt8>) throws(Refusal) -> ActivityList {
        var list = ActivityList()
        list.app = try text(.app, .app, frame)
        list.state = try word(
            .state, frame,
            ["pending": .pending, "active": .active, "stale": .stale, "ended": .ended, "dismissed": .dismissed])
        list.type = try text(.type, .name, frame)
        list.device = try text(.device, .name, frame)
        list.key = try text(.key, .name, frame)
        list.order = try word(.order, frame, ["presentation": .presentation]) ?? .none
        list.limit = try integer(.limit, in: 1...1_000, frame) ?? list.limit
        list.cursor = try text(.cursor, .cursor, frame)
        switch list.order {
        case .presentation:
            if list.device == nil { throw .missingField(.device) }
            // A sequence number belongs to an app's stream.
            if list.app == nil, present.contains(.minSeq) { throw .badField(.minSeq, .notAllowedHere) }
        case .none:
            if list.app == nil { throw .missingField(.app) }
        }
        return list
    }

    /// `app`, and `id` or `key`.
    @inline(__always) func activityAddress(_ frame: Span<UInt8>) throws(Refusal) -> ActivityAddress {
        let app = try requiredText(.app, .app, frame)
        let id = try id(.id, frame)
        if let id, present.isDisjoint(with: names) { return ActivityAddress(app: app, target: .id(id)) }
        let key = try text(.key, .name, frame)
        let device = try text(.device, .name, frame)
        if let id {
            if key != nil { throw .badField(.key, .notAllowedHere) }
            if device != nil { throw .badField(.device, .notAllowedHere) }
            return ActivityAddress(app: app, target: .id(id))
        }
        guard let key else { throw .missingField(.id) }
        return ActivityAddress(app: app, target: .key(key, device: device))
    }

    /// `"default"`, `"immediate"` or `{"after":ms}`.
    private func dismissalPolicy(_ frame: Span<UInt8>) throws(Refusal) -> DismissalPolicy {
        guard let value = self[.dismissalPolicy] else { return .default }
        guard value.kind == .object else {
            return try word(.dismissalPolicy, frame, ["default": .default, "immediate": .immediate]) ?? .default
        }
        guard let after = try onlyMember(.after, of: .dismissalPolicy, value, frame) else {
            throw .missingField(.after)
        }
        return .after(try date(.after, after, frame))
    }

    /// `"token"` or `{"channel":"…"}`, as its exact bytes.
    private func pushType(_ frame: Span<UInt8>) throws(Refusal) -> FrameRange? {
        guard let value = self[.pushType] else { return nil }
        guard value.range.count <= CommandDecoder.maximumPushTypeLength else { throw .badField(.pushType, .tooLong) }
        switch value.kind {
        case .string:
            guard value.text.equals("token", in: frame) else { throw .badField(.pushType, .unknownValue) }
        case .object:
            var channels = 0
            var others = 0
            try members(of: .pushType, value, frame) { member in
                let isChannel =
                    member.name.equals("channel", in: frame) && member.value.kind == .string
                    && member.value.text.range.count > 0
                if isChannel { channels += 1 } else { others += 1 }
            }
            guard channels == 1, others == 0 else { throw .badField(.pushType, .unknownValue) }
        case .array, .integer, .number, .true, .false, .null: throw .badField(.pushType, .wrongType)
        }
        return value.range
    }

    /// The one member that an object may have; nil where it is absent or null.
    private func onlyMember(
        _ member: Field, of field: Field, _ object: JSONValue, _ frame: Span<UInt8>
    ) throws(Refusal) -> JSONValue? {
        var found: JSONValue?
        var refusal: Refusal?
        try members(of: field, object, frame) { inner in
            guard refusal == nil else { return }
            if !inner.name.equals(member.name, in: frame) {
                refusal = .unknownField(inner.name.range)
            } else if found != nil {
                refusal = .badField(member, .twice)
            } else {
                found = inner.value
            }
        }
        if let refusal { throw refusal }
        return found?.kind == .null ? nil : found
    }

    /// Visits the members of an object that was scanned before as a part of the frame.
    private func members(
        of field: Field, _ object: JSONValue, _ frame: Span<UInt8>, visit: (JSONField) -> Void
    ) throws(Refusal) {
        do {
            try JSONScanner.scanObject(frame, at: object.range, visit: visit)
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
    }
}
