import IsletClient
import IsletFilter
import Testing

/// An order as `activity.list` gives it.
private let order: RawObject = [
    "key": .string("order-7"), "type": .string("Delivery"), "device": .null, "state": .string("stale"),
    "revision": .integer(12), "isOnTop": .bool(true), "staleDate": .integer(1_000_000),
    "contentState": .object([
        .init("eta", .integer(12)), .init("note", .string("at the \"door\"")),
        .init("lines", .array([.object([.init("sku", .string("A1"))]), .object([.init("count", .null)])])),
    ]),
    "next": .object([.init("at", .integer(1_600_000)), .init("cause", .string("activeLimit"))]),
]

/// What has all members of the order above.
private let rows = FilterSubject.union("a row", [.activity, .widget])

private func fits(_ text: String, now: Int64 = 1_000_000) throws -> Bool {
    try Filter(text, for: rows).matches(order, now: now)
}

@Suite("A filter")
struct FilterTests {
    @Test(
        "selects by what a member is",
        arguments: [
            ("state=stale", true), ("state=ended", false), ("state!=stale", false), ("state!=active", true),
            ("key~ORDER-", true), ("key~order", true), ("key~rder-*", false), ("key~order-*", true), ("key~*-7", true),
            ("key~*der*", true), ("key~o*r*7", true), ("key~o*7*7", false), ("key!~order", false), ("key~*", true),
            ("revision=12", true), ("revision>9", true), ("revision<9", false), ("revision>=12", true),
            ("revision<=12", true), ("revision>1e1", true), ("key<order-8", true), ("key>order-8", false),
            ("contentState.eta=12", true), ("contentState.eta<5", false), ("contentState~door", true),
            ("isOnTop=true", true), ("isOnTop=on", true), ("isOnTop=false", false), ("isOnTop!=false", true),
        ])
    func comparisons(_ text: String, _ expected: Bool) throws {
        #expect(try fits(text) == expected)
    }

    @Test(
        "takes what is absent or null for unequal to everything",
        arguments: [
            ("device", false), ("not device", true), ("key", true), ("device=phone", false), ("device!=phone", true),
            ("device!~phone", true), ("device<z", false), ("contentState.gone", false),
            ("contentState.eta.inner=1", false), ("contentState.lines.sku", true),
            ("not contentState.lines.count", true), ("contentState.lines.count!=1", true),
        ])
    func absence(_ text: String, _ expected: Bool) throws {
        #expect(try fits(text) == expected)
    }

    @Test(
        "takes a flag that stands only where it is true for false where it does not stand",
        arguments: [
            ("isInvalidated=false", true), ("isInvalidated=true", false), ("isInvalidated!=true", true),
            ("isInvalidated!=false", false), ("not isInvalidated=false", false), ("isInvalidated", false),
            ("not isInvalidated", true), ("isOnTop", true), ("not isOnTop=false", true),
        ])
    func marks(_ text: String, _ expected: Bool) throws {
        #expect(try fits(text) == expected)
    }

    @Test(
        "takes a flag alone for its being true, also one that always stands",
        arguments: [
            ("isDisabled", true), ("not isDisabled", false), ("isRedacted", false), ("not isRedacted", true),
            ("isActive", false), ("not isActive", true), ("isActive=false", false), ("isActive!=true", true),
            ("isDisabled and not isRedacted", true),
        ])
    func flags(_ text: String, _ expected: Bool) throws {
        let button: RawObject = ["kind": .string("Door"), "isDisabled": .bool(true), "isRedacted": .bool(false)]
        #expect(try Filter(text, for: .control).matches(button, now: 0) == expected)
    }

    @Test(
        "says of what is known in part whether it may select it",
        arguments: [
            ("state=stale", true), ("state=ended", false), ("key=a", true), ("not key=a", true),
            ("state=ended or key=a", true), ("state=ended and key=a", false), ("not (state=stale or key)", false),
        ])
    func inPart(_ text: String, _ expected: Bool) throws {
        let filter = try Filter(text, for: rows)
        #expect(filter.maySelect(["state": .string("stale")], now: 0, unknown: ["key"]) == expected)
    }

    @Test(
        "selects neither by what nobody knows nor by its opposite",
        arguments: [
            ("device", false), ("not device", false), ("device!=phone", false), ("not device=phone", false),
            ("device=phone or state=stale", true), ("device=phone and state=active", false),
        ])
    func unknown(_ text: String, _ expected: Bool) throws {
        let filter = try Filter(text, for: rows)
        #expect(filter.matches(order, now: 1_000_000, unknown: ["device"]) == expected)
    }

    @Test(
        "binds not before and, and that before or, and parentheses before all",
        arguments: [
            ("state=active and key=no or revision=12", true), ("state=active and (key=no or revision=12)", false),
            ("not state=active and revision=12", true), ("not (state=stale and revision=12)", false),
            ("state=stale or key=no and revision=1", true), ("NOT state=active AND key~order OR key=x", true),
            ("not not state=stale", true), ("((state=stale))", true),
        ])
    func precedence(_ text: String, _ expected: Bool) throws {
        #expect(try fits(text) == expected)
    }

