import Foundation
import IsletFuzz
import Testing

/// Everything that a fuzzer has found worth keeping goes through the same functions again.
@Suite struct FuzzCorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fuzz/Corpus").standardizedFileURL

    @Test(arguments: FuzzTarget.allCases) func nothingInTheCorpusTraps(target: FuzzTarget) throws {
        let folder = Self.corpus.appending(path: target.rawValue)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(!names.isEmpty)
        for name in names {
            let bytes = try [UInt8](Data(contentsOf: folder.appending(path: name)))
            target.run(bytes.span)
            // And what is left of it when a disk or a network cuts it.
            for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 16)) {
                target.run(bytes.span.extracting(0..<length))
            }
        }
    }
}
