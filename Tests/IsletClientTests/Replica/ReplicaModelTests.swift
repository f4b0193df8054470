import IsletClient
import Testing

/// The readers' machine in virtual time: whatever happens to any one message, the reader knows all soon after.
@Suite struct ReplicaModelTests {
    /// What is followed: apps as a whole, a part of one, and events alone.
    enum Reading: CaseIterable, Sendable {
        case app, part, apps, events

        var scope: (prefix: String, keepsEntities: Bool) {
            switch self {
            case .app: ("\(Play.Script.pizza)/", true)
            case .part: ("\(Play.Script.pizza)/activity/Ride/", true)
            case .apps: ("", true)
            case .events: ("\(Play.Script.pizza)/", false)
            }
        }
    }

    /// Each of them lost, doubled, overtaken by the next one, by those of some time and of a long time, and each
    /// question answered by `busy`.
    @Test(arguments: Reading.allCases, Play.Incident.allCases)
    func `no fault at any one message leaves a replica wrong`(reading: Reading, incident: Play.Incident) {
        disturb(reading, incident)
    }

    /// Also the question itself, while histories end and begin: the streams are never taken for another service's.
    @Test(arguments: Reading.allCases, [.none, .bulkCut, .restart, .forget, .forgetAtEnd] as [Play.Incident])
    func `no fault at any one message leaves whose the streams are open`(reading: Reading, incident: Play.Incident) {
        disturb(reading, incident, isOwned: true)
    }

    private func disturb(_ reading: Reading, _ incident: Play.Incident, isOwned: Bool = false) {
        let (prefix, keepsEntities) = reading.scope
        var plain = Play(prefix: prefix, keepsEntities: keepsEntities, script: .init(incident), isOwned: isOwned)
        // A copy of each moment at which messages leave, with the number of the first.
        var moments: [Play] = []
        var first = 0
        while plain.flaw == nil, !plain.isOver {
            let before = plain
            plain.advance()
            if plain.messages.count > first {
                first = plain.messages.count
                moments.append(before)
            }
        }
        #expect(plain.wrong == nil)
        #expect(moments.count > 20)
        for (index, moment) in moments.enumerated() {
            let end = index + 1 < moments.count ? moments[index + 1].messages.count : plain.messages.count
            for number in moment.messages.count..<end {
                for fault in Play.Fault.allCases where fault != .busy || plain.messages[number].isQuestion {
                    var play = moment
                    play.fault = (fault, number)
                    play.run()
                    guard let wrong = play.wrong else { continue }
                    Issue.record("\(fault), message \(number), \(plain.messages[number].what): \(wrong)")
                    return
                }
            }
        }
    }

    /// Other changes, at other times, and several incidents in one run.
    @Test(arguments: Reading.allCases, 0..<30 as Range<UInt64>)
    func `no fault at one message leaves a replica wrong, whatever else happens`(reading: Reading, seed: UInt64) {
        let (prefix, keepsEntities) = reading.scope
        let script = Play.Script(seed: seed)
        let begun = Play(prefix: prefix, keepsEntities: keepsEntities, script: script)
        var plain = begun
        plain.run()
        #expect(plain.wrong == nil)
        var generator = SplitMix(state: ~seed)
        for fault in Play.Fault.allCases {
            var play = begun
            play.fault = (fault, Int.random(in: 0..<plain.messages.count, using: &generator))
            play.run()
            let what = "\(fault), message \(play.fault?.at ?? 0), \(plain.messages[play.fault?.at ?? 0].what)"
            #expect(play.wrong == nil, "\(what)")
        }
    }

    /// What by chance was found once.
    @Test(arguments: [
        // The only message that tells of a new history without events is lost.
        (259, Reading.app, Play.Fault.lost, 17), (699, .events, .lost, 20),
        // The name of a history is known from an event alone, and the history is over when the reader goes on.
        (2014, .app, .lost, 1_000), (2014, .part, .lost, 1_000), (3097, .part, .busy, 27), (3097, .apps, .lost, 38),
    ] as [(UInt64, Reading, Play.Fault, Int)])
    func `what once left a replica wrong does not any more`(
        seed: UInt64, reading: Reading, fault: Play.Fault, message: Int
    ) {
        let (prefix, keepsEntities) = reading.scope
        var play = Play(prefix: prefix, keepsEntities: keepsEntities, script: .init(seed: seed))
        play.fault = (fault, message)
        play.run()
        #expect(play.wrong == nil)
    }
}
