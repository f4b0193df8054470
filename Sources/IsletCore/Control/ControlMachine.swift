/// The life of one placed control (apple-semantics 4.2): what it shows, and what its provider is asked for.
///
///              add                 value                 reload, retry, registration
///   (nothing) ─────▶ loading ──────────────▶ shown ────────────────────────────▶ reloading
///                    │   ▲                   ▲  │ ◀──────────────────────────────  │  ▲
///             failed │   │ retry, reload     │  │          value, failed           │  │
///                    ▼   │                   │  │ tap                         tap  │  │ performed
///                   preview                  │  ▼                                  ▼  │
///                    │  tap                  └─ acting ◀────────────────────────────────
///                    └───────────────────────▶  ▲   failed: the value before is shown again
///                                               │ unlocked
///                                 tap on a ─▶ authenticating ─▶ as before, when the limit is reached
///                                 locked device
///
/// A value that says `disabled` leads to disabled wherever this shows shown; a tap there does nothing (C14). Configuring
/// leads from everywhere to loading (C15), removing from everywhere to removed (C16).
///
/// Legal next states: loading → shown, disabled, preview, acting, authenticating, loading; preview → loading, acting,
/// authenticating; shown → reloading, acting, authenticating, loading; disabled → reloading, loading; reloading → shown,
/// disabled, acting, authenticating, loading; acting → acting, reloading, shown, preview, loading; authenticating →
/// authenticating, acting, shown, preview, loading; all → removed; removed → none. A button without a value is shown
/// where another one loads, reloads or shows the preview. Beside these only a lock, and a kind
/// that becomes sensitive or is so no more, lead from a state to itself.
///
/// Loading and reloading mean that a value is asked for, acting that an action is, and no other state that anything is:
/// so a call that ends always finds the state that it was made in, and none hangs once its call has ended.
///
/// The machine is a value. It is told what happened and when, and answers with steps, each with the call that follows.
package struct ControlMachine: Equatable, Sendable, BitwiseCopyable {
    /// What a tap wants.
    package enum Wish: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        /// A button's one-shot.
        case press
        /// A toggle's absolute new value.
        case on
        case off
    }

    package let template: ControlTemplate
    /// Whether the kind has a value to ask for.
    package private(set) var hasValue: Bool
    package private(set) var state: ControlState
    package private(set) var cause: ControlCause
    package private(set) var source = ControlValueSource.preview
    package private(set) var failure = CallFailure.none
    /// What a toggle shows.
    package private(set) var isOn: Bool
    /// What a toggle shows without its action: the provider's last value, or the one that an action set since.
    private var restingIsOn: Bool
    /// Where that came from.
    private var restingSource = ControlValueSource.preview
    /// Whether the provider's last value allows no interaction.
    package private(set) var isDisabled = false
    /// Whether its content is hidden, as its device is locked.
    package private(set) var isRedacted: Bool
    /// The action that runs or waits for authentication.
    package private(set) var wish: Wish?
    /// The newest wish of a person who tapped while an action ran.
    package private(set) var nextWish: Wish?
    /// A reload was asked for while the value that is on its way may be older than the reason.
    private var isDirty = false
    /// The failures in a row of asking for its value.
    package private(set) var failures: UInt16 = 0
    /// When the value is from.
    package private(set) var valueAt: Instant = .never
    /// When its value is asked for again, or the wait for authentication ends.
    private var deadline: Instant = .never

    private init(template: ControlTemplate, hasValue: Bool, previewIsOn: Bool, isRedacted: Bool, cause: ControlCause) {
        self.template = template
        self.hasValue = hasValue
        self.isRedacted = isRedacted
        self.cause = cause
        state = hasValue ? .loading : .shown
        isOn = previewIsOn
        restingIsOn = previewIsOn
        if !hasValue { (source, restingSource) = (.provider, .provider) }
    }

    /// Where it rests when nothing is on its way.
    private var resting: ControlState {
        guard hasValue else { return .shown }
        if restingSource == .preview { return .preview }
        return isDisabled ? .disabled : .shown
    }

    /// Where it stands while its value is asked for.
    private var asking: ControlState { restingSource == .preview ? .loading : .reloading }

    /// Whether its value is known from the provider.
    package var isValueKnown: Bool { restingSource == .provider }

    // MARK: Placing

    /// A person placed it (C2). A button without a value is shown at once.
    package static func added(
        _ template: ControlTemplate, hasValue: Bool, previewIsOn: Bool, isRedacted: Bool
    ) -> (machine: ControlMachine, steps: Steps) {
        let machine = ControlMachine(
            template: template, hasValue: hasValue, previewIsOn: previewIsOn, isRedacted: isRedacted, cause: .command)
        return (machine, Steps(Step(nil, .added, machine, .added, call: hasValue ? .askValue : nil)))
    }

    /// A person configured it: what it showed belongs to another configuration (C15).
    package mutating func configured(hasValue: Bool, previewIsOn: Bool) -> Steps {
        let from = state
        let hadCall = hasCall
        self.hasValue = hasValue
        (isOn, restingIsOn) = (previewIsOn, previewIsOn)
        let newSource: ControlValueSource = hasValue ? .preview : .provider
        (source, restingSource) = (newSource, newSource)
        (failure, failures, isDirty, isDisabled) = (.none, 0, false, false)
        (wish, nextWish, deadline, valueAt) = (nil, nil, .never, .never)
        state = hasValue ? .loading : .shown
        cause = .configuration
        return Steps(
            Step(from, .configured, self, .configured, cancels: hadCall, call: hasValue ? .askValue : nil))
    }

    /// It was removed (C16).
    package mutating func removed(_ why: ControlCause) -> Steps {
        let from = state
        let hadCall = hasCall
        state = .removed
        cause = why
        (wish, nextWish, deadline) = (nil, nil, .never)
        return Steps(Step(from, .removed, self, .removed, cancels: hadCall))
    }

    /// Whether a call to a provider is out or waits for one.
    package var hasCall: Bool {
        switch state {
        case .loading, .reloading, .acting: true
        case .preview, .shown, .authenticating, .disabled, .removed: false
        }
    }

    // MARK: Values

    /// Its value is to be asked for again (C5). Nothing happens to one whose value or action is on its way, but that a
    /// value that may be too old is asked for once more.
    package mutating func reload(_ why: ControlCause) -> Steps {
        guard hasValue else { return Steps() }
        switch state {
        case .loading, .reloading:
            // A retry, and a provider that came or went, are no newer reason than the call that is on its way.
            if why != .retry, why != .registration, why != .providerLost { isDirty = true }
            return Steps()
        case .acting, .authenticating, .removed: return Steps()
        case .preview, .shown, .disabled: return Steps(ask(why))
        }
    }

    private mutating func ask(_ why: ControlCause) -> Step {
        let from = state
        state = asking
        cause = why
        deadline = .never
        isDirty = false
        return Step(from, .reloading, self, why == .retry ? .retried : .reloaded, call: .askValue)
    }

    /// The provider's value came (C3, C6, C11).
    ///
    /// - Parameters:
    ///   - isOn: a toggle's; anything for a button.
    ///   - isDisabled: whether it allows no interaction.
    package mutating func valueArrived(isOn newIsOn: Bool, isDisabled newIsDisabled: Bool, at now: Instant) -> Steps {
        precondition(state == .loading || state == .reloading, "a value that was not asked for")
        let from = state
        (isOn, restingIsOn) = (newIsOn, newIsOn)
        (source, restingSource) = (.provider, .provider)
        isDisabled = newIsDisabled
        (failure, failures, deadline) = (.none, 0, .never)
        valueAt = now
        state = resting
        cause = .provider
        let wasDirty = isDirty
        var steps = Steps(Step(from, .shown, self, from == .loading ? .firstValue : .newValue))
        if wasDirty { steps.append(ask(.request)) }
        return steps
    }

    /// Its value could not be had: the last one is kept, or the preview, and it is asked for later (C4, C7).
    ///
    /// - Parameter retryAt: `never` where only another provider can help.
    package mutating func valueFailed(_ why: CallFailure, retryAt: Instant) -> Steps {
        precondition(state == .loading || state == .reloading, "a value that was not asked for")
        let from = state
        failure = why
        if failures < .max { failures += 1 }
        isDirty = false
        deadline = retryAt
        state = resting
        cause = why.cause
        return Steps(Step(from, .failed, self, from == .loading ? .firstValueFailed : .valueFailed))
    }

    // MARK: Actions

    /// Why a tap does nothing; nil where it does something (C14).
    package func ignores(_ wish: Wish) -> (reason: IgnoreReason, rule: ControlRule)? {
        if isDisabled { return (.disabled, .disabledTap) }
        if state == .acting, wish == .press { return (.acting, .pressedTwice) }
        return nil
    }

    /// The wish of a tap: a toggle's opposite of what it shows, as an absolute value (C8), or a press (C12).
    package var tapWish: Wish {
        switch template {
        case .toggle: isOn ? .off : .on
        case .button: .press
        }
    }

    /// A person wants something, on a device that allows it now (C8, C12). One that ``ignores(_:)`` it is not asked.
    package mutating func act(_ wanted: Wish, _ why: ControlCause) -> Steps {
        switch state {
        case .acting:
            // The action that runs is not run again; the newest wish comes next.
            let from = state
            nextWish = wanted == wish ? nil : wanted
            isOn = wanted.isOn ?? isOn
            cause = why
            return Steps(Step(from, .acting, self, .tappedWhileActing))
        case .loading, .preview, .shown, .reloading, .authenticating, .disabled, .removed:
            return Steps(begin(wanted, why, .tapped))
        }
    }

    private mutating func begin(_ wanted: Wish, _ why: ControlCause, _ rule: ControlRule) -> Step {
        let from = state
        let hadValueCall = state == .loading || state == .reloading
        wish = wanted
        nextWish = nil
        if let on = wanted.isOn { (isOn, source) = (on, .optimistic) }
        state = .acting
        cause = why
        (failure, deadline, isDirty) = (.none, .never, false)
        return Step(from, .acting, self, rule, cancels: hadValueCall, call: .perform(wanted))
    }

    /// A person wants something that the locked device does not allow yet (C13). Nothing flips.
    package mutating func awaitAuthentication(_ wanted: Wish, until limit: Instant, _ why: ControlCause) -> Steps {
        let from = state
        let hadValueCall = state == .loading || state == .reloading
        wish = wanted
        state = .authenticating
        cause = why
        (deadline, isDirty) = (limit, false)
        return Steps(Step(from, .authenticating, self, .authenticationRequired, cancels: hadValueCall))
    }

    /// The device was unlocked.
    package mutating func authenticated() -> Steps {
        guard state == .authenticating, let wish else { return Steps() }
        return Steps(begin(wish, .authentication, .authenticated))
    }

    /// `perform()` returned: the value is asked for (C9, C12), or the newest wish is performed.
    package mutating func performed() -> Steps {
        precondition(state == .acting, "an action that did not run")
        // From now on the truth is not what it was before: nothing that fails later leads back behind this action.
        if let on = wish?.isOn { (restingIsOn, restingSource) = (on, .optimistic) }
        if let nextWish { return Steps(begin(nextWish, .action, .nextWish)) }
        let from = state
        wish = nil
        cause = .action
        failure = .none
        state = hasValue ? asking : .shown
        return Steps(Step(from, .performed, self, .performed, call: hasValue ? .askValue : nil))
    }

    /// `perform()` threw, or nobody knows what became of it: the value before is shown again (C10), and what the provider
    /// holds now is asked for.
    package mutating func performFailed(_ why: CallFailure) -> Steps {
        precondition(state == .acting, "an action that did not run")
        let from = state
        let next = nextWish
        failure = why
        cause = why.cause
        (isOn, source, wish, nextWish) = (restingIsOn, restingSource, nil, nil)
        state = resting
        var steps = Steps(Step(from, .failed, self, .performFailed))
        if let next {
            steps.append(begin(next, .action, .nextWish))
        } else if hasValue {
            steps.append(ask(.action))
        }
        return steps
    }

    // MARK: Dates, the device, restarts

    /// The earliest date at which something happens by itself, and what.
    package var next: (at: Instant, cause: ControlCause) {
        (deadline, state == .authenticating ? .authentication : .retry)
    }

    /// Its deadline is there.
    package mutating func deadlineReached() -> Steps {
        let due = deadline
        guard due.isSet else { return Steps() }
        deadline = .never
        guard state == .authenticating else {
            guard hasValue else { return Steps() }
            var step = ask(.retry)
            step.due = due
            return Steps(step)
        }
        let from = state
        wish = nil
        state = resting
        cause = .authentication
        var steps = Steps(Step(from, .cancelled, self, .authenticationLimit, due: due))
        // A value may have been on its way when the tap came, and its call was given up.
        if hasValue {
            var step = ask(.action)
            step.due = due
            steps.append(step)
        }
        return steps
    }

    /// Hides or shows what the kind calls sensitive.
    ///
    /// - Parameter why: nil where its device was locked or unlocked.
    package mutating func redact(_ isHidden: Bool, _ why: ControlCause? = nil) -> Steps {
        guard isRedacted != isHidden else { return Steps() }
        isRedacted = isHidden
        cause = why ?? (isHidden ? .lock : .unlock)
        return Steps(Step(state, isHidden ? .redacted : .revealed, self, isHidden ? .redacted : .revealed))
    }

    /// The service was restarted. A value that was on its way is asked for again; an action that ran may have been
    /// performed or not, and is never performed again: what the provider holds is asked for.
    package mutating func restarted() -> Steps {
        switch state {
        case .loading, .reloading:
            isDirty = false
            return Steps()
        case .acting:
            let from = state
            (isOn, source, wish, nextWish) = (restingIsOn, restingSource, nil, nil)
            failure = .unknownOutcome
            cause = .recovery
            state = resting
            var steps = Steps(Step(from, .failed, self, .restartedWhileActing))
            if hasValue { steps.append(ask(.recovery)) }
            return steps
        case .preview, .shown, .authenticating, .disabled, .removed: return Steps()
        }
    }
}

