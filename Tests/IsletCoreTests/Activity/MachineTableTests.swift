import IsletCore
import Testing

/// Every event in every state, each with the row of apple-semantics 1.2 that decides it.
@Suite("Activity machine: state × event")
struct MachineTableTests {
    @Test("the table", arguments: MachineTable.cases)
    func cell(_ cell: MachineCase) {
        let before = MachineSample.machine(cell.state, style: cell.event.style)
        #expect(before.state == cell.state)
        var after = before
        let outcome = after.feed(cell.event)

        switch cell.expected {
        case .ignored(let reason, let rule):
            #expect(outcome == .ignored(reason, rule))
            #expect(after == before, "what is dropped changes nothing")
        case .nothing:
            #expect(outcome == .steps(ActivityMachine.Steps()))
            #expect(MachineFacts(after) == MachineFacts(before))
        case .moves(let names, let rule, let cause, let state):
            guard case .steps(let steps) = outcome else {
                Issue.record("was ignored: \(outcome)")
                return
            }
            let taken = [steps.first, steps.second].compactMap { $0 }
            #expect(taken.map(\.name) == names)
            #expect(taken.first?.rule == rule)
            #expect(taken.last?.machine == after, "the last step is the machine")
            #expect(after.state == state)
            #expect(after.cause == cause)
            checkEdges(taken, from: before)
        }
    }

    @Test("every event is tried in every state, and no pair twice")
    func tableIsComplete() {
        let pairs = MachineTable.cases.map { "\($0.state) × \($0.event)" }
        #expect(Set(pairs).count == pairs.count)
        let events = Set(MachineTable.cases.map(\.event.description))
        #expect(pairs.count == events.count * ActivityState.allCases.count)
    }

    /// What holds for every step, whatever made it.
    private func checkEdges(_ steps: [ActivityMachine.Step], from start: ActivityMachine) {
        var before = start
        for step in steps {
            let after = step.machine
            #expect(step.from == before.state)
            let legal: [ActivityState] =
                switch before.state {
                case .pending: [.pending, .active, .dismissed]
                case .active: [.active, .stale, .ended, .dismissed]
                case .stale: [.stale, .active, .ended, .dismissed]
                case .ended: [.dismissed]
                case .dismissed: []
                }
            #expect(legal.contains(after.state), "\(before.state) → \(after.state)")
            let name: ActivityEventName =
                switch (before.state, after.state) {
                case (.pending, .active): .started
                case (.active, .stale): .stale
                case (_, .ended): .ended
                case (_, .dismissed): .dismissed
                default: .updated
                }
            #expect(step.name == name)
            #expect(after.timestamp >= before.timestamp, "timestamps never fall")
            #expect(after.style == before.style && after.isScheduled == before.isScheduled)
            if before.state != .pending { #expect(after.startedAt == before.startedAt) }
            if before.state == .ended { #expect(after.endedAt == before.endedAt, "an end happens once") }
            let ran = before.state != .pending || after.state == .active
            #expect(after.endedAt.isSet == (!after.state.isOpen && ran))
            #expect(after.dismissAt.isSet == !after.state.isOpen)
            if after.endedAt.isSet {
                #expect(after.endedAt - after.startedAt <= 8 * MachineSample.hour)
                #expect(after.dismissAt - after.endedAt <= 4 * MachineSample.hour)
                #expect(after.dismissAt >= after.endedAt)
            }
            before = after
        }
    }
}

/// What a machine shows to the outside.
struct MachineFacts: Equatable {
    var state: ActivityState
    var cause: Cause
    var dates: [Instant]

    init(_ machine: ActivityMachine) {
        state = machine.state
        cause = machine.cause
        dates = [machine.startedAt, machine.staleDate, machine.endedAt, machine.dismissAt, machine.timestamp]
    }
}
