import Foundation
import IsletClient
import Testing

/// Commands over real sockets, against a service that keeps silent, is busy, or is not there.
@Suite(.timeLimit(.minutes(10))) struct CommandTests {
    private let ping = Command("service.ping")
    private let change = Command("activity.heartbeat", app: "com.example.pizza", ["key": .string("order-7")])

    @Test func `a command without an answer is sent again with the same bytes`() async throws {
        try await withConnection(options: .eager) { fake, connection in
            await fake.answerCommands { _, count in
                count < 3 ? nil : ["ok": .bool(true), "outcome": .string("applied")]
            }
            let answer = try await connection.send(change)
            #expect(answer.outcome == .applied)
            let messages = await fake.commandMessages
            #expect(messages.count >= 3)
            #expect(Set(messages).count == 1)
        }
    }

    @Test func `changes carry the same client and reads carry none`() async throws {
        try await withConnection { fake, connection in
            try await connection.send(change)
            try await connection.send(ping)
            try await connection.send(change)
            let received = await fake.received
            #expect(received.map { $0["req"]?.string } == ["c-1", "c-2", "c-3"])
            #expect(received[0]["client"]?.string?.count == 36)
            #expect(received[0]["client"] == received[2]["client"])
            #expect(received[1]["client"] == nil)
        }
    }

    @Test func `a busy service is asked again when it says`() async throws {
        try await withConnection { fake, connection in
            await fake.answerCommands { _, count in
                guard count == 1 else { return ["ok": .bool(true)] }
                return [
                    "ok": .bool(false),
                    "error": .object([.init("code", .string("busy")), .init("retryAfter", .integer(20))]),
                ]
            }
            try await connection.send(change)
            let messages = await fake.commandMessages
            #expect(messages.count == 2)
            #expect(messages[0] == messages[1])
        }
    }

    @Test func `a refusal is thrown with its code, retry class and detail`() async throws {
        try await withConnection { fake, connection in
            await fake.answerCommands { _, _ in
                [
                    "ok": .bool(false),
                    "error": .object([
                        .init("code", .string("attributesTooLarge")), .init("message", .string("too large")),
                        .init("retry", .string("never")), .init("detail", .object([.init("bytes", .integer(4_310))])),
                    ]),
                ]
            }
            let error = await #expect(throws: IsletError.self) { try await connection.send(change) }
            #expect(error?.code == .authorization(.attributesTooLarge))
            #expect(error?.retry == .never)
            #expect(error?.detail["bytes"]?.integer == 4_310)
        }
    }

    @Test(arguments: ["\u{E4}", "a\"b", "a\\b", "tab\t", String(repeating: "x", count: 41)])
    func `a prefix that the service would not take is refused at once`(prefix: String) async {
        let options = ConnectionOptions(requestPrefix: prefix)
        await #expect(throws: IsletError.self) { try await IsletConnection.open(.free, options: options) }
    }

    @Test func `a command whose task is cancelled before there is a connection is never sent`() async throws {
        let endpoints = unusedEndpoints()
        let connection = try await IsletConnection.open(endpoints, options: .patient)
        let unwanted = Task { try? await connection.send(change) }
        let batch = Task { await connection.send(batch: [change, change]) }
        await Task.yield()
        unwanted.cancel()
        batch.cancel()
        _ = await (unwanted.value, batch.value)
        try await withFakeService(at: endpoints) { fake in
            try await connection.send(ping)
            #expect(await fake.received.map { $0["op"]?.string } == ["service.ping"])
        }
        await connection.close()
    }

    @Test func `a command without any answer times out`() async throws {
        try await withConnection { fake, connection in
            await fake.answerCommands { _, _ in nil }
            await #expect(throws: IsletError.timedOut(after: .milliseconds(100))) {
                try await connection.send(ping, timeout: .milliseconds(100))
            }
        }
    }

    @Test func `a change without any answer says that it was sent`() async throws {
        try await withConnection { fake, connection in
            await fake.answerCommands { _, _ in nil }
            let sent = UnansweredChange(op: change.op, wasSent: true)
            let error = IsletError.timedOut(after: .milliseconds(100), change: sent)
            await #expect(throws: error) { try await connection.send(change, timeout: .milliseconds(100)) }
            #expect(
                error.description == "no answer within 0.1 s; \(change.op) was sent, outcome unknown: look at it before "
                    + "you repeat it")
        }
    }

    @Test func `a cancelled task does not wait for its answer`() async throws {
        try await withConnection { fake, connection in
            await fake.answerCommands { _, _ in nil }
            let waiting = Task { try await connection.send(ping) }
            await fake.wait { $0.commandMessages.count == 1 }
            waiting.cancel()
            await #expect(throws: IsletError.cancelled) { try await waiting.value }
        }
    }

    @Test func `closing ends what waits, and what comes after`() async throws {
        try await withConnection { fake, connection in
            await fake.answerCommands { _, _ in nil }
            let waiting = Task { try await connection.send(ping) }
            await fake.wait { $0.commandMessages.count == 1 }
            await connection.close()
            await #expect(throws: IsletError.closed) { try await waiting.value }
            await #expect(throws: IsletError.closed) { try await connection.send(ping) }
            await #expect(throws: IsletError.closed) { try await connection.events() }
        }
    }

    @Test func `many commands of one message are answered in their order`() async throws {
        try await withConnection { fake, connection in
            await fake.answerCommands { command, _ in
                guard command["key"]?.string != "b" else {
                    return ["ok": .bool(false), "error": .object([.init("code", .string("notFound"))])]
                }
                return ["ok": .bool(true), "seen": command["key"] ?? .null]
            }
            let commands = ["a", "b", "c"].map { Command("activity.get", ["key": .string($0)]) }
            let results = await connection.send(batch: commands)
            let seen = results.map { (try? $0.get())?["seen"]?.string }
            #expect(seen == ["a", nil, "c"])
            #expect(await fake.commandMessages.map(\.count) == [3])
        }
    }

    @Test func `a large batch goes in messages of at most 256`() async throws {
        try await withConnection { fake, connection in
            let results = await connection.send(batch: Array(repeating: ping, count: 600))
            #expect(results.count == 600)
            #expect(await fake.commandMessages.map(\.count) == [256, 256, 88])
        }
    }

    @Test func `a thousand tasks get their own answers`() async throws {
        try await withConnection { fake, connection in
            await fake.answerCommands { command, _ in ["ok": .bool(true), "seen": command["key"] ?? .null] }
            try await withThrowingTaskGroup { group in
                for number in 0..<1_000 {
                    group.addTask {
                        let answer = try await connection.send(Command("activity.get", ["key": .string("\(number)")]))
                        #expect(answer["seen"]?.string == "\(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `sixty thousand at once all get their answers`() async throws {
        try await withService { endpoints in
            let connection = try await IsletConnection.open(endpoints, options: ConnectionOptions(timeout: .seconds(120)))
            let answered = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<60_000 {
                    group.addTask { (try? await connection.send(ping)) != nil }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(answered == 60_000)
            await connection.close()
        }
    }

    @Test func `a task that was cancelled sends nothing by a connection that is there`() async throws {
        try await withConnection { fake, connection in
            try await connection.send(ping)
            let results = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await connection.send(batch: Array(repeating: change, count: 2_000))
            }.value
            let single = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try? await connection.send(change)
            }.value
            #expect(results.count == 2_000 && single == nil)
            #expect(results.allSatisfy { if case .failure(.cancelled) = $0 { true } else { false } })
            try await connection.send(ping)
            #expect(await fake.received.map { $0["op"]?.string } == ["service.ping", "service.ping"])
        }
    }

    @Test func `a command waits for a service that comes later`() async throws {
        let endpoints = unusedEndpoints()
        let connection = try await IsletConnection.open(endpoints, options: .patient)
        let waiting = Task { try await connection.send(ping) }
        try await withFakeService(at: endpoints) { _ in
            _ = try await waiting.value
        }
        await connection.close()
    }

    @Test func `a command that was given up is not executed when the service comes back`() async throws {
        let endpoints = unusedEndpoints()
        let connection = try await IsletConnection.open(endpoints, options: .patient)
        let given = UnansweredChange(op: change.op, wasSent: false)
        await #expect(throws: IsletError.timedOut(after: .milliseconds(50), change: given)) {
            try await connection.send(change, timeout: .milliseconds(50))
        }
        try await withFakeService(at: endpoints) { fake in
            try await connection.send(ping)
            #expect(await fake.received.map { $0["op"]?.string } == ["service.ping"])
        }
        await connection.close()
    }

    @Test func `an endpoint that is no address is told at once`() async throws {
        await #expect(throws: IsletError.endpoint("nonsense", reason: "not a valid endpoint")) {
            _ = try await IsletConnection.open(Endpoints(commands: "nonsense"))
        }
    }

    /// Endpoints at which nobody is.
    /// Paths and not ports: a port that is free again may be somebody else's before it is taken, who would get the
    /// command.
    private func unusedEndpoints() -> Endpoints {
        func path() -> String { "ipc:///tmp/islet-\(UUID().uuidString)" }
        return Endpoints(commands: path(), events: path(), bulk: path())
    }
}
