import IsletClient

/// A traveller of the demo: places the widgets, and now and then a gate is changed, which the app tells by a push.
struct DemoTraveller: Sendable {
    private static let wishes: [RawObject] = [
        ["kind": .string("Flight"), "family": .string("systemMedium"), "device": .string("phone-1")],
        [
            "kind": .string("Weather"), "family": .string("systemMedium"), "device": .string("phone-1"),
            "configuration": city("berlin"),
        ],
        [
            "kind": .string("Weather"), "family": .string("systemSmall"), "device": .string("tablet-1"),
            "configuration": city("tokyo"),
        ],
    ]
    /// Between two changes of a gate, in the service's time: eight a day, which the budget has room for.
    private static let gateInterval: Int64 = 3 * 3_600_000

    /// Runs the provider, and travels, until the task is cancelled.
    static func play(_ endpoints: Endpoints, speed: Double) async throws {
        let travel = DemoTravel()
        let provider = DemoProvider(app: DemoTravel.app, endpoints: endpoints)
        try await provider.run(DemoWidgets(travel: travel)) { connection in
            try await provider.place(Widgets.self, wishes, connection)
            let clock = DemoClock(connection: connection, speed: speed)
            var date = try await clock.now()
            while true {
                date += gateInterval
                try await clock.wait(until: date)
                await travel.changeGate()
                try await connection.send(
                    Command(
                        "widget.reload", app: DemoTravel.app,
                        ["kind": .string("Flight"), "source": .string("push")]))
            }
        }
    }

    private static func city(_ name: String) -> RawJSON {
        .object([.init("city", .string(name))])
    }
}
