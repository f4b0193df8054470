import Glibc
import IsletCore
package import IsletJournal
import IsletProtocol

/// The addresses that were bound, with the ports that were found for `*` and 0.
package struct ServiceEndpoints: Equatable, Sendable {
    package var commands: String
    package var events: String
    package var bulk: String
    package var ingest: String?
    /// A URL.
    package var http: String?

    package init(commands: String, events: String, bulk: String, ingest: String? = nil, http: String? = nil) {
        self.commands = commands
        self.events = events
        self.bulk = bulk
        self.ingest = ingest
        self.http = http
    }
}

/// What a service is, as it tells whoever asks.
package struct ServiceCard: Sendable {
    package static let version = "0.1.0"
    /// The version of the contract.
    package static let protocolVersion = 1
    /// The families of the contract that it serves.
    private static let features: [StaticString] = [
        "activity", "control", "widget", "provider", "settings", "device", "clock", "watermark", "join", "snapshot", "replay",
        "digest", "ingest", "group",
    ]

    package var endpoints: ServiceEndpoints
    package let guarantee: JournalGuarantee
    private let clock: ClockMode
    private let store: ServeConfiguration.Store
    /// The whole path of the directory of its files; nil where it keeps none.
    private let directory: String?
    private let demo: ServeConfiguration.DemoApps?

    package init(_ configuration: ServeConfiguration, endpoints: ServiceEndpoints, guarantee: JournalGuarantee) {
        self.endpoints = endpoints
        self.guarantee = guarantee
        clock = configuration.clock
        store = configuration.store
        directory = configuration.store == .sqlite ? Self.wholePath(configuration.data) : nil
        demo = configuration.demo
    }

    /// A path as somebody in another directory names it.
    private static func wholePath(_ path: String) -> String {
        guard !path.hasPrefix("/"), let present = getcwd(nil, 0) else { return path }
        defer { free(present) }
        return String(cString: present) + "/" + path
    }

    /// The one line that says that it serves.
    package var readyLine: String {
        "ready commands=\(endpoints.commands) events=\(endpoints.events) bulk=\(endpoints.bulk) "
            + "http=\(endpoints.http ?? "none")"
    }

    /// How many times faster than real time domain time runs; nil where it does not run fast.
    package var speed: Double? {
        guard case .speed(_, let factor) = clock else { return nil }
        return factor
    }

    /// What outlives what, in plain words.
    package var guaranteeInWords: String {
        switch guarantee {
        case .none: "store=memory: nothing outlives this process"
        case .processCrash: "what was acknowledged survives the end of the process, but not loss of power"
        case .powerLoss: "what was acknowledged survives loss of power"
        }
    }

    /// The member `info` of `service.info`, which the caller ends.
    ///
    /// - Parameter providers: how many processes compute the values of controls and the timelines of widgets.
    func write(
        to writer: inout JSONWriter, now: TurnTime, heldBack: Milliseconds, engine: borrowing Engine,
        statistics: borrowing Statistics, lateness: SpanHistogram, providers: Int
    ) {
        writer.key("info")
        writer.beginObject()
        writer.field("protocol", Self.protocolVersion)
        writer.field("version", string: Self.version)
        writer.key("features")
        writer.beginArray()
        for feature in Self.features { writer.string(feature) }
        writer.endArray()
        writer.ruleSet(engine.rules)
        writer.field("guarantee", string: guarantee.rawValue)
        writer.field("store", string: store.rawValue)
        if let directory { writer.field("data", string: directory) }
        writer.key("clock")
        writer.beginObject()
        switch clock {
        case .system: writer.field("kind", name: "system")
        case .manual: writer.field("kind", name: "manual")
        case .speed(_, let factor):
            writer.field("kind", name: "speed")
            writer.field("speed", factor)
        }
        writer.field("now", now.domain)
        if heldBack > 0 { writer.field("heldBack", heldBack) }
        writer.endObject()
        writer.key("endpoints")
        writer.beginObject()
        writer.field("commands", string: endpoints.commands)
        writer.field("events", string: endpoints.events)
        writer.field("bulk", string: endpoints.bulk)
        if let ingest = endpoints.ingest { writer.field("ingest", string: ingest) }
        if let http = endpoints.http { writer.field("http", string: http) }
        writer.endObject()
        if let demo {
            writer.key("demo")
            writer.beginObject()
            writer.field("activity", string: demo.activity)
            writer.field("control", string: demo.control)
            writer.field("widget", string: demo.widget)
            writer.endObject()
        }
        writer.field("uptime", now.monotonic - statistics.startedAt)
        writer.key("entities")
        writer.beginObject()
        for state in ActivityState.allCases {
            writer.key(state.wireName)
            writer.integer(engine.countByState[Int(state.rawValue)])
        }
        writer.endObject()
        writer.key("controls")
        writer.beginObject()
        for state in ControlState.allCases where state != .removed {
            writer.key(state.wireName)
            writer.integer(engine.controls.countByState[Int(state.rawValue)])
        }
        writer.endObject()
        writer.key("widgets")
        writer.beginObject()
        for state in WidgetState.allCases where state != .removed {
            writer.key(state.wireName)
            writer.integer(engine.widgets.countByState[Int(state.rawValue)])
        }
        writer.endObject()
        writer.field("providers", providers)
        writer.field("timers", engine.armedTimers)
        writer.field("commands", statistics.commands)
        writer.field("events", statistics.events)
        writer.field("lateness", lateness)
    }
}

