package import IsletClient

/// What is different between an entity as the recording leaves it and as the target has it.
package struct ReplayVerification: Sendable {
    /// One member that differs.
    package struct Difference: Sendable, Equatable {
        /// Such as `activity/Delivery/order-7`.
        package var entity: String
        package var member: String
        /// nil: it has none.
        package var recorded: RawJSON?
        package var found: RawJSON?

        /// Such as `activity/Delivery/order-7: state is active, recorded was stale`.
        package var text: String {
            let there = found.map { $0.string ?? $0.description } ?? "not there"
            let then = recorded.map { $0.string ?? $0.description } ?? "not there"
            return "\(entity): \(member) is \(there), recorded was \(then)".printable
        }

        var json: RawJSON {
            var members: [RawObject.Member] = [.init("entity", .string(entity)), .init("member", .string(member))]
            if let recorded { members.append(.init("recorded", recorded)) }
            if let found { members.append(.init("found", found)) }
            return .object(members)
        }
    }

    let times: ReplayTimes
    let names: ReplayNames
    /// Whether the target's clock stood at each event's date, so that also dates which the service makes are the same.
    let isExact: Bool

    /// - Parameters:
    ///   - times: how recorded dates became the target's.
    ///   - names: what apps are called at the target.
    ///   - isExact: whether the target's clock stood at each event's date.
    package init(times: ReplayTimes, names: ReplayNames, isExact: Bool) {
        self.times = times
        self.names = names
        self.isExact = isExact
    }

    /// What differs.
    ///
    /// - Parameter found: the entity at the target; nil where it is not there.
    package func differences(_ entity: ReplayedEntity, found: RawObject?) -> [Difference] {
        let name = Self.name(entity)
        guard let found else {
            // What is gone is kept for a while, or not at all.
            guard !entity.isGone else { return [] }
            return [Difference(entity: name, member: "state", recorded: entity.members["state"], found: nil)]
        }
        var members = Self.members(of: entity.family, isGone: entity.isGone)
        if isExact { members += Self.dates(of: entity.family) }
        // What there was before the recording begins with the replay.
        if entity.isOfSnapshot { members.removeAll(where: Self.beginnings.contains) }
        return members.compactMap { member in
            let recorded = translated(Self.value(entity.members, member), member)
            let there = Self.value(found, member)
            return recorded == there ? nil : Difference(entity: name, member: member, recorded: recorded, found: there)
        }
    }

    /// Such as `activity/Delivery/order-7`.
    static func name(_ entity: ReplayedEntity) -> String {
        let members = entity.members
        let type = (members["type"] ?? members["kind"] ?? members["group"])?.string ?? "?"
        let key = (members["key"] ?? members["id"])?.string ?? "?"
        return "\(entity.family.rawValue)/\(type)/\(key)"
    }

    /// The value of a member, or of a member's member.
    private static func value(_ members: RawObject, _ path: String) -> RawJSON? {
        guard let dot = path.firstIndex(of: ".") else { return members[path] }
        return members[String(path[..<dot])]?.object?[String(path[path.index(after: dot)...])]
    }

    private func translated(_ value: RawJSON?, _ member: String) -> RawJSON? {
        if member == "by" { return value?.string.map { .string(names.name($0)) } }
        guard member.hasSuffix("Date") || member.hasSuffix("At"), let date = value?.integer else { return value }
        return .integer(times.date(date))
    }

    /// What commands and providers make of an entity.
    private static func members(of family: EntityTopic.Family, isGone: Bool) -> [String] {
        switch family {
        case .activity where isGone: ["state", "type", "key", "device"]
        case .activity:
            [
                "state", "type", "key", "device", "attributes", "contentState", "staleDate", "relevanceScore", "style",
                "pushType", "startDate",
            ]
        case .control:
            [
                "state", "kind", "device", "template", "configuration", "value", "isActive", "status", "isDisabled",
                "isRedacted",
            ]
        case .widget:
            ["state", "kind", "family", "device", "configuration", "rendering", "entry.content", "needsLogin"]
        case .group: ["state", "value", "by"]
        }
    }

    /// What tells when an entity began, and what follows from that.
    private static let beginnings: Set<String> = [
        "startDate", "startedAt", "endedAt", "expiresAt", "addedAt", "isOnTop",
    ]

    /// What the service's clock makes of it.
    private static func dates(of family: EntityTopic.Family) -> [String] {
        switch family {
        case .activity: ["startedAt", "endedAt", "dismissAt", "expiresAt"]
        case .control: ["addedAt"]
        case .widget: ["addedAt", "isOnTop"]
        case .group: []
        }
    }
}
