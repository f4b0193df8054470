import IsletCore
import Testing

/// The rows of apple-semantics 4.2, one test each: state, event, new state, effect.
@Suite("Controls: the rows of apple-semantics 4.2")
struct ControlRowsTests {
    private typealias Machine = ControlMachine
    private let later = ControlSample.start + 5_000

    @Test("C1: a gallery shows the preview, and nobody is asked", arguments: [true, false])
    func c1(isOn: Bool) {
        // The preview is the kind's own value: no machine is needed for it, and one that is placed begins with it.
        var kind = ControlKindDeclaration(kind: Array("torch".utf8), template: .toggle)
        #expect(kind.previewValue == Array("false".utf8), "the preview is the look that is off")
        kind.previewValue = Array("\(isOn)".utf8)
        #expect(kind.previewIsOn == isOn)
        let placed = ControlSample.toggle.added(previewIsOn: isOn).machine
        #expect(placed.isOn == isOn && placed.source == .preview && !placed.isValueKnown)
    }

    @Test("C2: one that is added loads, and its value is asked for", arguments: ControlSample.allCases)
    func c2(sample: ControlSample) {
        let (machine, steps) = sample.added()
        let step = steps.all[0]
        #expect(steps.all.count == 1 && step.from == nil && step.name == .added && step.rule == .added)
        #expect(!step.cancels && step.machine == machine)
        switch sample {
        case .toggle, .button:
            #expect(machine.state == .loading && step.call == .askValue && machine.source == .preview)
        // Nothing is asked of one without a value, so it is shown at once.
        case .bareButton: #expect(machine.state == .shown && step.call == nil)
        }
        #expect(!machine.next.at.isSet && machine.failure == .none)
    }

    @Test("C3: the first value is shown", arguments: [ControlSample.toggle, .button], [false, true])
    func c3(sample: ControlSample, isDisabled: Bool) {
        var machine = sample.machine(.loading)
        let steps = machine.valueArrived(isOn: true, isDisabled: isDisabled, at: later)
        #expect(steps.all.map(\.name) == [.shown] && steps.all[0].rule == .firstValue && steps.all[0].from == .loading)
        #expect(steps.all[0].call == nil && !steps.all[0].cancels)
        #expect(machine.state == (isDisabled ? .disabled : .shown) && machine.isDisabled == isDisabled)
        #expect(machine.source == .provider && machine.isOn && machine.valueAt == later && machine.isValueKnown)
    }

    @Test(
        "C4: where the first value fails, the preview is shown and it is tried again",
        arguments: [ControlSample.toggle, .button])
    func c4(sample: ControlSample) {
        var machine = sample.machine(.loading)
        let steps = machine.valueFailed(.threw, retryAt: ControlSample.retry)
        #expect(steps.all.map(\.name) == [.failed] && steps.all[0].rule == .firstValueFailed)
        #expect(machine.state == .preview && machine.source == .preview && !machine.isOn && !machine.isValueKnown)
        #expect(machine.failure == .threw && machine.failures == 1 && machine.cause == .provider)
        #expect(machine.next.at == ControlSample.retry && machine.next.cause == .retry)
        let retry = machine.deadlineReached()
        #expect(retry.line == (sample == .toggle ? "reloading>loading off ask" : "reloading>loading ask"))
        #expect(retry.all[0].rule == .retried && retry.all[0].due == ControlSample.retry && machine.cause == .retry)
    }

    @Test(
        "C5: a reload keeps what is shown until the new value is there",
        arguments: [ControlCause.request, .push, .action, .sibling, .registration])
    func c5(cause: ControlCause) {
        for sample in [ControlSample.toggle, .button] {
            var machine = sample.machine(.shown)
            let before = machine
            let steps = machine.reload(cause)
            #expect(steps.all.map(\.name) == [.reloading] && steps.all[0].call == .askValue && !steps.all[0].cancels)
            #expect(machine.state == .reloading && machine.cause == cause)
            #expect(machine.isOn == before.isOn && machine.source == before.source && machine.valueAt == before.valueAt)
        }
        var bare = ControlSample.bareButton.machine(.shown)
        #expect(bare.reload(cause).isEmpty, "there is nothing to ask for")
    }

    @Test("C6: the new value is shown")
    func c6() {
        var machine = ControlSample.toggle.machine(.reloading)
        let steps = machine.valueArrived(isOn: true, isDisabled: false, at: later)
        #expect(steps.line == "shown>shown on" && steps.all[0].rule == .newValue && steps.all[0].from == .reloading)
        #expect(machine.source == .provider && machine.valueAt == later && machine.cause == .provider)
    }

