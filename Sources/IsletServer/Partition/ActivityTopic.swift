import IsletCore
import IsletProtocol

/// The parts of an activity's topic: `<app>/activity/<type>/<id>`.
struct ActivityTopic {
    let app: [UInt8]
    let type: [UInt8]
    let id: EntityID

    private static let family = Array("activity".utf8)

    /// nil for a topic of another family.
    init?(_ topic: Span<UInt8>) {
        let parts = topic.withUnsafeBytes { bytes in
            bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        }
        guard parts.count == 4, parts[1] == Self.family else { return nil }
        let text = parts[3]
        guard let id = EntityID(text: text.span, at: FrameRange(offset: 0, count: text.count)) else { return nil }
        app = parts[0]
        type = parts[2]
        self.id = id
    }

    /// Appends the app's and the type's bytes.
    func append(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: app)
        bytes.append(contentsOf: type)
    }
}
