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

    func command(_ verb: String, _ connection: IsletConnection) async throws -> Command {
        let name = PlacedName<Family>(target, device: device, app: app.app)
        return Command("\(Family.noun).\(verb)", app: app.app, ["id": .string(try await name.id(connection))])
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

    /// How many are looked through for a name.
    private let rowsMax = 10_000
    /// The shortest end of an id that names one.
    private let digitsMin = 4
    /// How many are shown where several have the name.
    private let namesMax = 10

    /// The id: asked for, unless it was named in full.
    func id(_ connection: IsletConnection) async throws -> String {
        if EntityText.isID(target) { return target.lowercased() }
        var command = Command("\(Family.noun).list", app: app)
        command["device"] = device.map(RawJSON.string)
        let rows = try await Pages.rows(command, Family.plural, limit: rowsMax, connection).rows
        let found = rows.filter(matches)
        guard found.count == 1, let id = found.first?["id"]?.string else {
            throw found.isEmpty ? unknown(rows) : ambiguous(found)
        }
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

    private func unknown(_ rows: [RawObject]) -> Failure {
        let kinds = rows.compactMap { $0["kind"]?.string }.map(PlacedText.shortKind)
        let hint = Spelling.closest(to: target, among: kinds).map { "; did you mean \($0)?" } ?? ""
        let place = app + (device.map { " on \($0)" } ?? "")
        return Failure(.notFound, "\(place) has no \(Family.noun) '\(target)'\(hint) (notFound)")
    }

    private func ambiguous(_ found: [RawObject]) -> Failure {
        let names = found.prefix(namesMax).map { members in
            "  \(PlacedText.name(members))" + (members["device"]?.string.map { "  on \($0)" } ?? "")
                + (members["configuration"].map { "  \($0)" } ?? "")
        }
        let more = found.count > namesMax ? ["  …"] : []
        let head = "\(found.count) \(Family.plural) are called '\(target)'; name one of them:"
        return Failure(.usage, ([head] + names + more).joined(separator: "\n"))
    }
}
