import ArgumentParser

/// `islet widget …`: what can be asked of a widget.
struct WidgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "widget",
        abstract: "Place, tap and look at widgets and their timelines.",
        discussion: """
            EXAMPLES:
              islet widget kinds                     what providers offer
              islet widget add Weather --family systemSmall --configuration '{"city":"paris"}'
              islet widget timeline Flight           what it shows when, and what comes next
              islet widget budget Flight             reloads spent, left and held
              islet widget tap Flight --action checkIn --wait
              islet widget stack phone-1             the Smart Stack of a device
              islet widget explain Flight

            A widget is named by its kind where there is one of it, by its id, or by the
            end of its id, as lists and islet tail show it. Its timelines are computed by
            a provider, another process: see islet provider list.
            """,
        subcommands: [
            List.self, Add.self, Configure.self, PlacedRemove<Widgets>.self, EntityGet<PlacedTarget<Widgets>>.self,
            Timeline.self, Budget.self, Tap.self, PlacedReload<Widgets>.self, Visible.self, Kinds.self, Options.self,
            Snapshot.self, Recommendations.self, InvalidateRelevance.self, Stack.self,
            EntityHistory<PlacedTarget<Widgets>>.self, EntityExplain<PlacedTarget<Widgets>>.self,
            EntityAt<PlacedTarget<Widgets>>.self, EntityCompare<PlacedTarget<Widgets>>.self,
        ])
}
