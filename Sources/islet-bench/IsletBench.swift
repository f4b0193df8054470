#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `islet-bench SUBJECT`: measures one part of the service in this process, and prints one table.
@main
struct IsletBench {
    private static let usage = """
        usage: islet-bench SUBJECT [--count N] [--rounds N] [--json]
               islet-bench SUBJECT --regions [--count N]
        SUBJECT is one of: \(Subject.allCases.map(\.rawValue).joined(separator: ", "))
        --count   operations of a round
        --rounds  rounds after the first, of which the best counts
        --regions no times: each operation N and 2 N times in a region that callgrind finds (see scripts/instructions)
        """

    static func main() {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            complain(usage)
            exit(64)
        }
        do {
            if options.marksRegions { try markRegions(options) } else { try time(options) }
        } catch {
            complain("\(options.subject): \(error)")
            exit(1)
        }
    }

    private static func time(_ options: Options) throws {
        var meter = Meter(.time, count: options.subject.whole(options.count ?? options.subject.defaultCount))
        for _ in 0...options.rounds { try options.subject.round(&meter) }
        let table = Table(options.subject, meter, rounds: options.rounds)
        print(options.isJSON ? table.json() : table.text())
    }

    /// Two rounds of N and one of 2 N. The first warms up; the difference of the others is what N operations cost.
    private static func markRegions(_ options: Options) throws {
        let count = options.subject.whole(options.count ?? options.subject.regionCount)
        for number in [count, count, 2 * count] {
            var meter = Meter(.regions, count: number, population: 2 * count)
            try options.subject.round(&meter)
            for region in meter.regions { print(Table.json(of: region, count: number)) }
        }
    }
}

private func complain(_ message: String) {
    var line = message + "\n"
    _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
