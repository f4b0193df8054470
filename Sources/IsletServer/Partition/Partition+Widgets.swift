import IsletCore
import IsletProtocol

/// The commands about widgets.
extension Partition {
    /// A change of a widget: once, however often it is sent (see `change`).
    func changeWidget(
        _ operation: WidgetOperation, _ envelope: Envelope, _ frame: Span<UInt8>, freshID: EntityID
    ) -> FrameResult {
        refuse(envelope, frame, .unavailable(.ruleOff))
    }

    func readWidget(_ operation: WidgetOperation, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        refuse(envelope, frame, .unavailable(.ruleOff))
    }

    func encode(_ event: WidgetEvent, _ frame: Span<UInt8>, _ envelope: Envelope?) {}
}
