public import FoundationEssentials

/// A Live Activity, which the service keeps and this value names.
///
/// It reads like ActivityKit's, with these differences, which come from being a client of a service: everything that
/// asks the service is `async` and can fail, and calls that ActivityKit drops in silence say so in their result.
///
///     Islet.configure(app: "com.example.pizza")
///     let content = ActivityContent(state: .init(eta: 12), staleDate: .now + 600)
///     let activity = try await Activity.request(attributes: DeliveryAttributes(order: 7), content: content)
///     try await activity.update(ActivityContent(state: .init(eta: 11), staleDate: .now + 600))
///     try await activity.end(nil, dismissalPolicy: .default)
public final class Activity<Attributes: ActivityAttributes>: Identifiable, Sendable {
    /// What changes.
    public typealias ContentState = Attributes.ContentState

    /// The identity, made by the service: a UUID in lower case.
    public let id: String
    /// What does not change.
    public let attributes: Attributes
    /// The business key, where it was started with one.
    public let key: String?
    let session: IsletSession

    init(id: String, attributes: Attributes, key: String?, session: IsletSession) {
        self.id = id
        self.attributes = attributes
        self.key = key
        self.session = session
    }

    /// The activity that this entity is; nil where it is of another type.
    convenience init?(_ members: RawObject, session: IsletSession) {
        guard members["type"]?.string == Attributes.activityType, let id = members["id"]?.string,
            let attributes = PayloadCoding.decode(Attributes.self, from: members["attributes"])
        else { return nil }
        self.init(id: id, attributes: attributes, key: members["key"]?.string, session: session)
    }

    // MARK: Starting

    /// Starts an activity.
    ///
    /// - Parameters:
    ///   - alertConfiguration: needed with `start`, and shown then.
    ///   - start: when it begins; nil: at once. Until then it is pending.
    ///   - device: whose activity it is, and counts toward whose maximum; nil: that of a back end that follows all.
    ///   - key: what it is about in your own words, such as `order-7`: at most one open activity of an app and device
    ///     has it.
    /// - Throws: ``ActivityAuthorizationError`` as ActivityKit does, else ``IsletError``.
    public static func request(
        attributes: Attributes,
        content: ActivityContent<ContentState>,
        pushType: PushType? = nil,
        style: ActivityStyle = .standard,
        alertConfiguration: AlertConfiguration? = nil,
        start: Date? = nil,
        device: String? = nil,
        key: String? = nil
    ) async throws -> Activity<Attributes> {
        let session = try Islet.current()
        var command = Command("activity.start", app: session.app)
        command["type"] = .string(Attributes.activityType)
        command["attributes"] = try PayloadCoding.encode(attributes, as: "attributes")
        try command.set(content)
        command["style"] = style == .standard ? nil : .string(style.rawValue)
        command["pushType"] = pushType?.json
        command["startDate"] = start?.json
        command["alert"] = alertConfiguration?.json
        command["device"] = device.map(RawJSON.string)
        command["key"] = key.map(RawJSON.string)
        do throws(IsletError) {
            let answer = try await session.connection.send(command)
            guard let id = answer.activity?["id"]?.string else { throw .unreadable("a start without an id") }
            return Activity(id: id, attributes: attributes, key: key, session: session)
        } catch {
            if case .authorization(let authorization)? = error.code { throw authorization }
            throw error
        }
    }

    // MARK: Changing

    /// Replaces the content. A nil `staleDate` clears the one before.
    ///
    /// - Parameter timestamp: how old the content is; one that is older than what is there is ignored. Nil: now. Where
    ///   nothing changes (`unchanged`) it does not count.
    /// - Returns: whether it took effect, or why it was ignored.
    @discardableResult
    public func update(
        _ content: ActivityContent<ContentState>, alertConfiguration: AlertConfiguration? = nil, timestamp: Date? = nil
    ) async throws(IsletError) -> Answer.Outcome {
        var command = command("activity.update")
        try command.set(content)
        command["alert"] = alertConfiguration?.json
        command["timestamp"] = timestamp?.json
        return try await send(command)
    }

