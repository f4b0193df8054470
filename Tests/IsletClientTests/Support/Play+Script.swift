import IsletClient

extension Play {
    enum Act {
        case change(String), marks, trim, forget, pause, resume
        case cut([PlayedService.Way]), connect([PlayedService.Way])
        /// Events are subscribed to again, and the join, which is the last subscription to be sent, is long in coming.
        case connectSlowly
        case lag(Bool)
        case chunk(String)
        case toClient(PlayedService.Message, life: Int)
        case subscribe([UInt8], isBusy: Bool, life: Int)
        case unsubscribe([UInt8], life: Int)
        case ask(RawObject, isBusy: Bool, life: Int)
        /// The question whose the streams are, by its number, and what comes of it.
        case askOwner(Int, isBusy: Bool)
        case informed(StreamOwnership.Owner, Int)

        /// Whether something is under way between the two.
        var isUnderWay: Bool {
            switch self {
            case .chunk, .toClient, .subscribe, .unsubscribe, .ask, .askOwner, .informed: true
            case .change, .marks, .trim, .forget, .pause, .resume, .cut, .connect, .connectSlowly, .lag: false
            }
        }
    }

    /// What happens in every run of a script, beside changes.
    enum Incident: CaseIterable, Sendable {
        case none
        /// The connection of events, of bulk, or both are lost for a while.
        case cut, bulkCut, restart
        /// The same, and much happens between the new subscription and the answer to its join; or only in the end.
        case slowCut, quietSlowCut
        /// What was missed meanwhile is not kept.
        case cutAndTrimmed
        /// The service comes back with another epoch, and things happen there or do not.
        case forget, forgetAtEnd
        /// Messages of the subscription are dropped in silence: in the middle, or the last ones.
        case lag, lagAtEnd
        /// The reader is behind for a while: in quiet times, in the first snapshot, before another epoch comes, and just
        /// as it has come.
        case pause, pauseAtOnce, pauseBeforeForget, pauseAfterForget
    }

    /// What happens, and when, in microseconds.
    struct Script {
        static let pizza = "com.example.pizza"
        static let taxi = "com.example.taxi"
        /// Nothing happens after so long, but for watermarks and a fault.
        static let length = 9_000_000

        let seed: UInt64
        private(set) var apps = [pizza, taxi]
        /// The apps with a change before the reader comes, once for each.
        private(set) var before: [String] = []
        private(set) var acts: [(at: Int, act: Act)] = []
        /// How often the service comes back with another epoch.
        private(set) var forgets = 0
        /// Whether it gives up what a replay would need.
        private(set) var trims = false

        /// The same changes always, with one incident amid them.
        init(_ incident: Incident) {
            seed = 7
            before = Array(repeating: Self.pizza, count: 8)
            for at in [5, 8, 12, 650, 1_450, 1_510, 1_600, 1_700, 2_004, 2_009, 2_600, 8_000] {
                add(at * 1_000, .change(Self.pizza))
            }
            for at in [9, 1_605, 2_010] { add(at * 1_000, .change(Self.taxi)) }
            switch incident {
            case .none: break
            case .cut: cut([.events])
            case .bulkCut: cut([.bulk])
            case .restart: cut([.events, .bulk])
            case .slowCut: cutSlowly(changes: [1_500, 2_003, 2_006, 2_012])
            case .quietSlowCut: cutSlowly(changes: [1_600])
            case .cutAndTrimmed:
                cut([.events])
                trim(1_800_000)
            case .forget: restartAnew()
            case .forgetAtEnd: restartAnew(8_100_000, until: 8_300_000)
            case .lag: lag(1_500_000, until: 1_950_000)
            case .lagAtEnd: lag(7_900_000, until: 8_050_000)
            case .pause: pause(1_500_000, until: 3_000_000)
            case .pauseAtOnce: pause(6_000, until: 1_000_000)
            case .pauseBeforeForget:
                restartAnew()
                pause(1_400_000, until: 3_500_000)
            case .pauseAfterForget:
                restartAnew()
                pause(2_003_000, until: 3_500_000)
            }
        }

        /// By chance: changes that come in bursts, of few or many apps, and up to three incidents of any length.
        init(seed: UInt64) {
            self.seed = seed
            var generator = SplitMix(state: seed)
            if Bool.random(using: &generator) { apps += (1...5).map { "com.example.more\($0)" } }
            for _ in 0..<Int.random(in: 0...20, using: &generator) { before.append(oneOf(apps, &generator)) }
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                var at = Int.random(in: 0...8_000_000, using: &generator)
                for _ in 0..<Int.random(in: 1...6, using: &generator) {
                    add(at, .change(oneOf(apps, &generator)))
                    at += Int.random(in: 0...20_000, using: &generator)
                }
            }
            // One after another, since two cuts of one connection would get into each other's way.
            var free = 0
            for _ in 0..<Int.random(in: 0...3, using: &generator) where free < 7_000_000 {
                let from = Int.random(in: free...7_000_000, using: &generator)
                let end = from + Int.random(in: 1_000...1_500_000, using: &generator)
                free = end + 1
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: cut([.events], from, until: end)
                case 1: cut([.bulk], from, until: end)
                case 2: cut([.events, .bulk], from, until: end)
                case 3: lag(from, until: end)
                case 4: restartAnew(from, until: end)
                default:
                    cut([.events], from, until: end)
                    trim(end)
                }
            }
            if Int.random(in: 0..<3, using: &generator) == 0 {
                let from = Int.random(in: 0...7_000_000, using: &generator)
                pause(from, until: from + Int.random(in: 1_000...1_500_000, using: &generator))
            }
        }

        private func oneOf(_ apps: [String], _ generator: inout SplitMix) -> String {
            // The first one is what most readings are of.
            Bool.random(using: &generator) ? apps[0] : apps[Int.random(in: 0..<apps.count, using: &generator)]
        }

        private mutating func add(_ at: Int, _ act: Act) {
            acts.append((at, act))
        }

        private mutating func cut(_ ways: [PlayedService.Way], _ from: Int = 1_500_000, until end: Int = 2_000_000) {
            add(from, .cut(ways))
            add(end, .connect(ways))
        }

        private mutating func cutSlowly(changes: [Int]) {
            add(1_400_000, .cut([.events]))
            for at in changes { for more in 0..<4 { add(at * 1_000 + more, .change(Self.pizza)) } }
            add(2_000_000, .connectSlowly)
            add(2_015_000, .marks)
        }

        private mutating func restartAnew(_ from: Int = 1_500_000, until end: Int = 2_000_000) {
            cut([.events, .bulk], from, until: end)
            // Early, so that changes while it is away are of the new epoch too.
            add(min(from + 5_000, end), .forget)
            forgets += 1
        }

        private mutating func lag(_ from: Int, until end: Int) {
            add(from, .lag(true))
            add(end, .lag(false))
        }

        private mutating func pause(_ from: Int, until end: Int) {
            add(from, .pause)
            add(end, .resume)
        }

        private mutating func trim(_ at: Int) {
            add(at, .trim)
            trims = true
        }
    }
}
