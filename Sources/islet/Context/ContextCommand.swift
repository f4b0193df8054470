import ArgumentParser
import IsletClient
import IsletFilter

/// `islet context …`: names for services.
struct ContextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "context",
        abstract: "Name services, and say which one is meant.",
        discussion: """
            EXAMPLES:
              islet context add shop --commands tcp://127.0.0.1:7411 --app com.example.shop
              islet context use shop             from now on
              islet info --context other         only this time; or ISLET_CONTEXT=other
              islet context list
              islet context use default          none: as before

            What holds, the first that says something: an option such as --commands, the
            context that --context names, the environment (ISLET_COMMANDS, ISLET_APP …), the
            context in use, the default. Events and bulk of a context, and of the
            environment, hold only where commands go to the service of the same.

            They are kept in islet/contexts.json in the XDG configuration directory
            (~/.config), for nobody else to read.
            """,
        subcommands: [Add.self, Use.self, List.self, Show.self, Remove.self])

    /// The name of a context that is there.
    struct Name: ParsableArguments {
        @Argument(help: ArgumentHelp("The context.", valueName: "name"), completion: .custom(Completions.contexts))
        var name: String
    }

    /// `islet context add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a context; of one that is there, set what is named.",
            discussion: """
                EXAMPLES:
                  islet context add shop --commands tcp://127.0.0.1:7411 --app com.example.shop
                  islet context add shop --timeout 2s --use
                """)

        @Argument(help: ArgumentHelp("What it is called: letters, digits, '.', '-' and '_'.", valueName: "name"))
        var name: String
        @Option(help: ArgumentHelp("Where commands go.", valueName: "url"))
        var commands: String?
        @Option(help: ArgumentHelp("Where events come from; else the service says it.", valueName: "url"))
        var events: String?
        @Option(help: ArgumentHelp("Where snapshots come from; else the service says it.", valueName: "url"))
        var bulk: String?
        @Option(help: ArgumentHelp("The app that is meant where none is named.", valueName: "bundle id"))
        var app: String?
        @Option(help: ArgumentHelp("How long to wait for an answer.", valueName: "span"))
        var timeout: Span?
        @Flag(help: "Also use it from now on.")
        var use = false

        func validate() throws {
            guard ContextBook.isName(name) else {
                throw ValidationError("a context is called by letters, digits, '.', '-' and '_', and not 'default'")
            }
            for (option, url) in [("commands", commands), ("events", events), ("bulk", bulk)] {
                guard let url, !ContextBook.isEndpoint(url) else { continue }
                throw ValidationError("--\(option) is tcp://HOST:PORT or ipc://PATH, and not '\(url)'")
            }
            if let timeout, timeout.milliseconds == 0 { throw ValidationError("--timeout must be longer than 0 s") }
            if let app, !ContextBook.isApp(app) {
                throw ValidationError("--app is a bundle id of letters, digits, '.' and '-', and not '\(app)'")
            }
        }

        func run() async throws {
            let timeout = timeout.map { "\($0.milliseconds)ms" }
            let given: [(ContextBook.Setting, String?)] = [
                (.commands, commands), (.events, events), (.bulk, bulk), (.app, app), (.timeout, timeout),
            ]
            let isNew = try ContextFile.change { book in
                let isNew = book[name] == nil
                guard !isNew || book.contexts.count < ContextBook.countMax else {
                    throw Failure(.refused, "there are \(ContextBook.countMax) contexts already, and no more are kept")
                }
                var context = book[name] ?? ContextBook.Context()
                for (setting, value) in given { if let value { context[setting] = value } }
                book[name] = context
                if use { _ = book.use(name) }
                return isNew
            }
            Console.data((isNew ? "added " : "changed ") + name + (use ? ", which is used from now on" : ""))
        }
    }

    /// `islet context use`.
    struct Use: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Use a context from now on; default: none.",
            discussion: """
                EXAMPLES:
                  islet context use shop
                  islet context use default
                """)

        @OptionGroup var target: Name

        func run() async throws {
            let name = target.name == ContextBook.none ? nil : target.name
            try ContextFile.change { book in
                guard book.use(name) else { throw ChosenContext.unknown(target.name, in: book) }
            }
            Console.data(name.map { "\($0) is used from now on" } ?? "no context is used from now on")
        }
    }

    /// `islet context list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the contexts; * marks the one in use.",
            discussion: """
                EXAMPLES:
                  islet context list
                  islet context list -o name
                """)

        @OptionGroup var output: OutputOptions

        func run() async throws {
            let book = try ContextFile.load()
            let rows = book.contexts.map { name, context in
                var row: RawObject = ["name": .string(name), "current": .bool(name == book.current)]
                for member in ContextText.shown(context.members).members { row[member.name] = member.value }
                return row
            }
            try await RowOutput.write(rows, output, name: { $0["name"]?.string ?? "?" }) { _ in
                ContextText.table(rows).lines(style: .output)
            }
            let others = [
                ("ISLET_CONTEXT", environment("ISLET_CONTEXT")), ("ISLET_COMMANDS", environment("ISLET_COMMANDS")),
            ]
            for (name, value) in others where value != nil {
                Console.message("\(name) is set, and stands over the one in use")
            }
            Console.message("\(rows.count) context\(rows.count == 1 ? "" : "s")")
        }
    }

    /// `islet context show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a context, or the one that holds now.",
            discussion: """
                EXAMPLES:
                  islet context show
                  islet context show shop --json
                  islet context show shop --show-secrets    also what gives access
                """)

        @Argument(
            help: ArgumentHelp("The context; without one: what holds now.", valueName: "name"),
            completion: .custom(Completions.contexts))
        var name: String?
        @Flag(help: "Show also what gives access, which else is masked.")
        var showSecrets = false
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let book = try ContextFile.load()
            let name = name ?? environment("ISLET_CONTEXT") ?? book.current
            guard let name, name != ContextBook.none else {
                return Console.message("no context is used: the defaults hold")
            }
            guard let context = book[name] else { throw ChosenContext.unknown(name, in: book) }
            let members = showSecrets ? context.members : ContextText.shown(context.members)
            if output.json { return Console.data(members.json.bytes) }
            if output.isNames { return Console.data(name) }
            Console.data(Style.output.bold(name))
            for member in members.members {
                Console.data("  " + member.name.padded(to: 15) + " " + member.value.text)
            }
        }
    }

    /// `islet context remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take a context away.",
            discussion: """
                EXAMPLES:
                  islet context remove shop
                """)

        @OptionGroup var target: Name

        func run() async throws {
            let wasCurrent = try ContextFile.change { book in
                guard book[target.name] != nil else {
                    throw Failure(.notFound, ChosenContext.unknown(target.name, in: book).text)
                }
                let wasCurrent = book.current == target.name
                book[target.name] = nil
                return wasCurrent
            }
            Console.data("removed \(target.name)" + (wasCurrent ? "; no context is used now" : ""))
        }
    }
}
