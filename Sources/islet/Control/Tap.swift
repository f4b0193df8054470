import ArgumentParser
import IsletClient

extension ControlCommand {
    /// `islet control tap`.
    struct Tap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tap it, as a person does: a toggle flips, a button acts.",
            discussion: """
                EXAMPLES:
                  islet control tap Torch
                  islet control tap GarageDoor --wait    exit code 1 where it failed
                """)

        @OptionGroup var target: ControlTarget
        @OptionGroup var wait: WaitOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let action = ControlAction(target: target, done: "tapped", output: output, service: service)
            try await action.run("control.tap", isOn: nil, waits: wait.isSet)
        }
    }

    /// `islet control set`.
    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set a toggle on or off, whatever it shows.",
            discussion: """
                EXAMPLES:
                  islet control set Torch on
                  islet control set Torch off --wait
                """)

        /// What a toggle is set to.
        enum Switch: String, ExpressibleByArgument, CaseIterable {
            case on, off
        }

        @OptionGroup var target: ControlTarget

        @Argument(help: ArgumentHelp("on or off.", valueName: "on|off"))
        var value: Switch

        @OptionGroup var wait: WaitOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let action = ControlAction(target: target, done: "set", output: output, service: service)
            try await action.run("control.set", isOn: value == .on, waits: wait.isSet)
        }
    }

    /// `islet control reload`.
    struct Reload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask for values anew: of one control, of a kind, or of all.",
            discussion: """
                EXAMPLES:
                  islet control reload Torch
                  islet control reload --kind Thermostat --push
                  islet control reload                    all of the app
                """)

        @Argument(help: ArgumentHelp("The control, as for get; without one: all of them.", valueName: "kind or id"))
        var target: String?

        @Option(help: ArgumentHelp("All of this kind.", valueName: "kind"))
        var kind: String?

        @Option(help: ArgumentHelp("The device whose control it is.", valueName: "device"))
        var device: String?

        @Flag(help: "As a push.")
        var push = false

        @OptionGroup var app: ControlAppOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard target == nil || kind == nil else { throw ValidationError("name a control or --kind, not both") }
            guard target != nil || device == nil else { throw ValidationError("--device needs a control") }
        }

        func run() async throws {
            var command = Command("control.reload", app: app.app)
            command["kind"] = kind.map(RawJSON.string)
            if push { command["source"] = .string("push") }
            try await service.withConnection { connection in
                if let target {
                    let name = ControlName(target, device: device, app: app.app)
                    command["id"] = .string(try await name.id(connection))
                }
                let answer = try await ControlKindName.send(command, kind: kind ?? "", app: app.app, connection)
                if target == nil, !output.json {
                    let count = answer["count"]?.integer ?? 0
                    return Console.data("reloading \(count) control\(count == 1 ? "" : "s")")
                }
                try await Report.change(
                    answer, done: "reloading", name: target ?? "", output: output, now: connection.now)
            }
        }
    }
}

/// Whether a subcommand waits for what becomes of an action.
struct WaitOption: ParsableArguments {
    @Flag(name: .customLong("wait"), help: "Wait until it rests, and show its value then; exit code 1 where it failed.")
    var isSet = false
}
