import IsletClient
import IsletServer
import ServiceLifecycle

/// Says what there is to try, and plays the demo until the service stops.
struct DemoService: Service {
    let cards: AsyncStream<ServiceCard>
    let speed: Double
    let isOn: Bool
    /// Whether the board may change something.
    let canWrite: Bool
    /// The directory of its files; nil: everything is in memory.
    let data: String?

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                for await card in cards {
                    Console.message(card.readyLine)
                    Console.message(Self.welcome(card, speed: speed, hasDemo: isOn, canWrite: canWrite, data: data))
                    if isOn { try await play(card.endpoints) }
                }
                try await gracefulShutdown()
            }
        } catch is CancellationError {
            // The person has seen enough.
        } catch IsletError.cancelled, IsletError.closed {
            // The same.
        }
    }

    private func play(_ service: ServiceEndpoints) async throws {
        let endpoints = Endpoints(commands: service.commands, events: service.events, bulk: service.bulk)
        try await withThrowingTaskGroup { group in
            group.addTask { try await playMorning(endpoints) }
            group.addTask { try await DemoHousehold.play(endpoints) }
            group.addTask { try await DemoTraveller.play(endpoints, speed: speed) }
            try await group.waitForAll()
        }
    }

    private func playMorning(_ endpoints: Endpoints) async throws {
        let connection = try await IsletConnection.open(endpoints, options: ConnectionOptions(requestPrefix: "demo"))
        let shop = DemoShop(connection: connection, clock: DemoClock(connection: connection, speed: speed))
        try await DemoMorning(shop: shop).playForever()
    }

    private static func welcome(
        _ card: ServiceCard, speed: Double, hasDemo: Bool, canWrite: Bool, data: String?
    ) -> String {
        let islet = Invocation.name
        let second = TimeText.span(Int64(speed * 1_000))
        let isElsewhere = card.endpoints.commands != Endpoints().commands
        let option = isElsewhere ? " --commands \(card.endpoints.commands)" : ""
        // Without the demo there is no app that goes without saying.
        let app = hasDemo ? "" : " --app \(DemoShop.app)"
        let demo =
            hasDemo
            ? """

            The demo plays a morning of a delivery service, again and again: app \(DemoShop.app).
            It also provides the controls of a home, to be tapped: app \(DemoHome.app);
            and a weather and a flight widget: app \(DemoTravel.app).
            """ : ""
        let taps =
            hasDemo
            ? """

              \(islet) control list\(option)
              \(islet) control tap Torch --wait\(option)
              \(islet) control tap GarageDoor --wait\(option)    # fails one time in five
              \(islet) widget list\(option)
              \(islet) widget timeline Flight\(option)
              \(islet) widget stack phone-1\(option)
            """ : ""
        let doing = canWrite ? "to look at it and to tap" : "to look at it"
        let board = card.endpoints.http.map { "\nThe board, \(doing), in a browser: \($0)/\n" } ?? ""
        return """

            islet dev: one second here is \(second) of the service's time.
            \(data.map { "Everything is kept in \($0)" } ?? "Everything is in memory"); Ctrl-C ends it.\(demo)
            \(board)
            In a second terminal you might try:
              \(islet) top\(option)
              \(islet) tail\(option)
              \(islet) activity list\(option)
              \(islet) activity start order-7 --type Delivery --state '{"eta":12}' --stale-in 1h\(app)\(option)
              \(islet) activity explain order-7\(app)\(option)
              \(islet) info\(option)\(taps)

            """
    }
}
