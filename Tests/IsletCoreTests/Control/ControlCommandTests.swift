import IsletCore
import Testing

/// The commands about controls, and what providers answer, beside what the table of pairs shows.
@Suite("Controls: commands and answers")
struct ControlCommandTests {
    @Test("what cannot be placed is refused, and leaves nothing behind")
    func refusedAdds() {
        var rules = RuleSet.standard
        rules.maximumEntities = 3
        let rig = ControlRig(rules)
        rig.declare("torch")
        #expect(rig.add("lamp").text == "notFound", "no kind of that name was declared")
        #expect(rig.add("torch", "com.b").text == "notFound")
        #expect(rig.add("torch", ifRevision: 1).text == "notFound")
        #expect(rig.startActivity() == "applied")
        #expect(rig.add("torch", id: rig.latest).text == "reconnectNotPermitted", "an activity has that id")
        let first = rig.placed("torch")
        #expect(rig.startActivity(id: first) == "reconnectNotPermitted", "a control has that id")
        _ = rig.placed("torch", device: "d")
        #expect(rig.add("torch", device: "e").text == "quotaExceeded 3", "activities count as well")
        #expect(rig.engine.entityCount == 3 && rig.engine.devices.count == 1)
    }

    @Test("a control is only reached through its own app")
    func otherApp() {
        let rig = ControlRig()
        rig.declare("torch")
        rig.declare("torch", "com.b")
        let id = rig.placed("torch")
        #expect(rig.tap(id, "com.b").text == "notFound" && rig.remove(id, "com.b").text == "notFound")
        #expect(rig.reload(id, "com.b").text == "notFound" && rig.configure(id, "{}", "com.b").text == "notFound")
        #expect(rig.state(id) == .shown)
    }

    @Test("ifRevision guards every command, behind what is ignored")
    func revisions() {
        let rig = ControlRig()
        rig.declare("torch")
        let id = rig.placed("torch")
        for text in [
            rig.tap(id, ifRevision: 1).text, rig.reload(id, ifRevision: 1).text, rig.remove(id, ifRevision: 1).text,
            rig.configure(id, "{}", ifRevision: 1).text,
        ] {
            #expect(text == "conflict r2")
        }
        #expect(rig.decisions(id).suffix(4).allSatisfy { $0.rule == .revisionGuard && $0.outcome == .refused })
        #expect(rig.tap(id, ifRevision: 2).text == "applied")
        rig.answer(id, isAction: true)
        rig.answer(id, value: "true", isDisabled: true)
        #expect(rig.tap(id, ifRevision: 1).text == "ignored disabled")
    }

    @Test("configuring clears value, texts and activity, and keeps the bytes that were given")
    func configure() {
        let rig = ControlRig()
        rig.declare("lamp", "com.a", .button)
        _ = rig.add("lamp", configuration: "{\"room\":1}")
        let id = rig.latest
        rig.answer(id, value: "{\"n\":1}", status: "\"s\"", tint: "\"red\"", hint: "\"h\"", isActive: true)
        let shown = rig.record(id)
        #expect(rig.text(shown?.value) == "{\"n\":1}" && shown?.isActive == true)
        #expect(rig.text(shown?.texts) == "\"s\"\"red\"\"h\"" && rig.text(shown?.configuration) == "{\"room\":1}")
        #expect(rig.events.last?.changes.value == true && rig.events.last?.changes.look == true)
        #expect(rig.configure(id, "{\"room\": 1}").text == "ignored unchanged", "it says the same")
        #expect(rig.text(rig.record(id)?.configuration) == "{\"room\":1}" && rig.record(id)?.isActive == true)
        #expect(rig.configure(id, "{\"room\": 2}").text == "applied")
        let configured = rig.record(id)
        #expect(rig.text(configured?.value) == "" && rig.text(configured?.texts) == "" && configured?.isActive == nil)
        #expect(configured?.textCounts.actionHintRange == 0..<0)
        #expect(rig.text(configured?.configuration) == "{\"room\": 2}")
        #expect(rig.configure(id, "{\"room\": 2}").text == "ignored unchanged")
    }

