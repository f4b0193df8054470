import ArgumentParser

/// The files of scenarios that a subcommand is about.
struct ScenarioFiles: ParsableArguments {
    @Argument(
        help: ArgumentHelp("YAML files, or folders with such; - is standard input.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "Only scenarios whose name has this in it, or fits it where it has * or ?.", valueName: "name"))
    var only: String?

    func validate() throws {
        guard !files.isEmpty else { throw ValidationError("name a file") }
    }

    /// All scenarios of all files. What is wrong is told, every file's.
    ///
    /// - Throws: a `Failure` where anything is wrong, or nothing is called as `--only` says.
    func read() async throws -> [Scenario] {
        var scenarios: [Scenario] = []
        var problems: [ScenarioProblem] = []
        for file in files {
            let paths: [String]
            do throws(ScenarioProblem) {
                paths = file == "-" ? ["-"] : try ScenarioFile.paths(file)
            } catch {
                problems.append(error)
                continue
            }
            for path in paths {
                switch await ScenarioFile.read(path) {
                case .success(let all): scenarios += all
                case .failure(let some): problems += some.all
                }
            }
        }
        guard problems.isEmpty else {
            for problem in problems.dropLast() { Console.message(problem.description.printable) }
            throw Failure(.usage, problems.last?.description.printable ?? "")
        }
        guard let only else { return scenarios }
        let chosen = scenarios.filter { Self.fits($0.name, only) }
        guard !chosen.isEmpty else {
            throw Failure(
                .usage, "no scenario is called '\(only)'\(Suggestion.text(for: only, among: scenarios.map(\.name)))")
        }
        return chosen
    }

    /// Whether a name has a text in it, in any case; or fits a pattern with `*` and `?`, as a whole.
    static func fits(_ name: String, _ text: String) -> Bool {
        let (name, text) = (name.lowercased(), text.lowercased())
        guard text.contains("*") || text.contains("?") else { return ScenarioValue.contains(name, text) }
        return fits(Array(name)[...], Array(text)[...])
    }

    /// One `*` is tried again further on, so that no pattern takes more than the product of both lengths.
    private static func fits(_ name: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
        var (name, pattern) = (name, pattern)
        var retry: (name: ArraySlice<Character>, pattern: ArraySlice<Character>)?
        while true {
            if pattern.first == "*" {
                pattern = pattern.dropFirst()
                retry = (name, pattern)
            } else if let first = name.first, let wanted = pattern.first, wanted == "?" || wanted == first {
                name = name.dropFirst()
                pattern = pattern.dropFirst()
            } else if name.isEmpty, pattern.isEmpty {
                return true
            } else if let again = retry, !again.name.isEmpty {
                name = again.name.dropFirst()
                pattern = again.pattern
                retry = (name, pattern)
            } else {
                return false
            }
        }
    }
}
