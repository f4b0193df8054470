import ArgumentParser

/// How many decisions are shown.
struct DecisionsOption: ParsableArguments {
    /// So many of the last ones where nothing is said.
    private static let usual = 10

    @Flag(help: "All decisions that are kept. (default: the last \(usual), or those since --since)")
    var all = false

    @Option(help: ArgumentHelp("How many, the last ones; also as JSON, which has all otherwise.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        guard limit ?? 1 > 0 else { throw ValidationError("--limit must be at least 1") }
        guard limit == nil || !all else { throw ValidationError("name --all or --limit, not both") }
    }

    /// How many are shown to people; nil: all that there are.
    ///
    /// - Parameter isChosen: whether another option says which ones.
    func most(isChosen: Bool) -> Int? { limit ?? (all || isChosen ? nil : Self.usual) }
}
