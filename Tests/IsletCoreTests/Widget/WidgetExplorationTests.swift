import IsletCore
import Testing

/// Every sequence of events up to a depth, from a widget that was just placed: what must hold of each machine that can
/// be reached, whatever led to it.
@Suite("Widgets: every machine that can be reached")
struct WidgetExplorationTests {
    private typealias Machine = WidgetMachine
    private static let start = EngineRig.start
    private static let depth = 5

    private enum Call: String { case timeline, action }

    private struct Place {
        var machine: Machine
        var call: Call?
        var depth = 0
        var path: [String] = []
    }

    private struct Event {
        var name: String
        /// nil: it cannot happen there.
        var apply: (inout Machine) -> Machine.Steps?
    }

    /// Whatever the time, it is later than all before: the dates of holds and retries are far ahead.
    private static let later = start + hour
    private static let far = start + 100 * hour

    private func showing(_ index: UInt16?, next: Instant) -> Machine.Showing {
        var showing = Machine.Showing()
        showing.index = index
        showing.nextAt = next
        if index != nil { showing.shownAt = Self.start }
        return showing
    }

    private func arrival(_ index: UInt16?, next: Instant, _ policy: TimelineReloadPolicy = .atEnd) -> Machine.Arrival {
        Machine.Arrival(count: 2, policy: policy, needsLogin: false, showing: showing(index, next: next))
    }

    private func events() -> [Event] {
        var events: [Event] = [
            Event(name: "configured") { $0.state == .removed ? nil : $0.configured(at: Self.later) },
            Event(name: "rendered") { $0.state == .removed ? nil : $0.rendered() },
            Event(name: "removed") { $0.state == .removed ? nil : $0.removed(.command) },
            Event(name: "tapped") { $0.state == .removed ? nil : $0.tapped() },
            Event(name: "acts") { machine in
                machine.hasEntry && machine.state != .acting && machine.state != .removed ? machine.act() : nil
            },
            Event(name: "performed") { $0.state == .acting ? $0.performed(at: Self.later) : nil },
            Event(name: "perform fails") { $0.state == .acting ? $0.performFailed(.threw, at: Self.later) : nil },
            Event(name: "rotated") { $0.state == .removed ? nil : $0.rotated(isOnTop: !$0.isOnTop) },
            Event(name: "restarted") { $0.restarted(at: Self.later) },
            Event(name: "entry") { machine in
                guard machine.nextEntryAt.isSet, machine.state != .removed else { return nil }
                return machine.entryReached(showing(1, next: .never), due: machine.nextEntryAt, coalesces: false)
            },
        ]
        for (name, admission) in [
            ("charged", Machine.Admission.charged), ("exempt", .exempt(.foreground)),
            ("held", .held(until: Self.far, .budget, by: .budgetSpent)),
        ] {
            events.append(Event(name: "reload \(name)") { $0.reload(.request, admission, at: Self.later) })
            events.append(
                Event(name: "due \(name)") { machine in
                    let next = machine.next
                    guard next.at.isSet, next.cause != .entry else { return nil }
                    return machine.reloadReached(admission, at: Self.later)
                })
        }
        events.append(Event(name: "locale") { $0.reload(.locale, .exempt(.locale), at: Self.later) })
        for (name, arrival) in [
            ("now", arrival(0, next: Self.far)), ("ahead", arrival(nil, next: Self.far)),
            ("last", arrival(1, next: .never, .never)),
        ] {
            events.append(
                Event(name: "timeline \(name)") { machine in
                    guard machine.isAsking else { return nil }
                    return machine.timelineArrived(
                        arrival, policyAt: arrival.policy == .never ? .never : Self.far, at: Self.later)
                })
        }
        for failure in [CallFailure.threw, .noProvider] {
            events.append(
                Event(name: "\(failure)") { machine in
                    guard machine.isAsking else { return nil }
                    return machine.timelineFailed(
                        failure, askedNobody: failure.askedNobody, retryAt: failure == .noProvider ? .never : Self.far, spacing: 0, at: Self.later)
                })
        }
        return events
    }

    /// The states that may follow a state, as the machine's documentation has them; removed besides.
    private func legal(_ state: WidgetState) -> Set<WidgetState> {
        switch state {
        case .loading: [.shown, .placeholder, .reloading, .loading]
        case .placeholder: [.loading, .shown, .placeholder]
        case .shown: [.reloading, .acting, .shown, .loading]
        case .reloading: [.shown, .reloading, .acting, .loading]
        case .acting: [.reloading, .shown, .acting, .loading]
        case .removed: []
        }
    }

