import ArgumentParser
import IsletClient
import IsletServer

/// The control or widget that a subcommand is about.
struct PlacedTarget<Family: PlacedFamily>: EntityTarget {
    @Argument(
        help: ArgumentHelp(
            "The \(Family.noun): its id, the end of it, its kind, or both as in \(Family.example)/27e5fe81cfb1.",
            valueName: "kind or id"),
        completion: .custom(Completions.names(of: Family.self)))
    var target: String

    @Option(
        help: ArgumentHelp("The device whose \(Family.noun) of the kind it is.", valueName: "device"),
        completion: .custom(Completions.devices))
    var device: String?

    @OptionGroup var app: FamilyApp<Family>

    func validate() throws { try EntityText.checkAddress(target, device: device, of: Family.self) }

    func command(_ verb: String, _ connection: IsletConnection) async throws -> Command {
        if !Command("\(Family.noun).\(verb)").isChange, chosenApp(app.named) == nil,
            let found = try await AnyApp.find(target, family: Family.noun, device: device, connection)
        {
            return found.command(verb)
        }
        let app = try await app.required(connection)
        let name = PlacedName<Family>(target, device: device, app: app)
        return Command("\(Family.noun).\(verb)", app: app, ["id": .string(try await name.id(connection))])
    }
}

/// A control or widget as a person names it: by its id, the end of it, its kind, or kind and id.
struct PlacedName<Family: PlacedFamily> {
    private let target: String
    private let device: String?
    private let app: String

    init(_ target: String, device: String?, app: String) {
        self.target = target
        self.device = device
        self.app = app
    }

    /// The shortest end of an id that names one.
    private let digitsMin = 4
    /// How many are shown where several have the name.
    private let namesMax = 10
    /// How many kinds a misspelt name is compared with.
    private let kindsMax = 1_000

    /// What a look through all of them has come to.
    private struct Search {
        /// The first that are called so.
        var found: [RawObject] = []
        /// How many are.
        var count = 0
        /// Whether they are of the kind that was named, letter by letter; then others that are only like it do not count.
        var isExact = false
        /// Of those that are not.
        var kinds: Set<String> = []
    }

    /// The id: asked for, unless it was named in full.
    func id(_ connection: IsletConnection) async throws -> String {
        if EntityText.isID(target) { return target.lowercased() }
        var command = Command("\(Family.noun).list", app: app)
        command["device"] = device.map(RawJSON.string)
        var search = Search()
        let isWhole = try await Pages.forEach(command, Family.plural, connection) {
            search = Search()
        } _: { row in
            let isExact = row["kind"]?.string == target
            if isExact, !search.isExact { (search.found, search.count, search.isExact) = ([], 0, true) }
            if search.isExact ? isExact : matches(row) {
                search.count += 1
                if search.found.count < namesMax { search.found.append(row) }
            } else if search.count == 0, search.kinds.count < kindsMax, let kind = row["kind"]?.string {
                search.kinds.insert(kind)
            }
        }
        guard search.count <= 1 else { throw ambiguous(search) }
        guard isWhole else {
            let most = RecoveryText.grouped(Pages.seenMax)
            throw Failure(.refused, "\(app) has more than \(most) \(Family.plural): name one by its whole id")
        }
        guard let id = search.found.first?["id"]?.string else { throw unknown(search.kinds) }
        return id
    }

    private func matches(_ members: RawObject) -> Bool {
        let kind = members["kind"]?.string ?? ""
        let id = members["id"]?.string ?? ""
        if isKind(target, kind) { return true }
        guard let slash = target.lastIndex(of: "/") else { return isEnd(target, of: id) }
        return isKind(String(target[..<slash]), kind) && isEnd(String(target[target.index(after: slash)...]), of: id)
    }

    private func isKind(_ text: String, _ kind: String) -> Bool {
        text == kind || text.lowercased() == PlacedText.shortKind(kind).lowercased()
    }

    private func isEnd(_ text: String, of id: String) -> Bool {
        text.count >= digitsMin && id.hasSuffix(text.lowercased())
    }

    private func unknown(_ kinds: Set<String>) -> Failure {
        let names = kinds.map(PlacedText.shortKind).sorted()
        let hint = Spelling.closest(to: target, among: names).map { "; did you mean \($0)?" } ?? ""
        let place = app + (device.map { " on \($0)" } ?? "")
        return Failure(.notFound, "\(place) has no \(Family.noun) '\(target)'\(hint) (notFound)")
    }

    private func ambiguous(_ search: Search) -> Failure {
        let names = search.found.map { members in
            "  \(PlacedText.name(members))" + (members["device"]?.string.map { "  on \($0)" } ?? "")
                + (members["configuration"].map { "  \($0)" } ?? "")
        }
        let more = search.count > search.found.count ? ["  …"] : []
        let head = "\(search.count) \(Family.plural) are called '\(target)'; name one of them:"
        return Failure(.usage, ([head] + names + more).joined(separator: "\n"))
    }
}
