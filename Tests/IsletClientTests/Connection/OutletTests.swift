import IsletClient
import Testing
import ZeroMQ

/// What waits to be sent.
@Suite struct OutletTests {
    @Test func `a command that finds no room is sent again once there is some`() throws {
        var generator = SplitMix(state: 1)
        let start = ContinuousClock.now
        var table = RequestTable(
            prefix: "t", client: "c", backoff: Backoff(first: .milliseconds(100), maximum: .seconds(1)))
        let request = try table.begin(
            Command("activity.heartbeat", ["key": .string("k")]), timeout: .seconds(10), now: start, using: &generator
        ).get()

        let context = try ZeroMQContext()
        var poller = Poller()
        var outlet = try Outlet(context: context, poller: &poller)
        for number in 0..<Outlet.maximumWaiting {
            outlet.send(.init(frames: [[0]], requests: ["given-up-\(number)"]))
        }
        outlet.send(.init(frames: [request.frame], requests: [request.req]))
        let wasHeld = outlet.holds(req: request.req)
        #expect(!wasHeld, "more waits than may")
        outlet.flush(poller: &poller) { entry in entry.requests.contains { table.waits(req: $0) } }

        var again: [RequestTable.Action] = []
        for step in 1...20 where again.isEmpty {
            again = table.due(now: start + .milliseconds(100 * step), using: &generator)
        }
        #expect(again == [.send(req: request.req, frame: request.frame)])
        outlet.send(.init(frames: [request.frame], requests: [request.req]))
        let isHeld = outlet.holds(req: request.req)
        #expect(isHeld, "it waits for the connection now")
        outlet.close()
    }

    @Test func `what does not wait is dropped, also behind what does`() throws {
        let context = try ZeroMQContext()
        var poller = Poller()
        var outlet = try Outlet(context: context, poller: &poller)
        outlet.send(.init(frames: [[0]], requests: ["early report"], waits: false))
        outlet.send(.init(frames: [[1]], requests: ["change"]))
        outlet.send(.init(frames: [[2]], requests: ["late report"], waits: false))
        outlet.flush(poller: &poller) { _ in true }
        let held = ["early report", "change", "late report"].filter { outlet.holds(req: $0) }
        #expect(held == ["change"], "no connection was made")
        outlet.close()
    }
}
