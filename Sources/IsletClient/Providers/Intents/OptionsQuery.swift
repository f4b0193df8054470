/// What is asked about the options of a parameter.
package enum OptionsQuery: Sendable, Hashable {
    /// What can be chosen.
    case suggestedEntities
    /// Those of these identifiers.
    case entities(identifiers: [String])
    /// What is chosen before somebody chooses.
    case defaultResult

    /// Reads the `query` and the `identifiers` of a call; nil where the query is of a later contract.
    init?(_ frame: RawObject) {
        switch frame["query"]?.string {
        case nil, "suggestedEntities": self = .suggestedEntities
        case "entitiesFor":
            self = .entities(identifiers: (frame["identifiers"]?.elements ?? []).compactMap(\.string))
        case "defaultResult": self = .defaultResult
        case .some: return nil
        }
    }
}

extension [IntentParameter] {
    /// The members of the answer to `control.options` and `widget.options`.
    func options(of parameter: String, _ query: OptionsQuery) async throws -> RawObject {
        guard let provider = first(where: { $0.name == parameter })?.optionsProvider else {
            throw ProviderCallError.failed("no options are computed for '\(parameter)'")
        }
        let found =
            switch query {
            case .suggestedEntities: try await provider.results()
            case .entities(let identifiers): try await provider.results(for: identifiers)
            case .defaultResult: try await provider.defaultResult().map { [$0] } ?? []
            }
        let options = RawJSON.array(found.map(\.json))
        guard options.count <= ProviderLimits.options else {
            throw ProviderCallError.failed(
                "the options have \(options.count) bytes, and may have \(ProviderLimits.options)")
        }
        return ["value": options]
    }
}
