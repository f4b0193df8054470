package import IsletCore

/// What the service asks providers of widgets.
extension JSONWriter {
    /// A call for a widget's timeline.
    ///
    /// - Parameters:
    ///   - now: domain time, which the dates of entries are in.
    ///   - within: the milliseconds that are left for it.
    package mutating func providerCall(
        _ call: UInt64, timelineFor record: WidgetRecord, now: Instant, attempt: Int, within: Milliseconds,
        of engine: borrowing Engine
    ) {
        begin(call, "widget.timeline", record.kind, of: engine)
        instance(record, of: engine)
        end(now: now, attempt: attempt, within: within)
    }

    /// A call for the action of a widget that runs.
    package mutating func providerCall(
        _ call: UInt64, performFor record: WidgetRecord, now: Instant, attempt: Int, within: Milliseconds,
        of engine: borrowing Engine
    ) {
        begin(call, "widget.perform", record.kind, of: engine)
        instance(record, of: engine)
        let action = engine.action(of: record)
        field("action", plain: action.name.span)
        if let parameters = action.parameters { field("parameters", raw: parameters.span) }
        end(now: now, attempt: attempt, within: within)
    }

    /// A call for one entry of a kind.
    ///
    /// - Parameter configuration: the bytes of a JSON object.
    package mutating func providerCall(
        _ call: UInt64, snapshotOf kind: DeclaredKindID, family: WidgetFamily, configuration: [UInt8]?,
        isPreview: Bool, now: Instant, attempt: Int, within: Milliseconds, of engine: borrowing Engine
    ) {
        begin(call, "widget.snapshot", kind, of: engine)
        field("family", name: family.wireName)
        if let configuration { field("configuration", raw: configuration.span) }
        if isPreview { field("isPreview", true) }
        end(now: now, attempt: attempt, within: within)
    }

    /// A call for the options of a parameter.
    ///
    /// - Parameters:
    ///   - configuration: what is configured so far: the bytes of a JSON object.
    ///   - query: the contract's word (`WidgetOptions.Query.wireName`).
    ///   - identifiers: of `entitiesFor`: the bytes of a JSON array of strings.
    package mutating func providerCall(
        _ call: UInt64, widgetOptionsOf kind: DeclaredKindID, _ parameter: [UInt8], configuration: [UInt8]?,
        query: StaticString, identifiers: [UInt8]?, now: Instant, attempt: Int, within: Milliseconds,
        of engine: borrowing Engine
    ) {
        begin(call, "widget.options", kind, of: engine)
        field("parameter", plain: parameter.span)
        if let configuration { field("configuration", raw: configuration.span) }
        field("query", name: query)
        if let identifiers { field("identifiers", raw: identifiers.span) }
        end(now: now, attempt: attempt, within: within)
    }

    /// A call for the configurations that a kind recommends.
    package mutating func providerCall(
        _ call: UInt64, recommendationsOf kind: DeclaredKindID, now: Instant, attempt: Int, within: Milliseconds,
        of engine: borrowing Engine
    ) {
        begin(call, "widget.recommendations", kind, of: engine)
        end(now: now, attempt: attempt, within: within)
    }

    /// A call for the times at which a kind is relevant.
    package mutating func providerCall(
        _ call: UInt64, relevanceOf kind: DeclaredKindID, now: Instant, attempt: Int, within: Milliseconds,
        of engine: borrowing Engine
    ) {
        begin(call, "widget.relevance", kind, of: engine)
        end(now: now, attempt: attempt, within: within)
    }

    private mutating func begin(
        _ call: UInt64, _ op: StaticString, _ number: DeclaredKindID, of engine: borrowing Engine
    ) {
        let kind = engine.widgets.kinds[number]
        beginObject()
        field("call", string: String(call))
        field("op", name: op)
        field("app", plain: engine.apps[kind.app].name.span)
        field("kind", plain: kind.name.span)
    }

    private mutating func instance(_ record: WidgetRecord, of engine: borrowing Engine) {
        field("widget", record.id)
        field("family", name: record.family.wireName)
        object("configuration", record.configuration, of: engine)
        object("rendering", record.rendering, of: engine)
        if let device = record.device { field("device", plain: engine.devices.name(device).span) }
    }

    private mutating func end(now: Instant, attempt: Int, within: Milliseconds) {
        field("now", now)
        field("attempt", attempt)
        field("within", within)
        endObject()
    }
}
