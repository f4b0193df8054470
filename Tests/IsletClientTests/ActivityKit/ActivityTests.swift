import FoundationEssentials
import IsletClient
import Testing

/// What an app's developer shares between app and server.
struct DeliveryAttributes: ActivityAttributes, Equatable {
    struct ContentState: Codable, Hashable, Sendable {
        var eta: Int
        var note = ""
    }

    var order: Int
}

/// Where the tests' manual clock begins: 2026-01-01T00:00Z.
private let begin = Date(timeIntervalSince1970: 1_767_225_600)

private func content(_ eta: Int, stale minutes: Int? = nil) -> ActivityContent<DeliveryAttributes.ContentState> {
    ActivityContent(state: .init(eta: eta), staleDate: minutes.map { begin + TimeInterval($0 * 60) })
}

/// The face that reads like ActivityKit, against the real service.
@Suite(.timeLimit(.minutes(10))) struct ActivityTests {
    @Test func `an activity lives from request to end`() async throws {
        try await withSession { connection in
            let activity = try await Activity.request(
                attributes: DeliveryAttributes(order: 7), content: content(12, stale: 10), pushType: nil)
            #expect(try await activity.activityState == .active)
            #expect(try await activity.content == content(12, stale: 10))
            try await connection.advance(minutes: 10)
            #expect(try await activity.activityState == .stale)
            #expect(try await activity.update(content(5)) == .applied)
            #expect(try await activity.activityState == .active)
            #expect(try await activity.content == content(5))
            try await activity.end(content(0), dismissalPolicy: .after(begin + 1_800))
            #expect(try await activity.activityState == .ended)
            try await connection.advance(minutes: 20)
            #expect(try await activity.activityState == .dismissed)
        }
    }

    @Test func `a tap is told with what it opens`() async throws {
        try await withSession { connection in
            let activity = try await Activity.request(attributes: DeliveryAttributes(order: 7), content: content(12))
            let stream = StreamReader(try await connection.events("com.example.pizza/"))
            _ = try await stream.synced()
            #expect(try await activity.tap(opening: URL(string: "pizza://order/7")) == .applied)
            guard case .event(let event, _)? = try await stream.next() else { throw CancellationError() }
            #expect(event.name == "activity.tapped")
            #expect(event.interaction?.url == "pizza://order/7")
            #expect(event.interaction?.kind == "DeliveryAttributes")
            try await activity.end(nil)
            #expect(try await activity.tap() == .ignored(reason: "ended"))
        }
    }

    @Test func `what ActivityKit drops in silence is told`() async throws {
        try await withSession { _ in
            let activity = try await Activity.request(attributes: DeliveryAttributes(order: 7), content: content(12))
            #expect(try await activity.update(content(12)) == .ignored(reason: "unchanged"))
            #expect(try await activity.update(content(1), timestamp: begin - 60) == .ignored(reason: "olderTimestamp"))
            try await activity.end(nil, dismissalPolicy: .immediate)
            #expect(try await activity.update(content(1)) == .ignored(reason: "dismissed"))
        }
    }

    @Test func `a scheduled one is pending until its date`() async throws {
        try await withSession { connection in
            let activity = try await Activity.request(
                attributes: DeliveryAttributes(order: 7), content: content(12),
                alertConfiguration: AlertConfiguration(title: "Order 7", body: "It begins", sound: .named("bell")),
                start: begin + 3_600)
            #expect(try await activity.activityState == .pending)
            try await connection.advance(minutes: 60)
            #expect(try await activity.activityState == .active)
        }
    }

    @Test func `refusals are Apple's errors`() async throws {
        try await withSession { connection in
            let attributes = DeliveryAttributes(order: 7)
            var large = content(1)
            large.state.note = String(repeating: "x", count: 5_000)
            await #expect(throws: ActivityAuthorizationError.attributesTooLarge) {
                try await Activity.request(attributes: attributes, content: large)
            }
            for _ in 1...5 {
                _ = try await Activity.request(attributes: attributes, content: content(1), device: "phone")
            }
            await #expect(throws: ActivityAuthorizationError.targetMaximumExceeded) {
                try await Activity.request(attributes: attributes, content: content(1), device: "phone")
            }
            try await connection.send(
                Command("settings.set", app: "com.example.pizza", ["activitiesEnabled": .bool(false)]))
            await #expect(throws: ActivityAuthorizationError.denied) {
                try await Activity.request(attributes: attributes, content: content(1))
            }
        }
    }

    @Test func `other refusals are the service's`() async throws {
        try await withSession { _ in
            let attributes = DeliveryAttributes(order: 7)
            _ = try await Activity.request(attributes: attributes, content: content(1), key: "order-7")
            let error = await #expect(throws: IsletError.self) {
                try await Activity.request(attributes: attributes, content: content(1), key: "order-7")
            }
            #expect(error?.code == .conflict)
        }
    }

    @Test func `states and contents are streamed until the activity is dismissed`() async throws {
        try await withSession { connection in
            let activity = try await Activity.request(
                attributes: DeliveryAttributes(order: 7), content: content(12, stale: 10))
            let states = Task { await activity.activityStateUpdates.reduce(into: []) { $0.append($1) } }
            let contents = Task { await activity.contentUpdates.reduce(into: []) { $0.append($1.state.eta) } }
            // Each is told its first value only once it listens.
            var first = activity.activityStateUpdates.makeAsyncIterator()
            #expect(await first.next() == .active)
            let listening = Task { await activity.contentUpdates.first { _ in true } }
            #expect(await listening.value == content(12, stale: 10))

            try await connection.advance(minutes: 10)
            try await activity.update(content(5))
            try await activity.end(content(0))
            try await connection.advance(minutes: 4 * 60)
            let seen = await states.value
            #expect(seen.last == .dismissed)
            // Whatever was first seen, what followed is the life as it was.
            #expect([.active, .stale, .active, .ended, .dismissed].suffix(seen.count) == seen[...])
            #expect(await contents.value.last == 0)
        }
    }

    @Test func `the states of one that was dismissed long ago are its last and the end`() async throws {
        try await withSession { connection in
            let activity = try await Activity.request(attributes: DeliveryAttributes(order: 7), content: content(1))
            try await activity.end(nil, dismissalPolicy: .immediate)
            #expect(await activity.activityStateUpdates.reduce(into: []) { $0.append($1) } == [.dismissed])
            await #expect(throws: IsletError.unreadable("a dismissed activity has no content any more")) {
                try await activity.content
            }
            try await connection.advance(minutes: 25 * 60)
            #expect(try await activity.activityState == .dismissed)
            #expect(await activity.activityStateUpdates.reduce(into: []) { $0.append($1) } == [.dismissed])
        }
    }

    @Test(arguments: [Date.distantFuture, .distantPast])
    func `dates beyond all that the service takes are its last and its first`(date: Date) async throws {
        let milliseconds: Int64 = date == .distantPast ? 1_000_000_000_000 : 9_999_999_999_999
        try await withSession { _ in
            let late = ActivityContent(state: DeliveryAttributes.ContentState(eta: 1), staleDate: date)
            let activity = try await Activity.request(attributes: DeliveryAttributes(order: 7), content: late)
            let expected = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
            #expect(try await activity.content.staleDate == expected)
            #expect(try await activity.activityState == (date == .distantPast ? .stale : .active))
            try await activity.end(nil, dismissalPolicy: .after(date))
        }
    }

    @Test func `a date is never later than it says: what is more than whole milliseconds is left out`() async throws {
        try await withSession { _ in
            let activity = try await Activity.request(attributes: DeliveryAttributes(order: 7), content: content(0))
            for microseconds in [0, 400, 900, 1_000, 1_900, 999_900] {
                let date = begin + 600 + Double(microseconds) / 1_000_000
                try await activity.update(ActivityContent(state: .init(eta: microseconds), staleDate: date))
                let milliseconds = 1_767_225_600_000 + 600_000 + microseconds / 1_000
                let whole = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
                #expect(try await activity.content.staleDate == whole)
            }
        }
    }

    @Test func `all activities of a type are listed and streamed, whoever started them`() async throws {
        try await withSession { connection in
            let first = try await Activity.request(attributes: DeliveryAttributes(order: 1), content: content(1))
            var updates = Activity<DeliveryAttributes>.activityUpdates.makeAsyncIterator()
            #expect(await updates.next()?.id == first.id)
            let command = Command(
                "activity.start", app: "com.example.pizza",
                [
                    "type": .string("DeliveryAttributes"), "attributes": .object([.init("order", .integer(2))]),
                    "contentState": .object([.init("eta", .integer(3)), .init("note", .string(""))]),
                ])
            let other = try await connection.send(command)
            let second = await updates.next()
            #expect(second?.id == other.activity?["id"]?.string)
            #expect(second?.attributes == DeliveryAttributes(order: 2))
            var alien = command
            alien["type"] = .string("Ride")
            try await connection.send(alien)
            let all = try await Activity<DeliveryAttributes>.activities
            #expect(Set(all.map(\.attributes.order)) == [1, 2])
        }
    }

    @Test func `a session that is used no more ends its connection, whoever followed its activities`() async throws {
        try await withService { endpoints in
            weak var connection: IsletConnection?
            do {
                let session = IsletSession(app: "com.example.pizza", endpoints: endpoints)
                connection = try await session.connection
                try await Islet.$session.withValue(session) {
                    _ = try await Activity.request(attributes: DeliveryAttributes(order: 1), content: content(1))
                    for await _ in Activity<DeliveryAttributes>.activityUpdates { break }
                }
            }
            let deadline = ContinuousClock.now + .seconds(60)
            while connection != nil, .now < deadline { await Task.yield() }
            #expect(connection == nil)
        }
    }

    @Test func `a connection is good for as long as it is used, also without its session`() async throws {
        try await withService { endpoints in
            let connection = try await IsletSession(app: "com.example.pizza", endpoints: endpoints).connection
            _ = try await connection.now()
        }
    }

    @Test func `where there was no room for a stream, the next one that is asked for follows`() async throws {
        try await withSession { connection in
            let activity = try await Activity.request(attributes: DeliveryAttributes(order: 1), content: content(1))
            var streams: [DeliveryStream] = []
            while let stream = try? await connection.events("com.example.other/") { streams.append(stream) }
            #expect(streams.count == 256)
            #expect(await activity.activityStateUpdates.reduce(into: []) { $0.append($1) } == [])
            streams = []
            let deadline = ContinuousClock.now + .seconds(60)
            var first: ActivityState?
            while first == nil, .now < deadline { first = await activity.activityStateUpdates.first { _ in true } }
            #expect(first == .active)
        }
    }

    @Test func `each of many who follow one activity hears of its own`() async throws {
        try await withSession { _ in
            var activities: [Activity<DeliveryAttributes>] = []
            for order in 1...50 {
                activities.append(
                    try await Activity.request(attributes: DeliveryAttributes(order: order), content: content(order)))
            }
            let seen = await withTaskGroup(of: (Int, [Int]).self) { group in
                for activity in activities {
                    group.addTask {
                        var etas: [Int] = []
                        for await content in activity.contentUpdates {
                            etas.append(content.state.eta)
                            if etas.count == 1 { _ = try? await activity.update(ActivityContent(
                                state: .init(eta: -activity.attributes.order), staleDate: nil)) }
                            if etas.count == 2 { break }
                        }
                        return (activity.attributes.order, etas)
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(seen == Dictionary(uniqueKeysWithValues: (1...50).map { ($0, [$0, -$0]) }))
        }
    }

    @Test func `new activities that nobody reads end their sequence instead of being left out of it`() async throws {
        try await withSession { connection in
            var activities = Activity<DeliveryAttributes>.activityUpdates.makeAsyncIterator()
            // It listens once it has told of one.
            _ = try await Activity.request(attributes: DeliveryAttributes(order: 0), content: content(1))
            #expect(await activities.next() != nil)
            let start = Command("activity.start", app: "com.example.pizza", [
                "type": .string(DeliveryAttributes.activityType), "attributes": .object([.init("order", .integer(1))]),
                "contentState": .object([.init("eta", .integer(1)), .init("note", .string(""))]),
            ])
            for _ in 0..<66 {
                let answers = await connection.send(batch: Array(repeating: start, count: 1_000))
                #expect(answers.allSatisfy { (try? $0.get()) != nil })
            }
            let last = try await Activity.request(attributes: DeliveryAttributes(order: 2), content: content(1))
            // Whoever hears of the last one hears of it after all the others were told.
            #expect(await last.activityStateUpdates.first { _ in true } == .active)
            var count = 0
            while let activity = await activities.next() {
                #expect(activity.attributes.order == 1)
                count += 1
                guard count <= 66_000 else { break }
            }
            #expect(count == 65_536)
        }
    }

    @Test func `switches are read and their changes streamed`() async throws {
        try await withSession { connection in
            let info = ActivityAuthorizationInfo()
            #expect(try await info.areActivitiesEnabled)
            #expect(try await info.frequentPushesEnabled)
            var updates = info.activityEnablementUpdates.makeAsyncIterator()
            #expect(await updates.next() == true)
            try await connection.send(
                Command("settings.set", app: "com.example.pizza", ["activitiesEnabled": .bool(false)]))
            #expect(await updates.next() == false)
        }
    }

    @Test func `without a session there is an error that says what to do`() async {
        await #expect(throws: IsletError.notConfigured) {
            try await Activity.request(attributes: DeliveryAttributes(order: 7), content: content(1))
        }
    }
}
