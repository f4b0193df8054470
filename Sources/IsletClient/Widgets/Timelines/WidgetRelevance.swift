public import FoundationEssentials

/// A configuration that is worth offering.
public struct AppIntentRecommendation<Intent: WidgetConfigurationIntent>: Sendable {
    /// What is configured.
    public var intent: Intent
    /// What a person reads.
    public var description: String

    /// A recommendation of these.
    public init(intent: Intent, description: String) {
        self.intent = intent
        self.description = description
    }

    func json() throws(IsletError) -> RawJSON {
        let members: RawObject = [
            "configuration": try intent.json(),
            "description": .text(description, atMost: ProviderLimits.text),
        ]
        return members.json
    }
}

/// When the widgets of a kind matter: the most important first, for a Smart Stack to choose by.
public struct WidgetRelevance<Configuration: Sendable>: Sendable {
    /// The most important first.
    public var attributes: [WidgetRelevanceAttribute<Configuration>]

    /// A relevance of these.
    public init(_ attributes: [WidgetRelevanceAttribute<Configuration>]) {
        self.attributes = attributes
    }
}

/// When the widgets of one configuration matter.
public struct WidgetRelevanceAttribute<Configuration: Sendable>: Sendable {
    /// Of which widgets; `Void`: of all.
    public var configuration: Configuration
    /// When.
    public var context: RelevantContext

    /// The widgets that are configured so, then: also those whose configurations leave out what `init()` has.
    public init(configuration: Configuration, context: RelevantContext) {
        self.configuration = configuration
        self.context = context
    }
}

extension WidgetRelevanceAttribute where Configuration == Void {
    /// All widgets of the kind, then.
    public init(context: RelevantContext) {
        self.init(configuration: (), context: context)
    }
}

/// When something matters.
public struct RelevantContext: Sendable, Hashable {
    /// From when; nil: already.
    public var from: Date?
    /// Until when; nil: for good.
    public var to: Date?

    /// Between two dates; either may be left out.
    public static func date(from: Date? = nil, to: Date? = nil) -> RelevantContext {
        RelevantContext(from: from, to: to)
    }

    /// At all times.
    public static let always = RelevantContext()

    /// As the answer to `widget.relevance` has it, with what is configured.
    func json(_ configuration: RawJSON?) -> RawJSON {
        var members = RawObject()
        members["configuration"] = configuration
        members["from"] = from?.json
        members["to"] = to?.json
        return members.json
    }
}
