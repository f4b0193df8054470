import IsletClient

/// The stories. Minutes are of the service's time: at the usual speed ten of them are a second.
extension DemoMorning {
    /// An order like most: updates, an alert, the end, and hours later it leaves the Lock Screen.
    static func delivered(_ story: DemoStory) async throws {
        try await story.start(DemoOrder(status: "preparing", eta: 40), staleAt: 60)
        for (minute, eta) in [(10, 30), (20, 20), (30, 10)] {
            try await story.wait(minute)
            try await story.update(DemoOrder(status: "on the way", eta: eta), staleAt: minute + 30)
        }
        try await story.wait(40)
        try await story.update(DemoOrder(status: "at the door", eta: 0), staleAt: 70, alert: "Your courier is here")
        try await story.wait(50)
        try await story.end(DemoOrder(status: "delivered", eta: 0))
    }

    /// Ordered for later: it waits, starts by itself, and is removed half an hour after the delivery.
    static func scheduled(_ story: DemoStory) async throws {
        try await story.wait(10)
        try await story.start(
            DemoOrder(status: "planned", eta: 60),
            [
                "startDate": .integer(story.at(50)),
                "alert": AlertText.json(title: "Order \(story.key)", body: "We are preparing it now"),
            ])
        try await story.wait(80)
        try await story.update(DemoOrder(status: "on the way", eta: 20), staleAt: 120)
        try await story.wait(100)
        try await story.end(
            DemoOrder(status: "delivered", eta: 0), policy: .object([.init("after", .integer(story.at(130)))]))
    }

    /// The courier loses contact, twice, and comes back.
    static func lostCourier(_ story: DemoStory) async throws {
        try await story.wait(5)
        try await story.start(DemoOrder(status: "on the way", eta: 25), staleAt: 25)
        try await story.wait(50)
        try await story.update(DemoOrder(status: "back in contact", eta: 30), staleAt: 70)
        try await story.wait(90)
        try await story.update(DemoOrder(status: "on the way", eta: 10), staleAt: 130)
        try await story.wait(110)
        try await story.end(DemoOrder(status: "delivered", eta: 0), policy: .string("immediate"))
    }

    /// The person swipes it away.
    static func swipedAway(_ story: DemoStory) async throws {
        try await story.wait(15)
        try await story.start(DemoOrder(status: "preparing", eta: 30), staleAt: 200)
        try await story.wait(60)
        try await story.dismiss()
    }

    /// Cancelled by the shop, and gone at once.
    static func cancelled(_ story: DemoStory) async throws {
        try await story.wait(20)
        try await story.start(DemoOrder(status: "preparing", eta: 35), staleAt: 200)
        try await story.wait(70)
        try await story.end(DemoOrder(status: "cancelled", eta: 0), policy: .string("immediate"))
    }

    /// Ended, and then swiped away from the Lock Screen.
    static func collected(_ story: DemoStory) async throws {
        try await story.wait(25)
        try await story.start(DemoOrder(status: "ready to collect", eta: 0))
        try await story.wait(75)
        try await story.end(DemoOrder(status: "collected", eta: 0))
        try await story.wait(140)
        try await story.dismiss()
    }

    /// A courier's whole shift: renewed before its eight hours are over, and ended by hand.
    static func longShift(_ story: DemoStory) async throws {
        try await story.wait(30)
        try await story.start(DemoOrder(status: "shift begins", eta: 0), ["type": .string("Shift")])
        try await story.wait(400)
        try await story.shop.send(
            "activity.renew", story.key, device: story.device,
            ["contentState": DemoOrder(status: "second half", eta: 0).json])
        try await story.wait(600)
        try await story.end(nil, policy: .string("immediate"))
    }

    /// Nobody ends it: after eight hours the system does, and after four more it is removed.
    static func forgotten(_ story: DemoStory) async throws {
        try await story.wait(35)
        try await story.start(DemoOrder(status: "on the way", eta: 15))
        try await story.wait(12 * 60 + 50)
    }

    /// A transient one, which goes when its device is locked.
    static func locked(_ story: DemoStory) async throws {
        try await story.wait(40)
        try await story.start(DemoOrder(status: "paying", eta: 0), ["style": .string("transient")])
        try await story.wait(55)
        try await story.shop.connection.send(
            Command("device.event", ["device": .string(story.device), "event": .string("lock")]))
    }

    /// The person switches Live Activities off on a tablet, and on again.
    static func switchedOff(_ story: DemoStory) async throws {
        let tablet = DemoStory(shop: story.shop, key: story.key, device: "tablet-1", begin: story.begin)
        try await tablet.wait(45)
        try await tablet.start(DemoOrder(status: "preparing", eta: 20))
        for (minute, isEnabled) in [(85, false), (95, true)] {
            try await tablet.wait(minute)
            try await tablet.shop.send(
                "settings.set", nil, device: tablet.device, ["activitiesEnabled": .bool(isEnabled)])
        }
    }

    /// Short and without incident.
    static func errand(_ story: DemoStory) async throws {
        try await story.wait(0)
        try await story.start(DemoOrder(status: "on the way", eta: 40), staleAt: 60)
        try await story.wait(20)
        try await story.update(DemoOrder(status: "on the way", eta: 20), staleAt: 60)
        try await story.wait(40)
        try await story.end(DemoOrder(status: "delivered", eta: 0), policy: .string("immediate"))
    }

    /// Planned for later, and cancelled before it began.
    static func withdrawn(_ story: DemoStory) async throws {
        try await story.wait(48)
        try await story.start(
            DemoOrder(status: "planned", eta: 90),
            [
                "startDate": .integer(story.at(300)),
                "alert": AlertText.json(title: "Order \(story.key)", body: "We are preparing it now"),
            ])
        try await story.wait(105)
        try await story.end(nil, policy: .string("immediate"))
    }
}
