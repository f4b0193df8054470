import ArgumentParser
import IsletClient

extension ControlCommand {
    /// `islet control tap`.
    struct Tap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tap a control: a toggle flips, a button acts.",
            discussion: """
                EXAMPLES:
                  islet control tap Torch
                  islet control tap GarageDoor --wait    exit code 1 where it failed
                """)

        @OptionGroup var target: PlacedTarget<Controls>
        @OptionGroup var wait: WaitOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let action = PlacedAction(target: target, done: "tapped", output: output, service: service)
            try await action.run("tap", waits: wait.isSet)
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

        @OptionGroup var target: PlacedTarget<Controls>

        @Argument(help: ArgumentHelp("on or off.", valueName: "on|off"))
        var value: Switch

        @OptionGroup var wait: WaitOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let action = PlacedAction(target: target, done: "set", output: output, service: service)
            try await action.run("set", ["value": .bool(value == .on)], waits: wait.isSet)
        }
    }
}
