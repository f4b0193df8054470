import ArgumentParser
import IsletClient
import IsletServer

/// The app that a subcommand about controls is about.
struct ControlAppOption: ParsableArguments {
    @Option(
        name: .customLong("app"),
        help: ArgumentHelp("The app (else ISLET_APP, else \(DemoHome.app)).", valueName: "bundle id"))
    var named: String?

    var app: String { named ?? environment("ISLET_APP") ?? DemoHome.app }
}

/// The control that a subcommand is about.
struct ControlTarget: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The control: its id, the end of it, its kind, or both as in Torch/27e5fe81cfb1.", valueName: "kind or id"))
    var target: String

    @Option(help: ArgumentHelp("The device whose control of the kind it is.", valueName: "device"))
    var device: String?

    @OptionGroup var app: ControlAppOption

    /// The command with the fields that address the control.
    func command(_ op: String, _ connection: IsletConnection) async throws -> Command {
        let name = ControlName(target, device: device, app: app.app)
        return Command(op, app: app.app, ["id": .string(try await name.id(connection))])
    }
}

/// A control as a person names it: by its id, the end of it, its kind, or kind and id.
struct ControlName {
    private let target: String
    private let device: String?
    private let app: String

    init(_ target: String, device: String?, app: String) {
        self.target = target
        self.device = device
        self.app = app
    }

    /// How many controls are looked through for a name.
    private static let rowsMax = 10_000
    /// The shortest end of an id that names a control.
    private static let digitsMin = 4

    /// The id: asked for, unless it was named in full.
    func id(_ connection: IsletConnection) async throws -> String {
        if TargetOptions.isID(target) { return target.lowercased() }
        var command = Command("control.list", app: app)
        command["device"] = device.map(RawJSON.string)
        let rows = try await Pages.rows(command, "controls", limit: Self.rowsMax, connection).rows
        let found = rows.filter(matches)
        guard found.count == 1, let id = found.first?["id"]?.string else {
            throw found.isEmpty ? unknown(rows) : ambiguous(found)
        }
        return id
    }

    private func matches(_ control: RawObject) -> Bool {
        let kind = control["kind"]?.string ?? ""
        let id = control["id"]?.string ?? ""
        if isKind(target, kind) { return true }
        guard let slash = target.lastIndex(of: "/") else { return isEnd(target, of: id) }
        return isKind(String(target[..<slash]), kind) && isEnd(String(target[target.index(after: slash)...]), of: id)
    }

    private func isKind(_ text: String, _ kind: String) -> Bool {
        text == kind || text.lowercased() == ControlText.shortKind(kind).lowercased()
    }

    private func isEnd(_ text: String, of id: String) -> Bool {
        text.count >= Self.digitsMin && id.hasSuffix(text.lowercased())
    }

    private func unknown(_ rows: [RawObject]) -> Failure {
        let kinds = rows.compactMap { $0["kind"]?.string }.map(ControlText.shortKind)
        let hint = Spelling.closest(to: target, among: kinds).map { "; did you mean \($0)?" } ?? ""
        let place = app + (device.map { " on \($0)" } ?? "")
        return Failure(.notFound, "\(place) has no control '\(target)'\(hint) (notFound)")
    }

    private func ambiguous(_ found: [RawObject]) -> Failure {
        let names = found.prefix(Self.namesMax).map { control in
            "  \(ControlText.name(control))" + (control["device"]?.string.map { "  on \($0)" } ?? "")
                + (control["configuration"].map { "  \($0)" } ?? "")
        }
        let more = found.count > Self.namesMax ? ["  …"] : []
        let head = "\(found.count) controls are called '\(target)'; name one of them:"
        return Failure(.usage, ([head] + names + more).joined(separator: "\n"))
    }

    private static let namesMax = 10
}

/// A control kind that a person names.
enum ControlKindName {
    /// Sends a command about a kind. Where nobody has declared it, the closest one that somebody has is suggested.
    static func send(
        _ command: Command, kind: String, app: String, _ connection: IsletConnection
    ) async throws -> Answer {
        do throws(IsletError) {
            return try await connection.send(command)
        } catch {
            guard error.code == .notFound, error.detail["kind"] != nil else { throw error }
            let kinds = try await connection.send(Command("control.kinds", app: app))["kinds"]?.elements ?? []
            let known = kinds.compactMap { $0.object?["kind"]?.string }
            let hint = Spelling.closest(to: kind, among: known).map { "; did you mean \($0)?" } ?? ""
            throw Failure(.notFound, "no provider has declared the control kind '\(kind)' in \(app)\(hint) (notFound)")
        }
    }
}
