import ArgumentParser
import IsletClient
import IsletFilter

/// `islet check`: for monitoring systems.
struct Check: AsyncParsableCommand {
    /// As it is called.
    static let name = "check"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Judge the service's health, for monitoring.",
        discussion: """
            EXAMPLES:
              islet check
              islet check --lateness-p99 100ms:1s --lagging 0:5 --memory 1GiB:2GiB
              islet check --providers 2:1              one: a warning; none: critical
              islet check --format json
              islet check --format prometheus > /var/lib/node_exporter/islet.prom
              islet check --timeout 2s                 no answer by then is critical

            A threshold is WARN:CRIT; either may be left out, and off judges nothing. A
            figure above it is bad, of --providers one below it. Times are of the last
            half minute to a minute.

            EXIT CODES: 0 OK; 1 WARNING; 2 CRITICAL, also where nothing answers; 3 UNKNOWN
            """)

    /// How a report is written.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case human, json, prometheus
    }

    @Option(help: ArgumentHelp("How to write it: human, json or prometheus.", valueName: "format"))
    var format = Format.human

    @Flag(help: "The same as --format json.")
    var json = false

    @OptionGroup(title: "Thresholds") var thresholds: CheckThresholds
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let report = await judge()
        switch json ? .json : format {
        case .human: Console.data(CheckText.line(report))
        case .json: Console.data(CheckText.json(report).bytes)
        case .prometheus: for line in CheckText.prometheus(report) { Console.data(line) }
        }
        if report.status != .ok { throw ExitCode(report.status.rawValue) }
    }

    private func judge() async -> CheckReport {
        do {
            let rules = try thresholds.rules()
            return try await service.withConnection { connection in
                try await read(connection).report(rules)
            }
        } catch let problem as CheckProblem {
            return CheckReport(problems: [.init(status: .unknown, text: problem.text)])
        } catch let failure as Failure where failure.code == .unreachable {
            return CheckReport(problems: [.init(status: .critical, text: failure.text)])
        } catch {
            let text = Failure(error)?.text ?? "\(error)"
            return CheckReport(problems: [.init(status: .unknown, text: text)])
        }
    }

    private func read(_ connection: IsletConnection) async throws -> CheckReading {
        let begun = ContinuousClock.now
        let stats = try StatsReading(try await connection.send(Command("service.stats")))
        let time = Span(ContinuousClock.now - begun).milliseconds
        let providers = try await Pages.all(Command("provider.list"), "providers", connection)
        let failing = try await Self.failing(
            connection, since: stats.now.subtractingClamped(thresholds.failingAfter.milliseconds))
        // One that failed, and of which nobody has wanted anything for a while, is no problem: an older service tells all.
        let told = try await Self.problems("provider", connection).map(ProblemsReading.rows)
        let tried = told?.filter { $0["family"]?.string == "provider" && $0["what"]?.string == "failed" }
        let halfOpen = (tried ?? providers.compactMap(\.object)).filter { $0["state"]?.string == "halfOpen" }
        let info = try await connection.send(Command("service.info"))["info"]?.object
        return CheckReading(
            stats: stats,
            openProviders: Int64(providers.count { $0.object?["state"]?.string == "open" }),
            halfOpenProviders: Int64(halfOpen.count), failing: failing,
            maximumEntities: info?["ruleSet"]?.object?["maximumEntities"]?.integer,
            responseTime: time)
    }

    /// How many controls and widgets have failed since a date or longer, or are of a kind that nobody serves; nil where the
    /// service does not say it.
    private static func failing(_ connection: IsletConnection, since date: Int64) async throws -> Int64? {
        var count: Int64 = 0
        for family in ["control", "widget"] {
            guard let answer = try await problems(family, connection) else { return nil }
            count = count.addingClamped(ProblemsReading.failed(family, in: answer, since: date))
        }
        guard let answer = try await problems("kind", connection) else { return nil }
        return count.addingClamped(ProblemsReading.count(of: "unserved", "kind", in: answer))
    }

    /// The problems of a family, by itself: many of another one would leave them no room in an answer. nil where the service
    /// does not say them: it is older, or its disk is full, which its figures tell.
    private static func problems(_ family: String, _ connection: IsletConnection) async throws -> Answer? {
        do throws(IsletError) {
            let answer = try await ProblemsReading.answer(family: family, connection)
            return ProblemsReading.rows(of: answer).contains(where: ProblemsText.isDiskFull) ? nil : answer
        } catch {
            guard case .refused = error else { throw error }
            return nil
        }
    }
}
