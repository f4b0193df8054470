import Foundation
import Testing

/// What the README shows of providers in Swift is what stands, and compiles, in `ReadmeProvider.swift`.
@Suite struct ReadmeProviderTests {
    @Test func `the README's Swift is compiled`() throws {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let root = here.appending(path: "../../..").standardized
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let compiled = try String(contentsOf: here.appending(path: "ReadmeProvider.swift"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(blocks.count == 1)
        var rest = compiled.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }[...]
        for line in blocks.flatMap({ $0.split(separator: "\n") }) {
            let wanted = line.trimmingCharacters(in: .whitespaces)
            let index = rest.firstIndex(of: wanted)
            #expect(index != nil, "not in the compiled file, or not in this order: \(wanted)")
            if let index { rest = rest[(index + 1)...] }
        }
    }
}
