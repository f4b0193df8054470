/// The home of the demo: the truth about its things, which its controls show and change.
actor DemoHome {
    static let app = "com.example.home"
    static let rooms = ["bedroom", "kitchen", "office"]

    /// What a room's thermostat shows.
    struct Room: Codable, Sendable {
        var name: String
        var isHeated = false
        /// Tenths of a degree Celsius.
        var temperature = 190

        /// Such as `19.5 °C in the kitchen`.
        var status: String { "\(temperature / 10).\(temperature % 10) °C in the \(name)" }
    }

    /// How the garage door stands.
    enum Door: String, Codable, Sendable {
        case open, closed
    }

    /// What can go wrong.
    enum Trouble: Error, CustomStringConvertible {
        case doorIsStuck
        case noSuchRoom(String)

        /// As entities show it.
        var description: String {
            switch self {
            case .doorIsStuck: "the door is stuck"
            case .noSuchRoom(let name): "there is no room '\(name)'"
            }
        }
    }

    /// Things take their time.
    private static let switching = Duration.milliseconds(200)
    private static let moving = Duration.milliseconds(700)
    private static let measuring = Duration.milliseconds(30)
    /// Of so many presses the last one fails, so that whoever tries it sees it soon, and a test can count on it.
    private static let pressesToTrouble = 5
    /// What a room comes to in the end.
    private static let temperatures = 160...240

    private var isTorchLit = false
    private var door = Door.closed
    private var presses = 0
    private var thermostats = Dictionary(uniqueKeysWithValues: rooms.map { ($0, Room(name: $0)) })

    // MARK: Values

    func torch() async throws -> Bool {
        try await Task.sleep(for: Self.measuring)
        return isTorchLit
    }

    func garageDoor() async throws -> Door {
        try await Task.sleep(for: Self.measuring)
        return door
    }

    func room(_ name: String) async throws -> Room {
        try await Task.sleep(for: Self.measuring)
        guard let room = thermostats[name] else { throw Trouble.noSuchRoom(name) }
        return room
    }

    // MARK: Actions

    func light(_ isOn: Bool) async throws {
        try await Task.sleep(for: Self.switching)
        isTorchLit = isOn
    }

    func heat(_ name: String, _ isOn: Bool) async throws {
        try await Task.sleep(for: Self.switching)
        guard thermostats[name] != nil else { throw Trouble.noSuchRoom(name) }
        thermostats[name]?.isHeated = isOn
    }

    /// Opens or closes the door; how it stands then.
    func pressGarageDoor() async throws -> Door {
        try await Task.sleep(for: Self.moving)
        presses += 1
        guard !presses.isMultiple(of: Self.pressesToTrouble) else { throw Trouble.doorIsStuck }
        door = door == .open ? .closed : .open
        return door
    }

    /// It gets warmer where it is heated, and colder where it is not.
    func passTime() {
        for (name, room) in thermostats {
            let temperature = room.temperature + (room.isHeated ? 5 : -5)
            thermostats[name]?.temperature = min(
                max(temperature, Self.temperatures.lowerBound), Self.temperatures.upperBound)
        }
    }
}
