import IsletClient

/// The people of the demo's home: they place its controls, and time passes. What they leave to do is tapping.
struct DemoHousehold: Sendable {
    private static let wishes: [RawObject] = [
        ["kind": .string("Torch"), "device": .string("phone-1")],
        ["kind": .string("GarageDoor"), "device": .string("phone-1")],
        ["kind": .string("Thermostat"), "device": .string("phone-1"), "configuration": room("kitchen")],
        ["kind": .string("Thermostat"), "device": .string("tablet-1"), "configuration": room("bedroom")],
    ]
    /// Between two measurements, in real time.
    private static let interval = Duration.seconds(5)

    /// Runs the provider, and lives there, until the task is cancelled.
    static func play(_ endpoints: Endpoints) async throws {
        let home = DemoHome()
        let provider = DemoProvider(app: DemoHome.app, endpoints: endpoints)
        try await provider.run(DemoControls(home: home)) { connection in
            try await provider.place(Controls.self, wishes, connection)
            try await live(in: home, connection)
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

    private static func room(_ name: String) -> RawJSON {
        .object([.init("room", .string(name))])
    }
}
