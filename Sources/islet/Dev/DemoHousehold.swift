import IsletClient

/// The people of the demo's home: they place its controls, and time passes. What they leave to do is tapping.
struct DemoHousehold: Sendable {
    /// A control that they place.
    private struct Wish {
        var kind: String
        var device: String
        var room: String?
    }

    private static let wishes = [
        Wish(kind: "Torch", device: "phone-1"), Wish(kind: "GarageDoor", device: "phone-1"),
        Wish(kind: "Thermostat", device: "phone-1", room: "kitchen"),
        Wish(kind: "Thermostat", device: "tablet-1", room: "bedroom"),
    ]
    /// Between two measurements, in real time.
    private static let interval = Duration.seconds(5)

    /// Runs the provider, and lives there, until the task is cancelled.
    static func play(_ endpoints: Endpoints) async throws {
        let home = DemoHome()
        let session = IsletSession(
            app: DemoHome.app, endpoints: endpoints, options: ConnectionOptions(requestPrefix: "demo"))
        let (registrations, registered) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let provider = home.provider(session: session) { event in
            switch event {
            case .registered: registered.yield()
            case .connectionLost, .registrationRefused, .answerRefused, .callFailed: break
            }
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await provider.run() }
            group.addTask {
                // Kinds are there from the first registration on.
                for await _ in registrations { break }
                let connection = try await session.connection
                try await place(connection)
                try await live(in: home, connection)
            }
            try await group.waitForAll()
        }
    }

    /// Places what is not there from an earlier demo.
    private static func place(_ connection: IsletConnection) async throws {
        let placed = try await connection.send(Command("control.list", app: DemoHome.app))["total"]?.integer ?? 0
        guard placed == 0 else { return }
        for wish in wishes {
            var command = Command("control.add", app: DemoHome.app, ["kind": .string(wish.kind)])
            command["device"] = .string(wish.device)
            command["configuration"] = wish.room.map { .object([.init("room", .string($0))]) }
            try await connection.send(command)
        }
    }

    /// It gets warmer or colder, which the thermostats show when they are asked: by the app, or by a push.
    private static func live(in home: DemoHome, _ connection: IsletConnection) async throws {
        var isPush = false
        while true {
            try await Task.sleep(for: interval)
            await home.passTime()
            var reload = Command("control.reload", app: DemoHome.app, ["kind": .string("Thermostat")])
            if isPush { reload["source"] = .string("push") }
            isPush.toggle()
            try await connection.send(reload)
        }
    }
}
