import IsletClient
import IsletFilter

/// What a tail remembers of the entities that it has seen, so that a line can name what its event does not carry: the
/// key of an activity, how many entries a widget has, the next deadline, and what a filter asks of what never changes.
/// Activities and widgets from before the tail began are asked for, but not so often that a busy stream would have to wait,
/// unless a filter decides by it; of the other families the topic says enough.
struct KnownEntities {
    /// What is remembered of one.
    struct Facts {
        /// Such as `Delivery/order-7` or `Torch/27e5fe81cfb1`.
        var name: String
        var next: Deadline?
        /// How many entries a widget's timeline has.
        var entries: Int64?
        var lasting: LastingMembers
    }

    /// Beyond this everything is forgotten and learnt again.
    private static let maximumCount = 65_536
    /// The same once what filters ask for has so many bytes.
    private static let maximumBytes = 64 << 20
    /// Questions for names in a second, at most. What a filter decides by is asked for in any case.
    private static let questionsPerSecond = 200
    /// After a question that nobody answered, none is asked for so long.
    private static let pause = Duration.seconds(1)
    /// How long an answer is waited for: for what is only shown, and for what a filter decides by.
    private static let patience = (shown: Duration.seconds(1), decided: Duration.seconds(2))

    private var facts: [String: Facts] = [:]
    private var lastingBytes = 0
    private var questions = 0
    private var window = ContinuousClock.now
    private var pausedUntil = ContinuousClock.now
    /// What the filter asks for.
    private let members: Set<String>

    /// Nothing yet.
    init(askedBy filter: Filter? = nil) {
        members = filter?.members ?? []
    }

    /// Takes an event in and gives what is known of its entity afterwards.
    mutating func facts(for event: StreamEvent, connection: IsletConnection) async -> Facts {
        await facts(for: event, asking: { connection })
    }

    /// The same where the connection may be another one each time, or there may be none.
    mutating func facts(for event: StreamEvent, asking connection: () async -> IsletConnection?) async -> Facts {
        let topic = EntityTopic(event.topic)
        let asked = LastingMembers(topic.family, askedBy: members)
        guard let id = event.id else { return Facts(name: topic.name, lasting: asked) }
        var known: Facts
        var isToBeKept = !event.isLast
        let isStart = event.object["from"] == nil && event.revision == 1
        if let remembered = facts[id], !isStart {
            known = remembered
        } else if let family = topic.family, Self.asked.contains(family) || asked.isUnknown,
            event.object["from"] != nil
        {
            known = Facts(name: topic.name, lasting: asked)
            if let connection = await connection() {
                let isAnswered = await ask(&known, family, id: id, about: event, connection)
                // Without what a filter decides by, it is asked for again.
                if !isAnswered, asked.isUnknown { isToBeKept = false }
            }
        } else {
            known = Facts(
                name: topic.family == .activity ? Self.name(event.patch, topic) : topic.name, lasting: asked)
        }
        known.lasting.take(event)
        if let next = event.patch["next"] { known.next = Deadline(next) }
        if let entries = event.patch["entries"] { known.entries = entries.integer }
        keep(isToBeKept ? known : nil, id)
        return known
    }

    private mutating func keep(_ known: Facts?, _ id: String) {
        if facts.count >= Self.maximumCount || lastingBytes >= Self.maximumBytes {
            facts = [:]
            lastingBytes = 0
        }
        lastingBytes += (known?.lasting.bytes ?? 0) - (facts[id]?.lasting.bytes ?? 0)
        facts[id] = known
    }

    /// The families of which a topic does not say enough.
    private static let asked: Set<EntityTopic.Family> = [.activity, .widget]

