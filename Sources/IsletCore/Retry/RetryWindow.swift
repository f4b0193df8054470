package struct RetryWindow {
    package enum Check { case new, answered([UInt8]), reused, unknown }
    package init() {}
    package mutating func check(client: EntityID, req: Span<UInt8>, frame: Span<UInt8>, now: Instant) -> Check { .new }
    package mutating func remember(client: EntityID, req: Span<UInt8>, frame: Span<UInt8>, answer: UnsafeRawBufferPointer, now: Instant) {}
    package mutating func forgetExpired(now: Instant) {}
}
