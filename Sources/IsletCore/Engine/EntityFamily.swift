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

/// What a walk over all families sees of a listed entity.
package struct ListedEntity: Sendable {
    package var app: AppID
    package var topicHash: TopicHash
    package var revision: UInt64
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

    /// The entity at a place, where it is listed, of an app, and its topic begins with a prefix.
    package func listed(at place: EntityPlace, app: AppID, prefix: [UInt8]) -> ListedEntity? {
        let entity: ListedEntity
        let topicPrefix: [UInt8]
        let id: EntityID
        switch place.family {
        case .activity:
            guard let record = record(at: place.slot), record.state.isListed, self.app(of: record) == app else {
                return nil
            }
            let kind = apps.kinds[Int(record.kind)]
            entity = ListedEntity(
                app: app, topicHash: kind.topicHash.appending(record.id), revision: UInt64(record.revision))
            (topicPrefix, id) = (kind.topicPrefix, record.id)
        case .control:
            guard let record = controls.record(at: place.slot), record.machine.state != .removed,
                controls.kinds[record.kind].app == app
            else { return nil }
            let kind = controls.kinds[record.kind]
            entity = ListedEntity(
                app: app, topicHash: kind.topicHash.appending(record.id), revision: UInt64(record.revision))
            (topicPrefix, id) = (kind.topicPrefix, record.id)
        case .widget:
            guard let record = widgets.record(at: place.slot), record.machine.state != .removed,
                widgets.kinds[record.kind].app == app
            else { return nil }
            let kind = widgets.kinds[record.kind]
            entity = ListedEntity(
                app: app, topicHash: kind.topicHash.appending(record.id), revision: UInt64(record.revision))
            (topicPrefix, id) = (kind.topicPrefix, record.id)
        case .group: return listedGroupItem(at: place.slot, app: app, prefix: prefix)
        }
        return topic(topicPrefix, id, hasPrefix: prefix) ? entity : nil
    }
}
