import IsletClient

/// What a shell offers for a word that is being typed, asked of the service: with little patience, since a person
/// waits, and in silence where there is no answer.
enum Completions {
    /// How long the service may take.
    private static let patience = Duration.milliseconds(300)
    /// How many words are offered.
    private static let wordsMax = 500
    /// How many things are asked for.
    private static let rowsMax = 1_000

    /// The contexts, and the word for none.
    @Sendable static func contexts(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        fitting(((try? ContextFile.load())?.contexts.map(\.name) ?? []) + [ContextBook.none], prefix)
    }

    /// The apps of what will happen next, of providers, and what the environment and the context say.
    @Sendable static func apps(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        var named: [String] = []
        let rows = await ask(words) { connection in
            async let timers = connection.send(Command("timer.list", ["limit": .integer(rowsMax)]))
            async let providers = Pages.all(Command("provider.list"), "providers", connection)
            return try await (timers["timers"]?.elements ?? []) + providers
        }
        named += rows.compactMap { $0.object?["app"]?.string }
        if let app = chosenApp(nil) { named.append(app) }
        return fitting(named, prefix)
    }

    /// The topics that `islet tail` takes: the apps.
    @Sendable static func topics(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        await apps(words, index, "").map { $0 + "/" }.filter { $0.hasPrefix(prefix) }
    }

    /// The devices that the app is on.
    @Sendable static func devices(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        var rows: [RawJSON] = []
        let families: [any CommandFamily.Type] = [Activities.self, Controls.self, Widgets.self]
        let named = families.filter { words.contains($0.noun) }
        for family in named.isEmpty ? families : named { rows += await entities(family, words) }
        return fitting(rows.compactMap { $0.object?["device"]?.string }, prefix)
    }

    /// What things of any family are called.
    @Sendable static func anything(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        async let activities = names(of: Activities.self)(words, index, prefix)
        async let controls = names(of: Controls.self)(words, index, prefix)
        async let widgets = names(of: Widgets.self)(words, index, prefix)
        return await activities + controls + widgets
    }

    /// What things of a family are called: keys, or ids where there is none; kinds and ends of ids.
    static func names<Family: CommandFamily>(
        of family: Family.Type
    ) -> @Sendable ([String], Int, String) async -> [String] {
        { words, _, prefix in fitting(await entities(family, words).compactMap(\.object).map(Family.name), prefix) }
    }

    /// The kinds that providers have declared.
    static func kinds<Family: PlacedFamily>(
        of family: Family.Type
    ) -> @Sendable ([String], Int, String) async -> [String] {
        { words, _, prefix in
            let rows = await ask(words) { connection in
                guard let app = try await app(words, of: Family.self, connection) else { return [] }
                return try await Pages.all(Command("\(Family.noun).kinds", app: app), "kinds", connection)
            }
            return fitting(rows.compactMap { $0.object?["kind"]?.string }, prefix)
        }
    }

    private static func entities(_ family: any CommandFamily.Type, _ words: [String]) async -> [RawJSON] {
        var list = Command("\(family.noun).list")
        list["device"] = value(of: "--device", in: words).map(RawJSON.string)
        list["limit"] = .integer(rowsMax)
        return await ask(words) { [list] connection in
            guard let app = try await app(words, of: family, connection) else { return [] }
            var list = list
            list["app"] = .string(app)
            return try await connection.send(list)[family.plural]?.elements ?? []
        }
    }

    /// The app that the words name, else the one that the demo has of the family; nil: there is none.
    private static func app(
        _ words: [String], of family: any CommandFamily.Type, _ connection: IsletConnection
    ) async throws -> String? {
        if let app = chosenApp(value(of: "--app", in: words)) { return app }
        return try await DemoApps(connection)[family]
    }

    /// Asks the service that the words so far name.
    private static func ask(
        _ words: [String], _ body: @Sendable (IsletConnection) async throws -> [RawJSON]
    ) async -> [RawJSON] {
        try? ChosenContext.choose(named: value(of: "--context", in: words))
        let named =
            value(of: "--commands", in: words)
            ?? ChosenContext.value(of: .commands, orEnvironment: "ISLET_COMMANDS")
        var endpoints = Endpoints()
        endpoints.commands = named ?? endpoints.commands
        let options = ConnectionOptions(timeout: patience, requestPrefix: "completion")
        guard let connection = try? await IsletConnection.open(endpoints, options: options) else { return [] }
        let rows = try? await body(connection)
        await connection.close()
        return rows ?? []
    }

    /// The value of an option among the words, as `--name value` or `--name=value`.
    static func value(of option: String, in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word == option, index + 1 < words.count, !words[index + 1].isEmpty { return words[index + 1] }
            if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
        }
        return nil
    }

    private static func fitting(_ words: [String], _ prefix: String) -> [String] {
        Array(Set(words.filter { $0.hasPrefix(prefix) && !$0.contains(where: \.isNewline) }).sorted().prefix(wordsMax))
    }
}
