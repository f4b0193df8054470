import IsletClient

/// What has a name in whichever app: for reads, where nobody has said which app is meant.
struct AnyApp: Equatable, Sendable {
    /// Its family's noun.
    let family: String
    let app: String
    /// The fields that address it there.
    private let address: RawObject

    /// How many are asked for: as many as an answer has.
    private static let rowsMax: Int64 = 100
    /// How many are named where several have the name.
    private static let namesMax = 10

    /// How many a misspelt name is compared with, and how long the question for them may take.
    private static let comparedMax: Int64 = 1_000
    private static let patience = Duration.seconds(1)

    /// The command `<family>.<verb>` about it.
    func command(_ verb: String) -> Command { Command("\(family).\(verb)", app: app, address) }

    /// Looks in all apps for what is called so. Which app it was found in is told on standard error.
    ///
    /// - Parameter family: the only family to look among; nil: all.
    /// - Returns: nil where the service is older and cannot look.
    /// - Throws: a `Failure` where nothing is called so, or several are.
    static func find(
        _ name: String, family: String?, device: String?, _ connection: IsletConnection
    ) async throws -> AnyApp? {
        var command = Command("entity.find", ["name": .string(name), "limit": .integer(rowsMax)])
        command["family"] = family.map(RawJSON.string)
        command["device"] = device.map(RawJSON.string)
        let answer: Answer
        do throws(IsletError) {
            answer = try await connection.send(command)
        } catch {
            guard case .refused(let refusal) = error, refusal.code == .unknownOp else { throw error }
            return nil
        }
        let all = answer["found"]?.elements?.compactMap(\.object) ?? []
        // What is over has the name only where nothing else does.
        let listed = all.filter { $0["state"]?.string != "dismissed" }
        let known = listed.isEmpty ? all : listed
        let total = Int(clamping: answer["total"]?.integer ?? 0)
        // What is only like the name has it only where no kind is written so.
        let exact = known.filter { $0["kind"]?.string == name && $0["family"]?.string != Activities.noun }
        let isExact = !exact.isEmpty && total <= all.count && !known.contains { $0["key"]?.string == name }
        let rows = isExact ? exact : known
        var places: [AnyApp] = []
        var words: [String] = []
        let families = Set(rows.compactMap { $0["family"]?.string })
        for row in rows {
            guard let place = AnyApp(row, named: name), !places.contains(place) else { continue }
            places.append(place)
            words.append(Self.words(for: row, named: name, family: family == nil && families.count > 1))
        }
        guard let place = places.first else {
            throw await nothing(name, family: family, device: device, connection)
        }
        var count = rows.count == all.count ? total : places.count
        if places.count == 1, count > rowsMax {
            // All that an answer has room for are one name, as of a key that comes again and again. So are the others,
            // where they are all of that app and device.
            command["app"] = .string(place.app)
            if let device = place.address["device"] { command["device"] = device }
            command["limit"] = .integer(1)
            if try await connection.send(command)["total"]?.integer == Int64(total) { count = 1 }
        }
        guard places.count == 1, count <= rowsMax else { throw several(name, max(count, places.count), words) }
        Console.message("(\(place.app))")
        return place
    }

    /// One that was found.
    private init?(_ row: RawObject, named name: String) {
        guard let family = row["family"]?.string, let app = row["app"]?.string, let id = row["id"] else { return nil }
        self.family = family
        self.app = app
        guard row["key"]?.string == name else {
            address = ["id": id]
            return
        }
        // Who holds the key there is for the service to say: several may have had it.
        var key: RawObject = ["key": .string(name)]
        if let device = row["device"] { key["device"] = device }
        address = key
    }

    /// What names one of several alone, as it is typed.
    private static func words(for row: RawObject, named name: String, family: Bool) -> String {
        let isKey = row["key"]?.string == name
        let isPlaced = row["family"]?.string != Activities.noun
        let target = isKey ? name : isPlaced ? PlacedText.name(row) : row["id"]?.string ?? "?"
        return target
            + Invocation.options([
                "app": row["app"]?.string, "device": isKey ? row["device"]?.string : nil,
                "family": family ? row["family"]?.string : nil,
            ])
    }

    private static func several(_ name: String, _ count: Int, _ words: [String]) -> Failure {
        let head = "\(RecoveryText.grouped(count)) are called '\(name)'; name one of them (notFound):"
        let more = count > min(words.count, namesMax) ? ["  …"] : []
        return Failure(
            .notFound, ([head] + words.prefix(namesMax).map { "  \($0)" } + more).joined(separator: "\n"))
    }

    private static func nothing(
        _ name: String, family: String?, device: String?, _ connection: IsletConnection
    ) async -> Failure {
        let place = device.map { " on \($0)" } ?? ""
        // A list of all apps at once there is only of what has something to come, as nearly all have.
        var list = Command("timer.list", ["limit": .integer(comparedMax)])
        list["family"] = family.map(RawJSON.string)
        list["device"] = device.map(RawJSON.string)
        let rows = try? await connection.send(list, timeout: patience)["timers"]?.elements?.compactMap(\.object)
        let known = (rows ?? []).compactMap { $0["key"]?.string ?? $0["kind"]?.string.map(PlacedText.shortKind) }
        let hint = Suggestion.text(for: name, among: known)
        let nouns = family ?? [Activities.noun, Controls.noun, Widgets.noun].joined(separator: ", ")
        return Failure(
            .notFound, "nothing is called '\(name)' in any app\(place)\(hint) (looked for: \(nouns)) (notFound)")
    }
}