extension ControlMachine.Wish {
    /// The value that a toggle is set to; nil for a press.
    package var isOn: Bool? {
        switch self {
        case .press: nil
        case .on: true
        case .off: false
        }
    }

    /// The wish for a toggle's value.
    package init(isOn: Bool) {
        self = isOn ? .on : .off
    }
}

extension CallFailure {
    /// Why a control changed, where this made it change.
    var cause: ControlCause {
        switch self {
        case .none, .noProvider, .threw, .badAnswer, .busy: .provider
        case .providerLost: .providerLost
        case .timedOut: .timeout
        case .unknownOutcome: .recovery
        }
    }
}

/// What recovery needs of it.
extension ControlMachine {
    func write(to writer: inout ImageWriter) {
        writer.write(byte: template.rawValue)
        writer.write(hasValue)
        writer.write(byte: state.rawValue)
        writer.write(byte: cause.rawValue)
        writer.write(byte: source.rawValue)
        writer.write(byte: failure.rawValue)
        writer.write(isOn)
        writer.write(restingIsOn)
        writer.write(byte: restingSource.rawValue)
        writer.write(isDisabled)
        writer.write(isRedacted)
        writer.write(byte: wish?.rawValue ?? Self.noWish)
        writer.write(byte: nextWish?.rawValue ?? Self.noWish)
        writer.write(isDirty)
        writer.write(failures)
        writer.write(valueAt)
        writer.write(deadline)
    }

