import IsletClient
import Testing

/// Providers and the control center against the real service.
@Suite(.timeLimit(.minutes(10))) struct ControlServiceTests {
    private let app = "com.example.pizza"

    private func add(
        _ kind: String, _ connection: IsletConnection, configuration: RawJSON? = nil
    ) async throws -> String {
        var command = Command("control.add", app: app, ["kind": .string(kind)])
        command["configuration"] = configuration
        return try #require(try await connection.send(command).control?["id"]?.string)
    }

    /// The control as soon as it is as wanted, if for a moment; after a command that is sent once all is followed.
    private func control(
        _ id: String, _ connection: IsletConnection, after command: Command? = nil,
        where isWanted: @escaping @Sendable (RawObject) -> Bool = { $0["state"]?.string == "shown" }
    ) async throws -> RawObject {
        try await within { [app] in
            for try await delivery in try await connection.entities("\(app)/control/") {
                let entities: [Entity]
                switch delivery {
                case .synced(let state):
                    entities = command == nil ? state.entities : []
                    if let command { try await connection.send(command) }
                case .event(_, let context): entities = context.entity.map { [$0] } ?? []
                case .joined, .closing: entities = []
                }
                if let found = entities.first(where: { $0.id == id && isWanted($0.members) }) { return found.members }
            }
            throw CancellationError()
        }
    }

    @Test func `a tap brings the new value about, and the truth is shown`() async throws {
        let lamp = Lamp()
        try await withProvider {
            LampControl(lamp: lamp)
        } _: { connection, _ in
            let id = try await add("lamp", connection)
            let first = try await control(id, connection)
            #expect(first["value"]?.bool == false)
            #expect(first["valueSource"]?.string == "provider")
            #expect(first["status"]?.string == "Off")
            #expect(first["tint"]?.string == "yellow")
            let tap = Command("control.tap", app: app, ["id": .string(id)])
            let second = try await control(id, connection, after: tap) {
                $0["state"]?.string == "shown" && $0["valueSource"]?.string == "provider" && $0["value"]?.bool == true
            }
            #expect(lamp.isLit)
            #expect(second["status"]?.string == "On")
            #expect(second["failure"] == nil)
        }
    }

    @Test func `current controls are those that are placed, with what is configured`() async throws {
        try await withProvider {
            LampControl(lamp: Lamp(isLit: true))
            ThermostatControl()
        } _: { connection, _ in
            #expect(try await ControlCenter.shared.currentControls().isEmpty)
            let lamp = try await add("lamp", connection)
            let plain = try await add("thermostat", connection)
            let configured = try await add(
                "thermostat", connection, configuration: RawJSON(#"{"room":"attic","offset":2}"#))
            for id in [lamp, plain, configured] { _ = try await control(id, connection) }
            let controls = try await ControlCenter.shared.currentControls()
            let byID = Dictionary(uniqueKeysWithValues: controls.map { ($0.id, $0) })
            #expect(Set(byID.keys) == [lamp, plain, configured])
            #expect(byID[lamp]?.kind == "lamp")
            #expect(byID[lamp]?.state == .shown)
            #expect(byID[lamp]?.isOn == true)
            #expect(byID[plain]?.configurationIntent(of: RoomIntent.self) == RoomIntent())
            #expect(byID[configured]?.configurationIntent(of: RoomIntent.self) == RoomIntent(room: "attic", offset: 2))
            #expect(byID[configured]?.value(as: Reading.self) == Reading(room: "attic", degrees: 23))
            #expect(byID[configured]?.members["status"]?.string == "23°")
        }
    }

    @Test func `a reload asks for the values of a kind, or of all`() async throws {
        let (lamp, other) = (Lamp(), Lamp())
        try await withProvider {
            LampControl(lamp: lamp)
            StaticControlConfiguration(kind: "other", provider: LampProvider(lamp: other)) { isLit in
                ControlWidgetToggle("Other", isOn: isLit, action: SetLampIntent(lamp: other))
            }
        } _: { connection, _ in
            let ids = [try await add("lamp", connection), try await add("other", connection)]
            for id in ids { _ = try await control(id, connection) }
            (lamp.isLit, other.isLit) = (true, true)
            #expect(try await ControlCenter.shared.reloadControls(ofKind: "lamp") == 1)
            _ = try await control(ids[0], connection) { $0["value"]?.bool == true }
            #expect(other.count == 1)
            #expect(try await ControlCenter.shared.reloadAllControls() == 2)
            _ = try await control(ids[1], connection) { $0["value"]?.bool == true }
        }
    }

    @Test func `an action gets the configuration, and its status is shown`() async throws {
        try await withProvider {
            AppIntentControlConfiguration(kind: "window", intent: RoomIntent.self) { intent in
                ControlWidgetButton("Window", action: OpenHatchIntent(room: intent.room))
            }
        } _: { connection, _ in
            let id = try await add("window", connection, configuration: RawJSON(#"{"room":"attic"}"#))
            let tap = Command("control.tap", app: app, ["id": .string(id)])
            let tapped = try await control(id, connection, after: tap) { $0["status"] != nil }
            #expect(tapped["status"]?.string == "attic of \(id) opens")
        }
    }

    @Test func `an action that fails leaves the control as it was`() async throws {
        struct Failing: SetValueIntent {
            var value = false
            func perform() async throws -> IntentResultContainer { throw ProviderCallError.failed("stuck") }
        }
        let lamp = Lamp()
        try await withProvider {
            StaticControlConfiguration(kind: "lamp", provider: LampProvider(lamp: lamp)) { isLit in
                ControlWidgetToggle("Lamp", isOn: isLit, action: Failing())
            }
        } _: { connection, _ in
            let id = try await add("lamp", connection)
            _ = try await control(id, connection)
            let tap = Command("control.tap", app: app, ["id": .string(id)])
            let failed = try await control(id, connection, after: tap) { $0["failure"] != nil }
            #expect(failed["failure"]?.string == "threw")
            #expect(failed["value"]?.bool == false)
        }
    }

    @Test func `options are computed when they are asked for`() async throws {
        try await withProvider {
            ThermostatControl()
        } _: { connection, _ in
            var command = Command("control.options", app: app, ["kind": .string("thermostat")])
            command["parameter"] = .string("room")
            let options = try await connection.send(command)["options"]
            #expect(options?.description == #"[{"value":"kitchen","title":"Kitchen"},{"value":"study"}]"#)
            command["configuration"] = RawJSON(#"{"scale":"fahrenheit"}"#)
            let others = try await connection.send(command)["options"]
            #expect(others?.description == #"[{"value":"kitchen","title":"Kitchen"},{"value":"den"}]"#)
        }
    }

    @Test func `a provider that declares a kind differently hears the difference, and registers once the other is gone`()
        async throws
    {
        try await withProvider {
            TestControl()
        } _: { _, first in
            let second = ProviderRun(try #require(Islet.session)) { TestControl().body.displayName("Another") }
            let error = try await second.refusal()
            #expect(error.code == .conflict)
            #expect(error.detail["member"]?.string == "displayName")
            try await first.stop()
            try await second.registered()
            try await second.stop()
        }
    }

    @Test func `a provider serves the next service at the same place`() async throws {
        let lamp = Lamp(isLit: true)
        let (endpoints, run) = try await withService { endpoints in
            let run = ProviderRun(IsletSession(app: app, endpoints: endpoints)) { LampControl(lamp: lamp) }
            try await run.registered()
            return (endpoints, run)
        }
        try await withService(at: endpoints) { endpoints in
            try await run.registered()
            let connection = try await IsletConnection.open(endpoints)
            let id = try await add("lamp", connection)
            #expect(try await control(id, connection)["value"]?.bool == true)
            await connection.close()
            try await run.stop()
        }
    }

    @Test func `a removed control is not followed any more`() async throws {
        try await withProvider {
            LampControl(lamp: Lamp())
        } _: { connection, _ in
            let id = try await add("lamp", connection)
            _ = try await control(id, connection)
            let stream = StreamReader(try await connection.entities("\(app)/control/"))
            #expect(try await stream.synced().entities.map(\.id) == [id])
            try await connection.send(Command("control.remove", app: app, ["id": .string(id)]))
            guard case .event(let event, _)? = try await stream.next() else { throw CancellationError() }
            #expect(event.name == "control.removed")
            let next = StreamReader(try await connection.entities("\(app)/control/"))
            #expect(try await next.synced().entities.isEmpty)
            #expect(try await ControlCenter.shared.currentControls().isEmpty)
        }
    }
}

/// Opens the window of the room that is configured, without authentication.
private struct OpenHatchIntent: AppIntent {
    let room: String

    func perform() async throws -> some IntentResult {
        .result(status: "\(room) of \(ProviderContext.current?.id ?? "nothing") opens")
    }
}
