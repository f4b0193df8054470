import FoundationEssentials
import IsletClient
import Synchronization
import Testing

/// A provider over real sockets, against a service that does what the test says.
@Suite(.timeLimit(.minutes(10))) struct ProviderServiceTests {
    /// Runs a test with a registered provider.
    private func withProvider(
        capacity: Int = 16, gracePeriod: Duration = .seconds(60),
        @WidgetBundleBuilder controls: () -> [ProviderKind],
        _ body: (FakeService, ProviderRun) async throws -> Void
    ) async throws {
        try await withFakeService { fake in
            await fake.answerCommands { command, _ in
                command["req"] == nil ? nil : ["ok": .bool(true), "pingLimit": .integer(600_000)]
            }
            let session = IsletSession(app: "com.example.home", endpoints: fake.endpoints)
            let run = ProviderRun(session, capacity: capacity, gracePeriod: gracePeriod, kinds: controls)
            try await run.registered()
            try await body(fake, run)
            try await run.stop()
        }
    }

    private func call(_ id: String, _ op: String = "control.value", kind: String = "test") -> RawObject {
        [
            "call": .string(id), "op": .string(op), "app": .string("com.example.home"), "kind": .string(kind),
            "control": .string("c1"), "configuration": .object([]), "attempt": .integer(1), "within": .integer(30_000),
        ]
    }

    /// What the provider said to these calls, once it did.
    private func replies(_ fake: FakeService, to calls: String...) async throws -> [String] {
        let calls = Set(calls)
        return try await within {
            await fake.wait { fake in
                calls.isSubset(of: fake.received.compactMap { $0["call"]?.string })
            }
            return await fake.received.filter { calls.contains($0["call"]?.string ?? "") }.map { reply in
                var reply = reply
                reply["provider"] = nil
                return reply.description
            }
        }
    }

    @Test func `values, actions and their results are answered`() async throws {
        let test = TestControl(value: { 7 }, action: { "done" })
        try await withProvider {
            test
        } _: { fake, run in
            await fake.say(call("1"), call("2", "control.perform"))
            let replies = try await replies(fake, to: "1", "2")
            #expect(
                Set(replies) == [
                    #"{"op":"provider.answer","call":"1","value":7,"isActive":true}"#,
                    #"{"op":"provider.answer","call":"2","status":"done"}"#,
                ])
            let received = await fake.received
            #expect(received.last?["provider"]?.string == run.service.id)
        }
    }

    @Test func `what handlers throw is told, and what may be retried is said to be`() async throws {
        struct Broken: Error, CustomStringConvertible {
            var description: String { "out of order " + String(repeating: "\"", count: 2_000) }
        }
        let retryable = TestControl(kind: "retryable", value: { throw ProviderCallError.retryable("not now") })
        let broken = TestControl(kind: "broken", value: { throw Broken() })
        try await withProvider {
            retryable
            broken
        } _: { fake, _ in
            await fake.say(call("1", kind: "retryable"))
            #expect(
                try await replies(fake, to: "1")
                    == [#"{"op":"provider.fail","call":"1","message":"not now","retryable":true}"#])
            await fake.say(call("2", kind: "broken"), call("3", kind: "alien"))
            let replies = try await replies(fake, to: "2", "3").sorted { $0.count < $1.count }
            #expect(replies[0] == #"{"op":"provider.fail","call":"3","message":"'alien' is not declared here"}"#)
            let message = RawObject(Array(replies[1].utf8))?["message"]
            #expect(message?.string?.hasPrefix("out of order \"") == true)
            #expect((1_023...1_026).contains(message?.count ?? 0))
        }
    }

    @Test func `a value that is too large fails, and a long text is cut`() async throws {
        struct Long: ControlValueProvider, AppIntent {
            var previewValue = ""
            func currentValue() async throws -> String { String(repeating: "v", count: 4_095) }
            func perform() async throws -> some IntentResult { .result(status: String(repeating: "s", count: 1_000)) }
        }
        try await withProvider {
            StaticControlConfiguration(kind: "test", provider: Long()) { _ in
                ControlWidgetButton("Long", action: Long())
            }
        } _: { fake, _ in
            await fake.say(call("1"))
            let failures = try await replies(fake, to: "1")
            #expect(
                failures == [
                    #"{"op":"provider.fail","call":"1","message":"the value has 4097 bytes, and may have 4096"}"#
                ])
            await fake.say(call("2", "control.perform"))
            let answers = try await replies(fake, to: "2")
            let cut = String(repeating: "s", count: 256)
            #expect(answers == [#"{"op":"provider.answer","call":"2","status":"\#(cut)"}"#])
        }
    }

    @Test(arguments: [2_048, 2_049])
    func `an action was performed, however long what it opens is`(length: Int) async throws {
        let url = "https://example.com/" + String(repeating: "u", count: length - 20)
        struct Opening: AppIntent {
            let url: String
            func perform() async throws -> some IntentResult { IntentResultContainer(url: URL(string: url)) }
        }
        try await withProvider {
            StaticControlConfiguration(kind: "test") { ControlWidgetButton("Open", action: Opening(url: url)) }
        } _: { fake, _ in
            await fake.say(call("1", "control.perform"))
            let opened = length <= 2_048 ? #","url":"\#(url)""# : ""
            let answers = try await replies(fake, to: "1")
            #expect(answers == [#"{"op":"provider.answer","call":"1"\#(opened)}"#])
        }
    }

    @Test func `an error says what it is, and one without a description of its own whose it is`() async throws {
        enum Fault: Error { case jammed }
        struct Broken: Error { var part = 7 }
        struct Told: Error, CustomStringConvertible { var description: String { "the door is stuck" } }
        struct Failing: ControlValueProvider, AppIntent {
            var previewValue = 1
            var error: any Error & Sendable = Fault.jammed
            func currentValue() async throws -> Int { throw error }
            func perform() async throws -> some IntentResult { .result() }
        }
        let errors: [(any Error & Sendable, String)] = [
            (Fault.jammed, "Fault: jammed"), (Broken(), "Broken(part: 7)"), (Told(), "the door is stuck"),
            (ProviderCallError.failed("no battery"), "no battery"),
        ]
        for (error, said) in errors {
            try await withProvider {
                StaticControlConfiguration(kind: "test", provider: Failing(error: error)) { _ in
                    ControlWidgetButton("Failing", action: Failing())
                }
            } _: { fake, _ in
                await fake.say(call("1"))
                let failures = try await replies(fake, to: "1")
                #expect(failures == [#"{"op":"provider.fail","call":"1","message":"\#(said)"}"#])
            }
        }
    }

    @Test func `a value that is null is none`() async throws {
        struct Nothing: ControlValueProvider, AppIntent {
            var previewValue: Int?
            func currentValue() async throws -> Int? { nil }
            func perform() async throws -> some IntentResult { .result() }
        }
        try await withProvider {
            StaticControlConfiguration(kind: "test", provider: Nothing(previewValue: 1)) { _ in
                ControlWidgetButton("Nothing", action: Nothing())
            }
        } _: { fake, _ in
            await fake.say(call("1"))
            let message = "the value is null, which stands for none"
            let failures = try await replies(fake, to: "1")
            #expect(failures == [#"{"op":"provider.fail","call":"1","message":"\#(message)"}"#])
        }
    }

    @Test func `a cancellation reaches the task, and nothing is said of the call`() async throws {
        let (begun, ended) = (Moment(), Moment())
        let test = TestControl(value: {
            begun.comes()
            defer { ended.comes() }
            try await untilCancelled()
            return 0
        })
        try await withProvider(capacity: 1) {
            test
        } _: { fake, _ in
            await fake.say(call("1"))
            try await within { try await begun.wait() }
            await fake.say(["op": .string("provider.cancel"), "call": .string("1"), "reason": .string("timedOut")])
            try await within { try await ended.wait() }
            // The one place is free again, and this call's answer is the first thing that is said.
            await fake.say(call("2", "control.perform"))
            #expect(try await replies(fake, to: "2").count == 1)
            #expect(await fake.received.allSatisfy { $0["call"]?.string != "1" })
        }
    }

    @Test func `no more calls than the capacity run at a time`() async throws {
        let running = Mutex(0)
        let most = Mutex(0)
        let test = TestControl(value: {
            let now = running.withLock { running in
                running += 1
                return running
            }
            most.withLock { $0 = max($0, now) }
            for _ in 0..<100 { await Task.yield() }
            running.withLock { $0 -= 1 }
            return 0
        })
        try await withProvider(capacity: 2) {
            test
        } _: { fake, _ in
            await fake.say(call("1"), call("2"))
            _ = try await replies(fake, to: "1", "2")
            for round in 0..<10 {
                let names = ["a", "b", "c", "d"].map { "\($0)\(round)" }
                await fake.say(call(names[0]), call(names[1]))
                await fake.say(call(names[2]), call(names[3]))
                _ = try await replies(fake, to: names[0], names[1], names[2], names[3])
            }
            #expect(most.withLock(\.self) <= 2)
        }
    }

    @Test func `it registers again, under the same id, with a service that comes back`() async throws {
        try await withProvider {
            TestControl(value: { 7 })
        } _: { fake, run in
            try await fake.restartCommands()
            try await run.registered()
            let registrations = await fake.received.filter { $0["op"]?.string == "provider.register" }
            #expect(registrations.count == 2)
            #expect(Set(registrations.map { $0["provider"]?.string }) == [run.service.id])
            await fake.say(call("1"))
            #expect(try await replies(fake, to: "1").count == 1)
        }
    }

    @Test func `it registers again where it was dropped`() async throws {
        try await withProvider {
            TestControl()
        } _: { fake, run in
            await fake.say(["op": .string("provider.dropped"), "reason": .string("faults")])
            try await run.registered()
            await fake.say(call("1"))
            #expect(try await replies(fake, to: "1").count == 1)
        }
    }

    @Test func `a cancelled provider takes no new calls, lets those at work end and says goodbye`() async throws {
        let (begun, mayEnd) = (Moment(), Moment())
        let test = TestControl(action: {
            begun.comes()
            try await mayEnd.wait()
            return "done"
        })
        try await withProvider {
            test
        } _: { fake, run in
            await fake.say(call("1", "control.perform"))
            try await within { try await begun.wait() }
            run.task.cancel()
            try await within { await fake.wait { $0.received.last?["op"]?.string == "provider.drain" } }
            await fake.say(call("2"))
            #expect(try await replies(fake, to: "2").first?.contains(#""retryable":true"#) == true)
            mayEnd.comes()
            try await within { try await run.task.value }
            let last = await fake.received.suffix(2).map { $0["op"]?.string }
            #expect(last == ["provider.answer", "provider.leave"])
        }
    }

    @Test func `an action that crosses the drain of a cancelled provider is performed before the goodbye`() async throws {
        let test = TestControl(action: { "done" })
        try await withProvider {
            test
        } _: { fake, run in
            // It has not read the drain yet.
            await fake.answerCommands { command, _ in
                command["req"] == nil || command["op"]?.string == "provider.drain" ? nil : ["ok": .bool(true)]
            }
            run.task.cancel()
            try await within { await fake.wait { $0.received.last?["op"]?.string == "provider.drain" } }
            let drain = try #require(await fake.received.last?["req"])
            await fake.say(call("1", "control.perform"), ["req": drain, "ok": .bool(true)])
            #expect(
                try await replies(fake, to: "1") == [#"{"op":"provider.answer","call":"1","status":"done"}"#])
            try await within { try await run.task.value }
            #expect(await fake.received.last?["op"]?.string == "provider.leave")
        }
    }

    @Test func `a handler that does not end is cancelled after the grace and not waited for`() async throws {
        let (begun, ended) = (Moment(), Moment())
        let test = TestControl(action: {
            begun.comes()
            defer { ended.comes() }
            try await untilCancelled()
            return nil
        })
        try await withProvider(gracePeriod: .milliseconds(1)) {
            test
        } _: { fake, run in
            await fake.say(call("1", "control.perform"))
            try await within { try await begun.wait() }
            try await run.stop()
            try await within { try await ended.wait() }
            #expect(await fake.received.last?["op"]?.string == "provider.leave")
        }
    }

    @Test func `it runs once at a time`() async throws {
        try await withProvider {
            TestControl()
        } _: { _, run in
            await #expect(throws: IsletError.invalid("this provider runs already")) { try await run.service.run() }
        }
    }
}
