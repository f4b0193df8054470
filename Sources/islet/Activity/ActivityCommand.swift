import ArgumentParser
import IsletClient

/// `islet activity …`: what can be asked of an activity.
struct ActivityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activity",
        abstract: "Start, change and look at Live Activities.",
        discussion: """
            EXAMPLES:
              islet activity start order-7 --type Delivery --state '{"eta":12}'
              islet activity update order-7 --state '{"eta":11}' --stale-in 30s
              islet activity end order-7 --dismissal 15m
              islet activity tap order-7
              islet activity list --state stale
              islet activity explain order-7

            An activity is named by its key or its id. Spans such as 30s, 10m and 8h
            are in the service's own time, which may run fast.
            """,
        subcommands: [
            Start.self, Update.self, End.self, Dismiss.self, Renew.self, Heartbeat.self, Tap.self,
            EntityGet<ActivityTarget>.self, List.self, EntityHistory<ActivityTarget>.self,
            EntityExplain<ActivityTarget>.self,
            EntityAt<ActivityTarget>.self, EntityCompare<ActivityTarget>.self,
        ])
}
