import IsletCore
import IsletProtocol

/// A decoded frame, copied out so that tests can look at it at leisure.
struct Decoded {
    var outcome: Result<Command, RefusedCommand>
    /// The bytes that the command's ranges point into.
    var frame: [UInt8]

    init(_ text: String) {
        self.init(Array(text.utf8))
    }

    init(_ bytes: [UInt8]) {
        var decoder = CommandDecoder()
        self.init(bytes, with: &decoder)
    }

    init(_ bytes: [UInt8], with decoder: inout CommandDecoder) {
        (outcome, frame) = decoder.withDecoded(bytes.span) { outcome, frame in
            (outcome, frame.withUnsafeBufferPointer { Array($0) })
        }
    }

    var operation: IsletCore.Operation? { try? outcome.get().operation }
    var envelope: Envelope? { try? outcome.get().envelope }

    var refusal: Refusal? {
        guard case .failure(let refused) = outcome else { return nil }
        return refused.refusal
    }

    func text(_ range: FrameRange?) -> String? {
        range.map { String(decoding: frame[$0.indices], as: UTF8.self) }
    }

    /// The refusal as `code`, or `code field`, as the contract writes it.
    var verdict: String {
        switch outcome {
        case .success: "ok"
        case .failure(let refused):
            switch refused.refusal {
            case .unknownField(let name): "unknownField \(text(name) ?? "")"
            case .missingField(let field): "missingField \(field)"
            case .badField(let field, let reason): "badField \(field) \(reason)"
            case .implausibleDate(let field, let meant):
                "implausibleDate \(field) \(meant.map { String($0.milliseconds) } ?? "nil")"
            case .badMessage(let reason, _): "badMessage \(reason)"
            case .unknownOp(let op): "unknownOp \(text(op) ?? "")"
            default: "\(refused.refusal)"
            }
        }
    }
}
