import IsletClient

/// What a tail remembers of the activities that it has seen, so that a line can name the key and the next deadline of
/// one whose event does not carry them. Those from before the tail began are asked for, but not so often that a busy
/// stream would have to wait.
struct KnownActivities {
    /// What is remembered of one.
    struct Facts {
        var type: String
        var key: String?
        var next: Deadline?
    }

    /// Beyond this everything is forgotten and learnt again.
    private static let maximumCount = 65_536
    /// Questions in a second, at most.
    private static let questionsPerSecond = 200

    private var facts: [String: Facts] = [:]
    private var questions = 0
    private var window = ContinuousClock.now

    /// Takes an event in and gives what is known of its activity afterwards.
    mutating func facts(for event: StreamEvent, connection: IsletConnection) async -> Facts? {
        guard let id = event.id else { return nil }
        var known = facts[id]
        if event.from == nil, let type = event.patch["type"]?.string {
            known = Facts(type: type, key: event.patch["key"]?.string)
        } else if known == nil {
            known = await ask(id: id, app: event.app, connection)
        }
        if let next = event.patch["next"] { known?.next = Deadline(next) }
        if facts.count >= Self.maximumCount { facts = [:] }
        facts[id] = event.to?.isListed == false ? nil : known
        return known
    }

    private mutating func ask(id: String, app: String, _ connection: IsletConnection) async -> Facts? {
        let now = ContinuousClock.now
        if now - window > .seconds(1) {
            window = now
            questions = 0
        }
        guard questions < Self.questionsPerSecond else { return nil }
        questions += 1
        let command = Command("activity.get", app: app, ["id": .string(id)])
        guard let activity = try? await connection.send(command, timeout: .seconds(1)).activity,
            let type = activity["type"]?.string
        else { return nil }
        return Facts(type: type, key: activity["key"]?.string, next: activity["next"].flatMap(Deadline.init))
    }
}