    /// What the service says of an entity, as far as it held at the event: where it has changed since then, its name
    /// did; where its id has begun again since then, that is another one's.
    ///
    /// - Returns: whether it was answered, be it that nobody knows the entity any more.
    private mutating func ask(
        _ known: inout Facts, _ family: EntityTopic.Family, id: String, about event: StreamEvent,
        _ connection: IsletConnection
    ) async -> Bool {
        let command = Command("\(family.rawValue).get", app: event.app, ["id": .string(id)])
        let answer: Answer
        switch known.lasting.isUnknown
            ? await Self.sayToDecide(command, about: known.name, connection) : await sayToShow(command, connection)
        {
        case .entity(let said): answer = said
        case .nothing: return true
        case .silence: return false
        }
        guard let entity = EntityText.entity(answer), let revision = entity["revision"]?.unsigned,
            revision >= event.revision ?? 0, Self.beginning(of: entity, event) <= event.at
        else { return true }
        let isOfThen = revision == event.revision
        let topic = EntityTopic(family: family, type: (entity["type"] ?? entity["kind"])?.string ?? "", id: id)
        known.name = family == .activity ? Self.name(entity, topic) : topic.name
        known.next = isOfThen ? entity["next"].flatMap(Deadline.init) : nil
        known.entries = isOfThen ? entity["entries"]?.integer : nil
        known.lasting.take(whole: entity)
        return true
    }

    /// What came of a question.
    private enum Reply {
        case entity(Answer)
        /// Nobody knows it any more.
        case nothing
        case silence
    }

    /// Asks for what is only shown: once, and not too often.
    private mutating func sayToShow(_ command: Command, _ connection: IsletConnection) async -> Reply {
        let now = ContinuousClock.now
        guard now >= pausedUntil else { return .silence }
        if now - window > .seconds(1) {
            window = now
            questions = 0
        }
        guard questions < Self.questionsPerSecond else { return .silence }
        questions += 1
        do throws(IsletError) {
            return .entity(try await connection.send(command, timeout: Self.patience.shown))
        } catch {
            if error.code == .notFound { return .nothing }
            pausedUntil = ContinuousClock.now + Self.pause
            return .silence
        }
    }

    /// Asks for what a filter decides by, until it is answered: an event that nobody could ask about, since the service was
    /// stopped right behind it, would be passed over without a word. The stream waits meanwhile, and loses nothing.
    private static func sayToDecide(
        _ command: Command, about name: String, _ connection: IsletConnection
    ) async -> Reply {
        var hasSaid = false
        while true {
            do throws(IsletError) {
                return .entity(try await connection.send(command, timeout: patience.decided))
            } catch {
                if error.code == .notFound { return .nothing }
                guard error.retry == .later else { return .silence }
                if !hasSaid {
                    let url = connection.endpoints.commands
                    Console.message("waiting for \(url) to say what the filter asks of \(name) …")
                }
                hasSaid = true
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// When what has the id now began at the latest, as far as that can be told: one that was scheduled began before it
    /// started.
    private static func beginning(of entity: RawObject, _ event: StreamEvent) -> Int64 {
        let wasPending = ["from", "to"].contains { event.object[$0]?.string == "pending" }
        guard !wasPending || entity["startDate"] == nil else { return event.at }
        return (entity["addedAt"] ?? entity["startedAt"])?.integer ?? event.at
    }

    /// The type and the key of an activity, where it has one.
    private static func name(_ activity: RawObject, _ topic: EntityTopic) -> String {
        activity["key"]?.string.map { "\(topic.type)/\($0)" } ?? topic.name
    }
}

/// What the topic of an event says: `<app>/<family>/<type or kind>/<id>`.
struct EntityTopic {
    /// The families that entities belong to.
    enum Family: String {
        case activity, control, widget, group
    }

    /// nil for one that this command does not know.
    var family: Family?
    /// An activity's type, the kind of a control or widget, a group's name.
    var type: String
    var id: String

    init(family: Family, type: String, id: String) {
        self.family = family
        self.type = type
        self.id = id
    }

    init(_ topic: String) {
        let parts = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        family = parts.count > 1 ? Family(rawValue: parts[1]) : nil
        type = parts.count > 2 ? parts[2] : ""
        id = parts.last ?? ""
    }

    /// What is said of an entity without a key.
    var name: String {
        switch family {
        case .control, .widget: PlacedText.name(kind: type, id: id)
        case .group: id == "~" ? type : "\(type)/\(id)"
        case .activity, nil: "\(type)/\(EntityText.shortID(id))"
        }
    }
}

extension StreamEvent {
    /// Whether nothing follows for its entity.
    var isLast: Bool {
        switch object["to"]?.string {
        case "dismissed", "removed": true
        case _: false
        }
    }
}
