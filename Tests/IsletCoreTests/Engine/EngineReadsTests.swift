import IsletCore
import Testing

@Suite("Engine: lists and presentation")
struct EngineReadsTests {
    @Test("a list is of one app, of what is listed, and narrowed by type, state, device and the beginning of a key")
    func filter() {
        let rig = EngineRig()
        rig.start(type: "order", device: "d", key: "apple")
        rig.start(type: "ride", device: "d", key: "apricot")
        rig.start(type: "order", on: rig.now + 5, key: "banana")
        rig.start("com.b", type: "order", device: "d", key: "apple")
        let ids = (1...4).map { EntityID($0) }
        let ended = rig.started(device: "e")
        rig.end(.id(ended))
        let gone = rig.started()
        rig.dismiss(.id(gone))
        #expect(rig.list() == [ids[0], ids[1], ids[2], ended])
        #expect(rig.list("com.b") == [ids[3]])
        #expect(rig.list(type: "order") == [ids[0], ids[2], ended])
        #expect(rig.list(state: .pending) == [ids[2]] && rig.list(state: .dismissed) == [gone])
        #expect(rig.list(state: .ended) == [ended] && rig.list(device: "d") == [ids[0], ids[1]])
        #expect(rig.list(key: "ap") == [ids[0], ids[1]] && rig.list(key: "apricots") == [])
        #expect(rig.list(key: "") == [ids[0], ids[1], ids[2], ended])
        #expect(rig.list(type: "ride", state: .active, device: "d", key: "apr") == [ids[1]])
        #expect(rig.list("com.c") == [] && rig.list(type: "unknown") == [] && rig.list(device: "unknown") == [])
        #expect(rig.list(nil, device: "d") == [ids[0], ids[1], ids[3]])
        #expect(rig.list(nil, type: "order", device: "d") == [ids[0], ids[3]])
    }

    @Test("a device's presentation: relevance, then the first started; settled before it is shown")
    func presentation() {
        let rig = EngineRig()
        let now = rig.now
        rig.start(relevance: 1, device: "d")
        rig.start("com.b", relevance: 5, device: "d")
        rig.start(relevance: 1, device: "e")
        rig.start(relevance: 9, on: now + 20, device: "d")
        rig.start(relevance: 9, on: now + 10, device: "d")
        #expect(rig.presentation("d") == ["#2 1 minimal", "#1 2 minimal", "#5 -", "#4 -"])
        rig.now = now + 30
        #expect(rig.presentation("d") == ["#5 1 minimal", "#4 2 minimal", "#2 3", "#1 4"], "#5 started first")
        #expect(rig.events.count == 2)
        rig.end(.id(EntityID(5)))
        rig.dismiss(.id(EntityID(4)))
        #expect(rig.presentation("d") == ["#5 1", "#2 2 minimal", "#1 3 minimal"])
        rig.end(.id(EntityID(2)), "com.b")
        #expect(rig.presentation("d") == ["#5 1", "#2 2", "#1 3 compact"])
        #expect(rig.presentation("unknown") == [])
    }

    @Test("an update of the relevance changes the order; equal ones keep it")
    func relevance() {
        let rig = EngineRig()
        let first = rig.started(device: "d")
        rig.start(device: "d")
        #expect(rig.presentation("d") == ["#1 1 minimal", "#2 2 minimal"])
        rig.update(.id(first), relevance: -1)
        #expect(rig.presentation("d") == ["#2 1 minimal", "#1 2 minimal"])
    }
}

@Suite("Engine: digest scans")
struct EngineDigestScanTests {
    private static let count = 50_000

    @Test(
        "a scan over several turns gives the digest of its last moment, whatever changed meanwhile",
        arguments: [1, .random(in: .min ... .max)] as [UInt64])
    func concurrent(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let rig = EngineRig()
        rig.isChecked = false
        var ids: [EntityID] = []
        for index in 0..<Self.count {
            rig.start(index % 5 == 0 ? "com.b" : "com.a", type: index % 2 == 0 ? "order" : "ride")
            ids.append(rig.latest)
        }
        let known = rig.engine.apps.find(Array("com.a".utf8))
        let app = try #require(known)
        let oneTopic = "com.a/activity/ride/\(ids[30_001])"
        let prefixes = ["com.a/", "com.a/activity/order/", "com.a/act", oneTopic, oneTopic + "x", "com.b/", ""]
        for (number, prefix) in prefixes.enumerated() {
            let began = rig.engine.beginDigest(number, app: app, prefix: Array(prefix.utf8))
            #expect(began)
        }
        var open = Set(prefixes.indices)
        var turns = 0
        while !open.isEmpty {
            turns += 1
            for number in open.sorted() {
                let prefix = prefixes[number]
                if let scan = rig.engine.continueDigest(number) {
                    let expected = rig.follower.digest("com.a", prefix: prefix)
                    #expect(scan.digest.value == expected.value, "seed \(seed): '\(prefix)'")
                    #expect(scan.entities == expected.entities, "seed \(seed): '\(prefix)'")
                    open.remove(number)
                }
                // Changes of what the scan has passed, and of what it has not, between any two of its turns.
                for _ in 0..<40 { Self.change(rig, ids, &random) }
            }
        }
        #expect(turns == 4, "50 000 slots and some more, 16 384 in a turn")
        #expect(rig.follower.digest("com.a", prefix: oneTopic).entities <= 1)
    }

    private static func change(_ rig: EngineRig, _ ids: [EntityID], _ random: inout SeededRandom) {
        let index = Int(random.below(Int64(ids.count)))
        let app = index % 5 == 0 ? "com.b" : "com.a"
        switch random.below(6) {
        case 0: rig.dismiss(.id(ids[index]), app)
        case 1: rig.end(.id(ids[index]), app, policy: random.oneIn(2) ? .immediate : .default)
        case 2: rig.start(app, type: "order")
        case 3: rig.renew(.id(ids[index]), app)
        case 4: rig.update(.id(EntityID(30_002)), content: "{\"n\":\(random.below(1_000))}")
        default: rig.update(.id(ids[index]), app, content: "{\"n\":\(random.below(1_000))}")
        }
    }

    @Test("at most sixteen at a time; one that is given up makes room")
    func maximum() {
        let rig = EngineRig()
        rig.start()
        for number in 0..<Engine.maximumDigestScans {
            let began = rig.engine.beginDigest(number, app: 0, prefix: [])
            #expect(began)
        }
        var began = rig.engine.beginDigest(99, app: 0, prefix: [])
        #expect(!began)
        rig.engine.cancelDigest(3)
        began = rig.engine.beginDigest(99, app: 0, prefix: [])
        #expect(began)
        #expect(rig.engine.continueDigest(3) == nil && rig.engine.continueDigest(1_000) == nil)
        #expect(rig.engine.continueDigest(99)?.entities == 1)
        #expect(rig.engine.continueDigest(99) == nil, "it is through")
    }

    @Test("a scan of nothing is through at once")
    func empty() {
        let rig = EngineRig()
        rig.dismiss(.id(rig.started()))
        let began = rig.engine.beginDigest(1, app: 0, prefix: [])
        let scan = rig.engine.continueDigest(1)
        #expect(began && scan?.entities == 0 && scan?.digest == Digest())
    }
}
