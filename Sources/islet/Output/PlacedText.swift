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
        failureWords(members).map { "failed: \($0)" }
    }

    /// The same in a table, which has room for the beginning of what a provider says.
    static func shortFailure(_ members: RawObject) -> String? { failure(members)?.shortened(to: 48) }

    /// How the last call of what is placed failed, or that of a decision or a problem: what its provider said of it, else
    /// the contract's word for it.
    static func failureWords(_ members: RawObject) -> String? {
        (members["failureReason"]?.string ?? members["failure"]?.string)?.printable
    }
}
