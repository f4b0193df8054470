import IsletCore
import IsletProtocol

/// Where the parts of an entity's topic stand in it: `<app>/activity/<type>/<id>`, `<app>/control/<kind>/<id>`.
struct EntityTopic {
    let app: Range<Int>
    let type: Range<Int>
    let id: EntityID

    static let activity = Array("/activity/".utf8)
    static let control = Array("/control/".utf8)
    static let widget = Array("/widget/".utf8)
    private static let idCount = 36

    /// nil for a topic of another family.
    init?(_ topic: Span<UInt8>, family: [UInt8]) {
        let slash = UInt8(ascii: "/")
        let idStart = topic.count - Self.idCount
        guard idStart > family.count,
            let id = EntityID(text: topic, at: FrameRange(offset: idStart, count: Self.idCount))
        else { return nil }
        var appEnd = 0
        while appEnd < idStart, topic[appEnd] != slash { appEnd += 1 }
        let typeStart = appEnd + family.count
        guard appEnd > 0, typeStart < idStart - 1, topic[idStart - 1] == slash else { return nil }
        for (offset, byte) in family.enumerated() where topic[appEnd + offset] != byte { return nil }
        for index in typeStart..<idStart - 1 where topic[index] == slash { return nil }
        app = 0..<appEnd
        type = typeStart..<idStart - 1
        self.id = id
    }
}
