import IsletCore
import IsletProtocol

/// From a frame to a command: the scanner and the decoder, as they look at each frame that comes in.
enum ScannerBench {
    /// Frames of one kind, so many that no branch learns one of them by heart.
    private static let variety = 64

    static func round(_ meter: inout Meter) {
        measure(&meter, "update") { SampleFrames.update($0, of: $0) }
        measure(&meter, "update, nested content") {
            SampleFrames.update($0, of: $0, content: SampleFrames.nestedContent($0))
        }
        measure(&meter, "update, all members") { SampleFrames.fullUpdate($0) }
        measure(&meter, "update, escapes") { SampleFrames.escapedUpdate($0) }
        measure(&meter, "start") { SampleFrames.start($0) }
        measure(&meter, "control.tap") { SampleFrames.tap($0) }
        measure(&meter, "provider.answer") { SampleFrames.providerAnswer($0) }
        // As the frames of one message: the same decoder, one after another.
        measure(&meter, "batch of many ops") { number in
            switch number % 8 {
            case 0: SampleFrames.start(number)
            case 1: SampleFrames.end(number)
            case 2: SampleFrames.tap(number)
            case 3: SampleFrames.fullUpdate(number)
            default: SampleFrames.update(number, of: number)
            }
        }
    }

    private static func measure(_ meter: inout Meter, _ name: String, _ frame: (Int) -> [UInt8]) {
        let frames = (0..<variety).map { frame($0 + 100_000) }
        var decoder = CommandDecoder()
        for frame in frames { check(frame, name, &decoder) }
        var accepted = 0
        meter.measure(name) { index in
            let frame = frames[index % variety]
            decoder.withDecoded(frame.span) { outcome, _ in
                if case .success = outcome { accepted += 1 }
            }
        }
        precondition(accepted > 0)
    }

    /// A sample that is refused would be measured as something else.
    private static func check(_ frame: [UInt8], _ name: String, _ decoder: inout CommandDecoder) {
        decoder.withDecoded(frame.span) { outcome, _ in
            if case .failure(let refused) = outcome { fatalError("a frame of '\(name)' is refused: \(refused)") }
        }
    }
}
