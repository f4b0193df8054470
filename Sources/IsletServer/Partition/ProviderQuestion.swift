import IsletCore

/// What a provider is asked that no placed control or widget waits for.
final class ProviderQuestion {
    enum Sort {
        /// The options of a control kind's parameter, beside what is configured so far.
        case controlOptions(parameter: [UInt8], configuration: [UInt8]?)
        /// The same of a widget kind, by what is asked of its entity query; `identifiers` is a JSON array.
        case widgetOptions(
            parameter: [UInt8], configuration: [UInt8]?, query: StaticString, identifiers: [UInt8]?)
        case snapshot(WidgetFamily, configuration: [UInt8]?, isPreview: Bool)
        case recommendations
        /// Nobody's command waits for it.
        case relevance
    }

    /// Whether somebody's command waits for it.
    var isAwaited: Bool {
        switch sort {
        case .controlOptions, .widgetOptions, .snapshot, .recommendations: true
        case .relevance: false
        }
    }

    let number: UInt64
    let kind: ServedKind
    let sort: Sort
    /// The JSON that the provider gave, or why there is none.
    var answer: Result<[UInt8], Refusal.Unavailable>?
    /// Whether its answer is older than what is known by now: it is given to whoever asked, and not kept.
    var isOutdated = false
    /// Whether its kind was declared otherwise since it was asked, so that its answer may fit what holds no more.
    var isOfOlderDeclaration = false

    init(number: UInt64, kind: ServedKind, _ sort: Sort) {
        self.number = number
        self.kind = kind
        self.sort = sort
    }
}

/// The question for the relevance of a kind that is out.
struct RelevanceQuestion {
    let number: UInt64
    /// Whether it is to be asked again, as its answer may be older than the newest reason to ask.
    var isDirty = false
}

extension ProviderQuestion.Sort {
    /// What it keeps of its command.
    var bytes: Int {
        switch self {
        case .controlOptions(let parameter, let configuration): parameter.count + (configuration?.count ?? 0)
        case .widgetOptions(let parameter, let configuration, _, let identifiers):
            parameter.count + (configuration?.count ?? 0) + (identifiers?.count ?? 0)
        case .snapshot(_, let configuration, _): configuration?.count ?? 0
        case .recommendations, .relevance: 0
        }
    }
}

extension Refusal.Unavailable: Error {}
