import IsletClient
import Testing

/// A replica against the real service: what it holds is what the service has.
@Suite(.timeLimit(.minutes(10))) struct ReplicaServiceTests {
    private let app = "com.example.pizza"

    @Test(arguments: ["com.example.pizza/", "com.example.pizza/activity/Delivery/"])
    func `a replica ends with what the service lists`(prefix: String) async throws {
        let seed = UInt64.random(in: .min ... .max)
        try await withService { endpoints in
            let connection = try await IsletConnection.open(endpoints)
            var life = RandomLife(connection: connection, app: app, seed: seed)
            try await life.live(steps: 200)
            // Two replicas: one that joins in the middle of it, and one that begins at once.
            let reader = StreamReader(try await connection.entities(prefix))
            try await life.live(steps: 600)
            let last = try await connection.send(
                Command(
                    "activity.start", app: app,
                    ["type": .string("Delivery"), "attributes": .object([]), "contentState": .object([])]))
            let end = try #require(last.seq)

            var held: [String: RawObject] = [:]
            var position: UInt64 = 0
            while position < end {
                switch try await reader.next() {
                case .synced(let state)?:
                    held = Dictionary(uniqueKeysWithValues: state.entities.map { ($0.id, $0.members) })
                    position = state.position?.seq ?? 0
                case .event(let event, let context)?:
                    position = event.seq
                    guard context.isNews, let entity = context.entity else { continue }
                    held[entity.id] = entity.state == .dismissed ? nil : entity.members
                case .joined?, .closing?: continue
                case nil:
                    Issue.record("the stream ended")
                    return
                }
            }
            let listed = try await life.listed(type: prefix.hasSuffix("Delivery/") ? "Delivery" : nil)
            // Since when a state is, only answers to reads say.
            let followed = listed.mapValues { $0.sorted.filter { $0.name != "stateAt" } }
            #expect(held.mapValues(\.sorted) == followed, "seed \(seed)")
            await connection.close()
        }
    }

    @Test func `a restart of the service is followed, and its new history told`() async throws {
        var endpoints = Endpoints()
        let start = Command(
            "activity.start", app: app, ["type": .string("D"), "attributes": .object([]), "contentState": .object([])])
        let (connection, reader) = try await withService { bound in
            endpoints = bound
            let connection = try await IsletConnection.open(bound)
            try await connection.send(start)
            let reader = StreamReader(try await connection.entities("\(app)/"))
            #expect(try await reader.synced().entities.count == 1)
            return (connection, reader)
        }
        guard case .closing? = try await reader.next() else {
            Issue.record("no goodbye")
            return
        }
        try await withService(at: endpoints) { _ in
            try await connection.send(start)
            let state = try await reader.synced()
            #expect(state.reason == .epochChanged)
            // The start came before the join or after it; in the end there is one.
            if state.entities.isEmpty {
                guard case .event? = try await reader.next() else {
                    Issue.record("expected the start")
                    return
                }
            } else {
                #expect(state.entities.count == 1)
            }
            await connection.close()
        }
    }

    @Test func `a restart of a service with files goes on where the replica was`() async throws {
        var endpoints = Endpoints()
        let data = try TemporaryFolder()
        let start = Command(
            "activity.start", app: app, ["type": .string("D"), "attributes": .object([]), "contentState": .object([])])
        let (connection, reader, position) = try await withService(data: data.path) { bound in
            endpoints = bound
            let connection = try await IsletConnection.open(bound)
            try await connection.send(start)
            let reader = StreamReader(try await connection.entities("\(app)/"))
            let state = try await reader.synced()
            #expect(state.entities.count == 1)
            return (connection, reader, state.position)
        }
        guard case .closing? = try await reader.next() else {
            Issue.record("no goodbye")
            return
        }
        try await withService(at: endpoints, data: data.path) { bound in
            // Before the replica is back: what it misses comes from the journal's files.
            let other = try await IsletConnection.open(bound)
            for _ in 1...3 { try await other.send(start) }
            var seqs: [UInt64] = []
            while seqs.count < 3 {
                switch try await reader.next() {
                case .event(let event, let context)?:
                    if context.isNews { seqs.append(event.seq) }
                    #expect(event.position.epoch == position?.epoch)
                case .synced(let state)?:
                    Issue.record("a snapshot was not needed: \(state.reason)")
                    return
                case .joined?, .closing?: continue
                case nil:
                    Issue.record("the stream ended")
                    return
                }
            }
            #expect(seqs == [2, 3, 4])
            await other.close()
            await connection.close()
        }
    }
}

extension RawObject {
    /// Members by name: a merge patch puts new ones last, the service writes them in its own order.
    fileprivate var sorted: [Member] { members.sorted { $0.name < $1.name } }
}

/// Commands by chance.
private struct RandomLife {
    let connection: IsletConnection
    let app: String
    private var generator: SplitMix
    private var ids: [String] = []

    init(connection: IsletConnection, app: String, seed: UInt64) {
        self.connection = connection
        self.app = app
        generator = SplitMix(state: seed)
    }

    mutating func live(steps: Int) async throws {
        for _ in 0..<steps {
            let number = Int.random(in: 0..<1_000, using: &generator)
            let content = RawJSON.object([.init("n", .integer(number))])
            guard let id = ids.randomElement(using: &generator), number >= 250 else {
                var fields: RawObject = [
                    "type": .string(number % 2 == 0 ? "Delivery" : "Ride"), "attributes": .object([]),
                    "contentState": content,
                ]
                if number % 3 == 0 { fields["staleDate"] = .integer(try await connection.now() + 60_000) }
                let answer = try await connection.send(Command("activity.start", app: app, fields))
                if let id = answer.activity?["id"]?.string { ids.append(id) }
                continue
            }
            switch number {
            case 250..<700: try await send("activity.update", id, ["contentState": content])
            case 700..<800: try await send("activity.end", id, [:])
            case 800..<850: try await send("activity.end", id, ["dismissalPolicy": .string("immediate")])
            case 850..<900: try await send("activity.dismiss", id, [:])
            case 900..<930: try await send("activity.renew", id, [:])
            default: try await connection.advance(minutes: 1 + number % 30)
            }
        }
    }

    /// A command that may come too late for its activity.
    private func send(_ op: String, _ id: String, _ fields: RawObject) async throws {
        var command = Command(op, app: app, ["id": .string(id)])
        for member in fields.members { command[member.name] = member.value }
        do throws(IsletError) {
            try await connection.send(command)
        } catch {
            guard error.code != nil else { throw error }
        }
    }

    func listed(type: String?) async throws -> [String: RawObject] {
        var command = Command("activity.list", app: app, ["limit": .integer(1_000)])
        command["type"] = type.map(RawJSON.string)
        let rows = try await connection.send(command)["activities"]?.elements?.compactMap(\.object) ?? []
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["id"]?.string ?? "", $0) })
    }
}
