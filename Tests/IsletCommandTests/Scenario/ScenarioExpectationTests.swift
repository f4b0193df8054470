import IsletClient
import Testing
import islet

/// The start of 2026, which spans count from.
private let now: Int64 = 1_767_225_600_000

/// An answer with what values may be.
private let answer =
    #"{"ok":true,"seq":7,"activity":{"id":"a1","state":"stale","staleDate":1767227400000,"relevanceScore":1.50,"#
    + #""contentState":{"eta":12,"text":"at the door","list":[1,2,3],"at":"30m","none":null}}}"#

private func differences(_ yaml: String, names: [String] = ["first"]) throws -> [ScenarioDifference] {
    let first = try #require(RawObject(Array(#"{"seq":7,"activity":{"id":"a1"}}"#.utf8)))
    return try ScenarioExpectation(yaml: yaml, names: names).differences(
        from: RawJSON(answer), ScenarioScope(now: now, answers: ["first": first]))
}

@Suite("An expectation")
struct ScenarioExpectationTests {
    @Test(
        "holds where the members that it names are so",
        arguments: [
            "ok: true", "{seq: 7, ok: true}", "seq: 7.0", "seq: 7e0", "activity: {state: stale}",
            "nothing: absent",
            "activity: {contentState: {none: absent}}", "activity: {contentState: {none: null}}", "activity: present",
            "activity: {relevanceScore: 1.5}", "activity: {staleDate: 30m}", "activity: {staleDate: 2026-01-01T00:30Z}",
            "activity: {staleDate: 1767227400000}", "activity: {contentState: {at: 30m}}", "seq: {above: 6}",
            "seq: {at least: 7, at most: 7}", "seq: {below: 7.5}", "activity: {staleDate: {above: 29m, below: 31m}}",
            "activity: {state: {one of: [active, stale]}}", "activity: {state: {not: active}}",
            "activity: {state: {matches: ^st}}", "activity: {contentState: {text: {contains: the d}}}",
            "activity: {contentState: {list: [1, 2, 3]}}", "activity: {contentState: {list: {contains: 2}}}",
            "activity: {contentState: {list: {count: 3}}}", "activity: {contentState: {list: {count: {above: 2}}}}",
            "activity: {contentState: {list: [1, {above: 1}, present]}}", "activity: {id: $first}", "seq: $first.seq",
            "seq: {all of: [{above: 1}, {not: 8}]}", "nothing: {inner: absent}", "gone: {present: false}",
            "activity: {contentState: {list: {equals: [1, 2, 3.0]}}}", "seq: {not: {above: 7}}",
            "activity: {contentState: {text: {not: {contains: window}}}}", "nothing: {not: 1}",
            "seq: {one of: [{matches: '7'}, 7]}", "activity: {contentState: {list: {not: {contains: 4}}}}",
        ])
    func holds(_ yaml: String) throws {
        #expect(try differences(yaml) == [])
    }

