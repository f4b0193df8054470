import IsletClient
import Synchronization

/// Something that can be switched on and off.
final class Lamp: Sendable {
    private let state: Mutex<Bool>
    private let asked = Mutex(0)

    init(isLit: Bool = false) {
        state = Mutex(isLit)
    }

    var isLit: Bool {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }

    /// How often a provider was asked for it.
    var count: Int { asked.withLock(\.self) }

    func ask() -> Bool {
        asked.withLock { $0 += 1 }
        return isLit
    }
}

struct LampProvider: ControlValueProvider {
    let lamp: Lamp
    let previewValue = false

    func currentValue() async throws -> Bool { lamp.ask() }
}

struct SetLampIntent: SetValueIntent {
    let lamp: Lamp
    var value = false

    func perform() async throws -> some IntentResult {
        lamp.isLit = value
        return .result(status: value ? "Lit" : "Dark")
    }
}

struct LampControl: ControlWidget {
    let lamp: Lamp

    var body: some ControlWidgetConfiguration {
        StaticControlConfiguration(kind: "lamp", provider: LampProvider(lamp: lamp)) { [lamp] isLit in
            ControlWidgetToggle("Lamp", isOn: isLit, action: SetLampIntent(lamp: lamp)) { $0 ? "On" : "Off" }
                .tint("yellow")
        }
        .displayName("The lamp")
        .description("Switches it")
        .deadlines(value: .seconds(30), action: .seconds(60))
    }
}

/// A button whose handlers are the test's.
struct TestControl: ControlWidget, ControlValueProvider, AppIntent {
    var kind = "test"
    let previewValue = 0
    var value: @Sendable () async throws -> Int = { 0 }
    var action: @Sendable () async throws -> String? = { nil }

    var body: some ControlWidgetConfiguration {
        StaticControlConfiguration(kind: kind, provider: self) { value in
            ControlWidgetButton("Test", action: self, isActive: value > 0)
        }
        .deadlines(value: .seconds(30), action: .seconds(60))
    }

    func currentValue() async throws -> Int { try await value() }
    func perform() async throws -> IntentResultContainer { IntentResultContainer(status: try await action()) }
}

/// A thermostat that can be configured.
struct RoomIntent: ControlConfigurationIntent, Equatable {
    enum Scale: String, Codable, CaseIterable {
        case celsius, fahrenheit
    }

    var room = "kitchen"
    var scale = Scale.celsius
    var offset: Int?

    static let parameters: [IntentParameter] = [
        .string("room", title: "Room", optionsProvider: Rooms()),
        .enum("scale", of: Scale.self),
        .integer("offset"),
    ]

    struct Rooms: DynamicOptionsProvider {
        func results() async throws -> [IntentParameterOption] {
            let scale = ProviderContext.current?.configuration(of: RoomIntent.self)?.scale
            return [.init("kitchen", title: "Kitchen"), .init(scale == .fahrenheit ? "den" : "study")]
        }
    }
}

struct Reading: Codable, Sendable, Equatable {
    var room: String
    var degrees: Int
}

struct ThermostatProvider: AppIntentControlValueProvider {
    func previewValue(configuration: RoomIntent) -> Reading { Reading(room: configuration.room, degrees: 0) }

    func currentValue(configuration: RoomIntent) async throws -> Reading {
        let degrees = configuration.scale == .celsius ? 21 : 70
        return Reading(room: configuration.room, degrees: degrees + (configuration.offset ?? 0))
    }
}

/// Opens the window of the room that is configured.
struct OpenWindowIntent: AppIntent {
    let room: String
    static let authenticationPolicy = IntentAuthenticationPolicy.requiresAuthentication

    func perform() async throws -> some IntentResult { .result(status: "\(room) opens") }
}

struct ThermostatControl: ControlWidget {
    var body: some ControlWidgetConfiguration {
        AppIntentControlConfiguration(kind: "thermostat", provider: ThermostatProvider()) { reading in
            ControlWidgetButton("Thermostat", action: OpenWindowIntent(room: reading.room))
                .controlWidgetStatus("\(reading.degrees)°")
                .controlWidgetActionHint("Opens the window")
                .privacySensitive()
                .disabled(reading.degrees > 100)
        }
        .promptsForUserConfiguration()
        .reloadsSiblings()
    }
}
