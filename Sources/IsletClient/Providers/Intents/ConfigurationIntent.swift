import FoundationEssentials

/// What a person configures of a control or a widget.
///
///     struct SelectRoomIntent: ControlConfigurationIntent {
///         var room = "kitchen"
///         var limit: Int?
///         static var parameters: [IntentParameter] {
///             [.string("room", title: "Room", optionsProvider: RoomOptions()), .integer("limit", title: "Limit")]
///         }
///     }
///
/// `init()` has the defaults: a parameter whose property has a value there has it as its default, one whose property is
/// nil there is optional. What a configuration leaves out, or has as null, is what `init()` has. JSON must have these
/// values: a kind with a default that is no finite number is refused when it is registered.
public protocol ConfigurationIntent: Codable, Sendable {
    /// The configuration of what was added without one.
    init()

    /// The properties that can be configured, by the names that `Codable` gives them.
    static var parameters: [IntentParameter] { get }
}

/// What a person configures of a control.
public protocol ControlConfigurationIntent: ConfigurationIntent {}

/// What a person configures of a widget. One type may configure both.
public protocol WidgetConfigurationIntent: ConfigurationIntent {}

extension ConfigurationIntent {
    /// The configuration that these members and the defaults make; nil where they are of other types.
    init?(members: RawObject) {
        guard !members.members.isEmpty else {
            self.init()
            return
        }
        guard var all = Self.defaults else { return nil }
        // Not as a patch, in which null clears: here it equals absent.
        for member in members.members where !member.value.isNull { all[member.name] = member.value }
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(all.json.slice)) else { return nil }
        self = read
    }

    /// As ``init(members:)``, for a handler of calls.
    static func read(_ members: RawObject) throws(ProviderCallError) -> Self {
        guard let intent = Self(members: members) else { throw .failed("the configuration is no \(Self.self)") }
        return intent
    }

    /// The members with all of the entities of which they have no more than the identifier: whoever configures may
    /// write that in place of the object. Members that can be read as they are stay so.
    ///
    /// - Throws: ``ProviderCallError`` where a query does not know one of them, and what the queries throw.
    static func findingEntities(of members: RawObject) async throws -> RawObject {
        let named = parameters.compactMap { parameter in
            parameter.entityNamed(by: members).map { (parameter.name, $0.finder, $0.identifier) }
        }
        guard !named.isEmpty, Self(members: members) == nil else { return members }
        var found = members
        for (name, finder, identifier) in named {
            guard let entity = try await finder.entity(identifier) else {
                throw ProviderCallError.failed("the query of '\(name)' finds nothing that has the id '\(identifier)'")
            }
            found[name] = entity
        }
        return found
    }

    /// The members of `init()`; nil where they cannot be written.
    static var defaults: RawObject? {
        (try? PayloadCoding.encode(Self(), as: "configuration"))?.object
    }

    /// As commands and answers have it.
    func json() throws(IsletError) -> RawJSON { try PayloadCoding.encode(self, as: "configuration") }
}