    @Test(
        "says what is different, and where",
        arguments: [
            ("ok: false", "ok", "false", "true"), ("seq: '7'", "seq", "7", "7"),
            ("seq: {above: 7}", "seq", "above 7", "7"),
            ("activity: {state: active}", "activity.state", "active", "stale"),
            ("activity: {staleDate: 31m}", "activity.staleDate", "2026-01-01 00:31:00 UTC", "2026-01-01 00:30:00 UTC"),
            ("nothing: 1", "nothing", "1", "absent"), ("ok: absent", "ok", "absent", "true"),
            ("activity: {id: {not: $first}}", "activity.id", "not $first", "a1"),
            ("activity: {contentState: {list: [1, 2]}}", "activity.contentState.list", "[1, 2]", "[1,2,3]"),
            ("activity: {contentState: {list: [1, 2, 4]}}", "activity.contentState.list.2", "4", "3"),
            ("activity: {state: {one of: [a, b]}}", "activity.state", "one of a, b", "stale"),
            ("activity: {contentState: {equals: {eta: 12}}}", "activity.contentState", #"{"eta":12}"#, nil),
            ("activity: {state: {state: stale}}", "activity.state", "{state: stale}", "stale"),
            ("activity: {contentState: {none: present}}", "activity.contentState.none", "present", "null"),
            ("activity: {state: {matches: ^active}}", "activity.state", "matching /^active/", "stale"),
            (
                "activity: {contentState: {at: 2026-01-01T00:30Z}}", "activity.contentState.at", "2026-01-01T00:30Z",
                "30m"
            ),
            ("nothing: {inner: 1}", "nothing.inner", "1", "absent"),
        ] as [(String, String, String, String?)])
    func differs(_ yaml: String, _ path: String, _ expected: String, _ came: String?) throws {
        let found = try differences(yaml)
        #expect(found.count == 1)
        #expect(found.first?.name == path)
        #expect(found.first?.expected == expected)
        if let came { #expect(found.first?.came == came) }
    }

    @Test(
        "holds neither for a condition nor for its opposite where that cannot be told",
        arguments: [
            "seq: ({matches: '7'})", "seq: ({contains: 7})", "seq: ({contains: '7'})", "seq: ({count: 1})",
            "ok: ({count: {not: 1}})", "ok: ({above: 1})", "activity: {state: ({above: 5})}",
            "activity: {state: ({contains: {matches: s}})}", "nothing: ({above: 5})", "nothing: ({matches: ^a})",
            "nothing: ({count: 3})", "nothing: ({contains: a})", "nothing: {inner: ({at most: 5})}",
            "activity: {contentState: ({text: {above: 5}, eta: 12})}", "activity: {contentState: ({count: 6})}",
            "activity: {contentState: {list: ({contains: {matches: a}})}}",
            "activity: {contentState: {list: ([1, {matches: a}, 3])}}", "seq: ({one of: [{matches: '7'}, 8]})",
            "seq: ({all of: [{matches: '7'}, 7]})", "activity: {contentState: {none: ({above: 5})}}",
        ])
    func untold(_ yaml: String) throws {
        let plain = yaml.filter { $0 != "(" && $0 != ")" }
        #expect(try differences(plain) != [])
        #expect(try differences(yaml.replacing("(", with: "{not: ").replacing(")", with: "}")) != [])
        #expect(try differences(plain).first?.came.isEmpty == false)
    }

    @Test("says that something cannot be told")
    func untoldMessage() throws {
        let found = try differences("seq: {not: {matches: '7'}}")
        #expect(found.map(\.came) == ["7, of which that cannot be told"])
        #expect(found.map(\.expected) == ["not matching /7/"])
        #expect(try differences("nothing: {not: {above: 7}}").map(\.came) == ["absent, of which that cannot be told"])
    }

    @Test("says which member may be meant")
    func hint() throws {
        #expect(try differences("activity: {contentSate: absent, sate: stale}").map(\.hint) == ["state"])
        #expect(try differences("activity: {contentSate: {eta: 12}}").first?.hint == "contentState")
    }

    @Test(
        "is refused where it makes no sense",
        arguments: [
            (
                "{}",
                "a mapping is empty: nothing would be looked at; that it is there is 'present', that it has no members "
                    + "'equals: {}'"
            ),
            (
                "a: {not: {b: {}}}",
                "'b' is empty: nothing would be looked at; that it is there is 'present', that it has no members "
                    + "'equals: {}'"
            ),
            ("a: {one of: 1}", "'one of' is a list, and this is a value"),
            ("a: {matches: '('}", "'matches' is a regular expression, and this is none"),
            ("a: {above: [1]}", "'above' is one value, and this is a list"),
            ("a: {absent: 3}", "absent is true or false, and this is a value"),
            (
                "a: {above: 1, b: 2}",
                "'above' is a condition, and stands with conditions only; of a member of that name: equals: {…}"
            ),
            ("a: $frist", "no step before has named an answer 'frist'; did you mean $first?"),
        ])
    func refused(_ yaml: String, _ text: String) {
        let problem = #expect(throws: ScenarioProblem.self) { try differences(yaml) }
        #expect(problem?.text == text)
    }

    @Test("takes a text that begins with two dollars for one with one")
    func dollars() throws {
        let price = try ScenarioExpectation(yaml: "{price: $$first, other: $5}")
        let value = RawJSON(#"{"price":"$first","other":"$5"}"#)
        #expect(try price.differences(from: value, ScenarioScope(now: 0)) == [])
    }
}
