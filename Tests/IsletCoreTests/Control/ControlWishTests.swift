import IsletCore
import Testing

/// What apple-semantics leaves open and this service answers: taps while an action runs, values that may be too old,
/// restarts, redaction.
@Suite("Controls: wishes, reloads in between, restarts")
struct ControlWishTests {
    private let now = ControlSample.start

    @Test("the newest wish is performed when the present action is through")
    func nextWish() {
        var machine = ControlSample.toggle.machine(.acting)
        #expect(machine.tapWish == .off, "it shows on")
        #expect(machine.act(.off, .person).line == "acting>acting off", "no second call")
        #expect(machine.wish == .on && machine.nextWish == .off)
        #expect(machine.performed().line == "acting>acting off perform(off)")
        #expect(machine.wish == .off && machine.nextWish == nil)
        #expect(machine.performed().line == "performed>reloading off ask")
    }

    @Test("a wish for what runs already takes back the one that waits")
    func wishTakenBack() {
        var machine = ControlSample.toggle.machine(.acting)
        _ = machine.act(.off, .person)
        #expect(machine.act(.on, .person).line == "acting>acting on")
        #expect(machine.nextWish == nil)
        #expect(machine.performed().line == "performed>reloading on ask")
    }

    @Test("the wish that waits is performed though the present action failed")
    func nextWishAfterFailure() {
        var machine = ControlSample.toggle.machine(.acting)
        _ = machine.act(.off, .person)
        let steps = machine.performFailed(.timedOut)
        #expect(steps.line == "failed>shown off, acting>acting off perform(off)")
        #expect(steps.all[0].machine.nextWish == nil, "it waits no longer")
        #expect(machine.nextWish == nil && machine.wish == .off)
    }

    @Test("where the second of two wishes fails, the first one's value is shown, and not the one before it")
    func secondWishFails() {
        var machine = ControlSample.toggle.machine(.acting)
        _ = machine.act(.off, .person)
        _ = machine.performed()
        let steps = machine.performFailed(.threw)
        #expect(steps.line == "failed>shown on, reloading>reloading on ask")
        #expect(machine.source == .optimistic, "the provider has not said so")
    }

    @Test("a reload while a value is on its way asks once more, however often it was wanted")
    func dirty() {
        for state in [ControlState.loading, .reloading] {
            var machine = ControlSample.toggle.machine(state)
            for cause in [ControlCause.request, .push, .sibling] { #expect(machine.reload(cause).isEmpty) }
            let steps = machine.valueArrived(isOn: true, isDisabled: false, at: now)
            #expect(steps.line == "shown>shown on, reloading>reloading on ask")
            #expect(machine.valueArrived(isOn: false, isDisabled: false, at: now).line == "shown>shown off")
        }
    }

    @Test("a retry or a provider that came has no newer reason", arguments: [ControlCause.retry, .registration])
    func notDirty(cause: ControlCause) {
        var machine = ControlSample.toggle.machine(.reloading)
        #expect(machine.reload(cause).isEmpty)
        #expect(machine.valueArrived(isOn: true, isDisabled: false, at: now).line == "shown>shown on")
    }

    @Test("a reload while an action runs or waits does nothing: the value is asked for behind it")
    func reloadWhileActing() {
        for state in [ControlState.acting, .authenticating, .removed] {
            var machine = ControlSample.toggle.machine(state)
            #expect(machine.reload(.request).isEmpty)
            #expect(machine == ControlSample.toggle.machine(state))
        }
    }

    @Test("failures are counted until a value comes")
    func failures() {
        var machine = ControlSample.toggle.machine(.loading)
        for count in 1...5 {
            _ = machine.valueFailed(.timedOut, retryAt: now + Milliseconds(count))
            #expect(machine.failures == UInt16(count) && machine.failure == .timedOut && machine.cause == .timeout)
            _ = machine.deadlineReached()
        }
        _ = machine.valueArrived(isOn: false, isDisabled: false, at: now)
        #expect(machine.failures == 0 && machine.failure == .none)
    }

    @Test("where nobody provides the kind there is no timer, and a registration asks")
    func noProvider() {
        var machine = ControlSample.toggle.machine(.loading)
        _ = machine.valueFailed(.noProvider, retryAt: .never)
        #expect(machine.state == .preview && !machine.next.at.isSet && machine.deadlineReached().isEmpty)
        #expect(machine.reload(.registration).line == "reloading>loading off ask")
    }

    @Test("a tap while it waits for authentication waits anew, and without a lock it acts")
    func tapWhileAuthenticating() {
        var machine = ControlSample.toggle.machine(.authenticating)
        let steps = machine.awaitAuthentication(.on, until: now + 70_000, .person)
        #expect(steps.line == "authenticating>authenticating off" && machine.next.at == now + 70_000)
        #expect(machine.act(.on, .person).line == "acting>acting on perform(on)")
        #expect(!machine.next.at.isSet)
    }

    @Test("an unlock is nothing to one that does not wait")
    func idleUnlock() {
        for state in ControlState.allCases where state != .authenticating {
            var machine = ControlSample.toggle.machine(state)
            #expect(machine.authenticated().isEmpty)
            #expect(machine == ControlSample.toggle.machine(state))
        }
    }

    @Test("a lock hides in every state and changes nothing else", arguments: ControlSample.allCases)
    func redaction(sample: ControlSample) {
        for state in sample.states {
            var machine = sample.machine(state)
            let hidden = machine.redact(true)
            #expect(hidden.all.map(\.name) == [.redacted] && hidden.all[0].call == nil && machine.state == state)
            #expect(machine.isRedacted && machine.cause == .lock && machine.redact(true).isEmpty)
            let shown = machine.redact(false)
            #expect(shown.all.map(\.name) == [.revealed] && machine.cause == .unlock && !machine.isRedacted)
        }
    }

    @Test(
        "after a restart an action is never performed again: its outcome is unknown",
        arguments: ControlSample.allCases)
    func restartedWhileActing(sample: ControlSample) {
        var machine = sample.machine(.acting)
        if sample == .toggle { _ = machine.act(.off, .person) }
        let steps = machine.restarted()
        #expect(steps.all[0].name == .failed && steps.all[0].rule == .restartedWhileActing)
        #expect(steps.all[0].machine.failure == .unknownOutcome && steps.all[0].machine.state == .shown)
        #expect(steps.all.map(\.call) == (sample.hasValue ? [nil, .askValue] : [nil]))
        #expect(steps.all.allSatisfy { !$0.cancels }, "that call is gone with its process")
        #expect(machine.wish == nil && machine.nextWish == nil && !machine.isOn && machine.source == .provider)
        #expect(machine.state == (sample.hasValue ? .reloading : .shown) && machine.cause == .recovery)
    }

    @Test("after a restart what had no action stays what it is")
    func restartedOtherwise() {
        for state in ControlState.allCases where state != .acting {
            var machine = ControlSample.toggle.machine(state)
            #expect(machine.restarted().isEmpty)
            #expect(machine == ControlSample.toggle.machine(state))
        }
        var dirty = ControlSample.toggle.machine(.reloading)
        _ = dirty.reload(.request)
        _ = dirty.restarted()
        let steps = dirty.valueArrived(isOn: true, isDisabled: false, at: now)
        #expect(steps.line == "shown>shown on", "what is asked for after the restart is not older than any reason")
    }
}
