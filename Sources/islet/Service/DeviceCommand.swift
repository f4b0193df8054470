import ArgumentParser
import IsletClient

/// `islet device EVENT`: what a device reports.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Report something in the name of a device.",
        discussion: """
            EXAMPLES:
              islet device lock --device phone-1           its transient ones end
              islet device appBackground --device phone-1  the app may start none
              islet device standByStart --device phone-1   its widgets reload as they like
              islet device uninstall --device phone-1 --app com.example.delivery
            """)

    /// What happened.
    enum Event: String, ExpressibleByArgument, CaseIterable {
        case lock, unlock, collapse, leave, reboot, appForeground, appBackground, uninstall
        case sessionStart, sessionEnd, standByStart, standByEnd
        case localeChange, appearanceChange, locationChange, developerModeOn, developerModeOff

        /// Whether it is about one app.
        var namesAnApp: Bool {
            switch self {
            case .appForeground, .appBackground, .uninstall, .sessionStart, .sessionEnd: true
            case .lock, .unlock, .collapse, .leave, .reboot, .standByStart, .standByEnd, .localeChange,
                .appearanceChange, .locationChange, .developerModeOn, .developerModeOff:
                false
            }
        }
    }

    @Argument(help: ArgumentHelp("What happened.", valueName: "event"))
    var event: Event

    @Option(help: ArgumentHelp("Which device.", valueName: "device"))
    var device: String

    @OptionGroup var app: AppOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func validate() throws {
        guard app.named == nil || event.namesAnApp else {
            throw ValidationError("\(event.rawValue) is about the whole device: it takes no --app")
        }
    }

    func run() async throws {
        var command = Command("device.event", ["device": .string(device), "event": .string(event.rawValue)])
        try await service.withConnection { connection in
            if event.namesAnApp { command["app"] = .string(try await app.required(connection)) }
            let answer = try await connection.send(command)
            let report = "\(device): \(event.rawValue)"
            if output.json { return Console.data(answer.json.bytes, of: report) }
            Console.data(report, of: report)
        }
    }
}
