import ArgumentParser
import IsletClient
import IsletFilter

/// `islet top`: what goes on, as it goes on.
struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch what runs, what is stuck and what fires next.",
        discussion: """
            EXAMPLES:
              islet top                              what is wrong; ? shows the keys
              islet top --tab activities --app com.example.delivery
              islet top --filter state=stale
              islet top --once                       the screen as text, and end
              islet top --write                      E, D and R end, dismiss, reload
              islet top --interval 10s | tee figures.txt

            It begins with what `islet problems` tells, or with the activities that fit a filter
            which asks for neither severity nor what; the other tabs are a key away. On a
            terminal it fills the screen and goes on until q. Where there is none, it writes
            a line of figures for each interval. It waits for a service that is not there,
            and for one that goes away.
            """)

    @Option(help: ArgumentHelp("How often the service is asked.", valueName: "span"))
    var interval = Span(milliseconds: 1_000)

    @Flag(help: "Write what the screen would show, and end.")
    var once = false

    @Option(help: ArgumentHelp("How many rows are asked for at most.", valueName: "number"))
    var limit = 200

    @Option(
        name: .customLong("app"),
        help: ArgumentHelp("One app (else ISLET_APP, else the context's, else all).", valueName: "bundle id"))
    var app: String?

    @Option(help: ArgumentHelp("What is listed (else problems; with a filter activities).", valueName: "tab"))
    var tab: TopTab?

    @Option(help: ArgumentHelp("Which rows: words and name=value, or as --filter of the lists.", valueName: "words"))
    var filter = ""

    @Flag(help: "Let keys end, dismiss and reload, once each is confirmed.")
    var write = false

    @OptionGroup var service: ServiceOptions

    func validate() throws {
        guard (100...3_600_000).contains(interval.milliseconds) else {
            throw ValidationError("--interval is between 100ms and 1h")
        }
        if let problem = TopFilter(filter).problem { throw ValidationError("--filter: \(problem)") }
        guard (1...Self.limitMax).contains(limit) else {
            throw ValidationError("--limit is between 1 and \(Self.limitMax)")
        }
    }

    /// What a list gives at most, by the contract.
    private static let limitMax = 1_000

    func run() async throws {
        let source = TopSource(service)
        do {
            if once {
                try await TopLines.once(model(size: TopLines.size), source)
            } else if Terminal.isThere {
                try await TopSession.run(source, hasColours: environment("NO_COLOR") == nil, model)
            } else {
                await TopLines.follow(model(size: .standard), source)
            }
        } catch {
            await source.close()
            throw error
        }
        await source.close()
    }

    private func model(size: ScreenSize) -> TopModel {
        var model = TopModel(
            endpoint: Redaction.endpoint(service.endpoints.commands), interval: interval.milliseconds, limit: limit,
            app: chosenApp(app), mayWrite: write, size: size)
        model.filter = TopFilter(filter)
        model.tab = tab ?? (filter.isEmpty || model.filter.isOfProblems ? .problems : .activities)
        return model
    }
}

extension TopTab: ExpressibleByArgument {
    init?(argument: String) {
        guard let tab = TopTab.allCases.first(where: { $0.title.lowercased() == argument.lowercased() }) else {
            return nil
        }
        self = tab
    }

    var defaultValueDescription: String { title.lowercased() }

    static var allValueStrings: [String] { allCases.map { $0.title.lowercased() } }
}
