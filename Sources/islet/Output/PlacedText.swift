import IsletClient

/// What controls and widgets have in common, as people read it.
enum PlacedText {
    /// The kind without the reverse domain before it: `Torch` of `com.example.home.Torch`.
    static func shortKind(_ kind: String) -> String {
        kind.split(separator: ".").last.map(String.init) ?? kind
    }

    /// What a person calls it, such as `Torch/27e5fe81cfb1`.
    static func name(kind: String, id: String) -> String {
        "\(shortKind(kind))/\(EntityText.shortID(id))".printable
    }

    /// As `name(kind:id:)`, of a whole one.
    static func name(_ members: RawObject) -> String {
        name(kind: members["kind"]?.string ?? "?", id: members["id"]?.string ?? "?")
    }

    /// What came of the last call, where it was not well.
    static func failure(_ members: RawObject) -> String? {
        members["failure"]?.string.map { "failed: \($0.printable)" }
    }
}
