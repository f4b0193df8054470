import IsletClient
import Testing

/// Streams over real sockets, against a service that loses events, restarts, and keeps few.
@Suite(.timeLimit(.minutes(10))) struct StreamTests {
    private let app = "com.example.pizza"

    @Test func `a reader joins with a fresh nonce and gets every event after that`() async throws {
        try await withConnection { fake, connection in
            await fake.live { $0.start("a") }
            let reader = StreamReader(try await connection.events("\(app)/"))
            #expect(try await reader.synced().position?.seq == 1)
            await fake.live { model in for _ in 1...3 { model.update("a") } }
            #expect(try await reader.events(3) == [2, 3, 4])
            let subscriptions = await fake.subscriptions
            #expect(subscriptions.first == "\(app)/")
            #expect(subscriptions.last?.hasPrefix("~join/") == true)
            #expect(subscriptions.last?.hasSuffix("/\(app)") == true)
        }
    }

    @Test func `a gap is filled by replay`() async throws {
        try await withConnection { fake, connection in
            let reader = StreamReader(try await connection.events("\(app)/"))
            _ = try await reader.synced()
            await fake.setRowsPerChunk(3)
            await fake.live { $0.start("a") }
            await fake.live(lost: true) { model in for _ in 1...10 { model.update("a") } }
            await fake.live { $0.update("a") }
            #expect(try await reader.events(12) == Array(1...12))
            #expect(await fake.bulkRequests.first?["op"]?.string == "bulk.replay")
            #expect(await fake.bulkRequests.first?["from"]?.unsigned == 1)
        }
    }

    @Test func `a watermark shows what was lost at the end`() async throws {
        try await withConnection { fake, connection in
            let reader = StreamReader(try await connection.events("\(app)/"))
            _ = try await reader.synced()
            await fake.live(lost: true) { $0.start("a") }
            await fake.publishWatermark()
            #expect(try await reader.events(1) == [1])
        }
    }

    @Test func `after a reconnect the answer by itself leads to a fresh nonce and a replay`() async throws {
        try await withConnection { fake, connection in
            await fake.live { $0.start("a") }
            let reader = StreamReader(try await connection.events("\(app)/"))
            _ = try await reader.synced()
            try await fake.restartEvents()
            await fake.live(lost: true) { $0.update("a") }
            #expect(try await reader.events(1) == [2])
            let nonces = await fake.subscriptions.filter { $0.hasPrefix("~join/") }
            // The first one, the first one again by the new connection, and the fresh one.
            #expect(nonces.count == 3)
            #expect(nonces[0] == nonces[1])
            #expect(nonces[2] != nonces[0])
            await fake.live { $0.update("a") }
            #expect(try await reader.events(1) == [3])
        }
    }

    @Test func `a join that is not answered is asked for again with another nonce`() async throws {
        try await withConnection { fake, connection in
            await fake.answerJoins(false)
            let reader = StreamReader(try await connection.events("\(app)/"))
            await fake.wait { $0.subscriptions.contains { $0.hasPrefix("~join/") } }
            await fake.answerJoins(true)
            _ = try await reader.synced()
            let nonces = await fake.subscriptions.filter { $0.hasPrefix("~join/") }
            // Two where the machine is quick, and each another one in any case.
            #expect(nonces.count >= 2)
            #expect(Set(nonces).count == nonces.count)
        }
    }

    @Test func `a restart with another epoch is told`() async throws {
        try await withConnection { fake, connection in
            await fake.live { $0.start("a") }
            let reader = StreamReader(try await connection.events("\(app)/"))
            _ = try await reader.synced()
            await fake.live(lost: true) { $0.epoch = "e2" }
            try await fake.restartEvents()
            #expect(try await reader.synced().reason == .epochChanged)
            await fake.live { $0.update("a") }
            #expect(try await reader.events(1) == [2])
        }
    }

    @Test func `a slow reader loses nothing`() async throws {
        var options = ConnectionOptions.patient
        options.deliveryLimit = 16
        try await withConnection(options: options) { fake, connection in
            let reader = StreamReader(try await connection.events("\(app)/"))
            _ = try await reader.synced()
            await fake.live { $0.start("a") }
            #expect(try await reader.events(1) == [1])
            await fake.live { model in for _ in 2...2_000 { model.update("a") } }
            // The connection takes in what has come whenever it takes in an answer, so that the reader is far behind.
            for _ in 1...20 { try await connection.send(Command("service.ping")) }
            #expect(try await reader.events(1_999) == Array(2...2_000))
            #expect(await fake.bulkRequests.contains { $0["op"]?.string == "bulk.replay" })
        }
    }

    @Test func `two readers of one connection do not disturb each other`() async throws {
        try await withConnection { fake, connection in
            let first = StreamReader(try await connection.events("\(app)/"))
            _ = try await first.synced()
            await fake.live { $0.start("a") }
            #expect(try await first.events(1) == [1])
            let second = StreamReader(try await connection.entities("\(app)/"))
            #expect(try await second.synced().entities.map(\.id) == ["a"])
            await fake.live { $0.update("a") }
            #expect(try await first.events(1) == [2])
            #expect(try await second.events(1) == [2])
        }
    }

    @Test func `a reader of everything follows apps that come later`() async throws {
        try await withConnection { fake, connection in
            await fake.live { $0.start("a") }
            let reader = StreamReader(try await connection.events())
            #expect(try await reader.synced().app == app)
            await fake.live("com.example.taxi") { $0.start("t") }
            let other = try await reader.synced()
            #expect(other.app == "com.example.taxi")
            #expect(other.position == nil)
            #expect(try await reader.events(1) == [1])
        }
    }

    @Test func `a reader of events of one type gets no others and still sees gaps`() async throws {
        try await withConnection { fake, connection in
            let reader = StreamReader(try await connection.events("\(app)/activity/Delivery/"))
            _ = try await reader.synced()
            await fake.live { $0.start("x", type: "Other") }
            await fake.live { $0.start("a") }
            await fake.live(lost: true) { $0.update("a") }
            await fake.live { $0.update("x", type: "Other") }
            await fake.live { $0.update("a") }
            #expect(try await reader.events(3) == [2, 3, 5])
        }
    }

    @Test func `entities come whole, and every event with the whole entity`() async throws {
        try await withConnection { fake, connection in
            await fake.live { model in
                model.start("a")
                model.start("b")
                model.update("b", eta: 7)
            }
            let reader = StreamReader(try await connection.entities("\(app)/activity/Delivery/"))
            let state = try await reader.synced()
            #expect(Set(state.entities.map(\.id)) == ["a", "b"])
            await fake.live { $0.update("a", eta: 5) }
            guard case .event(_, let context)? = try await reader.next() else {
                Issue.record("expected an event")
                return
            }
            #expect(context.entity?.state == .active)
            #expect(context.entity?["contentState"]?.description == #"{"eta":5}"#)
        }
    }

    @Test func `a service with too many apps says so`() async throws {
        try await withConnection { fake, connection in
            await fake.answerJoins(true, error: ["error": .string("tooMany")])
            let reader = StreamReader(try await connection.events())
            let error = await #expect(throws: IsletError.self) { try await reader.next() }
            #expect(error?.code == .tooMany)
        }
    }

    /// Such as one on the usual ports, beside one that is named by its commands alone.
    @Test(arguments: [StreamOwnership.Stream.events, .bulk])
    func `the streams of another service are not followed`(foreign: StreamOwnership.Stream) async throws {
        try await withFakeService { own in
            try await withFakeService { other in
                await own.name(epoch: "e1")
                await other.name(epoch: "e2")
                await own.live { $0.start("a") }
                await other.live { model in
                    model.epoch = "e2"
                    model.start("b")
                }
                var endpoints = own.endpoints
                switch foreign {
                case .events: endpoints.events = other.endpoints.events
                case .bulk: endpoints.bulk = other.endpoints.bulk
                }
                let connection = try await IsletConnection.open(endpoints, options: .patient)
                let reader = StreamReader(try await connection.entities("\(app)/"))
                let error = await #expect(throws: IsletError.self) { try await reader.next() }
                #expect(error == .otherService(endpoints, foreign))
                await connection.close()
            }
        }
    }

    @Test func `a service that is known by its epoch is followed`() async throws {
        try await withConnection { fake, connection in
            await fake.name(epoch: "e1")
            await fake.live { $0.start("a") }
            let reader = StreamReader(try await connection.entities("\(app)/"))
            #expect(try await reader.synced().entities.map(\.id) == ["a"])
            #expect(await fake.received.map { $0["op"]?.string } == ["service.info"])
        }
    }

    @Test func `a stream that nobody holds is given up`() async throws {
        try await withConnection { fake, connection in
            do {
                let stream = try await connection.events("\(app)/")
                _ = try await StreamReader(stream).synced()
            }
            let app = app
            await fake.wait { $0.subscriptions.contains("-\(app)/") }
        }
    }

    @Test func `closing the connection ends its streams`() async throws {
        try await withConnection { _, connection in
            let reader = StreamReader(try await connection.events("\(app)/"))
            _ = try await reader.synced()
            await connection.close()
            #expect(try await reader.next() == nil)
        }
    }
}
