/// Computes what can be chosen for a parameter.
///
/// What is configured so far is in ``ProviderContext/current``. For things of the app's own, an ``EntityQuery`` is the
/// typed way.
public protocol DynamicOptionsProvider: Sendable {
    /// What can be chosen now.
    func results() async throws -> [IntentParameterOption]

    /// What these identifiers mean, such as those of a configuration that was made long ago; one that means nothing any
    /// more is left out. Without it: those of ``results()`` that have them.
    func results(for identifiers: [String]) async throws -> [IntentParameterOption]

    /// What is chosen before somebody chooses. Without it: nothing.
    func defaultResult() async throws -> IntentParameterOption?
}

extension DynamicOptionsProvider {
    /// Those of ``results()`` that have these identifiers.
    public func results(for identifiers: [String]) async throws -> [IntentParameterOption] {
        let wanted = Set(identifiers)
        return try await results().filter { option in option.identifier.map(wanted.contains) ?? false }
    }

    /// Nothing.
    public func defaultResult() async throws -> IntentParameterOption? { nil }
}

/// Something of the app's own that can be chosen, such as a city or a room: an entity.
///
/// Its JSON, `id` included, is what a configuration then has; a property of its type reads it again. One that has the
/// `id` alone is asked of the ``EntityQuery``.
public protocol AppEntity: Codable, Sendable, Identifiable where ID == String {
    /// How it is shown to who chooses.
    var displayRepresentation: DisplayRepresentation { get }
}

/// How something is shown to who chooses; a string literal makes one.
public struct DisplayRepresentation: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The name.
    public var title: String

    /// A representation of this name.
    public init(title: String) {
        self.title = title
    }

    /// A representation of this name.
    public init(stringLiteral title: String) {
        self.init(title: title)
    }
}

/// Finds entities.
///
///     struct CityQuery: EntityQuery {
///         func entities(for identifiers: [String]) async throws -> [City] { try await cities(identifiers) }
///         func suggestedEntities() async throws -> [City] { try await nearbyCities() }
///         func defaultResult() async throws -> City? { try await nearbyCities().first }
///     }
public protocol EntityQuery: Sendable {
    /// What it finds.
    associatedtype Entity: AppEntity

    /// What these identifiers mean; one that means nothing any more is left out.
    func entities(for identifiers: [String]) async throws -> [Entity]

    /// What can be chosen now. Without it: nothing.
    func suggestedEntities() async throws -> [Entity]

    /// What is chosen before somebody chooses. Without it: nothing.
    func defaultResult() async throws -> Entity?
}

extension EntityQuery {
    /// Nothing.
    public func suggestedEntities() async throws -> [Entity] { [] }

    /// Nothing.
    public func defaultResult() async throws -> Entity? { nil }
}

/// Finds the entities of a parameter by their identifiers.
protocol EntityFinder: Sendable {
    /// Whether a value is an entity, and no mere name of one.
    func isEntity(_ value: RawJSON) -> Bool

    /// The entity of this identifier; nil: it means nothing any more.
    func entity(_ identifier: String) async throws -> RawJSON?
}

/// A query as the options of a parameter.
struct EntityOptions<Query: EntityQuery>: DynamicOptionsProvider, EntityFinder {
    let query: Query

    func results() async throws -> [IntentParameterOption] {
        try await query.suggestedEntities().map(Self.option)
    }

    func results(for identifiers: [String]) async throws -> [IntentParameterOption] {
        try await query.entities(for: identifiers).map(Self.option)
    }

    func defaultResult() async throws -> IntentParameterOption? {
        try await query.defaultResult().map(Self.option)
    }

    func isEntity(_ value: RawJSON) -> Bool { PayloadCoding.decode(Query.Entity.self, from: value) != nil }

    func entity(_ identifier: String) async throws -> RawJSON? {
        let found = try await query.entities(for: [identifier]).first { $0.id == identifier }
        return try found.map { try PayloadCoding.encode($0, as: "an entity") }
    }

    private static func option(_ entity: Query.Entity) throws(IsletError) -> IntentParameterOption {
        IntentParameterOption(
            json: try PayloadCoding.encode(entity, as: "an entity"), title: entity.displayRepresentation.title)
    }
}
