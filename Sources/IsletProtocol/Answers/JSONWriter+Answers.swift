package import IsletCore

extension JSONWriter {
    /// Begins an answer: `{"req":…,"ok":…`. The caller adds members and ends the object.
    package mutating func beginAnswer(_ envelope: Envelope, _ frame: Span<UInt8>, ok: Bool) {
        beginObject()
        if let req = envelope.req { field("req", plain: frame.extracting(req.indices)) }
        field("ok", ok)
    }

    /// The answer to a change that was executed.
    ///
    /// - Parameter seq: the last sequence number of the app's stream; nil where the command has no app.
    package mutating func applied(
        _ envelope: Envelope, _ frame: Span<UInt8>, seq: UInt64?, activity: SlotRef?, of engine: borrowing Engine
    ) {
        beginAnswer(envelope, frame, ok: true)
        field("outcome", name: "applied")
        if let seq { field("seq", seq) }
        short(activity, of: engine)
        endObject()
    }

    /// The answer to a change that was dropped as ActivityKit drops it.
    package mutating func ignored(
        _ envelope: Envelope, _ frame: Span<UInt8>, _ reason: IgnoreReason, seq: UInt64, activity: SlotRef,
        of engine: borrowing Engine
    ) {
        beginAnswer(envelope, frame, ok: true)
        field("outcome", name: "ignored")
        field("reason", name: reason.wireName)
        field("seq", seq)
        short(activity, of: engine)
        endObject()
    }

    private mutating func short(_ reference: SlotRef?, of engine: borrowing Engine) {
        guard let reference, let record = engine.record(reference) else { return }
        key("activity")
        shortActivity(record, at: reference.slot, of: engine)
    }

    /// The answer to a command that was refused. `envelope` is as far as it could be read.
    package mutating func refused(_ envelope: Envelope, _ frame: Span<UInt8>, _ refusal: Refusal) {
        beginAnswer(envelope, frame, ok: false)
        error(refusal, frame)
        endObject()
    }

    /// The member `error` of a refusal.
    package mutating func error(_ refusal: Refusal, _ frame: Span<UInt8>) {
        key("error")
        beginObject()
        field("code", name: refusal.code)
        field("message", string: refusal.message(frame))
        field("retry", name: refusal.retry.wireName)
        detail(of: refusal, frame)
        endObject()
    }

    private mutating func detail(of refusal: Refusal, _ frame: Span<UInt8>) {
        switch refusal {
        case .notFound, .providerUnknown(nil), .expired, .requestReused, .outcomeUnknown, .authorization(.denied),
            .authorization(.visibility), .authorization(.reconnectNotPermitted):
            return
        case .busy(let retryAfter):
            field("retryAfter", retryAfter)
            return
        case .badMessage, .unknownOp, .unknownField, .missingField, .badField, .implausibleDate, .revisionConflict,
            .keyHeld, .kindUnknown, .providerUnknown(.some), .badConfiguration, .badRendering, .badDeclaration,
            .kindConflict, .badAnswer, .badTimeline, .notAMember, .groupUnknown, .groupExists, .groupHasKeys, .unknownCall,
            .tooOld, .tooMany, .quotaExceeded, .tooManyAppsOnDevice, .tooMuchDeclared, .unavailable, .backupFailed,
            .authorization(.attributesTooLarge), .authorization(.muted), .authorization(.globalMaximumExceeded),
            .authorization(.targetMaximumExceeded):
            break
        }
        key("detail")
        beginObject()
        switch refusal {
        case .badMessage(_, let offset): field("offset", offset)
        case .unknownOp(let op): field("op", string: frame.quoted(op))
        case .unknownField(let name): field("field", string: frame.quoted(name))
        case .missingField(let name), .badField(let name, _): field("field", string: name.path)
        case .implausibleDate(let name, let meant):
            field("field", string: name.path)
            if let meant { field("meant", meant) }
        case .revisionConflict(let present): field("revision", present)
        case .keyHeld(let holder, let revision):
            field("id", holder)
            field("revision", revision)
        case .kindUnknown(let kind): field("kind", string: frame.quoted(kind))
        case .providerUnknown(.some(let call)), .badAnswer(let call, _), .unknownCall(let call):
            field("call", string: frame.quoted(call))
        case .badTimeline(let call, let bad):
            field("call", string: frame.quoted(call))
            field("reason", name: bad.reason.wireName)
            if let index = bad.index { field("index", index) }
            if let limit = bad.limit { field("limit", limit) }
        case .notAMember(let group), .groupUnknown(let group), .groupExists(let group):
            field("group", string: frame.quoted(group))
        case .groupHasKeys(let group, let count):
            field("group", string: frame.quoted(group))
            field("keys", count)
        case .badConfiguration(let parameter):
            field("field", string: Field.configuration.path)
            field("parameter", string: Refusal.quoted(parameter))
        case .badRendering(let member, _):
            field("field", string: Field.rendering.path)
            field("member", string: Refusal.quoted(member))
        case .badDeclaration(let bad):
            field("field", string: bad.array.path)
            field("index", bad.index)
            if !bad.member.isEmpty { field("member", string: bad.member) }
        case .kindConflict(let conflict): difference(conflict)
        case .tooOld(let oldest): field("oldest", oldest)
        case .tooMany(let limit), .quotaExceeded(let limit), .tooManyAppsOnDevice(let limit),
            .tooMuchDeclared(let limit):
            field("limit", limit)
        case .unavailable(let reason): field("reason", name: reason.wireName)
        case .backupFailed: field("reason", name: "backupFailed")
        case .authorization(.attributesTooLarge(let bytes, let limit)):
            field("bytes", bytes)
            field("limit", limit)
        case .authorization(.muted(let until)): field("mutedUntil", until.milliseconds)
        case .authorization(.globalMaximumExceeded(let limit)), .authorization(.targetMaximumExceeded(let limit)):
            field("limit", limit)
        case .notFound, .providerUnknown(nil), .expired, .requestReused, .outcomeUnknown, .busy,
            .authorization(.denied),
            .authorization(.visibility), .authorization(.reconnectNotPermitted):
            break
        }
        endObject()
    }

    /// A member of a declaration that is longer is not repeated in an error.
    private static var maximumMember: Int { 1_024 }

    /// What two declarations of a kind say in the member in which they differ; what a declaration leaves out is absent.
    private mutating func difference(_ conflict: KindConflict) {
        field("kind", string: Refusal.quoted(conflict.kind))
        field("member", string: conflict.member)
        for (name, json): (StaticString, [UInt8]) in [("declared", conflict.declared), ("offered", conflict.offered)] {
            var range: FrameRange?
            // A declaration was scanned before; one of the caller's making that is no object just shows nothing.
            try? JSONScanner.scanObject(json.span) { member in
                if member.name.string(in: json.span) == conflict.member { range = member.value.range }
            }
            guard let range, range.count <= Self.maximumMember else { continue }
            field(name, raw: json.span.extracting(range.indices))
        }
        if conflict.placed > 0 { field("placed", conflict.placed) }
    }

    /// The settings of an app, as `settings.get` and `settings.set` answer them.
    package mutating func settings(_ settings: ActivitySettings) {
        key("settings")
        beginObject()
        field("activitiesEnabled", settings.activitiesEnabled)
        field("frequentPushesEnabled", settings.frequentPushesEnabled)
        endObject()
    }
}
