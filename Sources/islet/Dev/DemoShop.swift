import IsletClient

/// The delivery service of the demo: what it can tell the bus.
struct DemoShop: Sendable {
    static let app = "com.example.delivery"

    let connection: IsletConnection
    let clock: DemoClock

    /// The highest number of an order that is on a screen; 0 where none is.
    func highestOrder() async throws -> Int {
        var command = Command("activity.list", app: Self.app)
        command["limit"] = .integer(1_000)
        let listed = try await connection.send(command)["activities"]?.elements ?? []
        return listed.compactMap { $0.object?["key"]?.string?.split(separator: "-").last.flatMap { Int($0) } }.max()
            ?? 0
    }

    /// A command about one order.
    func send(_ op: String, _ key: String?, device: String? = nil, _ fields: RawObject = [:]) async throws {
        var command = Command(op, app: Self.app, fields)
        command["key"] = key.map(RawJSON.string)
        command["device"] = device.map(RawJSON.string)
        do throws(IsletError) {
            try await connection.send(command)
        } catch {
            // Somebody who tries things out may have dismissed what the demo wants to change: the show goes on.
            guard case .refused(let refusal) = error else { throw error }
            Console.message("demo: \(op) \(key ?? "") was refused: \(refusal.message)")
        }
    }
}

/// What is shown of an order.
struct DemoOrder {
    var status: String
    /// Minutes.
    var eta: Int

    var json: RawJSON {
        .object([.init("status", .string(status)), .init("eta", .integer(eta))])
    }
}
