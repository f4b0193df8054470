import IsletClient

/// All controls of the demo's home.
struct DemoControls: WidgetBundle {
    let home: DemoHome

    var body: [ProviderKind] {
        TorchControl(home: home)
        ThermostatControl(home: home)
        GarageDoorControl(home: home)
    }
}

/// Longer than usual: the demo must also do on a machine that is busy with other things.
private let demoDeadline = Duration.seconds(10)

/// A torch: a toggle whose controls are all alike.
private struct TorchControl: ControlWidget {
    let home: DemoHome

    struct Lit: ControlValueProvider {
        let home: DemoHome
        let previewValue = false
        func currentValue() async throws -> Bool { try await home.torch() }
    }

    struct Light: SetValueIntent {
        let home: DemoHome
        var value = false

        func perform() async throws -> some IntentResult {
            try await home.light(value)
            return .result()
        }
    }

    var body: some ControlWidgetConfiguration {
        StaticControlConfiguration(kind: "Torch", provider: Lit(home: home)) { [home] isLit in
            ControlWidgetToggle("Torch", isOn: isLit, action: Light(home: home)) { $0 ? "lit" : "dark" }
        }
        .deadlines(value: demoDeadline)
    }
}

/// A thermostat: a toggle of the room that a person chooses.
private struct ThermostatControl: ControlWidget {
    let home: DemoHome

    struct Settings: ControlConfigurationIntent {
        var room = "kitchen"
        static var parameters: [IntentParameter] {
            [.string("room", title: "Room", optionsProvider: Rooms())]
        }
    }

    struct Rooms: DynamicOptionsProvider {
        func results() async throws -> [IntentParameterOption] {
            DemoHome.rooms.map { IntentParameterOption($0, title: $0.prefix(1).uppercased() + $0.dropFirst()) }
        }
    }

    struct Temperature: AppIntentControlValueProvider {
        let home: DemoHome
        func previewValue(configuration: Settings) -> DemoHome.Room { DemoHome.Room(name: configuration.room) }
        func currentValue(configuration: Settings) async throws -> DemoHome.Room {
            try await home.room(configuration.room)
        }
    }

    struct Heat: SetValueIntent {
        let home: DemoHome
        let room: String
        var value = false

        func perform() async throws -> some IntentResult {
            try await home.heat(room, value)
            return .result()
        }
    }

    var body: some ControlWidgetConfiguration {
        AppIntentControlConfiguration(kind: "Thermostat", provider: Temperature(home: home)) { [home] room in
            ControlWidgetToggle("Heating", isOn: room.isHeated, action: Heat(home: home, room: room.name))
                .controlWidgetStatus(room.status)
        }
        .deadlines(value: demoDeadline)
    }
}

/// A garage door: a button with a value, and an action that fails now and then.
private struct GarageDoorControl: ControlWidget {
    let home: DemoHome

    struct Position: ControlValueProvider {
        let home: DemoHome
        let previewValue = DemoHome.Door.closed
        func currentValue() async throws -> DemoHome.Door { try await home.garageDoor() }
    }

    struct Press: AppIntent {
        let home: DemoHome

        func perform() async throws -> some IntentResult {
            .result(status: try await home.pressGarageDoor() == .open ? "opened" : "shut")
        }
    }

    var body: some ControlWidgetConfiguration {
        StaticControlConfiguration(kind: "GarageDoor", provider: Position(home: home)) { [home] door in
            ControlWidgetButton("Garage door", action: Press(home: home), isActive: door == .open)
        }
        .deadlines(value: demoDeadline)
    }
}
