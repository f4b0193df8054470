import IsletClient

/// A morning of the delivery service, as stories that run beside each other. Between them they show every kind of
/// transition within two minutes of a fast clock; then a new morning begins.
struct DemoMorning: Sendable {
    let shop: DemoShop

    /// Errands fill the hours after the stories, minutes apart: whoever looks sees something within seconds.
    private static let errands = 11
    private static let firstErrand: Int64 = 120
    private static let errandInterval: Int64 = 60

    /// Morning after morning, with order numbers that no earlier demo left on a screen, until the task is cancelled.
    func playForever() async throws {
        var morning = try await shop.highestOrder() / 100 + 1
        while true {
            try await play(morning: morning)
            morning += 1
        }
    }

    private func play(morning: Int) async throws {
        let begin = try await shop.clock.now()
        let first = morning * 100
        let stories: [@Sendable (DemoStory) async throws -> Void] = [
            Self.delivered, Self.scheduled, Self.lostCourier, Self.swipedAway, Self.cancelled, Self.collected,
            Self.longShift, Self.forgotten, Self.locked, Self.switchedOff, Self.withdrawn,
        ]
        try await withThrowingTaskGroup { group in
            for (index, story) in stories.enumerated() {
                let told = DemoStory(
                    shop: shop, key: "order-\(first + index + 1)", device: "phone-\(index % 4 + 1)", begin: begin)
                group.addTask { try await story(told) }
            }
            for errand in 0..<Self.errands {
                let told = DemoStory(
                    shop: shop, key: "order-\(first + stories.count + errand + 1)", device: "phone-\(errand % 4 + 1)",
                    begin: begin + (Self.firstErrand + Int64(errand) * Self.errandInterval) * 60_000)
                group.addTask { try await Self.errand(told) }
            }
            try await group.waitForAll()
        }
    }
}

/// One order of a morning: who it is, and its own clock.
struct DemoStory: Sendable {
    let shop: DemoShop
    let key: String
    let device: String
    /// When the morning began.
    let begin: Int64

    /// Minutes after the beginning of the morning as a date.
    func at(_ minutes: Int) -> Int64 { begin + Int64(minutes) * 60_000 }

    /// Waits until so many minutes after the beginning.
    func wait(_ minutes: Int) async throws {
        try await shop.clock.wait(until: at(minutes))
    }

    /// Starts; out of date where nothing is heard by minute `staleAt`.
    func start(_ order: DemoOrder, staleAt: Int? = nil, _ fields: RawObject = [:]) async throws {
        var all: RawObject = [
            "type": .string("Delivery"), "attributes": .object([.init("order", .string(key))]),
            "contentState": order.json,
        ]
        if let staleAt { all["staleDate"] = .integer(at(staleAt)) }
        for member in fields.members { all[member.name] = member.value }
        try await shop.send("activity.start", key, device: device, all)
    }

    func update(_ order: DemoOrder, staleAt: Int? = nil, alert: String? = nil) async throws {
        var fields: RawObject = ["contentState": order.json]
        if let staleAt { fields["staleDate"] = .integer(at(staleAt)) }
        if let alert { fields["alert"] = AlertText.json(title: "Order \(key)", body: alert) }
        try await shop.send("activity.update", key, device: device, fields)
    }

    func end(_ order: DemoOrder?, policy: RawJSON? = nil) async throws {
        var fields: RawObject = [:]
        if let order { fields["contentState"] = order.json }
        if let policy { fields["dismissalPolicy"] = policy }
        try await shop.send("activity.end", key, device: device, fields)
    }

    func dismiss() async throws {
        try await shop.send("activity.dismiss", key, device: device)
    }
}

/// Alerts as the bus has them.
enum AlertText {
    static func json(title: String, body: String) -> RawJSON {
        .object([.init("title", .string(title)), .init("body", .string(body)), .init("sound", .string("default"))])
    }
}
