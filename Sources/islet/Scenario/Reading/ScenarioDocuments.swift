import Yams

/// The YAML documents of a file, as nodes with their places.
///
/// An alias stands for a copy of what its anchor names, so that a few lines can mean billions of nodes: how many there
/// are, and how deep, is bounded here.
struct ScenarioDocuments {
    /// More nodes than this are in no file, aliases counted as what they stand for.
    static let nodesMax = 200_000
    static let depthMax = 64
    static let documentsMax = 1_000

    let path: String
    private(set) var roots: [ScenarioNode] = []
    private var nodes = 0

    /// - Throws: the first thing that is wrong.
    init(_ text: String, path: String) throws(ScenarioProblem) {
        self.path = path
        do {
            let parser = try Parser(yaml: text)
            while let root = try parser.nextRoot() {
                guard roots.count < Self.documentsMax else {
                    throw ScenarioProblem(
                        path: path, place: Self.place(root.mark),
                        text: "has more than \(Self.documentsMax) documents: use several files")
                }
                let node = try node(root, depth: 0)
                // An empty document, such as what is before the first `---`.
                if !node.isNull { roots.append(node) }
            }
        } catch let problem as ScenarioProblem {
            throw problem
        } catch let error as YamlError {
            throw Self.problem(error, text, path)
        } catch {
            throw ScenarioProblem(path: path, place: nil, text: "cannot be read as YAML: \(error)")
        }
    }

    private mutating func node(_ node: Node, depth: Int) throws -> ScenarioNode {
        let place = Self.place(node.mark)
        nodes += 1
        guard nodes <= Self.nodesMax else {
            throw ScenarioProblem(
                path: path, place: place,
                text: "has more than \(Self.nodesMax) values, aliases counted as what they stand for")
        }
        guard depth < Self.depthMax else {
            throw ScenarioProblem(path: path, place: place, text: "is more than \(Self.depthMax) levels deep")
        }
        switch node {
        case .scalar(let scalar):
            return ScenarioNode(content: .scalar(scalar.string, isPlain: scalar.style == .plain), place: place)
        case .sequence(let sequence):
            return ScenarioNode(content: .list(try sequence.map { try self.node($0, depth: depth + 1) }), place: place)
        case .mapping(let mapping):
            var entries: [ScenarioNode.Entry] = []
            for (key, value) in mapping {
                guard let name = key.scalar?.string else {
                    throw ScenarioProblem(path: path, place: Self.place(key.mark), text: "a member's name is a text")
                }
                entries.append(
                    .init(name: name, place: Self.place(key.mark), value: try self.node(value, depth: depth + 1)))
            }
            return ScenarioNode(content: .mapping(entries), place: place)
        case .alias:
            // The parser puts what it stands for in its place.
            throw ScenarioProblem(path: path, place: place, text: "an alias without an anchor")
        }
    }

    private static func place(_ mark: Mark?) -> ScenarioPlace {
        ScenarioPlace(line: mark?.line ?? 1, column: mark?.column ?? 1)
    }

    private static func problem(_ error: YamlError, _ text: String, _ path: String) -> ScenarioProblem {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let isTab = beginsWithTab(line: mark.line, of: text)
            return ScenarioProblem(
                path: path, place: place(mark),
                text: isTab ? "a tab: YAML is indented with spaces" : "is no YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            return ScenarioProblem(
                path: path, place: place(context.mark), text: "stands twice: \(duplicates.joined(separator: ", "))")
        case .reader(let problem, let offset, _, _):
            return ScenarioProblem(
                path: path, place: nil, text: "is no YAML: \(problem)\(offset.map { " at byte \($0)" } ?? "")")
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            return ScenarioProblem(path: path, place: nil, text: "is no YAML: \(error)")
        }
    }

    private static func beginsWithTab(line: Int, of text: String) -> Bool {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // The parser names the line where it noticed, which may be the next one.
        return [line - 1, line - 2].contains { index in
            lines.indices.contains(index) && lines[index].prefix { $0 == " " || $0 == "\t" }.contains("\t")
        }
    }
}
