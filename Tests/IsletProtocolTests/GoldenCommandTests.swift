import Foundation
import IsletCore
import IsletProtocol
import Testing

@Suite("Golden commands")
struct GoldenCommandTests {
    @Test("every good example of every op is decoded, and every op has one")
    func good() throws {
        let files = try GoldenFiles.files(in: "good/commands")
        #expect(files == OperationName.allCases.map { "\($0.name).jsonl" }.sorted())
        for file in files {
            let lines = try GoldenFiles.lines("good/commands/\(file)")
            #expect(!lines.isEmpty)
            for line in lines {
                let decoded = Decoded(line)
                #expect(decoded.verdict == "ok", "\(file): \(String(decoding: line, as: UTF8.self))")
                #expect(decoded.operation?.name.map { "\($0.name).jsonl" } == file)
            }
        }
    }

    @Test("every bad example is refused with its code and its field")
    func bad() throws {
        var count = 0
        for file in try GoldenFiles.files(in: "bad") {
            for line in try GoldenFiles.lines("bad/\(file)") {
                let example = try TestJSON(line)
                let error = try #require(example["error"])
                let frame: [UInt8]
                if let text = example["frame"]?.string {
                    frame = Array(text.utf8)
                } else {
                    frame = [UInt8](try #require(example["base64"]?.string.flatMap { Data(base64Encoded: $0) }))
                }
                let answer = try TestJSON(Self.answer(to: frame))
                let given = try #require(answer["error"], "it was taken: \(example["why"]?.string ?? "")")
                let why = Comment(rawValue: "\(file): \(example["why"]?.string ?? "")")
                #expect(given["code"]?.string == error["code"]?.string, why)
                #expect(given["detail"]?["field"]?.string == error["field"]?.string, why)
                #expect(given["detail"]?["meant"]?.integer == error["meant"]?.integer, why)
                for name in ["index", "member"] where error[name] != nil {
                    let (found, named) = (given["detail"]?[name], error[name])
                    #expect(found?.string == named?.string && found?.integer == named?.integer, why)
                }
                if let op = error["op"]?.string { #expect(given["detail"]?["op"]?.string == op, why) }
                count += 1
            }
        }
        #expect(count > 200)
    }

    @Test("the answer to a refusal is well-formed whatever the frame holds, and repeats little of it")
    func quoting() throws {
        for name in [#"\""#, #"\\"#, #"\n"#, #"\u0000"#, #"\ud800"#, "é🍕", String(repeating: "x", count: 60_000)] {
            for frame in [#"{"op":"service.ping","\#(name)":1}"#, #"{"op":"\#(name)"}"#] {
                let answer = Self.answer(to: Array(frame.utf8))
                #expect(ReferenceJSON.accepts(answer))
                #expect(answer.count < 1_024)
            }
        }
    }

    @Test("errors.json has every code that the service gives, with the advice that it gives")
    func errors() throws {
        let data = [UInt8](try Data(contentsOf: GoldenFiles.root.appending(path: "errors.json")))
        let documented = try #require(try TestJSON(data)["errors"]).elements
        var retry: [String: String] = [:]
        for error in documented {
            let code = try #require(error["code"]?.string)
            #expect(retry[code] == nil, "\(code) stands twice")
            retry[code] = try #require(error["retry"]?.string)
            #expect((1...6).contains(try #require(error["exit"]?.integer)))
            #expect(error["meaning"]?.string?.hasSuffix(".") == true)
        }
        for refusal in Self.everyRefusal {
            #expect(retry["\(refusal.code)"] == refusal.retry.rawText, "\(refusal.code)")
        }
    }

    /// One refusal of each kind; `unavailable` is the one that lasts.
    private static let everyRefusal: [Refusal] = [
        .badMessage(.invalidJSON, offset: 0), .unknownOp(FrameRange(0..<0)), .unknownField(FrameRange(0..<0)),
        .missingField(.app), .badField(.app, .wrongType), .implausibleDate(.to, meant: nil), .notFound,
        .revisionConflict(present: 1), .keyHeld(by: EntityID(high: 0, low: 0), revision: 1), .expired,
        .kindUnknown(FrameRange(0..<0)), .providerUnknown(call: nil), .badConfiguration(parameter: []),
        .badDeclaration(BadDeclaration(index: 0, member: "kind", reason: .missing)),
        .kindConflict(KindConflict(kind: [], member: "tint", declared: [], offered: [], placed: 3)),
        .badAnswer(call: FrameRange(0..<0), .wrongType), .unknownCall(FrameRange(0..<0)),
        .busy(retryAfter: 1), .requestReused, .outcomeUnknown, .tooOld(oldest: 1), .tooMany(limit: 1),
        .quotaExceeded(limit: 1), .unavailable(.ruleOff), .authorization(.attributesTooLarge(bytes: 1, limit: 1)),
        .authorization(.denied), .authorization(.muted(until: Instant(0))),
        .authorization(.globalMaximumExceeded(limit: 1)), .authorization(.targetMaximumExceeded(limit: 1)),
        .authorization(.visibility), .authorization(.reconnectNotPermitted),
    ]

    /// The answer frame to a refused frame; empty where it is not refused.
    private static func answer(to frame: [UInt8]) -> [UInt8] {
        var decoder = CommandDecoder()
        return decoder.withDecoded(frame.span) { outcome, frame in
            var writer = JSONWriter()
            switch outcome {
            case .success:
                writer.beginObject()
                writer.endObject()
            case .failure(let refused): writer.refused(refused.envelope, frame, refused.refusal)
            }
            return writer.copy()
        }
    }
}

extension RetryAdvice {
    fileprivate var rawText: String { "\(wireName)" }
}

extension IsletCore.Operation {
    /// The name of the op that this is.
    fileprivate var name: OperationName? {
        var label = Mirror(reflecting: self).children.first?.label ?? "\(self)"
        switch self {
        case .widget(let operation): label = "widget" + Self.capitalized(operation)
        case .group(let operation): label = "group" + Self.capitalized(operation)
        case .inspection(.stats): return .serviceStats
        case .inspection(.timers): return .timerList
        case .inspection(.slots): return .slotList
        case .inspection(.subscribers): return .subscriberList
        case .inspection(.problems): return .problemList
        case .inspection(.find): return .entityFind
        default: break
        }
        return OperationName.allCases.first { "\($0)" == label }
    }

    private static func capitalized(_ operation: some Any) -> String {
        let label = Mirror(reflecting: operation).children.first?.label ?? "\(operation)"
        return label.prefix(1).uppercased() + label.dropFirst()
    }
}
