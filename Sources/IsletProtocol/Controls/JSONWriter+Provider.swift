package import IsletCore

/// What the service sends to providers, and answers them.
extension JSONWriter {
    /// A call for a control's value, or for its action where that runs.
    ///
    /// - Parameter within: the milliseconds that are left for it.
    package mutating func providerCall(
        _ call: UInt64, _ record: ControlRecord, attempt: Int, within: Milliseconds, of engine: borrowing Engine
    ) {
        let kind = engine.controls.kinds[record.kind]
        let wish = record.machine.state == .acting ? record.machine.wish : nil
        beginObject()
        field("call", string: String(call))
        field("op", name: wish == nil ? "control.value" : "control.perform")
        field("app", plain: engine.apps[kind.app].name.span)
        field("kind", plain: kind.name.span)
        field("control", record.id)
        engine.withBytes(of: record.configuration) { bytes in
            if bytes.count > 0 { field("configuration", rawBytes: bytes, 0..<bytes.count) }
        }
        if let device = record.device { field("device", plain: engine.devices.name(device).span) }
        if let isOn = wish?.isOn { field("value", isOn) }
        field("attempt", attempt)
        field("within", within)
        endObject()
    }

    /// A call for the options of a parameter.
    ///
    /// - Parameter configuration: what is configured so far: the bytes of a JSON object.
    package mutating func providerCall(
        _ call: UInt64, optionsOf number: ControlKindID, _ parameter: [UInt8], _ configuration: [UInt8]?, attempt: Int,
        within: Milliseconds, of engine: borrowing Engine
    ) {
        let kind = engine.controls.kinds[number]
        beginObject()
        field("call", string: String(call))
        field("op", name: "control.options")
        field("app", plain: engine.apps[kind.app].name.span)
        field("kind", plain: kind.name.span)
        field("parameter", plain: parameter.span)
        if let configuration { field("configuration", raw: configuration.span) }
        field("attempt", attempt)
        field("within", within)
        endObject()
    }

    /// Nobody waits for a call any more.
    package mutating func providerCancel(_ call: UInt64, reason: StaticString) {
        beginObject()
        field("op", name: "provider.cancel")
        field("call", string: String(call))
        field("reason", name: reason)
        endObject()
    }

    /// A sign of life that wants one back.
    package mutating func providerPing(at now: Instant) {
        beginObject()
        field("op", name: "provider.ping")
        field("at", now)
        endObject()
    }

    /// A provider is not asked any more.
    package mutating func providerDropped(_ provider: EntityID?, reason: StaticString) {
        beginObject()
        field("op", name: "provider.dropped")
        if let provider { field("provider", provider) }
        field("reason", name: reason)
        endObject()
    }

    /// The answer to `provider.register`.
    package mutating func registered(
        _ envelope: Envelope, _ frame: Span<UInt8>, provider: EntityID, pingEvery: Milliseconds,
        pingLimit: Milliseconds, kinds: [[UInt8]], widgets: [[UInt8]] = []
    ) {
        beginAnswer(envelope, frame, ok: true)
        field("provider", provider)
        field("pingEvery", pingEvery)
        field("pingLimit", pingLimit)
        names("kinds", kinds)
        if !widgets.isEmpty { names("widgets", widgets) }
        endObject()
    }

    private mutating func names(_ name: StaticString, _ names: [[UInt8]]) {
        key(name)
        beginArray()
        for name in names { plain(name.span) }
        endArray()
    }

    /// The static options of a parameter.
    package mutating func options(_ options: [KindParameter.Option]) {
        beginArray()
        for option in options {
            beginObject()
            field("value", raw: option.value.span)
            if !option.title.isEmpty { field("title", raw: option.title.span) }
            endObject()
        }
        endArray()
    }
}
