import ArgumentParser

/// `islet control …`: what can be asked of a control.
struct ControlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Place, tap and look at controls.",
        discussion: """
            EXAMPLES:
              islet control kinds                    what providers offer
              islet control add Thermostat --configuration '{"room":"kitchen"}'
              islet control tap Torch --wait         and wait for what becomes of it
              islet control set Thermostat/27e5fe81cfb1 on
              islet control list --state disabled
              islet control explain Torch

            A control is named by its kind where there is one of it, by its id, or by the
            end of its id, as lists and islet tail show it. Its value is computed by a
            provider, another process: see islet provider list.
            """,
        subcommands: [
            Add.self, Configure.self, PlacedRemove<Controls>.self, Tap.self, Set.self, PlacedReload<Controls>.self,
            Get.self, List.self, EntityHistory<PlacedTarget<Controls>>.self,
            EntityExplain<PlacedTarget<Controls>>.self, EntityAt<PlacedTarget<Controls>>.self,
            EntityCompare<PlacedTarget<Controls>>.self, Kinds.self, Options.self, Preview.self,
        ])
}