    @Test(
        "takes spans from now and dates for dates, and spans in milliseconds for numbers",
        arguments: [
            ("next<11m", true), ("next<9m", false), ("next>9m", true), ("staleDate<=0s", true),
            ("staleDate<-1s", false),
            ("staleDate<1970-01-01T00:20Z", true), ("staleDate<1970-01-01T00:10Z", false),
            ("staleDate=1970-01-01T00:16:40Z", true),
            ("revision<1s", true), ("revision>10ms", true), ("next.cause=activeLimit", true),
            ("staleDate>9999-12-31", false), ("next<100000d", true), ("staleDate<1970-01-02", true),
        ])
    func dates(_ text: String, _ expected: Bool) throws {
        #expect(try fits(text) == expected)
    }

    @Test(
        "takes a number for a date only in milliseconds, and says what was meant",
        arguments: [
            ("next<1800", "1800s or 1800ms"), ("staleDate<1700000000", "1700000000000 was probably meant"),
            ("staleDate>9223372036854775807", "has its unit"), ("staleDate<999999999999", "999999999999s"),
            ("staleDate<10000000000000", "10000000000000s"), ("staleDate<-5", "and not '-5'"),
        ])
    func otherUnits(_ text: String, _ words: String) {
        let error = #expect(throws: FilterError.self) { try Filter(text, for: rows) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "none")")
        #expect(throws: Never.self) { try Filter("staleDate<1000000000000 or next<9999999999999", for: rows) }
    }

    @Test("does not overflow at the end of time")
    func endOfTime() throws {
        #expect(try fits("next<100d", now: .max))
        #expect(try !fits("next<-100d", now: .min))
    }

    @Test("reads quoted values as they are")
    func quotes() throws {
        #expect(try fits(#"contentState.note='at the "door"'"#))
        #expect(try fits(#"contentState.note="at the \"door\"""#))
        #expect(try Filter("key='x and y=z'", for: rows).matches(["key": .string("x and y=z")], now: 0))
        #expect(try Filter("key='and'", for: rows).matches(["key": .string("and")], now: 0))
        #expect(try Filter("'key'=1", for: rows).matches(["key": .string("1")], now: 0))
    }

    @Test(
        "says what is wrong, and at which character",
        arguments: [
            ("", 0, "empty"), ("  ", 2, "empty"), ("state=", 6, "a value after '='"), ("state = ", 8, "a value"),
            ("state=and", 6, "needs quotes"), ("=stale", 0, "name of a member"), ("key=a=b", 5, "needs quotes"),
            ("(key=a", 0, "without its ')'"), ("key=a)", 5, "without its '('"), ("key=a key=b", 6, "'and', 'or'"),
            ("state='a", 6, "closing '"), ("and key=a", 0, "name of a member"), ("key=a and", 9, "at the end"),
            ("contentState..b=1", 0, "name of a member"), ("(key id)", 5, "')'"), ("not", 3, "at the end"),
        ])
    func errors(_ text: String, _ position: Int, _ words: String) {
        let error = #expect(throws: FilterError.self) { try Filter(text, for: rows) }
        #expect(error?.position == position)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "none")")
        #expect(error?.description.hasSuffix("\n  " + String(repeating: " ", count: position) + "^") == true)
    }

    @Test("is bounded in length and in depth")
    func bounds() throws {
        #expect(throws: FilterError.self) { try Filter(String(repeating: "(", count: 5_000), for: rows) }
        #expect(throws: FilterError.self) { try Filter(String(repeating: "(", count: 1_000) + "key", for: rows) }
        #expect(throws: FilterError.self) { try Filter(String(repeating: "not ", count: 1_000) + "key", for: rows) }
        let deep = String(repeating: "(", count: 20) + "state=stale" + String(repeating: ")", count: 20)
        #expect(try fits(deep))
    }

    @Test("knows what it asks for, and whether it needs the time")
    func needs() throws {
        let filter = try Filter("next<10m and (contentState.eta=1 or not device)", for: rows)
        #expect(filter.members == ["next", "contentState", "device"])
        #expect(filter.needsNow)
        #expect(try !Filter("staleDate<2026-01-31T09:00Z", for: rows).needsNow)
    }

    @Test("says the same after any mutilation, or what is wrong: it never traps")
    func mutilations() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(state: seed)
        let pieces = [
            "state", "=", "!=", "~", "<", "(", ")", " ", "and", "or", "not", "'", "\"", "\\", "*", ".", "10m", "é",
        ]
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            do throws(FilterError) {
                _ = try Filter(text, for: rows).matches(order, now: 0)
            } catch {
                #expect((0...text.count).contains(error.position), "seed \(seed): \(text)")
            }
        }
    }
}

/// SplitMix64.
private struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
