import ArgumentParser
import IsletClient

/// The activity that a subcommand is about.
struct ActivityTarget: EntityTarget {
    typealias Family = Activities

    @Argument(help: ArgumentHelp("The activity's key, or its id (a UUID).", valueName: "key or id"))
    var target: String

    @Option(help: ArgumentHelp("The device whose activity has the key.", valueName: "device"))
    var device: String?

    @OptionGroup var app: AppOption

    /// The command with the fields that address the activity.
    func command(_ op: String) -> Command {
        var command = Command(op, app: app.app)
        if EntityText.isID(target) {
            command["id"] = .string(target)
        } else {
            command["key"] = .string(target)
            command["device"] = device.map(RawJSON.string)
        }
        return command
    }

    func command(_ verb: String, _ connection: IsletConnection) -> Command {
        command("activity.\(verb)")
    }
}
