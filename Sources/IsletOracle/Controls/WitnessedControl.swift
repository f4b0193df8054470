/// One control as its events tell it.
package struct WitnessedControl {
    package enum Wish: Equatable {
        case press
        case set(Bool)
        /// Nobody saw it: the device was locked.
        case hidden
    }

    package let id: String
    package let app: String
    package let kind: WitnessedKind
    /// How it stood after each of its events; the first has revision 1.
    package var versions: [[String: JSON]] { past.entities }
    var past = WitnessedVersions()
    /// How often one with this id was placed before; and how those stood.
    package internal(set) var life = 0
    var earlier = WitnessedVersions()
    /// What it shows without an action: nil where nobody saw it.
    var resting: (value: JSON?, source: String)?
    /// What its action, running or waiting, is to do.
    package internal(set) var wish: Wish?
    var nextWish: Wish?
    /// Failures in a row of asking for its value.
    var failures = 0
    /// What its provider may have said of the call that it failed; nil among them: nothing. One of several is known once it
    /// is seen.
    var reasons: Set<String?> = [nil]
    /// The revision of the event that asked for its value or began its action last.
    package internal(set) var askedAt = 0
    /// That event's place in its app's stream: an id that is used again has low revisions again.
    package internal(set) var askedSeq = 0

    package var entity: [String: JSON] { versions.last ?? [:] }
    package var revision: Int { versions.count }
    package internal(set) var state = ""
    package var isListed: Bool { state != "removed" }
    package var device: String? { entity["device"]?.string }
    package var isRedacted: Bool { entity["isRedacted"]?.bool ?? false }
    package var retryAt: Int64? { entity["next"]?["at"]?.integer }
    /// Whether a provider is asked for something.
    package var isBusy: Bool { ["loading", "reloading", "acting"].contains(state) }
    package var isActing: Bool { state == "acting" }

    /// Whether it ever stood like this.
    ///
    /// - Parameter isRead: whether an answer to a read shows it, which has the date of its state as well.
    package func everWas(_ entity: [String: JSON], isRead: Bool) -> Bool {
        if let revision = entity["revision"]?.integer, past.has(entity, at: Int(revision) - 1, isRead: isRead) {
            return true
        }
        return earlier.contains(entity, isRead: isRead)
    }

    /// An event asks for its value, or begins its action.
    mutating func isAsked(by passage: ControlPassage) {
        askedAt = revision
        askedSeq = Int(passage.event["seq"]?.integer ?? 0)
    }

    /// It was removed, and one with its id is placed.
    mutating func isPlacedAgain() {
        earlier.append(past)
        past = WitnessedVersions()
    }

    init(id: String, app: String, kind: WitnessedKind) {
        self.id = id
        self.app = app
        self.kind = kind
    }
}
