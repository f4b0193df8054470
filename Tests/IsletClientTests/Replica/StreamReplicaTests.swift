import IsletClient
import Testing

/// One stream with events alone: positions, gaps and their repair.
@Suite struct StreamReplicaEventsTests {
    private var model = ModelStream()
    private var replica = StreamReplica(app: "com.example.pizza", interest: .events)
    private let app = "com.example.pizza"

    @Test mutating func `a join tells the reader where it begins, and events follow`() {
        model.start("a")
        #expect(replica.joined(model.position).told == ["synced(joined)"])
        #expect(replica.received(model.update("a")).told == ["2"])
        #expect(replica.received(model.dismiss("a")).told == ["3"])
        #expect(replica.state == .following)
    }

    @Test mutating func `an app without events begins at zero and takes its epoch from the first one`() {
        #expect(replica.joined(nil).told == ["synced(joined)"])
        #expect(replica.received(model.start("a")).told == ["1"])
        #expect(replica.position == model.position)
    }

    @Test mutating func `one that begins in the past replays it before what comes, each event once`() {
        for _ in 1...4 { model.start("a") }
        replica = StreamReplica(app: app, interest: .events, startingAfter: 2)
        #expect(replica.joined(model.position).asked == [.replay(app: app, from: 2, attempt: 0)])
        #expect(replica.received(model.start("b")).isEmpty)
        #expect(replica.received(model.replay(from: 2)).told == ["3", "4", "5"])
        #expect(replica.received(model.start("c")).told == ["6"])
    }

    @Test mutating func `one that begins where nothing is kept any more says what was missed`() {
        for _ in 1...4 { model.start("a") }
        model.oldestKept = 4
        replica = StreamReplica(app: app, interest: .events, startingAfter: 1)
        _ = replica.joined(model.position)
        #expect(replica.received(model.replay(from: 1)).told == ["synced(eventsLost)"])
        #expect(replica.received(model.replay(from: 3)).told == ["4"])
    }

    @Test mutating func `an event that was taken in already is dropped`() {
        let first = model.start("a")
        _ = replica.joined(nil)
        #expect(replica.received(first).told == ["1"])
        #expect(replica.received(first).isEmpty)
    }

    @Test mutating func `a missing event is replayed before the one that showed the gap`() {
        _ = replica.joined(nil)
        model.start("a")
        let second = model.update("a")
        #expect(replica.received(second) == [.replay(app: app, from: 0, attempt: 0)])
        #expect(replica.state == .repairing)
        #expect(replica.received(model.replay(from: 0)).told == ["1", "2"])
        #expect(replica.state == .following)
        #expect(replica.received(model.update("a")).told == ["3"])
    }

    @Test mutating func `events that come during a replay wait for its end`() {
        _ = replica.joined(nil)
        model.start("a")
        _ = replica.received(model.update("a"))
        let replay = model.replay(from: 0)
        #expect(replica.received(model.update("a")).isEmpty)
        #expect(replica.received(model.update("a")).isEmpty)
        #expect(replica.received(replay).told == ["1", "2", "3", "4"])
    }

    @Test mutating func `a replay in chunks gives credit for each but the last`() {
        _ = replica.joined(nil)
        for _ in 1...3 { model.start("a") }
        _ = replica.received(model.start("b"))
        var first = model.replay(from: 0)
        first.rows.removeLast(2)
        first.end = nil
        #expect(replica.received(first).asked == [.credit(app: app)])
        var last = model.replay(from: 2)
        last.rows.removeFirst(0)
        #expect(replica.received(last).told == ["3", "4"])
    }

    @Test mutating func `a watermark shows what was lost at the end`() {
        _ = replica.joined(nil)
        model.start("a")
        #expect(replica.received(model.watermark()) == [.replay(app: app, from: 0, attempt: 0)])
        #expect(replica.received(model.replay(from: 0)).told == ["1"])
        #expect(replica.received(model.watermark()).isEmpty)
    }

    @Test mutating func `a new connection with a later position is repaired by replay`() {
        _ = replica.joined(nil)
        _ = replica.received(model.start("a"))
        model.update("a")
        model.update("a")
        #expect(replica.joined(model.position) == [.replay(app: app, from: 1, attempt: 0)])
        #expect(replica.received(model.replay(from: 1)).told == ["2", "3"])
    }

    @Test mutating func `a new connection while a pull is under way asks for it again`() {
        _ = replica.joined(nil)
        model.start("a")
        _ = replica.received(model.update("a"))
        #expect(replica.joined(model.position) == [.replay(app: app, from: 0, attempt: 0)])
    }

    @Test mutating func `what a replay does not have any more is told as missed, and the rest is replayed`() throws {
        _ = replica.joined(nil)
        for _ in 1...5 { model.start("a") }
        model.oldestKept = 4
        _ = replica.received(model.watermark())
        let effects = replica.received(model.replay(from: 0))
        #expect(effects.told == ["synced(eventsLost)"])
        #expect(effects.asked == [.replay(app: app, from: 3, attempt: 0)])
        guard case .deliver(.synced(let state)) = try #require(effects.first) else { return }
        #expect(state.missed == 1...3)
        #expect(replica.received(model.replay(from: 3)).told == ["4", "5"])
    }

