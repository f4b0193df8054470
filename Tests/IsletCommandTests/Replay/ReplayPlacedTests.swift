import IsletClient
import Testing
import islet

private let id = RecordedSample.id
private let other = RecordedSample.other
private let lock = #"device.event {"device":"phone","event":"lock"}"#
private let unlock = #"device.event {"device":"phone","event":"unlock"}"#

@Suite("What a replay sends about controls, widgets and groups")
struct ReplayPlacedTests {
    @Test("A toggle is set to what it was set to, and a button is tapped")
    func actions() throws {
        var sample = RecordedSample()
        try sample.control()
        try sample.add("control.acting", from: "shown", to: "acting", cause: "person", patch: #""value":true"#)
        #expect(sample.last == #"control.set {"app":"com.a","id":"\#(id)","value":true}"#)
        try sample.control(other, template: "button")
        try sample.add("control.acting", from: "shown", to: "acting", cause: "person", id: other)
        #expect(sample.last == #"control.tap {"app":"com.a","id":"\#(other)"}"#)
        guard case .send(let commands) = sample.verdicts.last else { return }
        #expect(commands[0].from == "shown", "the target's provider may need a while")
    }

    @Test(
        "What a provider or a date has brought about is not sent",
        arguments: [
            ("shown", "provider", "follows provider"), ("failed", "timeout", "follows provider"),
            ("failed", "recovery", "follows service"), ("performed", "action", "follows provider"),
            ("cancelled", "authentication", "follows deadline"), ("reloading", "retry", "follows deadline"),
            ("reloading", "action", "follows provider"), ("reloading", "registration", "follows provider"),
            ("reloading", "recovery", "follows service"), ("acting", "action", "follows provider"),
            ("reloading", "magic", "impossible unknownCause"), ("acting", "magic", "impossible unknownCause"),
            ("glowing", "command", "impossible unknownEvent"),
            ("reloading", "request", #"control.reload {"app":"com.a","id":"\#(id)"}"#),
            ("reloading", "push", #"control.reload {"app":"com.a","id":"\#(id)","source":"push"}"#),
            ("removed", "uninstall", #"control.remove {"app":"com.a","id":"\#(id)"}"#),
        ])
    func controls(_ verb: String, _ cause: String, _ expected: String) throws {
        var sample = RecordedSample()
        try sample.control()
        try sample.add("control.\(verb)", from: "shown", to: verb, cause: cause)
        #expect(sample.last == expected)
    }

    @Test("A locked device is locked before what only a locked one brings about, and once")
    func locks() throws {
        var sample = RecordedSample()
        for id in [id, other] { try sample.control(id) }
        try sample.add("control.redacted", from: "shown", to: "shown", cause: "lock")
        try sample.add("control.redacted", from: "shown", to: "shown", cause: "lock", id: other)
        try sample.add("control.authenticating", from: "shown", to: "authenticating", cause: "person")
        try sample.add("control.revealed", from: "authenticating", to: "authenticating", cause: "unlock")
        try sample.add("control.acting", from: "authenticating", to: "acting", cause: "authentication")
        try sample.add("control.authenticating", from: "shown", to: "authenticating", cause: "person", id: other)
        try sample.add("control.acting", from: "authenticating", to: "acting", cause: "authentication", id: other)
        #expect(
            sample.verdicts.dropFirst(2).map(RecordedSample.text) == [
                lock, "follows command", #"control.tap {"app":"com.a","id":"\#(id)"}"#, unlock, "follows command",
                lock + #"; control.tap {"app":"com.a","id":"\#(other)"}"#, unlock,
            ])
    }

    @Test("A configuration that a locked device hides is taken from when it is shown, or not guessed")
    func hidden() throws {
        var sample = RecordedSample()
        try sample.control(patch: #""isRedacted":true"#)
        #expect(sample.last == "impossible hiddenConfiguration")
        try sample.add(
            "control.revealed", from: "shown", to: "shown", cause: "unlock", patch: #""configuration":{"room":"hall"}"#)
        let add = #"control.add {"app":"com.a","id":"\#(id)","kind":"Torch","device":"phone","#
            + #""configuration":{"room":"hall"}}"#
        #expect(RecordedSample.text(sample.verdicts[0]) == "\(lock); \(add)")
    }

    @Test("A person's tap, action, reload and configuration of a widget are sent")
    func widgets() throws {
        var sample = RecordedSample()
        try sample.widget()
        let members = #""kind":"Forecast","family":"systemSmall","device":"phone"}"#
        #expect(sample.last == #"widget.add {"app":"com.a","id":"\#(id)","# + members)
        try sample.add(
            "widget.tapped", from: "shown", to: "shown", cause: "person",
            more: #""interaction":{"kind":"Forecast","family":"systemSmall","url":"w://x","link":"tomorrow"}"#)
        #expect(sample.last == #"widget.tap {"app":"com.a","id":"\#(id)","link":"tomorrow"}"#)
        try sample.add(
            "widget.acting", from: "shown", to: "acting", cause: "person",
            more: #""interaction":{"kind":"Forecast","action":"refresh","parameters":{"deep" : true}}"#)
        let action = #""action":"refresh","parameters":{"deep" : true}}"#
        #expect(sample.last == #"widget.tap {"app":"com.a","id":"\#(id)","# + action)
        try sample.add("widget.configured", from: "shown", to: "shown", patch: #""rendering":{"mode":"vibrant"}"#)
        #expect(sample.last == #"widget.configure {"app":"com.a","id":"\#(id)","rendering":{"mode":"vibrant"}}"#)
        try sample.add("widget.held", from: "shown", to: "shown", cause: "request")
        #expect(sample.last == #"widget.reload {"app":"com.a","id":"\#(id)"}"#)
    }

    @Test("What makes a reload free is told before it, and its end before one that is charged")
    func conditions() throws {
        var sample = RecordedSample()
        try sample.widget()
        let reload = #"widget.reload {"app":"com.a","id":"\#(id)"}"#
        func report(_ event: String) -> String { #"device.event {"app":"com.a","device":"phone","event":"\#(event)"}"# }
        for _ in 1...2 {
            try sample.add(
                "widget.reloading", from: "shown", to: "reloading", cause: "request", more: #""exempt":"foreground""#)
        }
        try sample.add("widget.reloading", from: "shown", to: "reloading", cause: "request")
        try sample.start(other, patch: #""device":"phone""#)
        let texts = sample.verdicts.dropFirst().map(RecordedSample.text)
        #expect(texts[0] == "\(report("appForeground")); \(reload)")
        #expect(texts[1] == reload)
        #expect(texts[2] == "\(report("appBackground")); \(reload)")
        #expect(
            texts[3].hasPrefix("\(report("appForeground")); activity.start"), "from the background it would be refused")
    }

    @Test("A group is made before its first key, and each member admitted before its first")
    func groups() throws {
        var sample = RecordedSample()
        func event(_ name: String, _ seq: Int, _ group: String) -> String {
            #"{"topic":"com.a/group/g/k","event":{"epoch":"e","seq":\#(seq),"at":1767225600000,"#
                + #""event":"group.\#(name)",\#(group)}}"#
        }
        try sample.take(event("set", 1, #""group":{"group":"g","key":"k","revision":1,"value":{"a": 1},"by":"com.b"}"#))
        try sample.take(event("set", 2, #""group":{"group":"g","key":"k","revision":2,"value":null,"by":"com.a"}"#))
        try sample.take(event("deleted", 3, #""group":{"group":"g","key":"k","revision":3,"value":null,"by":"com.b"}"#))
        try sample.take(event("notified", 4, #""notification":{"group":"g","name":"moved","by":"com.b"}"#))
        #expect(
            sample.verdicts.map(RecordedSample.text) == [
                #"group.create {"app":"com.a","group":"g"}; "#
                    + #"group.admit {"app":"com.a","group":"g","member":"com.b"}; "#
                    + #"group.set {"app":"com.b","group":"g","key":"k","value":{"a": 1}}"#,
                #"group.set {"app":"com.a","group":"g","key":"k","value":null}"#,
                #"group.delete {"app":"com.b","group":"g","key":"k"}"#,
                #"group.notify {"app":"com.b","group":"g","name":"moved"}"#,
            ])
    }
}
