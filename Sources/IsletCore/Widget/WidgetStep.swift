extension WidgetMachine {
    /// Whether a reload may be asked for now.
    package enum Admission: Equatable, Sendable, BitwiseCopyable {
        /// It is not charged, and nothing holds it.
        case exempt(ReloadExemption)
        /// It is charged to the budget.
        case charged
        /// Not before a date, by a rule of the reason.
        case held(until: Instant, ReloadHold, by: WidgetRule)
    }

    /// How a timeline that was asked for was paid.
    package enum Charge: Equatable, Sendable, BitwiseCopyable {
        case none
        case charged
        case exempt(ReloadExemption)
    }

    /// What of a timeline is shown from a date on.
    package struct Showing: Equatable, Sendable, BitwiseCopyable {
        /// nil: none of its entries yet.
        package var index: UInt16?
        package var shownAt = Instant.never
        /// When the next entry is shown; `never`: there is none.
        package var nextAt = Instant.never
        package var score: Float = 0
        package var relevanceEndsAt = Instant.never

        package init() {}
    }

    /// A timeline as the machine sees it.
    package struct Arrival: Equatable, Sendable, BitwiseCopyable {
        package var count: UInt16
        package var policy: TimelineReloadPolicy
        package var needsLogin: Bool
        package var showing: Showing

        package init(count: UInt16, policy: TimelineReloadPolicy, needsLogin: Bool, showing: Showing) {
            self.count = count
            self.policy = policy
            self.needsLogin = needsLogin
            self.showing = showing
        }
    }

    /// What a provider is asked for.
    package enum Call: Equatable, Sendable, BitwiseCopyable {
        case askTimeline
        case perform
    }

    /// One edge that the machine took: one event and one revision.
    package struct Step: Equatable, Sendable, BitwiseCopyable {
        /// The state before; nil when it is added.
        package var from: WidgetState?
        package var name: WidgetEventName
        /// The machine as this step left it.
        package var machine: WidgetMachine
        package var rule: WidgetRule
        /// The deadline that made it; `never` where none did.
        package var due: Instant
        /// Whether the call that was out is given up.
        package var cancels: Bool
        /// The call that follows, once the event is committed.
        package var call: Call?
        /// How that is paid.
        package var charge: Charge
        /// What is given back, since nobody was asked.
        package var refund = Charge.none

        package init(
            _ from: WidgetState?, _ name: WidgetEventName, _ machine: WidgetMachine, _ rule: WidgetRule,
            due: Instant = .never, cancels: Bool = false, call: Call? = nil, charge: Charge = .none
        ) {
            self.from = from
            self.name = name
            self.machine = machine
            self.rule = rule
            self.due = due
            self.cancels = cancels
            self.call = call
            self.charge = charge
        }

        /// Why the reload that it asks for is not charged.
        package var exemption: ReloadExemption? { charge.exemption }

        /// Whether an action is given up with it of which nobody said that it is over.
        var givesUpAction: Bool {
            from == .acting && (cancels || name == .failed && machine.failure.leavesActionOpen)
        }
    }

    package typealias Steps = StepPair<Step>
}

extension WidgetCause {
    /// The exemption that the reason itself is, wherever the app and the device stand (apple-semantics 5, exempt).
    package var exemption: ReloadExemption? {
        switch self {
        case .action, .recovery: .intent
        case .locale: .locale
        case .appearance: .appearance
        case .command, .request, .push, .entry, .atEnd, .after, .retry, .held, .visible, .location, .foreground,
            .session, .standBy, .developerMode, .configuration, .registration, .provider, .timeout, .providerLost,
            .person, .stack, .uninstall:
            nil
        }
    }

    /// The rule by which a reload for this reason is asked for.
    var rule: WidgetRule {
        switch self {
        case .request: .appReload
        case .push: .pushReload
        case .visible, .location: .systemReload
        case .locale, .appearance, .foreground, .session, .standBy, .action, .recovery: .reloadExempt
        case .developerMode: .developerMode
        case .atEnd: .policyAtEnd
        case .after: .policyAfter
        case .retry: .retried
        case .held: .heldRun
        case .registration, .providerLost: .providerCame
        case .command, .entry, .configuration, .provider, .timeout, .person, .stack, .uninstall: .timelineAsked
        }
    }
}

extension CallFailure {
    /// Whether nobody can have been asked, or whoever was is gone with all others: the reload is not charged.
    package var askedNobody: Bool {
        switch self {
        case .noProvider, .busy: true
        case .none, .providerLost, .timedOut, .threw, .badAnswer, .unknownOutcome: false
        }
    }

    /// Why a widget changed, where this made it change.
    var widgetCause: WidgetCause {
        switch self {
        case .none, .noProvider, .threw, .badAnswer, .busy: .provider
        case .providerLost: .providerLost
        case .timedOut: .timeout
        case .unknownOutcome: .recovery
        }
    }
}

extension WidgetMachine.Charge {
    /// Why it cost nothing.
    var exemption: ReloadExemption? {
        switch self {
        case .exempt(let exemption): exemption
        case .none, .charged: nil
        }
    }
}

extension ReloadExemption {
    /// Whether it is for something that happened, and not for how things stand at the moment.
    var outlastsFailure: Bool {
        switch self {
        case .intent, .locale, .appearance: true
        case .foreground, .session, .standBy, .developerMode, .placement: false
        }
    }
}
