/// What the service answered to a command that it accepted.
public struct Answer: Sendable, Hashable {
    /// Whether a change took effect.
    public enum Outcome: Sendable, Hashable {
        /// It did, and is durable.
        case applied
        /// It was dropped, as ActivityKit would have done in silence: `ended`, `dismissed`, `olderTimestamp`,
        /// `futureTimestamp`, `unchanged` …
        case ignored(reason: String)
    }

    /// The whole answer.
    public let object: RawObject
    /// What became of a change; nil for an answer to a read.
    public let outcome: Outcome?

    /// An answer with `ok:true`.
    init(_ object: RawObject) {
        self.object = object
        outcome =
            switch object["outcome"]?.string {
            case nil: nil
            case "ignored": .ignored(reason: object["reason"]?.string ?? "unknown")
            default: .applied
            }
    }

    /// The member of that name.
    public subscript(name: String) -> RawJSON? { object[name] }

    /// The sequence number of the last event that the change made; reads with `minSeq` of it see the change.
    public var seq: UInt64? { object["seq"]?.sequenceNumber }

    /// The activity: the short form (id, revision, state, next deadline) after a change, the whole after a read.
    public var activity: RawObject? { object["activity"]?.object }

    /// The control, as ``activity``.
    public var control: RawObject? { object["control"]?.object }

    /// The widget, as ``activity``.
    public var widget: RawObject? { object["widget"]?.object }

    /// The key of a group, or the group itself, as ``activity``.
    public var group: RawObject? { object["group"]?.object }

    /// The exact bytes of the answer, as compact JSON.
    public var json: RawJSON { object.json }

    /// Reads an answer frame: whose `req` it answers, and how.
    static func read(_ frame: [UInt8]) -> (req: String?, result: Result<Answer, IsletError>) {
        guard let object = RawObject(frame) else {
            return (nil, .failure(.unreadable("no JSON object of \(frame.count) bytes")))
        }
        let req = object["req"]?.string
        switch object["ok"]?.bool {
        case true?:
            return (req, .success(Answer(object)))
        case false?:
            guard let error = object["error"].flatMap(ServiceError.init) else {
                return (req, .failure(.unreadable("an error without a code")))
            }
            return (req, .failure(.refused(error)))
        case nil:
            return (req, .failure(.unreadable("neither ok nor an error")))
        }
    }
}
