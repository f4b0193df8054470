import IsletClient
import Testing

/// The store of a group, against a service that does what the test says.
@Suite(.timeLimit(.minutes(10))) struct AppGroupStoreTests {
    private let name = "group.com.example.weather"

    private func withStore(
        answer: @escaping @Sendable (RawObject) -> RawObject,
        _ body: (FakeService, AppGroupStore) async throws -> Void
    ) async throws {
        try await withFakeService { fake in
            await fake.answerCommands { command, _ in answer(command) }
            let session = IsletSession(app: "com.example.pizza", endpoints: fake.endpoints, options: .patient)
            try await body(fake, AppGroupStore(suiteName: name, session: session))
            await session.close()
        }
    }

    private static func item(_ key: String, _ value: String, revision: Int) -> RawJSON {
        let value = RawJSON(value) ?? .null
        return .object([
            .init("group", .string("group.com.example.weather")), .init("key", .string(key)),
            .init("state", .string("present")), .init("revision", .integer(revision)), .init("value", value),
            .init("by", .string("com.example.extension")),
        ])
    }

    private static func refused(_ code: String, _ detail: RawObject) -> RawObject {
        let error: RawObject = [
            "code": .string(code), "message": .string("no"), "retry": .string("never"), "detail": detail.json,
        ]
        return ["ok": .bool(false), "error": error.json]
    }

    @Test func `commands name the group`() async throws {
        let answer: RawObject = [
            "ok": .bool(true), "outcome": .string("applied"), "group": Self.item("a", "1", revision: 4),
        ]
        try await withStore { _ in
            answer
        } _: { fake, store in
            try await store.create()
            try await store.create(members: ["com.example.extension"])
            #expect(try await store.admit("com.example.watch") == .applied)
            #expect(try await store.leave() == .applied)
            #expect(try await store.set(["b": 1, "a": 2], forKey: "a") == 4)
            let number = try #require(RawJSON("1.50"))
            #expect(try await store.set(json: number, forKey: "a", ifRevision: 0) == 4)
            #expect(try await store.value(Int.self, forKey: "a") == 1)
            #expect(try await store.value(String.self, forKey: "a") == nil)
            #expect(try await store.removeObject(forKey: "a", ifRevision: 4))
            try await store.notify("changed")
            let commands = await fake.received.map { command in
                #expect(command["group"]?.string == name)
                #expect(command["app"]?.string == "com.example.pizza")
                #expect((command["client"] == nil) == (command["op"]?.string == "group.get"))
                var command = command
                for member in ["app", "req", "client", "group"] { command[member] = nil }
                return command.description
            }
            #expect(
                commands == [
                    #"{"op":"group.create"}"#, #"{"op":"group.create","members":["com.example.extension"]}"#,
                    #"{"op":"group.admit","member":"com.example.watch"}"#, #"{"op":"group.leave"}"#,
                    #"{"op":"group.set","key":"a","value":{"a":2,"b":1}}"#,
                    #"{"op":"group.set","key":"a","value":1.50,"ifRevision":0}"#,
                    #"{"op":"group.get","key":"a"}"#, #"{"op":"group.get","key":"a"}"#,
                    #"{"op":"group.delete","key":"a","ifRevision":4}"#, #"{"op":"group.notify","name":"changed"}"#,
                ])
        }
    }

    @Test func `items come with their values, their revisions and who set them`() async throws {
        try await withStore { command in
            let isFirst = command["cursor"] == nil
            #expect(command["prefix"]?.string == "c")
            var answer: RawObject = ["ok": .bool(true)]
            answer["items"] = .array([Self.item(isFirst ? "ca" : "cb", #"{"x":[1]}"#, revision: isFirst ? 1 : 9)])
            answer["next"] = isFirst ? .string("more") : .null
            return answer
        } _: { _, store in
            let items = try await store.items(prefix: "c")
            #expect(items.map(\.key) == ["ca", "cb"])
            #expect(items.map(\.revision) == [1, 9])
            #expect(items.first?.by == "com.example.extension")
            #expect(items.first?.value.description == #"{"x":[1]}"#)
            #expect(items.first?.value(as: [String: [Int]].self) == ["x": [1]])
        }
    }

    @Test func `a key that is not there is nil, a group that is not there is an error`() async throws {
        try await withStore { command in
            Self.refused("notFound", command["key"]?.string == "a" ? [:] : ["group": .string("g")])
        } _: { _, store in
            let value = try await store.value(Int.self, forKey: "a")
            #expect(value == nil)
            let isRemoved = try await store.removeObject(forKey: "a")
            #expect(!isRemoved)
            for body in [
                { _ = try await store.value(Int.self, forKey: "b") }, { _ = try await store.info() },
                { _ = try await store.removeObject(forKey: "b") },
            ] as [() async throws -> Void] {
                let error = await #expect(throws: IsletError.self) { try await body() }
                #expect(error?.code == .notFound)
            }
        }
    }

    @Test func `null is no value of a key`() async throws {
        try await withStore { _ in ["ok": .bool(true)] } _: { fake, store in
            await #expect(throws: IsletError.self) { try await store.set(Int?.none, forKey: "a") }
            #expect(await fake.received.isEmpty)
        }
    }

    @Test func `changes end where the task is cancelled before they begin`() async throws {
        try await withStore { _ in ["ok": .bool(true)] } _: { _, store in
            let reading = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                var changes = store.changes().makeAsyncIterator()
                return try await changes.next()
            }
            let change = try await reading.value
            #expect(change == nil)
        }
    }

    @Test func `refusals are told with their figures`() async throws {
        try await withStore { command in
            switch command["op"]?.string {
            case "group.set": Self.refused("quotaExceeded", ["limit": .integer(16_384)])
            default: Self.refused("unauthorized", ["group": .string("g")])
            }
        } _: { _, store in
            let full = await #expect(throws: IsletError.self) { try await store.set(1, forKey: "a") }
            #expect(full?.code == .quotaExceeded)
            #expect(full?.detail["limit"]?.integer == 16_384)
            let foreign = await #expect(throws: IsletError.self) { try await store.notify("a") }
            #expect(foreign?.code == .unauthorized)
        }
    }

    @Test func `changes begin with what there is, and have sets, removals and signals in their order`() async throws {
        let info = RawJSON(
            #"{"group":"g","owner":"com.example.pizza","members":["com.example.pizza","b"],"keys":1,"bytes":2}"#)
        try await withStore { command in
            ["ok": .bool(true), "group": command["op"]?.string == "group.info" ? info ?? .null : .null]
        } _: { fake, store in
            let group = try await store.info()
            #expect(group.members == ["com.example.pizza", "b"])
            #expect([group.keys, group.bytes] == [1, 2])

            await fake.live { $0.setGroup(self.name, key: "a", value: 1) }
            let (changes, told) = AsyncStream.makeStream(of: AppGroupChange.self)
            let reading = Task {
                defer { told.finish() }
                for try await change in store.changes() { told.yield(change) }
            }
            var iterator = changes.makeAsyncIterator()
            guard case .synced(let items)? = await iterator.next() else { throw CancellationError() }
            #expect(items.map(\.key) == ["a"])
            await fake.live { model in
                model.setGroup(self.name, key: "a", value: 2)
                model.notifyGroup(self.name, "refresh")
                model.start("other")
                model.deleteGroup(self.name, key: "a")
                model.setGroup(self.name, key: "a", value: 3)
            }
            var rest: [String] = []
            while rest.count < 4, let change = await iterator.next() {
                switch change {
                case .synced: rest.append("synced")
                case .set(let item): rest.append("\(item.key) = \(item.value) at \(item.revision)")
                case .removed(let key, let revision): rest.append("\(key) removed at \(revision)")
                case .notified(let name, let by): rest.append("\(name) by \(by ?? "nobody")")
                }
            }
            #expect(rest == ["a = 2 at 2", "refresh by b", "a removed at 3", "a = 3 at 4"])
            reading.cancel()
            _ = await reading.result
        }
    }
}
