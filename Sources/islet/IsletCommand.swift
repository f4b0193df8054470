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
              islet top                  what runs, what is stuck, how late timers are
              islet serve                a service of your own
              islet activity start order-7 --type Delivery --state '{"eta":12}'
              islet activity update order-7 --state '{"eta":11}' --stale-in 30s
              islet control tap Torch --wait         and see what becomes of it
              islet widget timeline Flight           what it shows when

            WHICH COMMAND ANSWERS WHICH QUESTION:
              what runs?                 islet top, islet apps, islet activity list --all
              what is happening?         islet tail (--since 10m), islet stats --watch
              what is stuck?             islet problems (failed, stale, overdue, waiting)
              why is it in this state?   islet explain order-7
              what does a rule say?      islet rules staleDateReached
              what was it before?        islet activity at 10m order-7
              what has changed?          islet activity diff order-7 3 7
              what fires next?           islet timers (and how late timers are)
              who holds the slots?       islet slots, islet slots --device phone-1
              who is slow?               islet subscribers, islet providers
              is it healthy?             islet check (exit codes for monitoring)
              is this machine fit?       islet doctor
              are the files sound?       islet journal verify
              until when must I wait?    islet wait order-7 --for ended --timeout 5m
              do my own flows work?      islet scenario run order.yaml
              can I play it again?       islet record FILE, islet replay FILE

            ENVIRONMENT:
              ISLET_COMMANDS, ISLET_EVENTS, ISLET_BULK    where the service is
              ISLET_APP                                   the app, instead of --app
              ISLET_CONTEXT                               the context, instead of --context
              NO_COLOR                                    no colours on a terminal

            Data goes to standard output, messages go to standard error. With --json
            the data is JSON, one line for each thing; -o wide has more columns, and
            -o name only names. Lists and tail take --filter 'state=stale and key~order-'
            (islet activity list --help says how). Names for services: islet context.

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
        groupedSubcommands: [
            CommandGroup(name: "Service", subcommands: [Serve.self, Dev.self]),
            CommandGroup(
                name: "Inspection",
                subcommands: [
                    Problems.self, Top.self, Stats.self, Apps.self, Tail.self, Explain.self, Rules.self, Timers.self, Slots.self,
                    Subscribers.self, Providers.self, Wait.self, Info.self,
                ]),
            CommandGroup(name: "Health", subcommands: [Check.self, Doctor.self]),
            CommandGroup(
                name: "Entity",
                subcommands: [
                    ActivityCommand.self, ControlCommand.self, WidgetCommand.self, GroupCommand.self,
                    ProviderCommand.self, SettingsCommand.self, DeviceCommand.self, ClockCommand.self,
                ]),
            CommandGroup(name: "Test", subcommands: [ScenarioCommand.self]),
            CommandGroup(
                name: "File",
                subcommands: [JournalCommand.self, Backup.self, Restore.self, Record.self, Replay.self]),
            CommandGroup(name: "Setup", subcommands: [ContextCommand.self, CompletionsCommand.self]),
        ])
}
