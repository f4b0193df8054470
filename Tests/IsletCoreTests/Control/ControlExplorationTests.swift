import IsletCore
import Testing

/// Every sequence of events up to a depth, from a control that was just placed: what must hold of each machine that can
/// be reached, whatever led to it.
@Suite("Controls: every machine that can be reached")
struct ControlExplorationTests {
    private enum Call: String { case value, action }

    /// A machine, and what an observer of its steps knows.
    private struct Place {
        var machine: ControlMachine
        var call: Call?
        /// What a toggle shows when no action runs, and who said so.
        var restingIsOn: Bool
        var restingSource: ControlValueSource
        var wished: Bool?
        var depth = 0
        var path: [String] = []
    }

    private struct Event: CustomStringConvertible {
        var description: String
        /// nil: it cannot happen there.
        var apply: (inout ControlMachine) -> ControlMachine.Steps?
    }

    private static let depth = 7

    private func events(_ sample: ControlSample) -> [Event] {
        var events: [Event] = [
            Event(description: "reload") { $0.reload(.request) },
            Event(description: "registration") { $0.reload(.registration) },
            Event(description: "value fails") { machine in
                guard machine.state == .loading || machine.state == .reloading else { return nil }
                return machine.valueFailed(.timedOut, retryAt: ControlSample.retry)
            },
            Event(description: "no provider") { machine in
                guard machine.state == .loading || machine.state == .reloading else { return nil }
                return machine.valueFailed(.noProvider, retryAt: .never)
            },
            Event(description: "tap") { machine in
                let wish = machine.tapWish
                return machine.state == .removed || machine.ignores(wish) != nil ? nil : machine.act(wish, .person)
            },
            Event(description: "tap while locked") { machine in
                let wish = machine.tapWish
                guard machine.ignores(wish) == nil, machine.state != .removed, machine.state != .acting else {
                    return nil
                }
                return machine.awaitAuthentication(wish, until: ControlSample.limit, .person)
            },
            Event(description: "unlocked") { $0.authenticated() },
            Event(description: "performed") { $0.state == .acting ? $0.performed() : nil },
            Event(description: "perform fails") { $0.state == .acting ? $0.performFailed(.threw) : nil },
            Event(description: "deadline") { $0.deadlineReached() },
            Event(description: "lock") { $0.state == .removed ? nil : $0.redact(true) },
            Event(description: "unlock") { $0.state == .removed ? nil : $0.redact(false) },
            Event(description: "configured") { machine in
                machine.state == .removed ? nil : machine.configured(hasValue: sample.hasValue, previewIsOn: false)
            },
            Event(description: "removed") { $0.state == .removed ? nil : $0.removed(.command) },
            Event(description: "restarted") { $0.restarted() },
        ]
        for (isOn, isDisabled) in [(true, false), (false, false), (false, true)] {
            events.append(
                Event(description: "value \(isOn)\(isDisabled ? " disabled" : "")") { machine in
                    guard machine.state == .loading || machine.state == .reloading else { return nil }
                    return machine.valueArrived(isOn: isOn, isDisabled: isDisabled, at: ControlSample.start)
                })
        }
        guard sample == .toggle else { return events }
        for wish in [ControlMachine.Wish.on, .off] {
            events.append(
                Event(description: "set \(wish)") { machine in
                    machine.state == .removed || machine.ignores(wish) != nil ? nil : machine.act(wish, .person)
                })
        }
        return events
    }

    /// The states that may follow a state, as the machine's documentation has them.
    private func legal(_ state: ControlState, _ sample: ControlSample) -> Set<ControlState> {
        // Without a value there is nothing to load, to reload or to preview.
        guard sample != .bareButton else {
            switch state {
            case .shown: return [.acting, .authenticating, .shown]
            case .acting: return [.shown]
            case .authenticating: return [.authenticating, .acting, .shown]
            case .loading, .preview, .reloading, .disabled, .removed: return []
            }
        }
        switch state {
        case .loading: return [.shown, .disabled, .preview, .acting, .authenticating, .loading]
        case .preview: return [.loading, .acting, .authenticating]
        case .shown: return [.reloading, .acting, .authenticating, .loading]
        case .disabled: return [.reloading, .loading]
        case .reloading: return [.shown, .disabled, .acting, .authenticating, .loading]
        // A button's press while it acts does nothing.
        case .acting where sample == .button: return [.reloading, .shown, .preview, .loading]
        case .acting: return [.acting, .reloading, .shown, .preview, .loading]
        case .authenticating: return [.authenticating, .acting, .shown, .preview, .loading]
        case .removed: return []
        }
    }

    @Test("all invariants hold, and every state and every documented edge is met", arguments: ControlSample.allCases)
    func explore(sample: ControlSample) {
        let (machine, steps) = sample.added()
        var first = Place(
            machine: machine, restingIsOn: false, restingSource: sample.hasValue ? .preview : .provider)
        first.call = steps.all[0].call == .askValue ? .value : nil
        var queue = [first]
        var seen: Set<String> = ["\(machine)"]
        var met: Set<ControlState> = []
        var edges: [ControlState: Set<ControlState>] = [:]
        var next = 0
        while next < queue.count {
            let place = queue[next]
            next += 1
            met.insert(place.machine.state)
            guard place.depth < Self.depth else { continue }
            for event in events(sample) {
                var reached = place
                guard let steps = event.apply(&reached.machine) else { continue }
                reached.path.append("\(event)")
                reached.depth += 1
                follow(steps, from: place.machine, to: &reached, sample, &edges)
                check(reached, sample)
                if seen.insert("\(reached.machine)").inserted { queue.append(reached) }
            }
        }
        #expect(met == Set(sample.states))
        for state in sample.states {
            var allowed = legal(state, sample)
            if state != .removed { allowed.insert(.removed) }
            #expect(edges[state] ?? [] == allowed, "from \(state)")
        }
        #expect(queue.count > (sample == .bareButton ? 10 : 300), "\(queue.count) machines")
    }

