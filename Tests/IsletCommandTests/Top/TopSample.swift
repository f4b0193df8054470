import IsletClient
import Testing
import islet

/// A top of a service that has some activities.
struct TopSample {
    static let now: Int64 = 1_767_225_600_000

    var model = TopModel(
        endpoint: "tcp://127.0.0.1:7411", interval: 1_000, limit: 200, size: ScreenSize(columns: 80, rows: 24))
    private(set) var effects: [TopModel.Effect] = []

    /// The whole screen as text.
    var text: String { lines.joined(separator: "\n") }
    var lines: [String] { TopScreen.lines(model).map(\.text) }
    /// The first words of the table's rows, from the top.
    var names: [String] { lines.filter { $0.hasPrefix("order-") }.map { String($0.prefix { $0 != " " }) } }
    var selected: String? {
        // The selected row is the one that reaches to the edge.
        TopScreen.lines(model).first { $0.columns == 80 && $0.text.hasPrefix("order-") }.map {
            String($0.text.prefix { $0 != " " })
        }
    }

    mutating func apply(_ input: TopModel.Input) {
        effects = model.apply(input)
    }

    mutating func press(_ keys: Key...) {
        for key in keys { apply(.key(key)) }
    }

    mutating func type(_ text: String) {
        for character in text { press(.character(character)) }
    }

    /// Answers what the model asks for now.
    mutating func answer(
        _ rows: [RawObject], total: Int64? = nil, at: Int64, taken: Int64 = 0, panel: [String]? = nil
    ) {
        apply(
            .reading(
                TopReading(
                    request: model.request, at: at, figures: TopFigures(stats: Self.stats(taken: taken, at: at)),
                    rows: rows, total: total, panel: panel)))
    }

    static func activity(_ key: String, state: String = "active", staleIn: Int64? = nil) -> RawObject {
        var object: RawObject = [
            "id": .string("01a20000-0000-7000-8000-\(key.utf8.reduce(0) { $0 &+ Int($1) } + 100_000_000_000)"),
            "app": .string("com.example.pizza"), "type": .string("Delivery"), "key": .string(key),
            "state": .string(state), "revision": .integer(1), "startedAt": .integer(now - 5_000),
        ]
        if let staleIn {
            object["next"] = .object([
                .init("at", .integer(now + staleIn)), .init("cause", .string("staleDate")),
            ])
        }
        return object
    }

    static func stats(taken: Int64, at: Int64) -> RawObject {
        let text = """
            {"now":\(now),"uptime":\(at),"version":"0.1.0","guarantee":"full",
            "commands":{"taken":\(taken),"applied":\(taken),"ignored":0,"refused":0},"events":\(taken),"apps":1,
            "activities":{"pending":0,"active":12031,"stale":7,"ended":0,"dismissed":3},
            "controls":{"shown":2},"widgets":{"shown":1},
            "timers":{"armed":12031,"overdue":2,"nextAt":\(now + 1_500)},
            "lateness":{"unit":"ms","count":9,"p50":0,"p99":3,"p999":4,"max":14,
            "recent":{"span":60000,"count":0,"p50":0,"p99":0,"p999":0,"max":0}},
            "commit":{"unit":"us","count":9,"p50":400,"p99":1900,"p999":2000,"max":12000},
            "answer":{"unit":"us","count":9,"p50":40,"p99":900,"p999":900,"max":900,
            "recent":{"span":60000,"count":2,"p50":30,"p99":50,"p999":50,"max":60}},
            "providers":{"connected":2,"calls":10,"waiting":1,"inFlight":0,"failures":0},
            "subscribers":{"reporting":3,"lagging":1,"maximumLag":1200}}
            """
        return RawObject(Array(text.utf8)) ?? [:]
    }
}