    @Test("an answer of the wrong type or too long is none, and the call goes on until it fails")
    func badAnswers() {
        let rig = ControlRig()
        rig.declare("torch")
        rig.declare("lamp", "com.a", .button)
        _ = rig.add("torch")
        let torch = rig.latest
        _ = rig.add("lamp")
        let lamp = rig.latest
        let long = "\"" + String(repeating: "x", count: 4_096) + "\""
        let text = "\"" + String(repeating: "x", count: Engine.controlTextLimit) + "\""
        for value in ["1", "\"true\"", "null", "True", "truefalse", ""] { #expect(!rig.answer(torch, value: value)) }
        #expect(!rig.answer(torch) && !rig.answer(lamp) && !rig.answer(lamp, value: long))
        #expect(!rig.answer(torch, value: "true", status: text) && !rig.answer(torch, value: "true", tint: text))
        #expect(!rig.answer(torch, value: "true", hint: text))
        #expect(rig.state(torch) == .loading && rig.state(lamp) == .loading && rig.events.isEmpty)
        rig.fail(torch, .badAnswer)
        #expect(rig.told == ["failed \(torch.short) r2 loading>preview off provider"])
        #expect(rig.record(torch)?.machine.failure == .badAnswer)
        #expect(rig.answer(lamp, value: String(long.dropFirst().dropLast(2)).replacing("x", with: "1")), "4 095 digits")
    }

    @Test("the answer to a call that was given up is nothing, and calls have rising numbers")
    func serials() {
        let rig = ControlRig()
        rig.declare("torch")
        let id = rig.placed("torch")
        rig.reload(id)
        let asked = rig.calls
        #expect(rig.wanted == ["ask \(id.short)"] && asked[0].serial == rig.record(id)?.callSerial)
        rig.tap(id)
        #expect(rig.wanted == ["cancel \(id.short)", "perform(on) \(id.short)"])
        let performed = rig.calls[1]
        #expect(performed.serial > asked[0].serial && performed.serial == rig.record(id)?.callSerial)
        let before = rig.record(id)?.machine
        #expect(rig.answer(id, value: "false"), "an answer to the value is nothing any more")
        rig.fail(id, .timedOut)
        #expect(rig.record(id)?.machine == before && rig.events.isEmpty && rig.calls.isEmpty)
        rig.answer(id, isAction: true)
        #expect(rig.wanted == ["ask \(id.short)"] && rig.calls[0].serial > performed.serial)
        rig.fail(id, isAction: true, .providerLost)
        #expect(rig.events.isEmpty, "that action was through")
    }

    @Test("a control that was removed is nothing to its provider, nor is the next one in its slot")
    func removed() {
        let rig = ControlRig()
        rig.declare("torch")
        _ = rig.add("torch", device: "d")
        let first = rig.latest
        guard let old = rig.reference(first) else { return complain("it is not there") }
        rig.remove(first)
        #expect(rig.wanted == ["cancel \(first.short)"])
        guard case .cancel(isRemoved: true) = rig.calls[0].kind else { return complain("\(rig.calls)") }
        #expect(rig.state(first) == nil && rig.engine.controls.record(old) == nil && rig.engine.devices.count == 0)
        _ = rig.add("torch")
        let second = rig.latest
        #expect(rig.reference(second)?.slot == old.slot, "the slot is used again")
        #expect(rig.answer(old, value: "true"))
        #expect(rig.state(second) == .loading && rig.events.isEmpty)
        _ = rig.add("torch", id: first)
        #expect(rig.told == ["added \(first.short) r1 >loading off command"], "an id may come again")
    }

    @Test("a reader's question asks for a value that nobody asked for yet")
    func refresh() {
        let rig = ControlRig()
        rig.declare("torch")
        let id = rig.placed("torch")
        guard let reference = rig.reference(id) else { return complain("it is not there") }
        let now = rig.now
        let first = rig.step { $0.refreshControl(reference, at: now) }
        #expect(first && rig.wanted == ["ask \(id.short)"])
        let second = rig.step { $0.refreshControl(reference, at: now) }
        #expect(second && rig.calls.isEmpty, "one question for all")
        rig.answer(id, value: "true")
        #expect(rig.told.count == 1, "nobody needs a second one")
        rig.remove(id)
        let third = rig.step { $0.refreshControl(reference, at: now) }
        #expect(!third)
    }

    @Test("a declaration is replaced where nobody lives by the one before, but not its template below placed controls")
    func declarations() {
        let rig = ControlRig()
        guard case .declared(let kind) = rig.declare("torch") else { return complain("it was not declared") }
        #expect(rig.declare("torch") == .declared(kind), "the same once more")
        #expect(rig.declare("torch", title: "\"Torch\"") == .differs(kind, .displayName))
        #expect(rig.declare("torch", title: "\"Torch\"", mayReplace: true) == .declared(kind))
        #expect(rig.declare("torch", "com.a", .button, mayReplace: true) == .declared(kind), "none is placed")
        _ = rig.placed("torch")
        #expect(rig.declare("torch", mayReplace: true) == .differs(kind, .template))
        #expect(rig.declare("torch", "com.a", .bareButton, mayReplace: true) == .differs(kind, .hasValue))
        #expect(rig.declare("torch", "com.a", .button, siblings: true, mayReplace: true) == .declared(kind))
    }
}
