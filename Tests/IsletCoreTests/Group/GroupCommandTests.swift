import IsletCore
import Testing

@Suite("Groups: keys and values that apps share")
struct GroupCommandTests {
    /// A group of the app `o` with the member `m`.
    private func rig(_ rules: RuleSet = .standard) -> GroupRig {
        let rig = GroupRig(rules)
        rig.create("g", by: "o", with: ["m", "o", "m"])
        return rig
    }

    @Test("who is no member may do nothing, and a group that is not there is unknown")
    func access() {
        let rig = rig()
        for app in ["x", "never.seen"] {
            #expect(rig.set("k", "1", by: app) == "unauthorized" && rig.delete("k", by: app) == "unauthorized")
            #expect(rig.notify("n", by: app) == "unauthorized" && rig.leave("g", by: app) == "unauthorized")
            #expect(rig.admit(app, to: "g", by: app) == "unauthorized")
        }
        #expect(rig.set("k", "1", in: "h", by: "o") == "unknown" && rig.leave("h", by: "o") == "unknown")
        #expect(rig.create("g", by: "x") == "exists")
        #expect(rig.admit("x", to: "g", by: "m") == "applied" && rig.admit("x", to: "g", by: "m") == "unchanged")
        #expect(rig.set("k", "1", by: "x") == "applied")
        #expect(rig.leave("g", by: "x") == "applied" && rig.set("k", "2", by: "x") == "unauthorized")
        #expect(rig.leave("g", by: "o") == "app notAllowedHere")
        #expect(rig.told.isEmpty, "members make no events")
    }

    @Test("all events are on the owner's stream, whoever made them")
    func stream() {
        let rig = rig()
        rig.set("k", "1", by: "m")
        #expect(rig.told == ["set o/group/g/k r1 seq 1 by m first"])
        rig.set("k", "2", by: "o")
        #expect(rig.told == ["set o/group/g/k r2 seq 2 by o"])
        rig.notify("hello", by: "m")
        #expect(rig.told == ["notified o/group/g/~ r0 seq 3 by m"])
        rig.delete("k", by: "m")
        #expect(rig.told == ["deleted o/group/g/k r3 seq 4 by m"])
        #expect(rig.delete("k", by: "m") == "notFound")
        guard let member = rig.engine.apps.find(Array("m".utf8)) else { return complain("no app") }
        #expect(rig.engine.apps[member].seq == 0)
    }

    @Test("ifRevision: the present one, and 0 where the key must not be there")
    func revisions() {
        let rig = rig()
        #expect(rig.set("k", "1", by: "o", if: 1) == "conflict 0")
        #expect(rig.set("k", "1", by: "o", if: 0) == "applied")
        #expect(rig.set("k", "2", by: "o", if: 0) == "conflict 1" && rig.set("k", "1", by: "o", if: 7) == "conflict 1")
        #expect(rig.set("k", "1", by: "m", if: 1) == "unchanged" && rig.set("k", "2", by: "m", if: 1) == "applied")
        #expect(rig.delete("k", by: "m", if: 1) == "conflict 2" && rig.delete("k", by: "m", if: 2) == "applied")
        #expect(rig.delete("k", by: "m", if: 0) == "notFound")
        #expect(rig.set("k", "1", by: "m", if: 3) == "conflict 0" && rig.set("k", "1", by: "m", if: 0) == "applied")
    }

    @Test("a key that is set anew begins above every revision that a deleted key of its group had")
    func newLife() {
        let rig = rig()
        for value in 1...5 { rig.set("a", "\(value)", by: "o") }
        rig.set("b", "1", by: "o")
        rig.delete("a", by: "o")
        #expect(rig.set("a", "5", by: "o") == "applied" && rig.revision("a") == 7)
        #expect(rig.set("c", "5", by: "o") == "applied" && rig.revision("c") == 7, "also one that never was")
        #expect(rig.set("b", "2", by: "o") == "applied" && rig.revision("b") == 2, "a life goes on densely")
        rig.delete("b", by: "o")
        #expect(rig.set("b", "1", by: "o") == "applied" && rig.revision("b") == 7, "the highest, not the last")
        rig.create("h", by: "m")
        rig.set("a", "1", in: "h", by: "m")
        #expect(rig.revision("a", in: "h") == 1)
    }

