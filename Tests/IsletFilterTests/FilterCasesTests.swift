import Foundation
import IsletClient
import IsletFilter
import Testing

/// The table that the board's filter is held against too, in a browser (test_board_filters.py).
@Suite("The table of filters")
struct FilterCasesTests {
    private static let path = #filePath.replacing(
        "IsletFilterTests/FilterCasesTests.swift", with: "EndToEnd/support/filter_cases.json")

    @Test("holds")
    func table() throws {
        let text = try String(contentsOf: URL(filePath: Self.path), encoding: .utf8)
        let table = try #require(RawObject(Array(text.utf8)))
        var rows: [RawObject] = []
        for content in try #require(table["contents"]?.object).members {
            let json = try #require(content.value.string)
            let row =
                #"{"id":"019b8127-6000-7f77-bbe9-2189268fbe93","app":"com.example.pizza","type":"Order","#
                + #""key":"\#(content.name)","state":"active","relevanceScore":0,"attributes":{},"contentState":\#(json)}"#
            rows.append(try #require(RawObject(Array(row.utf8))))
        }
        let cases = try #require(table["cases"]?.elements)
        #expect(cases.count > 50)
        for each in cases {
            let (filter, keys) = (try #require(each.elements?.first?.string), try #require(each.elements?.last))
            let read = try Filter(filter, for: .activity, words: .anywhere)
            let found = rows.filter { read.matches($0, now: 1_767_225_600_000) }.compactMap { $0["key"]?.string }
            #expect(found.sorted() == keys.elements?.compactMap(\.string), "\(filter)")
        }
    }
}
