import IsletOracle

/// One process that provides kinds of one app: how it is connected, what it is about to say. A value; what it does is
/// drawn by its world.
struct ProviderProcess {
    enum Registration: Equatable {
        /// It registers when this real time has come.
        case wanted(at: Int64)
        case asked(at: Int64)
        case done
    }

    /// Something that it says in a while.
    struct Output {
        var at: Int64
        var frame: String
        /// An action that takes effect only now.
        var effect: Effect?
        /// A well-formed value that it tells, by its mark.
        var value: Told?
        /// A well-formed timeline.
        var timeline: WitnessedTimeline?
        /// When its kind is relevant, well formed.
        var relevance: ToldRelevance?
        var call: String?
        /// What it says of a call that it fails.
        var failure: SaidReason?
    }

    struct ToldRelevance {
        var kind: String
        /// nil: it is not.
        var span: Range<Int64>?
    }

    struct Effect {
        var control: String
        var isOn: Bool?
    }

    struct Told {
        var call: String
        var mark: String
        var value: JSON
        var isDisabled: Bool
        var isActive: Bool?
    }

    let id: String
    let number: Int
    let app: String
    let kinds: [WitnessedKind]
    let widgets: [WitnessedWidgetKind]
    let capacity: Int
    /// Whether it is of the newer version of its app.
    let isNewer: Bool
    /// How many calls in a hundred it does not answer as it should.
    var misbehaviour: Int
    var registration: Registration
    /// Whether another one has or had its id, so that what it says may be taken for nobody's.
    var hasNamesake = false
    /// Whether the connection is there.
    var isConnected = true
    /// It takes everything in and says nothing.
    var isHanging = false
    var outputs: [Output] = []

    var peer: [UInt8] { Array("prov\(number)".utf8) }

    var registerFrame: String {
        "{\"op\":\"provider.register\",\"req\":\"reg\",\"app\":\"\(app)\",\"provider\":\"\(id)\","
            + "\"capacity\":\(capacity),\"kinds\":["
            + kinds.map { $0.declaration(isNewer: isNewer) }.joined(separator: ",") + "],"
            + "\"widgets\":[" + widgets.map { $0.declaration(isNewer: isNewer) }.joined(separator: ",") + "]}"
    }

    /// What is due to be said, in order.
    mutating func takeDue(at now: Int64) -> [Output] {
        guard isConnected, !isHanging else { return [] }
        let due = outputs.filter { $0.at <= now }
        if !due.isEmpty { outputs.removeAll { $0.at <= now } }
        return due
    }
}
