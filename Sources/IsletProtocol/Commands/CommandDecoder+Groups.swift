import IsletCore

extension CommandDecoder {
    func groupAddress(_ frame: Span<UInt8>) throws(Refusal) -> GroupAddress {
        GroupAddress(app: try requiredText(.app, .app, frame), group: try requiredText(.group, .name, frame))
    }

    func groupKeyAddress(_ frame: Span<UInt8>) throws(Refusal) -> GroupKeyAddress {
        GroupKeyAddress(group: try groupAddress(frame), key: try requiredText(.key, .name, frame))
    }

    func groupCreate(_ frame: Span<UInt8>) throws(Refusal) -> GroupOperation {
        let address = try groupAddress(frame)
        let members = try array(.members)
        if let members { _ = try GroupMembers.read(members, of: frame) }
        return .create(address, members: members)
    }

    func groupSet(_ frame: Span<UInt8>) throws(Refusal) -> GroupOperation {
        let address = try groupKeyAddress(frame)
        guard let value = self[.value] else { throw .missingField(.value) }
        return .set(address, value: value.range)
    }

    func groupList(_ frame: Span<UInt8>) throws(Refusal) -> GroupList {
        var list = GroupList(group: try groupAddress(frame))
        list.prefix = try text(.prefix, .prefix, frame)
        list.limit = try integer(.limit, in: 1...1_000, frame) ?? list.limit
        list.cursor = try text(.cursor, .cursor, frame)
        return list
    }
}
