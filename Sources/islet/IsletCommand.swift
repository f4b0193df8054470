import ArgumentParser

/// The command's root.
struct IsletCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "islet",
        abstract: "The server-side truth for Live Activities, controls and widgets.",
        usage: "islet <subcommand> …",
        discussion: """
            EXAMPLES:
              islet dev                  a service with a demo: look around first
              islet tail                 every change, with cause and next deadline
              islet serve                a service of your own
              islet activity start order-7 --type Delivery --state '{"eta":12}'
              islet activity update order-7 --state '{"eta":11}' --stale-in 30s
              islet activity explain order-7         why it is as it is
              islet control tap Torch --wait         and see what becomes of it
              islet widget timeline Flight           what it shows when
              islet journal verify       are the files sound?

            ENVIRONMENT:
              ISLET_COMMANDS, ISLET_EVENTS, ISLET_BULK    where the service is
              ISLET_APP                                   the app, instead of --app
              NO_COLOR                                    no colours on a terminal

            Data goes to standard output, messages go to standard error. With --json
            the data is JSON, one line for each thing.

            EXIT CODES:
              0  done
              1  failed, or files that are not sound
              2  wrong usage
              3  not found
              4  a conflict, or ignored because of the state
              5  no answer in time
              6  refused, or a limit was reached
             74  a commit failed: what is on the disk is unknown until the next start
            """,
        version: "islet \(ClientVersion.text)",
        subcommands: [
            Serve.self, Dev.self, Info.self, ActivityCommand.self, ControlCommand.self, WidgetCommand.self,
            GroupCommand.self, ProviderCommand.self, Tail.self, SettingsCommand.self, DeviceCommand.self,
            ClockCommand.self, JournalCommand.self, Backup.self, Restore.self,
        ])
}
