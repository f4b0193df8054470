/// What an activity is about and does not change in its life, with the type of what does.
///
/// The same type as in the app, so that both sides agree on the JSON:
///
///     struct DeliveryAttributes: ActivityAttributes {
///         struct ContentState: Codable, Hashable, Sendable {
///             var eta: Int
///         }
///         var order: Int
///     }
public protocol ActivityAttributes: Codable, Sendable {
    /// What changes: the content.
    associatedtype ContentState: Codable & Hashable & Sendable

    /// The name of the type on the bus and in push payloads: at most 64 characters of `[A-Za-z0-9._:-]`.
    static var activityType: String { get }
}

extension ActivityAttributes {
    /// The name of the Swift type, as Apple's `attributes-type`.
    public static var activityType: String { String(describing: Self.self) }
}
