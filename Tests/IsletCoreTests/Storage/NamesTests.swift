import IsletCore
import Testing

@Suite("Names")
struct NamesTests {
    private static func number(_ table: inout NameTable, _ name: String) -> (number: UInt32, isNew: Bool) {
        Array(name.utf8).withUnsafeBytes { table.intern($0) }
    }

    @Test("a name keeps its number; numbers are given in the order of arrival")
    func intern() {
        var table = NameTable()
        let names = (0..<2_000).map { "name-\($0)" }
        for (index, name) in names.enumerated() { #expect(Self.number(&table, name) == (UInt32(index), true)) }
        for (index, name) in names.enumerated() {
            #expect(Self.number(&table, name) == (UInt32(index), false))
            #expect(table[UInt32(index)] == Array(name.utf8))
        }
        #expect(table.count == 2_000)
        #expect(Array("name-".utf8).withUnsafeBytes { table.find($0) } == nil)
    }

    @Test("a name is found as a run of a frame, and only as all of it")
    func inFrame() {
        var table = NameTable()
        _ = Self.number(&table, "pizza")
        let frame = Array("|pizza|".utf8)
        #expect(table.find(FrameRange(offset: 1, count: 5), of: frame.span) == 0)
        #expect(table.find(FrameRange(offset: 1, count: 4), of: frame.span) == nil)
        #expect(table.find(FrameRange(offset: 1, count: 6), of: frame.span) == nil)
        #expect(table.find(FrameRange(offset: 0, count: 0), of: frame.span) == nil)
    }

    @Test("the empty name and the zero byte are names like others")
    func oddNames() {
        var table = NameTable()
        #expect(Self.number(&table, "").isNew && Self.number(&table, "\0").isNew)
        #expect(Self.number(&table, "") == (0, false) && Self.number(&table, "\0") == (1, false))
    }

    @Test("two apps have kinds of their own for one type, and topics that say which")
    func kinds() {
        var table = AppTable()
        var frame = FrameBuilder()
        let names = [frame.run("com.a"), frame.run("com.b")]
        let types = [frame.run("order"), frame.run("order.x")]
        var kinds: [KindID] = []
        for name in names {
            guard let app = table.app(name, of: frame.bytes.span) else {
                Issue.record("no app")
                return
            }
            for type in types { kinds.append(table.kind(app, type, of: frame.bytes.span) ?? .max) }
        }
        #expect(kinds == [0, 1, 2, 3] && table.apps.count == 2)
        #expect(table.kind(1, types[0], of: frame.bytes.span) == 2, "known")
        #expect(table.findKind(0, types[1], of: frame.bytes.span) == 1)
        #expect(String(decoding: table.kinds[3].topicPrefix, as: UTF8.self) == "com.b/activity/order.x/")
        #expect(table.find(Array("com.b".utf8)) == 1 && table.find(Array("com.".utf8)) == nil)
        #expect(table.kinds[3].topicHash.value == NaiveDigest.fnv1a("com.b/activity/order.x/"))
    }
}
