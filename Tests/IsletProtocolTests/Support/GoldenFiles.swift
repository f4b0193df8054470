import Foundation
import IsletCore
import IsletProtocol

/// The examples of `proto-json`, where one line is one example.
enum GoldenFiles {
    /// `proto-json`, found from where this file stands.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "proto-json")

    /// The lines of a file below `proto-json/examples`.
    static func lines(_ path: String) throws -> [[UInt8]] {
        let bytes = [UInt8](try Data(contentsOf: root.appending(path: "examples").appending(path: path)))
        return bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }

    /// The names of the files in a folder below `proto-json/examples`, sorted.
    static func files(in folder: String) throws -> [String] {
        let path = root.appending(path: "examples").appending(path: folder).path
        return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".jsonl") }.sorted()
    }
}

/// A JSON value with its members by name, for reading test data.
struct TestJSON {
    let bytes: [UInt8]
    let value: JSONValue

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        value = try JSONScanner.scanValue(bytes.span)
    }

    private init(_ bytes: [UInt8], _ value: JSONValue) {
        self.bytes = bytes
        self.value = value
    }

    subscript(name: String) -> TestJSON? {
        var found: JSONValue?
        try? JSONScanner.scanObject(bytes.span, at: value.range) { field in
            if field.name.string(in: bytes.span) == name { found = field.value }
        }
        return found.map { TestJSON(bytes, $0) }
    }

    var elements: [TestJSON] {
        var found: [TestJSON] = []
        try? JSONScanner.scanArray(bytes.span, at: value.range) { found.append(TestJSON(bytes, $0)) }
        return found
    }

    var string: String? { value.kind == .string ? value.text.string(in: bytes.span) : nil }
    var integer: Int64? { value.kind == .integer ? JSONNumber.integer(bytes.span, at: value.range) : nil }
}

extension TestJSON {
    /// The members of an object, each with its exact bytes.
    var memberTexts: [String: String] {
        var found: [String: String] = [:]
        try? JSONScanner.scanObject(bytes.span, at: value.range) { member in
            let value = bytes[member.value.range.indices]
            found[member.name.string(in: bytes.span)] = String(decoding: value, as: UTF8.self)
        }
        return found
    }
}
