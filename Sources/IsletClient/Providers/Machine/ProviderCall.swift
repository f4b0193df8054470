/// One call of the service to a provider.
package struct ProviderCall: Sendable {
    /// What is wanted, of which family.
    package enum Purpose: Sendable, Hashable {
        case control(ControlRequest)
        case widget(WidgetRequest)

        /// Whether it is to be done, and not only asked for.
        var isAction: Bool {
            switch self {
            case .control(.perform), .widget(.perform): true
            case .control(.value), .control(.options), .widget(.timeline), .widget(.snapshot), .widget(.options),
                .widget(.recommendations), .widget(.relevance):
                false
            }
        }

        /// Whether the handler cannot run without what is configured. Options may be chosen, and actions of widgets be
        /// performed, where what is configured means nothing any more.
        var readsConfiguration: Bool {
            switch self {
            case .control(.value), .control(.perform), .widget(.timeline), .widget(.snapshot): true
            case .control(.options), .widget(.perform), .widget(.options), .widget(.recommendations),
                .widget(.relevance):
                false
            }
        }
    }

    /// What is wanted of a control kind.
    package enum ControlRequest: Sendable, Hashable {
        /// The value of a control.
        case value
        /// Its action; with the new value of a toggle.
        case perform(value: Bool?)
        /// The options of a parameter.
        case options(parameter: String, OptionsQuery)
    }

    /// What is wanted of a widget kind.
    package enum WidgetRequest: Sendable, Hashable {
        /// The entries of a widget from now on.
        case timeline(TimelineProviderContext)
        /// One entry, of no widget that is placed.
        case snapshot(TimelineProviderContext)
        /// An action of a widget.
        case perform(action: String, parameters: RawObject)
        /// The options of a parameter.
        case options(parameter: String, OptionsQuery)
        /// Configurations that are worth offering.
        case recommendations
        /// When which configurations matter.
        case relevance
    }

    /// Unique among the calls of a run, other than the service's id.
    package let number: UInt64
    /// The service's name for it.
    package let id: String
    package let purpose: Purpose
    package let app: String
    package let kind: String
    /// The control's or the widget's id; nil where the call is about none that is placed.
    package let instance: String?
    package let device: String?
    package private(set) var configuration: RawObject
    /// Of widgets; nil where the call does not say.
    package let family: WidgetFamily?
    /// The service's domain time, in milliseconds since 1970; nil where the call does not say.
    package let now: Int64?
    package let attempt: Int
    /// Who answers later is not heard.
    package let deadline: ContinuousClock.Instant
    /// How many entries a timeline may have.
    package let maximumEntries: Int

    /// Reads a frame of the service; nil where it is no call.
    init?(
        _ frame: RawObject, number: UInt64, now arrival: ContinuousClock.Instant,
        maximumEntries: Int = ProviderLimits.entries
    ) {
        guard let id = frame["call"]?.string, let kind = frame["kind"]?.string, let purpose = Purpose(frame) else {
            return nil
        }
        self.number = number
        self.id = id
        self.kind = kind
        self.purpose = purpose
        self.maximumEntries = maximumEntries
        app = frame["app"]?.string ?? ""
        instance = frame["control"]?.string ?? frame["widget"]?.string
        device = frame["device"]?.string
        configuration = frame["configuration"]?.object ?? [:]
        family = frame["family"]?.string.flatMap(WidgetFamily.init(rawValue:))
        now = frame["now"]?.integer
        attempt = frame["attempt"]?.integer.flatMap(Int.init(exactly:)) ?? 1
        let within = frame["within"]?.integer ?? 1_000
        deadline = arrival + .milliseconds(min(max(0, within), Self.maximumWithin))
    }

    /// The same call about what is configured so.
    func configured(_ configuration: RawObject) -> ProviderCall {
        var call = self
        call.configuration = configuration
        return call
    }

    /// What a call may ask for.
    static let operations: Set<String> = [
        "control.value", "control.perform", "control.options", "widget.timeline", "widget.snapshot", "widget.perform",
        "widget.options", "widget.recommendations", "widget.relevance",
    ]

    /// The longest deadline, by the contract.
    private static let maximumWithin: Int64 = 60_000
}

extension ProviderCall.Purpose {
    /// What the `op` and the members of a frame ask for; nil where that is no call, or a member is missing.
    init?(_ frame: RawObject) {
        switch frame["op"]?.string {
        case "control.value": self = .control(.value)
        case "control.perform": self = .control(.perform(value: frame["value"]?.bool))
        case "control.options":
            guard let parameter = frame["parameter"]?.string, let query = OptionsQuery(frame) else { return nil }
            self = .control(.options(parameter: parameter, query))
        case "widget.timeline":
            guard let context = TimelineProviderContext(frame) else { return nil }
            self = .widget(.timeline(context))
        case "widget.snapshot":
            guard let context = TimelineProviderContext(frame) else { return nil }
            self = .widget(.snapshot(context))
        case "widget.perform":
            guard let action = frame["action"]?.string else { return nil }
            self = .widget(.perform(action: action, parameters: frame["parameters"]?.object ?? [:]))
        case "widget.options":
            guard let parameter = frame["parameter"]?.string, let query = OptionsQuery(frame) else { return nil }
            self = .widget(.options(parameter: parameter, query))
        case "widget.recommendations": self = .widget(.recommendations)
        case "widget.relevance": self = .widget(.relevance)
        default: return nil
        }
    }
}
