/// The families of entities. Journals keep the number, in the upper half of an entity's place.
package enum EntityFamily: UInt32, Sendable, BitwiseCopyable, CaseIterable, Comparable {
    case activity, control, widget, group

    package static func < (one: EntityFamily, other: EntityFamily) -> Bool { one.rawValue < other.rawValue }
}

/// Where an entity stands: in its family's slab.
package struct EntityPlace: Hashable, Sendable, BitwiseCopyable, Comparable {
    package var family: EntityFamily
    package var slot: Slot

    package init(_ family: EntityFamily, _ slot: Slot) {
        self.family = family
        self.slot = slot
    }

    /// The place of a number that ``number`` gave; nil for a number of no family.
    package init?(number: UInt64) {
        guard let family = EntityFamily(rawValue: UInt32(number >> 32)) else { return nil }
        self.init(family, Slot(truncatingIfNeeded: number))
    }

    /// The family in the upper 32 bits, the slot in the lower.
    package var number: UInt64 { UInt64(family.rawValue) << 32 | UInt64(slot) }

    package static func < (one: EntityPlace, other: EntityPlace) -> Bool { one.number < other.number }
}

extension Engine {
    /// One past the highest slot of a family that was ever used.
    package func slotCount(of family: EntityFamily) -> Slot {
        switch family {
        case .activity: slotCount
        case .control: controls.slotCount
        case .widget: widgets.slotCount
        case .group: groups.slotCount
        }
    }

    /// The place after this one at which a walk over all families goes on; nil at its end.
    package func place(from place: EntityPlace) -> EntityPlace? {
        var place = place
        while place.slot >= slotCount(of: place.family) {
            guard let next = EntityFamily(rawValue: place.family.rawValue + 1) else { return nil }
            place = EntityPlace(next, 0)
        }
        return place
    }

    /// Whether a listed entity of an app stands at a place, and its topic begins with a prefix.
    package func isListed(at place: EntityPlace, app: AppID, prefix: [UInt8]) -> Bool {
        let slot = place.slot
        let isOfApp =
            switch place.family {
            case .activity: record(at: slot).map { $0.state.isListed && self.app(of: $0) == app } ?? false
            case .control:
                controls.record(at: slot).map { $0.machine.state != .removed && controls.kinds.app(of: $0.kind) == app }
                    ?? false
            case .widget:
                widgets.record(at: slot).map { $0.machine.state != .removed && widgets.kinds.app(of: $0.kind) == app }
                    ?? false
            case .group: groups.record(at: slot).map { !$0.isRemoved && groups[$0.group].owner == app } ?? false
            }
        return isOfApp && topic(at: place, hasPrefix: prefix)
    }

    /// What the listed entity at a place adds to a digest.
    package func digestPart(at place: EntityPlace) -> (topicHash: TopicHash, revision: UInt64) {
        switch place.family {
        case .activity:
            let record = activities[place.slot]
            return (apps.kinds[Int(record.kind)].topicHash.appending(record.id), UInt64(record.revision))
        case .control:
            let record = controls.slab[place.slot]
            return (controls.kinds[record.kind].topicHash.appending(record.id), UInt64(record.revision))
        case .widget:
            let record = widgets.slab[place.slot]
            return (widgets.kinds[record.kind].topicHash.appending(record.id), UInt64(record.revision))
        case .group:
            let record = groups.slab[place.slot]
            return (groupTopicHash(of: record), UInt64(record.revision))
        }
    }

    /// Whether the topic of the entity at a place begins with a prefix.
    func topic(at place: EntityPlace, hasPrefix prefix: [UInt8]) -> Bool {
        switch place.family {
        case .activity: topic(of: activities[place.slot], hasPrefix: prefix)
        case .control:
            topic(
                controls.kinds[controls.slab[place.slot].kind].topicPrefix, controls.slab[place.slot].id,
                hasPrefix: prefix)
        case .widget:
            topic(
                widgets.kinds[widgets.slab[place.slot].kind].topicPrefix, widgets.slab[place.slot].id,
                hasPrefix: prefix)
        case .group: groupTopic(at: place.slot, hasPrefix: prefix)
        }
    }
}
