import IsletCore
import IsletServer
import Testing

@Suite struct WatermarkScheduleTests {
    /// The times at which an app's watermark comes while it changes at `changes`, up to `end`, with a turn at each time
    /// that the schedule asks for.
    private func watermarks(changes: [Milliseconds], until end: Milliseconds) -> [Milliseconds] {
        var schedule = WatermarkSchedule()
        var waiting = changes[...]
        var result: [Milliseconds] = []
        while true {
            let change = waiting.first ?? .max
            let due = schedule.nextDue() ?? .max
            let now = min(change, due)
            if now > end { return result }
            if change <= due {
                schedule.changed(3, at: change)
                waiting.removeFirst()
            } else if !schedule.due(at: now).isEmpty {
                result.append(now)
            }
        }
    }

    @Test func oneComes100MillisecondsAfterABurst() {
        #expect(watermarks(changes: [0], until: 999) == [100])
        #expect(watermarks(changes: [0, 30, 60, 159], until: 1_200) == [259])
    }

    @Test func aBurstThatGoesOnHasOneEverySecond() {
        let changes = Array(stride(from: Milliseconds(0), through: 3_500, by: 50))
        #expect(watermarks(changes: changes, until: 3_700) == [1_000, 2_000, 3_000, 3_600])
    }

    @Test func afterAChangeTheyComeEverySecondForAMinuteAndThenEvery30Seconds() {
        let times = watermarks(changes: [0], until: 180_000)
        let everySecond = (0..<60).map { 100 + Milliseconds($0) * 1_000 }
        #expect(times == everySecond + [60_100, 90_100, 120_100, 150_100])
    }

    @Test func aChangeOfAnIdleAppNeedNotWaitForItsTurn() {
        let times = watermarks(changes: [0, 130_000], until: 130_500)
        #expect(times.last == 130_100)
    }

    @Test func aTurnThatComesLateGivesOneWatermarkAndNotOnePerInterval() {
        var schedule = WatermarkSchedule()
        schedule.changed(1, at: 0)
        #expect(schedule.due(at: 10_000) == [1])
        #expect(schedule.due(at: 10_000) == [])
        #expect(schedule.nextDue() == 11_000)
    }

    @Test func aTurnHasABoundAndForgetsNobody() {
        var schedule = WatermarkSchedule()
        let apps = 10_000
        for app in 0..<AppID(apps) { schedule.changed(app, at: 0) }
        var seen: [AppID] = []
        var turns = 0
        while let due = schedule.nextDue(), due <= 100 {
            let batch = schedule.due(at: 100)
            #expect(batch.count <= WatermarkSchedule.maximumPerTurn)
            seen += batch
            turns += 1
        }
        #expect(seen.sorted() == Array(0..<AppID(apps)))
        #expect(turns == (apps + WatermarkSchedule.maximumPerTurn - 1) / WatermarkSchedule.maximumPerTurn)
    }

    @Test func noAppIsKnownAtFirst() {
        var schedule = WatermarkSchedule()
        #expect(schedule.nextDue() == nil)
        #expect(schedule.due(at: 1_000_000) == [])
    }

    /// Against the contract's words, read anew at each millisecond for each app.
    @Test(arguments: [11, 12, 13] as [UInt64])
    func itAgreesWithTheContractReadNaively(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var schedule = WatermarkSchedule()
        let apps = 5
        var lastChange = [Milliseconds?](repeating: nil, count: apps)
        var firstChange = [Milliseconds?](repeating: nil, count: apps)
        var lastWatermark = [Milliseconds?](repeating: nil, count: apps)
        var interval = [Milliseconds](repeating: 0, count: apps)
        for now in 0..<Milliseconds(200_000) {
            var expected: [AppID] = []
            for app in 0..<apps {
                guard let change = lastChange[app] else { continue }
                let burstOver = firstChange[app] != nil && now - change >= 100
                let burstLong = firstChange[app].map { now - $0 >= 1_000 } ?? false
                let regular = lastWatermark[app].map { now - $0 >= interval[app] } ?? false
                if burstOver || burstLong || regular { expected.append(AppID(app)) }
            }
            for app in expected {
                let recent = lastChange[Int(app)].map { now - $0 < 60_000 } ?? false
                interval[Int(app)] = recent ? 1_000 : 30_000
                lastWatermark[Int(app)] = now
                firstChange[Int(app)] = nil
            }
            let actual = schedule.due(at: now)
            guard actual.sorted() == expected else {
                Issue.record("seed \(seed) at \(now): \(actual) instead of \(expected)")
                return
            }
            for app in 0..<apps where Int.random(in: 0..<(app == 0 ? 20 : 20_000), using: &random) == 0 {
                schedule.changed(AppID(app), at: now)
                lastChange[app] = now
                if firstChange[app] == nil { firstChange[app] = now }
            }
        }
    }
}
