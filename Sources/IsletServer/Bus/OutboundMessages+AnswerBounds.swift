package import IsletCore
import IsletProtocol

/// How large answers may be. `Partition.answer` writes them all, and holds whatever was written to these bounds.
extension OutboundMessages {
    /// An answer frame has at most this many bytes (contract, "Messages").
    package static let maximumAnswerBytes = 1 << 20
    /// Once the answers to one message have as many bytes, those that are not small are refused as `busy`: with one more of
    /// ``maximumAnswerBytes`` and 256 small ones the message has 16 MiB at most.
    package static let answerBytesPerMessage = 14 << 20
    /// What has no more bytes is answered however large its message is: whatever a change answers is small.
    package static let smallAnswerBytes = 4 << 10
    /// When to ask again for what did not fit into the answers to one message, in milliseconds.
    package static let fullAnswerRetry: Milliseconds = 10

    /// Holds an answer to the bounds.
    ///
    /// - Parameters:
    ///   - start: where it begins; it ends with what was written last.
    ///   - message: where the answers to its message begin.
    /// - Returns: whether it fits; else a refusal stands in its place.
    @inline(__always)
    package mutating func boundAnswer(from start: Int, ofMessageFrom message: Int) -> Bool {
        writer.count - start <= Self.smallAnswerBytes || boundLarge(from: start, ofMessageFrom: message)
    }

    @inline(never)
    private mutating func boundLarge(from start: Int, ofMessageFrom message: Int) -> Bool {
        if writer.count - start > Self.maximumAnswerBytes {
            replaceAnswer(from: start, with: .tooMany(limit: Self.maximumAnswerBytes))
        } else if start - message > Self.answerBytesPerMessage {
            replaceAnswer(from: start, with: .busy(retryAfter: Self.fullAnswerRetry))
        } else {
            return true
        }
        return false
    }

    private mutating func replaceAnswer(from start: Int, with refusal: Refusal) {
        let req = writer.withSpan { CommandDecoder.req(ofAnswer: $0.extracting(start..<$0.count)) }
        var envelope = Envelope()
        if !req.isEmpty { envelope.req = FrameRange(0..<req.count) }
        writer.truncate(to: start)
        writer.refused(envelope, req.span, refusal)
    }
}
