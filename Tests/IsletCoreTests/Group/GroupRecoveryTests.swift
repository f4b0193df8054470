import IsletCore
import Testing

/// Random lives of groups, ended after any commit: a fresh engine that reads the snapshot and the events behind it is
/// the same.
@Suite("Groups: recovery")
struct GroupRecoveryTests {
    private static let apps = ["o", "m", "x"]

    private func step(_ rig: GroupRig, _ random: inout SeededRandom) {
        let app = Self.apps[Int(random.below(3))]
        let group = random.oneIn(3) ? "h" : "g"
        let key = "k\(random.below(6))"
        rig.continuesBatch = random.oneIn(2)
        switch random.below(13) {
        case 0: rig.create(group, by: app, with: random.oneIn(2) ? ["m", "x"] : [])
        case 1: rig.admit(Self.apps[Int(random.below(3))], to: group, by: app)
        case 2: rig.leave(group, by: app)
        case 3: rig.notify("n", group, by: app)
        case 4:
            // Seldom has a group no key by chance.
            for key in rig.list(in: group) where random.oneIn(2) { rig.delete(key, in: group, by: app) }
            rig.remove(group, by: app)
        case 5, 6, 7: rig.delete(key, in: group, by: app)
        default: rig.set(key, "\(random.below(1_000))", in: group, by: app)
        }
        if random.oneIn(3) { rig.sweep(Int(random.below(5))) }
    }

    @Test("after each commit everything comes back", arguments: (0..<12).map { UInt64($0) &* 0x9E37_79B9 + 1 })
    func everywhere(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let rig = GroupRig()
        rig.create("g", by: "o", with: ["m"])
        rig.create("h", by: "m", with: ["o", "x"])
        for count in 0..<150 {
            step(rig, &random)
            let copy = try GroupRig(restoring: rig)
            copy.model.check(copy.engine)
            // What follows is the same, too: revisions go on above those of deleted keys.
            guard count % 10 == 9 else { continue }
            for key in 0..<6 {
                let name = "k\(key)"
                let (before, after) = (rig.item(name), copy.item(name))
                #expect(before?.revision == after?.revision && before?.lastSeq == after?.lastSeq, "seed \(seed)")
            }
        }
        // A life that goes on from what was restored is restored again.
        let copy = try GroupRig(restoring: rig)
        for _ in 0..<80 { step(copy, &random) }
        let third = try GroupRig(restoring: copy)
        third.model.check(third.engine)
    }

    @Test("the highest deleted revision outlives the journal that tells of it")
    func highest() throws {
        let rig = GroupRig()
        rig.create("g", by: "o")
        for value in 0..<5 { rig.set("a", "\(value)", by: "o") }
        rig.delete("a", by: "o")
        rig.sweep(100)
        let copy = try GroupRig(restoring: rig)
        #expect(copy.set("a", "1", by: "o") == "applied" && copy.revision("a") == 7)
    }

    @Test("what was removed stays so, and keys of a group that is made anew are newer than those of the one before")
    func removed() throws {
        for isSwept in [false, true] {
            let rig = GroupRig()
            rig.create("g", by: "o", with: ["m"])
            for value in 0..<5 { rig.set("a", "\(value)", by: "o") }
            #expect(rig.remove("g", by: "o") == "1 keys")
            #expect(rig.remove("g", by: "m") == "app notAllowedHere")
            rig.delete("a", by: "m")
            #expect(rig.remove("g", by: "o") == "applied")
            #expect(rig.remove("g", by: "o") == "unknown")
            if isSwept { rig.sweep(100) }
            let copy = try GroupRig(restoring: rig)
            #expect(copy.set("a", "1", by: "o") == "unknown")
            #expect(copy.create("g", by: "m") == "applied", "of another app")
            #expect(copy.set("a", "1", by: "m") == "applied" && copy.revision("a") == 7)
            #expect(copy.create("other", by: "m") == "applied")
            let third = try GroupRig(restoring: copy)
            #expect(third.revision("a") == 7)
        }
    }

    @Test("a group is removed by its own number alone, which another has later")
    func numbers() {
        let rig = GroupRig()
        rig.create("g", by: "o")
        rig.create("h", by: "o")
        rig.remove("g", by: "o")
        rig.create("i", by: "m")
        rig.set("a", "1", in: "i", by: "m")
        rig.set("a", "2", in: "h", by: "o")
        #expect(rig.list(in: "i") == ["a"] && rig.list(in: "h") == ["a"] && rig.list() == [])
    }

    @Test("an image of a later release or a damaged one is refused")
    func damaged() {
        func read(_ bytes: [UInt8]) throws { _ = try GroupImage(bytes.span) }
        #expect(throws: ImageError.unknownVersion(9)) { try read([9]) }
        #expect(throws: ImageError.truncated) { try read([1, 0, 0]) }
        #expect(throws: ImageError.unknownValue) { try read([1, 3, 0, 0]) }
    }
}
