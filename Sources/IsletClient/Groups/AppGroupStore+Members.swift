/// Who shares a group.
extension AppGroupStore {
    /// Makes the group; the app becomes its owner, on whose stream its changes are told.
    ///
    /// - Parameter members: other apps that share it from the beginning.
    /// - Throws: ``IsletError/refused(_:)`` with `conflict` where there is one of that name.
    public func create(members: [String] = []) async throws(IsletError) {
        try await send("group.create", members.isEmpty ? [:] : ["members": .array(members.map(RawJSON.string))])
    }

    /// Lets another app share the group.
    @discardableResult
    public func admit(_ member: String) async throws(IsletError) -> Answer.Outcome {
        try await send("group.admit", ["member": .string(member)]).outcome ?? .applied
    }

    /// Gives the app's own membership up; the owner cannot.
    @discardableResult
    public func leave() async throws(IsletError) -> Answer.Outcome {
        try await send("group.leave").outcome ?? .applied
    }

    /// Removes the group, which only the app that made it may, and only once it has no keys. There may be another one of its
    /// name then, made by any app.
    ///
    /// - Throws: ``IsletError/refused(_:)`` with `conflict` where it has keys.
    public func remove() async throws(IsletError) {
        try await send("group.remove")
    }

    /// The group itself.
    public func info() async throws(IsletError) -> AppGroupInfo {
        guard let info = try await send("group.info").group.flatMap(AppGroupInfo.init) else {
            throw .unreadable("no group in the answer")
        }
        return info
    }
}

/// A group: who shares it, and how much it holds.
public struct AppGroupInfo: Sendable, Hashable {
    /// Its name.
    public let group: String
    /// The app that made it.
    public let owner: String
    /// All apps that share it, the owner among them.
    public let members: [String]
    /// How many keys it has.
    public let keys: Int
    /// How many bytes their values have.
    public let bytes: Int

    /// Reads an answer's; nil where it names no owner.
    init?(_ members: RawObject) {
        guard let group = members["group"]?.string, let owner = members["owner"]?.string else { return nil }
        self.group = group
        self.owner = owner
        self.members = (members["members"]?.elements ?? []).compactMap(\.string)
        keys = members["keys"]?.integer.map(Int.init(clamping:)) ?? 0
        bytes = members["bytes"]?.integer.map(Int.init(clamping:)) ?? 0
    }
}
