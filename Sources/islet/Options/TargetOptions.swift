import ArgumentParser
import IsletClient

/// The activity that a subcommand is about.
struct TargetOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The activity's key, or its id (a UUID).", valueName: "key or id"))
    var target: String

    @Option(help: ArgumentHelp("The device whose activity has the key.", valueName: "device"))
    var device: String?

    @OptionGroup var app: AppOption

    /// The command with the fields that address the activity.
    func command(_ op: String) -> Command {
        var command = Command(op, app: app.app)
        if Self.isID(target) {
            command["id"] = .string(target)
        } else {
            command["key"] = .string(target)
            command["device"] = device.map(RawJSON.string)
        }
        return command
    }

    /// Whether a text has the form 8-4-4-4-12 of a UUID.
    static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy(\.isHexDigit)
    }
}
