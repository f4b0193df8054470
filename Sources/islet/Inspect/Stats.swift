import ArgumentParser
import IsletClient
import IsletFilter

/// `islet stats`: the service's figures, once or again and again.
struct Stats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the service's figures, once or each second.",
        discussion: """
            EXAMPLES:
              islet stats
              islet stats --watch                  rates, a line every second
              islet stats --watch --interval 10s --count 6
              islet stats --json | jq .lateness

            Totals count since the service was started; times marked “last …” are of the
            last half minute to a minute. islet check judges the same figures.
            """)

    @Flag(help: "A line with rates for each interval, until Ctrl-C.")
    var watch = false

    @Option(help: ArgumentHelp("How long an interval of --watch is.", valueName: "span"))
    var interval = Span(milliseconds: 1_000)

    @Option(help: ArgumentHelp("End --watch after so many lines.", valueName: "number"))
    var count: Int?

    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    /// A faster watch would show its own load.
    private static let shortestInterval: Int64 = 100
    /// The head is shown again after so many lines.
    private static let linesPerHead = 20

    func validate() throws {
        guard interval.milliseconds >= Self.shortestInterval else {
            throw ValidationError("--interval must be at least 100ms")
        }
        guard count ?? 1 > 0 else { throw ValidationError("--count must be at least 1") }
        guard watch || count == nil else { throw ValidationError("--count needs --watch") }
    }

    func run() async throws {
        try await service.withConnection { connection in
            guard !watch else { return try await follow(connection) }
            let reading = try StatsReading(try await connection.send(Command("service.stats")))
            guard !output.json else { return Console.data(reading.stats.json.bytes) }
            for line in StatsText.lines(reading, style: .output) { Console.data(line) }
        }
    }

    /// A line for each interval, until the count is reached or somebody ends it.
    private func follow(_ connection: IsletConnection) async throws {
        let watched = WatchedStats()
        try await Interruption.telling { signals in
            try await withThrowingTaskGroup { group in
                group.addTask { try await lines(watched, connection) }
                group.addTask { for await _ in signals { return } }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        if let text = watched.summary, !output.json { Console.message(text) }
    }

    private func lines(_ watched: WatchedStats, _ connection: IsletConnection) async throws {
        var written = 0
        var previous: StatsReading?
        while written < count ?? .max {
            let reading = try StatsReading(try await connection.send(Command("service.stats")))
            if output.json {
                Console.data(reading.stats.json.bytes)
                written += 1
            } else if let previous {
                if written % Self.linesPerHead == 0 { Console.data(Style.output.dim(StatsLine.head)) }
                Console.data(StatsLine.line(StatsRates(from: previous, to: reading), reading))
                written += 1
            }
            watched.add(reading)
            previous = reading
            // From this reading on: a late answer makes no short interval behind it, in which nothing can be counted.
            if written < count ?? .max { try await Task.sleep(for: interval.duration) }
        }
    }
}
