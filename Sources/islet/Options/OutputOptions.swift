import ArgumentParser

/// How data is shown.
struct OutputOptions: ParsableArguments {
    /// The forms that `-o` names.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case json, wide, name
    }

    @Flag(name: .customLong("json"), help: "JSON on standard output, as the service sent it.")
    var asksForJSON = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "json; of lists also wide, with more columns, or name, as other subcommands take it.", valueName: "form"))
    var form: Form?

    var json: Bool { asksForJSON || form == .json }
    /// Only what a thing is called, a line for each.
    var isNames: Bool { form == .name }
    /// More columns than fit on a small screen.
    var isWide: Bool { form == .wide }

    func validate() throws {
        guard !asksForJSON || form == nil || form == .json else {
            throw ValidationError("name --json or another form with -o, not both")
        }
    }
}
