import Foundation
import Testing

/// What the README shows of providers in Swift is what stands, and compiles, in these files.
@Suite struct ReadmeProviderTests {
    private static let files = ["ReadmeProvider.swift", "ReadmeWidgets.swift"]

    @Test func `the README's Swift is compiled`() throws {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let root = here.appending(path: "../../..").standardized
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        try #require(blocks.count == Self.files.count)
        for (block, file) in zip(blocks, Self.files) {
            let compiled = try String(contentsOf: here.appending(path: file), encoding: .utf8)
            var rest = compiled.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }[...]
            for line in block.split(separator: "\n") {
                let wanted = line.trimmingCharacters(in: .whitespaces)
                let index = rest.firstIndex(of: wanted)
                #expect(index != nil, "not in \(file), or not in this order: \(wanted)")
                if let index { rest = rest[(index + 1)...] }
            }
        }
    }
}
