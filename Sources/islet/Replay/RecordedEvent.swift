package import IsletClient

/// One event of a recording.
package struct RecordedEvent: Sendable {
    /// Its line in the recording, from 1.
    package let line: Int
    /// The app whose stream it belongs to; nil where neither the line nor what came before it says so.
    package let app: String?
    /// As it was published.
    package let event: StreamEvent
    /// Whether it is no event, but says as one what the snapshot has: when, why and how it began is not known.
    package var isOfSnapshot = false

    /// When it took effect, in milliseconds of the recorded service's domain time.
    package var at: Int64 { event.at }
    var patch: RawObject { event.patch }
    var cause: String? { event.cause }
    /// The state before; nil for what is new.
    var from: String? { event.object["from"]?.string }
    var to: String? { (event.object["to"] ?? patch["state"])?.string }

    /// nil for one that this command does not know.
    var family: EntityTopic.Family? { EntityTopic.Family(rawValue: String(event.name.prefix { $0 != "." })) }
    /// What has happened: `updated` of `activity.updated`.
    var verb: String { String(event.name.drop { $0 != "." }.dropFirst()) }

    /// What its entity is called in the recording: by its id, and a key of a group by both names. nil for a signal.
    var entity: String? {
        guard family == .group else { return event.id }
        guard let group = patch["group"]?.string, let key = patch["key"]?.string else { return nil }
        return "\(group)/\(key)"
    }
}
