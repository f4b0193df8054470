/// What an app and its extensions share: a durable store of keys and values at the service, which any of them changes
/// and hears of.
///
/// It has the shape of `UserDefaults(suiteName:)`, but that everything asks the service: it is `async` and can fail.
///
///     let shared = AppGroupStore(suiteName: "group.com.example.weather")
///     try await shared.set(["berlin", "oslo"], forKey: "cities")
///     let cities = try await shared.value([String].self, forKey: "cities")
///     for try await change in shared.changes() { print(change) }
///
/// The app of the session must be a member of the group: its creator is, and admits others.
public struct AppGroupStore: Sendable {
    /// The group.
    public let suiteName: String
    private let session: IsletSession?

    /// The store of a group.
    ///
    /// - Parameters:
    ///   - suiteName: its name: at most 64 characters of `[A-Za-z0-9._:-]`.
    ///   - session: the app and the service; nil: the task's when it is used, else the process's (see ``Islet``).
    public init(suiteName: String, session: IsletSession? = nil) {
        self.suiteName = suiteName
        self.session = session
    }

    // MARK: Values

    /// The value of a key; nil where there is none, or it is of another type.
    public func value<Value: Decodable>(
        _ type: Value.Type, forKey key: String
    ) async throws(IsletError) -> Value? {
        PayloadCoding.decode(type, from: try await item(forKey: key)?.value)
    }

    /// The value of a key with its revision; nil where there is none.
    public func item(forKey key: String) async throws(IsletError) -> AppGroupItem? {
        do throws(IsletError) {
            return try await send("group.get", ["key": .string(key)]).group.flatMap(AppGroupItem.init)
        } catch {
            // A group that there is not is a mistake; a key that there is not is an answer.
            if error.code == .notFound, error.detail["group"] == nil { return nil }
            throw error
        }
    }

    /// All keys that begin so, with their values, in the order of the keys.
    public func items(prefix: String = "") async throws(IsletError) -> [AppGroupItem] {
        var fields: RawObject = ["group": .string(suiteName)]
        if !prefix.isEmpty { fields["prefix"] = .string(prefix) }
        return try await current().list("group.list", "items", fields).compactMap(AppGroupItem.init)
    }

    /// Sets the value of a key.
    ///
    /// - Parameter revision: only where the key has this revision, 0 where it must not be there; nil: in any case.
    /// - Returns: the key's revision, with which it can be set again without overwriting what others have set.
    /// - Throws: ``IsletError/refused(_:)`` with `conflict` where it has another revision, `quotaExceeded` where the
    ///   group is full, `unauthorized` where the app is no member.
    @discardableResult
    public func set(
        _ value: some Encodable, forKey key: String, ifRevision revision: UInt64? = nil
    ) async throws(IsletError) -> UInt64 {
        try await set(json: PayloadCoding.encodeAny(value, as: "the value"), forKey: key, ifRevision: revision)
    }

    /// Sets the value of a key to these bytes; else as ``set(_:forKey:ifRevision:)``.
    @discardableResult
    public func set(
        json value: RawJSON, forKey key: String, ifRevision revision: UInt64? = nil
    ) async throws(IsletError) -> UInt64 {
        // To the service `null` is no value at all.
        guard !value.isNull else { throw .invalid("a key's value is never null: remove the key instead") }
        var fields: RawObject = ["key": .string(key), "value": value]
        fields["ifRevision"] = revision.map { .integer($0) }
        guard let revision = try await send("group.set", fields).group?["revision"]?.unsigned else {
            throw .unreadable("no revision of the key in the answer")
        }
        return revision
    }

    /// Removes a key.
    ///
    /// - Parameter revision: only where it has this revision; nil: in any case.
    /// - Returns: false where there was none.
    @discardableResult
    public func removeObject(
        forKey key: String, ifRevision revision: UInt64? = nil
    ) async throws(IsletError) -> Bool {
        var fields: RawObject = ["key": .string(key)]
        fields["ifRevision"] = revision.map { .integer($0) }
        do throws(IsletError) {
            return try await send("group.delete", fields).outcome == .applied
        } catch {
            if error.code == .notFound, error.detail["group"] == nil { return false }
            throw error
        }
    }

    /// Tells all who listen something that has no data, as a Darwin notification does.
    public func notify(_ name: String) async throws(IsletError) {
        try await send("group.notify", ["name": .string(name)])
    }

    // MARK: Asking

    @discardableResult
    func send(_ op: String, _ fields: RawObject = [:]) async throws(IsletError) -> Answer {
        let session = try current()
        var command = Command(op, app: session.app, ["group": .string(suiteName)])
        for member in fields.members { command[member.name] = member.value }
        return try await session.connection.send(command)
    }

    func current() throws(IsletError) -> IsletSession {
        if let session { session } else { try Islet.current() }
    }
}

/// A key of a group, with its value.
public struct AppGroupItem: Sendable, Hashable {
    /// The key.
    public let key: String
    /// Its value, byte for byte as it was set.
    public let value: RawJSON
    /// It rises with each change.
    public let revision: UInt64
    /// The app that has set it.
    public let by: String?

    /// Reads an entity; nil where it has no value.
    init?(_ members: RawObject) {
        guard let key = members["key"]?.string, let value = members["value"],
            let revision = members["revision"]?.unsigned
        else { return nil }
        self.key = key
        self.value = value
        self.revision = revision
        by = members["by"]?.string
    }

    /// The value; nil where it is of another type.
    public func value<Value: Decodable>(as type: Value.Type) -> Value? {
        PayloadCoding.decode(type, from: value)
    }
}