    @Test(
        "C7: where the new value fails, the last one is kept and it is tried again",
        arguments: [CallFailure.threw, .timedOut, .providerLost, .badAnswer, .busy])
    func c7(failure: CallFailure) {
        var machine = ControlSample.toggle.machine(.shown)
        let shown = machine
        _ = machine.reload(.push)
        let steps = machine.valueFailed(failure, retryAt: ControlSample.retry)
        #expect(steps.line == "failed>shown off" && steps.all[0].rule == .valueFailed)
        #expect(machine.source == .provider && machine.valueAt == shown.valueAt && machine.failure == failure)
        #expect(machine.next.at == ControlSample.retry)
        #expect(machine.deadlineReached().line == "reloading>reloading off ask")
    }

    @Test("C7: one that was disabled stays so")
    func c7Disabled() {
        var machine = ControlSample.toggle.machine(.disabled)
        _ = machine.reload(.request)
        #expect(machine.state == .reloading && machine.ignores(.on)?.reason == .disabled)
        #expect(machine.valueFailed(.timedOut, retryAt: ControlSample.retry).line == "failed>disabled off")
    }

    @Test("C8: a tap flips at once to the absolute opposite, and the action gets that value")
    func c8() {
        for isOn in [true, false] {
            var machine = ControlSample.toggle.added().machine
            _ = machine.valueArrived(isOn: isOn, isDisabled: false, at: later)
            let wish = machine.tapWish
            #expect(wish == .init(isOn: !isOn) && wish.isOn == !isOn)
            let steps = machine.act(wish, .person)
            #expect(steps.all.map(\.name) == [.acting] && steps.all[0].rule == .tapped)
            #expect(steps.all[0].call == .perform(wish))
            #expect(machine.state == .acting && machine.isOn == !isOn && machine.source == .optimistic)
            #expect(machine.wish == wish && machine.cause == .person)
        }
    }

    @Test("C8: a tap while a value is on its way gives up that call", arguments: [ControlState.loading, .reloading])
    func c8Superseded(state: ControlState) {
        var machine = ControlSample.toggle.machine(state)
        #expect(machine.act(.on, .person).line == "acting>acting on cancel perform(on)")
    }

    @Test("C9: after the action the value is asked for, and the wish is shown meanwhile")
    func c9() {
        var machine = ControlSample.toggle.machine(.acting)
        let steps = machine.performed()
        #expect(steps.line == "performed>reloading on ask" && steps.all[0].rule == .performed)
        #expect(machine.source == .optimistic && machine.cause == .action && machine.wish == nil)
    }

    @Test("C9: where the value fails after the action, the wish stays, and nothing leads back behind it")
    func c9Unconfirmed() {
        for state in [ControlState.loading, .preview, .shown, .reloading] {
            var machine = ControlSample.toggle.machine(state)
            _ = machine.act(.on, .person)
            _ = machine.performed()
            #expect(machine.valueFailed(.timedOut, retryAt: ControlSample.retry).line == "failed>shown on")
            #expect(machine.source == .optimistic && !machine.isValueKnown, "nobody has confirmed it")
            // The value before this tap is the one that the action set, not the one that it replaced.
            _ = machine.act(.off, .person)
            let steps = machine.performFailed(.threw)
            #expect(steps.line == "failed>shown on, reloading>reloading on ask")
            #expect(machine.source == .optimistic)
        }
    }

    @Test(
        "C10: where the action fails, the value before is shown, and the truth is asked for",
        arguments: [CallFailure.threw, .timedOut, .providerLost, .noProvider, .badAnswer])
    func c10(failure: CallFailure) {
        var machine = ControlSample.toggle.machine(.acting)
        let steps = machine.performFailed(failure)
        #expect(steps.line == "failed>shown off, reloading>reloading off ask")
        #expect(steps.all[0].rule == .performFailed && steps.all[0].machine.failure == failure)
        #expect(machine.source == .provider && machine.wish == nil && machine.cause == .action)
        _ = machine.valueArrived(isOn: true, isDisabled: false, at: later)
        #expect(machine.isOn && machine.failure == .none, "the provider is the truth")
    }

    @Test("C10: one whose value is not known shows its preview again")
    func c10Preview() {
        var machine = ControlSample.toggle.machine(.preview)
        _ = machine.act(.on, .person)
        #expect(machine.performFailed(.threw).line == "failed>preview off, reloading>loading off ask")
        #expect(machine.source == .preview)
    }

    @Test("C11: the provider's value is the truth, whatever was wished for")
    func c11() {
        var machine = ControlSample.toggle.machine(.acting)
        _ = machine.performed()
        #expect(machine.valueArrived(isOn: false, isDisabled: false, at: later).line == "shown>shown off")
        #expect(machine.source == .provider && machine.valueAt == later)
    }

