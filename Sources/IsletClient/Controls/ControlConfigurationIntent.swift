import FoundationEssentials

/// What a person configures of a control.
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
/// nil there is optional. What a control's configuration leaves out is what `init()` has.
public protocol ControlConfigurationIntent: Codable, Sendable {
    /// The configuration of a control that was added without one.
    init()

    /// The properties that can be configured, by the names that `Codable` gives them.
    static var parameters: [IntentParameter] { get }
}

extension ControlConfigurationIntent {
    /// The configuration that these members and the defaults make; nil where they are of other types.
    init?(members: RawObject) {
        guard !members.members.isEmpty else {
            self.init()
            return
        }
        guard var all = Self.defaults else { return nil }
        all.merge(members)
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(all.json.slice)) else { return nil }
        self = read
    }

    /// The members of `init()`; nil where they cannot be written.
    static var defaults: RawObject? {
        (try? PayloadCoding.encode(Self(), as: "configuration"))?.object
    }
}