    @Test("all invariants hold, and every state and every documented edge is met")
    func explore() {
        let (machine, steps) = Machine.added(at: Self.start, isOnTop: false)
        var first = Place(machine: machine)
        first.call = steps.first?.call == .askTimeline ? .timeline : nil
        var queue = [first]
        var seen: Set<String> = [machine.settled]
        var met: Set<WidgetState> = []
        var edges: [WidgetState: Set<WidgetState>] = [:]
        var next = 0
        let events = events()
        while next < queue.count {
            let place = queue[next]
            next += 1
            met.insert(place.machine.state)
            guard place.depth < Self.depth else { continue }
            for event in events {
                var reached = place
                guard let steps = event.apply(&reached.machine) else { continue }
                reached.path.append(event.name)
                reached.depth += 1
                follow(steps, from: place.machine, to: &reached, &edges)
                check(reached)
                let isNew = seen.insert("\(reached.machine.settled) \(reached.machine.isDirty)").inserted
                if isNew { queue.append(reached) }
            }
        }
        #expect(met == Set(WidgetState.allCases))
        for state in WidgetState.allCases {
            var allowed = legal(state)
            if state != .removed { allowed.insert(.removed) }
            #expect(edges[state] ?? [] == allowed, "from \(state)")
        }
        #expect(queue.count > 500, "\(queue.count) machines")
    }

    /// Looks at each step as an observer of the stream and of the calls does.
    private func follow(
        _ steps: Machine.Steps, from before: Machine, to place: inout Place,
        _ edges: inout [WidgetState: Set<WidgetState>]
    ) {
        let path = place.path
        guard !steps.isEmpty else {
            #expect(place.machine.settled == before.settled, "\(path): it changed without a word")
            return
        }
        var state = before.state
        let all = [steps.first, steps.second].compactMap { $0 }
        for step in all {
            #expect(step.from == state, "\(path)")
            #expect(!step.cancels || place.call != nil, "\(path) gives up what is not out")
            if step.cancels { place.call = nil }
            switch step.name {
            case .timeline, .failed, .performed: place.call = nil
            case .added, .configured, .reloading, .entry, .held, .acting, .tapped, .rotated, .removed: break
            }
            if let call = step.call {
                #expect(place.call == nil, "\(path) makes two calls at once")
                place.call = call == .askTimeline ? .timeline : .action
            }
            let isPaid = step.charge != .none
            #expect(isPaid == (step.call == .askTimeline), "\(path): what is asked for is paid, and nothing else")
            edges[state, default: []].insert(step.machine.state)
            state = step.machine.state
        }
        #expect(all.last?.machine == place.machine, "\(path): the last step is the machine")
    }

    private func check(_ place: Place) {
        let machine = place.machine
        let path = place.path
        switch machine.state {
        case .loading, .reloading: #expect(place.call == .timeline, "\(path): nothing ends \(machine.state)")
        case .acting: #expect(place.call == .action, "\(path): nothing ends it")
        case .placeholder, .shown, .removed: #expect(place.call == nil, "\(path): nobody waits for the call")
        }
        #expect(machine.hasCall == (place.call != nil), "\(path)")
        switch machine.state {
        case .loading, .placeholder: #expect(!machine.hasEntry, "\(path)")
        case .shown, .reloading, .acting: #expect(machine.hasEntry, "\(path)")
        case .removed: #expect(!machine.next.at.isSet, "\(path)")
        }
        #expect(machine.entryIndex == nil || machine.hasEntry && machine.timelineAt.isSet, "\(path)")
        #expect(machine.isDirty == false || machine.isAsking, "\(path): nothing follows")
        #expect(machine.hold == nil || machine.state == .shown || machine.state == .placeholder, "\(path)")
        if machine.hasCall { #expect(machine.next.cause == .entry, "\(path)") }
        if machine.hold != nil { #expect(machine.next.cause == .held || machine.nextEntryAt <= Self.far, "\(path)") }
        // Without an entry and without a call there is a failure, a timeline that is to come, or nothing more to come.
        if machine.state == .placeholder {
            #expect(machine.failure != .none || machine.nextEntryAt.isSet, "\(path): the placeholder stays for ever")
        }
        if machine.failure == .threw, machine.state == .shown || machine.state == .placeholder {
            #expect(machine.next.at.isSet, "\(path): nobody tries again")
        }
    }
}
