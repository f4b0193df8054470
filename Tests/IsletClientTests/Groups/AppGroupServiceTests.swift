import IsletClient
import Testing

/// Groups between an app and its extension, at the real service.
@Suite(.timeLimit(.minutes(10))) struct AppGroupServiceTests {
    private static let name = "group.com.example.weather"
    private static let app = "com.example.weather"
    private static let `extension` = "com.example.weather.watch"

    /// Runs a test with the stores of both; the app's is created and open to the extension.
    private func withStores(_ body: (AppGroupStore, AppGroupStore) async throws -> Void) async throws {
        try await withService { endpoints in
            let owner = IsletSession(app: Self.app, endpoints: endpoints)
            let member = IsletSession(app: Self.extension, endpoints: endpoints)
            let stores = [owner, member].map { AppGroupStore(suiteName: Self.name, session: $0) }
            try await stores[0].create(members: [Self.extension])
            try await body(stores[0], stores[1])
            await owner.close()
            await member.close()
        }
    }

    @Test func `what one sets the other reads, and overwrites only what it has seen`() async throws {
        try await withStores { owner, member in
            let first = try await owner.set(["berlin", "oslo"], forKey: "cities")
            let item = try #require(try await member.item(forKey: "cities"))
            #expect(item.value(as: [String].self) == ["berlin", "oslo"])
            #expect(item.revision == first)
            #expect(item.by == Self.app)
            let second = try await member.set(["oslo"], forKey: "cities", ifRevision: first)
            #expect(second == first + 1)
            let conflict = await #expect(throws: IsletError.self) {
                try await owner.set(["bergen"], forKey: "cities", ifRevision: first)
            }
            #expect(conflict?.code == .conflict)
            // The same bytes change nothing.
            #expect(try await owner.set(["oslo"], forKey: "cities") == second)
            #expect(try await owner.value([String].self, forKey: "nothing") == nil)

            #expect(try await owner.removeObject(forKey: "cities"))
            #expect(try await member.removeObject(forKey: "cities") == false)
            let again = try await member.set(1, forKey: "cities", ifRevision: 0)
            #expect(again > second)
        }
    }

    @Test func `keys are listed in their order, by prefix, over several pages`() async throws {
        try await withStores { owner, member in
            let value = String(repeating: "x", count: 1_000)
            for index in 0..<80 { try await owner.set(value, forKey: "city.\(index)") }
            try await owner.set(1, forKey: "other")
            let items = try await member.items(prefix: "city.")
            #expect(items.map(\.key) == (0..<80).map { "city.\($0)" }.sorted())
            #expect(try await member.items().count == 81)
            let info = try await member.info()
            #expect(info.owner == Self.app)
            #expect(info.members.sorted() == [Self.app, Self.extension])
            #expect(info.keys == 81)
            #expect(info.bytes == 80 * 1_002 + 1)
        }
    }

    @Test func `who is no member is refused, and who has left`() async throws {
        try await withStores { owner, member in
            #expect(try await member.leave() == .applied)
            for body in [
                { _ = try await member.items() }, { try await member.notify("x") },
                { try await member.set(1, forKey: "a") },
            ] as [() async throws -> Void] {
                let error = await #expect(throws: IsletError.self) { try await body() }
                #expect(error?.code == .unauthorized)
            }
            #expect(try await owner.admit(Self.extension) == .applied)
            try await member.set(1, forKey: "a")
        }
    }

    @Test func `a group that there is not is an error, and one that there is is not made again`() async throws {
        try await withSession(app: Self.app) { _ in
            let store = AppGroupStore(suiteName: Self.name)
            let missing = await #expect(throws: IsletError.self) { try await store.value(Int.self, forKey: "a") }
            #expect(missing?.code == .notFound)
            try await store.create()
            let taken = await #expect(throws: IsletError.self) { try await store.create() }
            #expect(taken?.code == .conflict)
        }
    }

    @Test func `a member hears of all that happens, in order`() async throws {
        try await withStores { owner, member in
            try await owner.set(1, forKey: "a")
            let (changes, told) = AsyncStream.makeStream(of: AppGroupChange.self)
            let reading = Task {
                defer { told.finish() }
                for try await change in member.changes() { told.yield(change) }
            }
            let heard = try await within {
                var heard: [String] = []
                for await change in changes {
                    switch change {
                    case .synced(let items):
                        heard.append("synced \(items.map(\.key))")
                        // All is followed from here on.
                        try await owner.set(2, forKey: "a")
                        try await owner.notify("refresh")
                        try await member.set(true, forKey: "b")
                        try await owner.removeObject(forKey: "a")
                        try await owner.set(3, forKey: "a")
                    case .set(let item): heard.append("\(item.key) = \(item.value) by \(item.by ?? "nobody")")
                    case .removed(let key, _): heard.append("\(key) removed")
                    case .notified(let name, let by): heard.append("\(name) by \(by ?? "nobody")")
                    }
                    if heard.count == 6 { break }
                }
                return heard
            }
            #expect(
                heard == [
                    #"synced ["a"]"#, "a = 2 by \(Self.app)", "refresh by \(Self.app)",
                    "b = true by \(Self.extension)", "a removed", "a = 3 by \(Self.app)",
                ])
            reading.cancel()
            _ = await reading.result
        }
    }

    /// As where `Islet.configure` is called again: the session from before is nobody's any more.
    @Test func `what is followed goes on when its session is replaced by another`() async throws {
        try await withService { endpoints in
            let owner = AppGroupStore(
                suiteName: Self.name, session: IsletSession(app: Self.app, endpoints: endpoints))
            try await owner.create()
            var changes = try await Islet.$session.withValue(IsletSession(app: Self.app, endpoints: endpoints)) {
                var changes = AppGroupStore(suiteName: Self.name).changes().makeAsyncIterator()
                guard case .synced? = try await changes.next() else { throw CancellationError() }
                return changes
            }
            try await Islet.$session.withValue(IsletSession(app: Self.app, endpoints: endpoints)) {
                for value in 1...3 {
                    try await owner.set(value, forKey: "a")
                    guard case .set(let item)? = try await changes.next() else {
                        Issue.record("it ended, or missed something")
                        return
                    }
                    #expect(item.value(as: Int.self) == value)
                }
            }
        }
    }

    @Test func `who follows a group that another app has made anew hears of its keys`() async throws {
        try await withStores { owner, member in
            let (told, tell) = AsyncStream.makeStream(of: AppGroupChange.self)
            let reading = Task {
                for try await change in member.changes(askingOwnerEvery: .milliseconds(20)) { tell.yield(change) }
                tell.finish()
            }
            var changes = told.makeAsyncIterator()
            #expect(await changes.next() == .synced([]))
            try await owner.remove()
            try await member.create(members: [Self.app])
            let revision = try await member.set(["oslo"], forKey: "cities")
            // What there is in the new one comes, with the key or before it.
            var seen: [AppGroupItem] = []
            while seen.isEmpty {
                switch await changes.next() {
                case .synced(let items): seen = items
                case .set(let item): seen = [item]
                case .removed, .notified, nil: Issue.record("something else")
                }
            }
            #expect(seen.map(\.key) == ["cities"] && seen.map(\.revision) == [revision])
            reading.cancel()
            _ = try await reading.value
        }
    }
}