extension JSONWriter {
    /// The member `ruleSet`: every limit by its name, spans in milliseconds, `null` for a rule that is off.
    mutating func ruleSet(_ rules: RuleSet) {
        key("ruleSet")
        beginObject()
        field("name", string: rules.name)
        field("date", string: rules.date)
        field("contentLimit", rules.contentLimit)
        field("activeLimit", rules.activeLimit)
        field("dismissalLimit", rules.dismissalLimit)
        field("maximumPerApp", rules.maximumPerApp)
        field("maximumPerDevice", rules.maximumPerDevice)
        field("endedCountTowardMaxima", rules.endedCountTowardMaxima)
        field("futureTimestampLimit", rules.futureTimestampLimit)
        field("pushEndAcceptsOlderTimestamp", rules.pushEndAcceptsOlderTimestamp)
        field("ignoresUnchangedUpdates", rules.ignoresUnchangedUpdates)
        option("muteAfterPersonDismissal", rules.muteAfterPersonDismissal)
        option("heartbeatStaleAfter", rules.heartbeatStaleAfter)
        option("heartbeatEndAfter", rules.heartbeatEndAfter)
        field("controlRetryFirst", rules.controlRetryFirst)
        field("controlRetryLongest", rules.controlRetryLongest)
        field("authenticationLimit", rules.authenticationLimit)
        field("controlValueLimit", rules.controlValueLimit)
        field("widgetDailyBudget", rules.widgetDailyBudget)
        field("widgetLearningBudget", rules.widgetLearningBudget)
        field("widgetLearningSpan", rules.widgetLearningSpan)
        field("widgetReloadSpacing", rules.widgetReloadSpacing)
        field("widgetEntrySpacing", rules.widgetEntrySpacing)
        field("widgetReloadJitter", rules.widgetReloadJitter)
        field("widgetRetryFirst", rules.widgetRetryFirst)
        field("widgetRetryLongest", rules.widgetRetryLongest)
        field("maximumTimelineEntries", rules.maximumTimelineEntries)
        field("widgetDeveloperMode", rules.widgetDeveloperMode)
        field("groupValueLimit", rules.groupValueLimit)
        field("maximumGroupKeys", rules.maximumGroupKeys)
        field("groupLimit", rules.groupLimit)
        field("retention", rules.retention)
        field("maximumRetained", rules.maximumRetained)
        field("maximumEntities", rules.maximumEntities)
        endObject()
    }

    private mutating func option(_ name: StaticString, _ value: Milliseconds?) {
        key(name)
        if let value { integer(value) } else { null() }
    }
}