    @Test mutating func `a replay that ends beyond its events has lost the rest`() {
        _ = replica.joined(nil)
        for _ in 1...3 { model.start("a") }
        _ = replica.received(model.watermark())
        var short = model.replay(from: 0)
        short.rows.removeLast()
        let effects = replica.received(short)
        #expect(effects.told == ["1", "2", "synced(eventsLost)"])
        #expect(replica.seq == 3)
    }

    @Test mutating func `a pull that fails is asked for again, later each time`() {
        _ = replica.joined(nil)
        model.start("a")
        _ = replica.received(model.watermark())
        #expect(replica.received(.failure(.busy)) == [.replay(app: app, from: 0, attempt: 1)])
        #expect(replica.pullTimedOut() == [.replay(app: app, from: 0, attempt: 2)])
        #expect(replica.received(model.replay(from: 0)).told == ["1"])
        model.start("b")
        #expect(replica.received(model.watermark()) == [.replay(app: app, from: 1, attempt: 0)])
    }

    @Test mutating func `another epoch asks for a join, and the reader is told`() {
        _ = replica.joined(nil)
        _ = replica.received(model.start("a"))
        model.epoch = "e2"
        let event = model.start("b")
        #expect(replica.received(event) == [.join])
        #expect(replica.received(model.start("c")).isEmpty)
        #expect(replica.joined(StreamPosition(epoch: "e2", seq: 2)).told == ["synced(epochChanged)", "3"])
    }

    @Test mutating func `events that wait are forgotten with their epoch`() {
        _ = replica.joined(nil)
        model.start("a")
        let second = model.update("a")
        #expect(replica.received(second) == [.replay(app: app, from: 0, attempt: 0)])
        model.epoch = "e2"
        let third = model.update("a")
        #expect(replica.received(third).contains(.join))
        let effects = replica.joined(StreamPosition(epoch: "e2", seq: 2))
        #expect(effects.told == ["synced(epochChanged)", "3"])
        #expect(!effects.contains(.join))
    }

    @Test mutating func `an answer to a join that is behind a replay is no new history`() {
        _ = replica.joined(StreamPosition(epoch: "e1", seq: 9))
        #expect(replica.joined(StreamPosition(epoch: "e1", seq: 5)).isEmpty)
        #expect(replica.seq == 9)
    }

    @Test mutating func `a paused reader is told nothing of another epoch until it has room`() {
        _ = replica.joined(nil)
        _ = replica.received(model.start("a"))
        _ = replica.pause()
        model.epoch = "e2"
        #expect(replica.received(model.start("b")) == [.join])
        #expect(replica.joined(model.position).isEmpty)
        for _ in 1...3 { #expect(replica.received(model.update("b")).isEmpty) }
        let effects = replica.resumed()
        #expect(effects.told == ["synced(epochChanged)"])
        #expect(effects.asked == [.replay(app: app, from: 2, attempt: 0)])
        #expect(replica.received(model.replay(from: 2)).told == ["3", "4", "5"])
    }

    @Test mutating func `events of the epoch before do not wait for a join again and again`() {
        _ = replica.joined(nil)
        for _ in 1...8 { model.start("a") }
        #expect(replica.received(model.update("a")).asked == [.replay(app: app, from: 0, attempt: 0)])
        #expect(replica.joined(StreamPosition(epoch: "e2", seq: 2)).told == ["synced(epochChanged)"])
        #expect(replica.state == .following)
    }

    @Test mutating func `what is refused for good ends the reading`() {
        _ = replica.joined(nil)
        model.start("a")
        _ = replica.received(model.watermark())
        guard case .fail(.refused(let error))? = replica.received(.failure(.unauthorized)).first else {
            Issue.record("it goes on")
            return
        }
        #expect(error.code == .unauthorized)
    }

    @Test mutating func `a paused reader gets nothing, and later all of it`() {
        _ = replica.joined(nil)
        _ = replica.received(model.start("a"))
        #expect(replica.pause().isEmpty)
        #expect(replica.received(model.update("a")).isEmpty)
        #expect(replica.received(model.watermark()).isEmpty)
        #expect(replica.resumed() == [.replay(app: app, from: 1, attempt: 0)])
        #expect(replica.received(model.replay(from: 1)).told == ["2"])
    }

    @Test mutating func `pausing stops a replay`() {
        _ = replica.joined(nil)
        model.start("a")
        _ = replica.received(model.watermark())
        #expect(replica.pause() == [.cancelPull(app: app)])
        #expect(replica.received(model.replay(from: 0)).isEmpty)
        #expect(replica.resumed() == [.replay(app: app, from: 0, attempt: 0)])
    }
}