    @Test("equal bytes are ignored; other bytes of the same value are not")
    func unchanged() {
        let rig = rig()
        #expect(rig.set("k", "{\"a\":1}", by: "o") == "applied" && rig.set("k", "{\"a\":1}", by: "m") == "unchanged")
        #expect(rig.told.isEmpty && rig.set("k", "{\"a\": 1}", by: "m") == "applied")
    }

    @Test("limits: a value, the values together, the keys, the members")
    func limits() {
        var rules = RuleSet.standard
        (rules.groupValueLimit, rules.groupLimit, rules.maximumGroupKeys) = (8, 20, 3)
        let rig = rig(rules)
        #expect(rig.set("a", "123456789", by: "o") == "value tooLong" && rig.set("a", "12345678", by: "o") == "applied")
        #expect(rig.set("b", "12345678", by: "o") == "applied" && rig.set("c", "12345", by: "o") == "quota 20")
        #expect(rig.set("c", "1234", by: "o") == "applied" && rig.set("d", "1", by: "o") == "quota 20")
        #expect(rig.set("a", "1234567", by: "o") == "applied" && rig.set("d", "1", by: "o") == "quota 3")
        #expect(rig.set("a", "12345678", by: "o") == "applied" && rig.set("c", "12345", by: "o") == "quota 20")
        #expect(rig.delete("a", by: "o") == "applied" && rig.set("d", "1", by: "o") == "applied")
        for member in 0..<62 { #expect(rig.admit("x\(member)", to: "g", by: "o") == "applied") }
        #expect(rig.admit("y", to: "g", by: "o") == "quota 64")
        #expect(rig.create("big", by: "o", with: (0..<64).map { "x\($0)" }) == "quota 64")
        #expect(rig.create("big", by: "x0", with: (0..<64).map { "x\($0)" }) == "applied")
    }

    @Test("keys count as entities")
    func entities() {
        var rules = RuleSet.standard
        rules.maximumEntities = 2
        let rig = rig(rules)
        rig.set("a", "1", by: "o")
        rig.set("b", "1", by: "o")
        #expect(rig.set("c", "1", by: "o") == "quota 2" && rig.set("b", "2", by: "o") == "applied")
        rig.delete("a", by: "o")
        #expect(rig.set("c", "1", by: "o") == "applied")
    }

    @Test("lists are in the order of the keys, by prefix, and go on behind a key that is gone")
    func lists() {
        let rig = rig()
        for key in ["b", "a:2", "a:10", "a", "c", "a.1", "Z"] { rig.set(key, "1", by: "o") }
        #expect(rig.list() == ["Z", "a", "a.1", "a:10", "a:2", "b", "c"])
        #expect(rig.list("a:") == ["a:10", "a:2"] && rig.list("a") == ["a", "a.1", "a:10", "a:2"])
        #expect(rig.list("d").isEmpty && rig.list("b", after: "b").isEmpty)
        #expect(rig.list("a", after: "a.1") == ["a:10", "a:2"] && rig.list("a", after: "Z") == rig.list("a"))
        rig.delete("a:10", by: "o")
        #expect(rig.list("a", after: "a:10") == ["a:2"] && rig.list("a", after: "zz").isEmpty)
    }

    @Test("digests over several turns follow what changes beside them")
    func scans() {
        let rig = rig()
        rig.create("h", by: "o")
        for key in 0..<40 { rig.set("k\(key)", "1", in: key % 2 == 0 ? "g" : "h", by: "o") }
        guard let app = rig.engine.apps.find(Array("o".utf8)) else { return complain("no app") }
        let prefixes = [
            "", "o/group/", "o/group/g/", "o/group/g/k1", "o/group/g/k10", "o/group/h", "p", "o/group/g/k10x",
        ]
        for (number, prefix) in prefixes.enumerated() {
            let hasBegun = rig.engine.beginDigest(number, app: app, prefix: Array(prefix.utf8))
            let found = rig.engine.continueDigest(number)
            var digest: UInt64 = 0
            var count = 0
            for (name, group) in rig.model.groups {
                for (key, value) in group.keys where "o/group/\(name)/\(key)".hasPrefix(prefix) {
                    digest ^= NaiveDigest.share(topic: "o/group/\(name)/\(key)", revision: UInt64(value.revision))
                    count += 1
                }
            }
            #expect(hasBegun && found?.entities == count && found?.digest.value == digest, "\(prefix)")
        }
    }
}