    /// Looks at each step as an observer of the stream and of the calls does.
    private func follow(
        _ steps: ControlMachine.Steps, from before: ControlMachine, to place: inout Place, _ sample: ControlSample,
        _ edges: inout [ControlState: Set<ControlState>]
    ) {
        let path = place.path
        if steps.isEmpty {
            #expect(place.machine.state == before.state && place.machine.isOn == before.isOn, "\(path)")
            return
        }
        var state = before.state
        for step in steps.all {
            #expect(step.from == state, "\(path)")
            #expect(!step.cancels || place.call != nil, "\(path) gives up what is not out")
            if step.cancels { place.call = nil }
            // An action or a value came to its end, one way or the other.
            switch step.name {
            case .shown, .performed, .failed: place.call = nil
            case .acting where step.rule == .nextWish: place.call = nil
            case .added, .configured, .reloading, .acting, .authenticating, .cancelled, .redacted, .revealed, .removed:
                break
            }
            learn(step, &place)
            if let call = step.call {
                #expect(place.call == nil, "\(path) makes two calls at once")
                place.call = call == .askValue ? .value : .action
            }
            if step.name != .redacted, step.name != .revealed {
                edges[state, default: []].insert(step.machine.state)
            } else {
                #expect(step.machine.state == state, "\(path)")
            }
            state = step.machine.state
            #expect((step.machine.nextWish == nil) || state == .acting, "\(path): a wish waits for nothing")
            #expect((step.machine.wish != nil) == (state == .acting || state == .authenticating), "\(path)")
        }
        #expect(steps.all.last?.machine == place.machine, "\(path): the last step is the machine")
    }

    /// What the steps say of the truth.
    private func learn(_ step: ControlMachine.Step, _ place: inout Place) {
        switch step.name {
        case .shown: (place.restingIsOn, place.restingSource) = (step.machine.isOn, .provider)
        case .configured:
            (place.restingIsOn, place.restingSource) = (false, step.machine.hasValue ? .preview : .provider)
        case .performed:
            if let wished = place.wished { (place.restingIsOn, place.restingSource) = (wished, .optimistic) }
        case .acting where step.rule == .nextWish && step.from == .acting:
            if let wished = place.wished { (place.restingIsOn, place.restingSource) = (wished, .optimistic) }
        case .added, .failed, .reloading, .acting, .authenticating, .cancelled, .redacted, .revealed, .removed: break
        }
        place.wished = step.machine.state == .acting ? step.machine.wish?.isOn : nil
    }

    private func check(_ place: Place, _ sample: ControlSample) {
        let machine = place.machine
        let path = place.path
        switch machine.state {
        case .loading, .reloading: #expect(place.call == .value, "\(path): nothing ends \(machine.state)")
        case .acting: #expect(place.call == .action, "\(path): nothing ends it")
        case .preview, .shown, .authenticating, .disabled, .removed:
            #expect(place.call == nil, "\(path): nobody waits for the call")
        }
        #expect(machine.hasCall == (place.call != nil), "\(path)")
        switch machine.state {
        case .authenticating: #expect(machine.next.at == ControlSample.limit && machine.next.cause == .authentication)
        case .preview, .shown, .disabled:
            let isRetry = machine.next.at == ControlSample.retry && machine.failure != .none
            #expect(!machine.next.at.isSet || isRetry, "\(path)")
        case .loading, .reloading, .acting, .removed: #expect(!machine.next.at.isSet, "\(path)")
        }
        if machine.state == .preview { #expect(machine.source == .preview && machine.failure != .none, "\(path)") }
        if machine.state == .loading { #expect(machine.source == .preview && !machine.isValueKnown, "\(path)") }
        if machine.state == .shown || machine.state == .reloading { #expect(machine.source != .preview, "\(path)") }
        if machine.state == .disabled { #expect(machine.isDisabled && machine.source == .provider, "\(path)") }
        if machine.isDisabled, machine.state != .removed {
            #expect(machine.state == .disabled || machine.state == .reloading, "\(path)")
        }
        guard sample == .toggle, machine.state != .removed else {
            #expect(machine.source != .optimistic || machine.state == .removed, "\(path): nothing can be wished for")
            return
        }
        if machine.state == .acting {
            let newest = machine.nextWish ?? machine.wish
            #expect(machine.isOn == newest?.isOn && machine.source == .optimistic, "\(path)")
            #expect(machine.nextWish != machine.wish, "\(path): what runs is not run again")
        } else {
            #expect(machine.isOn == place.restingIsOn && machine.source == place.restingSource, "\(path)")
        }
        #expect(machine.isValueKnown == (place.restingSource == .provider), "\(path)")
    }
}
