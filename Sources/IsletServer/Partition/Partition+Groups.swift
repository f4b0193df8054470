import IsletCore
import IsletProtocol

/// The commands about app groups.
extension Partition {
    /// A change of a group: once, however often it is sent (see `change`).
    func changeGroup(_ operation: GroupOperation, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        refuse(envelope, frame, .unavailable(.ruleOff))
    }

    func readGroup(_ operation: GroupOperation, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        refuse(envelope, frame, .unavailable(.ruleOff))
    }

    func encode(_ event: GroupEvent, _ frame: Span<UInt8>, _ envelope: Envelope?) {}
}