    /// Ends it, with a last content or the one that is there.
    ///
    /// - Returns: whether it took effect, or why it was ignored.
    @discardableResult
    public func end(
        _ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy = .default,
        timestamp: Date? = nil
    ) async throws(IsletError) -> Answer.Outcome {
        var command = command("activity.end")
        if let content { command["contentState"] = try PayloadCoding.encode(content.state, as: "contentState") }
        command["dismissalPolicy"] = dismissalPolicy.json
        command["timestamp"] = timestamp?.json
        return try await send(command)
    }

    /// Says that a person has tapped it: what that opens is told by the event `activity.tapped`.
    ///
    /// - Parameter url: what a part of it, or its own deep link, opens; nil: just the app.
    /// - Returns: whether it took effect; a tap on one that has ended is ignored.
    @discardableResult
    public func tap(opening url: URL? = nil) async throws(IsletError) -> Answer.Outcome {
        var command = command("activity.tap")
        command["url"] = url.map { .string($0.absoluteString) }
        return try await send(command)
    }

    private func command(_ op: String) -> Command {
        Command(op, app: session.app, ["id": .string(id)])
    }

    private func send(_ command: Command) async throws(IsletError) -> Answer.Outcome {
        try await session.connection.send(command).outcome ?? .applied
    }

    // MARK: Reading

    /// The present state. One that the service has forgotten was dismissed long ago.
    ///
    /// ActivityKit has a plain property, which shows what the process has heard last. Here it is asked for, and so it may take
    /// time and fail: others change the activity too, and this object follows nothing by itself, so that what it had heard
    /// could be as old as itself. Who wants to be told follows ``activityStateUpdates``.
    public var activityState: ActivityState {
        get async throws(IsletError) {
            do throws(IsletError) {
                guard let state = try await read()["state"]?.string.flatMap(ActivityState.init(rawValue:)) else {
                    throw .unreadable("an activity without a state")
                }
                return state
            } catch {
                if error.code == .notFound { return .dismissed }
                throw error
            }
        }
    }

    /// The present content.
    ///
    /// - Throws: ``IsletError/unreadable(_:)`` where it is of another type, and for a dismissed activity, which has none
    ///   any more; what the service refuses, such as `notFound` of one that was dismissed long ago.
    public var content: ActivityContent<ContentState> {
        get async throws(IsletError) {
            let members = try await read()
            guard let content = ActivityContent<ContentState>(members) else {
                if members["state"]?.string == ActivityState.dismissed.rawValue {
                    throw .unreadable("a dismissed activity has no content any more")
                }
                throw .unreadable("contentState is no \(ContentState.self)")
            }
            return content
        }
    }

    func read() async throws(IsletError) -> RawObject {
        guard let activity = try await session.connection.send(command("activity.get")).activity else {
            throw .unreadable("no activity in the answer")
        }
        return activity
    }

    /// All activities of this type that are open or ended, also those that others have started.
    public static var activities: [Activity<Attributes>] {
        get async throws(IsletError) {
            let session = try Islet.current()
            let rows = try await session.list(
                "activity.list", "activities", ["type": .string(Attributes.activityType)])
            return rows.compactMap { Activity($0, session: session) }
        }
    }
}

extension Command {
    /// The fields of a content.
    fileprivate mutating func set<State>(_ content: ActivityContent<State>) throws(IsletError) {
        self["contentState"] = try PayloadCoding.encode(content.state, as: "contentState")
        self["staleDate"] = content.staleDate?.json
        guard content.relevanceScore != 0 else { return }
        guard let score = RawJSON.number(content.relevanceScore) else {
            throw .invalid("relevanceScore must be a finite number")
        }
        self["relevanceScore"] = score
    }
}

extension ActivityContent {
    /// The content in an entity; nil where it is of another type.
    init?(_ members: RawObject) {
        guard let state = PayloadCoding.decode(State.self, from: members["contentState"]) else { return nil }
        self.init(
            state: state, staleDate: members["staleDate"]?.integer.map(Date.init(milliseconds:)),
            relevanceScore: members["relevanceScore"]?.double ?? 0)
    }
}