    /// Reads what ``write(to:)`` wrote.
    init(_ reader: inout ImageReader) throws(ImageError) {
        template = try reader.value()
        hasValue = try reader.flag()
        state = try reader.value()
        cause = try reader.value()
        source = try reader.value()
        failure = try reader.value()
        isOn = try reader.flag()
        restingIsOn = try reader.flag()
        restingSource = try reader.value()
        isDisabled = try reader.flag()
        isRedacted = try reader.flag()
        wish = try Self.readWish(&reader)
        nextWish = try Self.readWish(&reader)
        isDirty = try reader.flag()
        failures = try reader.integer()
        valueAt = try reader.instant()
        deadline = try reader.instant()
        try checkParts()
    }

    /// What no machine can be, however it was reached, was not written by one.
    private func checkParts() throws(ImageError) {
        // What acts has a wish, and nobody else waits to.
        guard (wish != nil) == (state == .acting || state == .authenticating), nextWish == nil || state == .acting else {
            throw .contradiction("a wish that nobody waits for")
        }
        switch state {
        case .loading, .preview, .reloading, .disabled:
            guard hasValue else { throw .contradiction("a value of a control without one") }
        case .shown, .acting, .authenticating, .removed: break
        }
        guard !hasCall || !deadline.isSet, state != .authenticating || deadline.isSet else {
            throw .contradiction("a date that nothing waits for")
        }
        for date in [valueAt, deadline] where !date.isPlausible { throw .contradiction("a date in no century") }
    }

    private static let noWish = UInt8.max

    private static func readWish(_ reader: inout ImageReader) throws(ImageError) -> Wish? {
        let byte = try reader.byte()
        if byte == noWish { return nil }
        guard let wish = Wish(rawValue: byte) else { throw .unknownValue }
        return wish
    }
}