    @Test("C12: a button acts once, and asks for its value where it has one")
    func c12() {
        var button = ControlSample.button.machine(.shown)
        #expect(button.tapWish == .press)
        #expect(button.act(.press, .person).line == "acting>acting perform(press)")
        #expect(button.source == .provider, "a button has nothing to flip")
        #expect(button.ignores(.press)?.reason == .acting && button.ignores(.press)?.rule == .pressedTwice)
        #expect(button.performed().line == "performed>reloading ask")

        var bare = ControlSample.bareButton.machine(.shown)
        _ = bare.act(.press, .person)
        #expect(bare.performed().line == "performed>shown")
        _ = bare.act(.press, .person)
        #expect(bare.performFailed(.threw).line == "failed>shown" && bare.failure == .threw)
    }

    @Test("C12: a button that was pressed before its first value loads")
    func c12First() {
        var button = ControlSample.button.machine(.preview)
        _ = button.act(.press, .person)
        #expect(button.performed().line == "performed>loading ask", "there is no value that could stay")
        #expect(button.valueFailed(.timedOut, retryAt: ControlSample.retry).line == "failed>preview")
    }

    @Test(
        "C13: on a locked device the action waits, nothing flips, and it runs once unlocked",
        arguments: ControlSample.allCases)
    func c13(sample: ControlSample) {
        var machine = sample.machine(.shown)
        let steps = machine.awaitAuthentication(sample.wish, until: ControlSample.limit, .person)
        #expect(steps.all.map(\.name) == [.authenticating] && steps.all[0].call == nil && !steps.all[0].cancels)
        #expect(machine.state == .authenticating && !machine.isOn && machine.source == .provider)
        #expect(machine.next.at == ControlSample.limit && machine.next.cause == .authentication)
        let unlocked = machine.authenticated()
        #expect(unlocked.all.map(\.call) == [.perform(sample.wish)] && unlocked.all[0].rule == .authenticated)
        #expect(machine.state == .acting && machine.cause == .authentication && !machine.next.at.isSet)
    }

    @Test("C13: without an unlock the wish is dropped, and the value that was given up is asked for")
    func c13Limit() {
        for state in [ControlState.loading, .reloading] {
            var machine = ControlSample.toggle.machine(state)
            let waiting = machine.awaitAuthentication(.on, until: ControlSample.limit, .person)
            #expect(waiting.line == "authenticating>authenticating off cancel")
            let steps = machine.deadlineReached()
            #expect(steps.all.map(\.name) == [.cancelled, .reloading])
            #expect(steps.all.map(\.due) == [ControlSample.limit, ControlSample.limit], "both are of that date")
            #expect(machine.state == state && machine.wish == nil && !machine.isOn)
        }
        var bare = ControlSample.bareButton.machine(.authenticating)
        #expect(bare.deadlineReached().line == "cancelled>shown")
    }

    @Test("C14: a tap on one that is disabled does nothing, in whatever state it is")
    func c14() {
        var machine = ControlSample.toggle.machine(.disabled)
        #expect(machine.ignores(.on)?.reason == .disabled && machine.ignores(.on)?.rule == .disabledTap)
        _ = machine.reload(.request)
        #expect(machine.ignores(.off)?.reason == .disabled, "it is drawn so until a value says otherwise")
        _ = machine.valueArrived(isOn: false, isDisabled: false, at: later)
        #expect(machine.ignores(.on) == nil)
    }

    @Test("C15: configuring forgets the value, gives up its call and loads", arguments: ControlSample.allCases)
    func c15(sample: ControlSample) {
        for state in sample.states where state != .removed {
            var machine = sample.machine(state)
            let hadCall = machine.hasCall
            let steps = machine.configured(hasValue: sample.hasValue, previewIsOn: true)
            #expect(steps.all.map(\.name) == [.configured] && steps.all[0].cancels == hadCall, "\(state)")
            #expect(steps.all[0].call == (sample.hasValue ? .askValue : nil))
            #expect(machine.state == (sample.hasValue ? .loading : .shown) && machine.wish == nil)
            #expect(machine.failure == .none && machine.failures == 0 && !machine.isDisabled && !machine.next.at.isSet)
            #expect(machine.source == (sample.hasValue ? .preview : .provider))
            #expect(machine.isOn && !machine.valueAt.isSet)
        }
    }

    @Test("C16: removing ends everything and gives up its call", arguments: ControlSample.allCases)
    func c16(sample: ControlSample) {
        for state in sample.states where state != .removed {
            var machine = sample.machine(state)
            let hadCall = machine.hasCall
            let steps = machine.removed(.uninstall)
            #expect(steps.all.map(\.name) == [.removed] && steps.all[0].cancels == hadCall && steps.all[0].call == nil)
            #expect(machine.state == .removed && !machine.hasCall && !machine.next.at.isSet && machine.wish == nil)
            #expect(machine.cause == .uninstall)
        }
    }
}
