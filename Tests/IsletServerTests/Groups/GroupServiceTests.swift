import IsletCore
import Testing

@Suite("Groups through the service")
struct GroupServiceTests {
    private static let group = #""group":"g""#

    private func started() throws -> PartitionService {
        let service = try PartitionService()
        service.send(#"{"op":"group.create","app":"com.o",\#(Self.group),"members":["com.\u006d"]}"#)
        return service
    }

    @Test("answers and events, byte for byte")
    func golden() throws {
        let service = try started()
        let set = service.send(
            #"{"op":"group.set","req":"r1","app":"com.m",\#(Self.group),"key":"k","value":{ "a" : 1.50 }}"#)
        #expect(
            set
                == #"{"req":"r1","ok":true,"outcome":"applied","seq":1,"#
                + #""group":{"group":"g","key":"k","state":"present","revision":1}}"#)
        service.send(#"{"op":"group.set","app":"com.o",\#(Self.group),"key":"k","value":"x"}"#)
        let notified = service.send(#"{"op":"group.notify","app":"com.m",\#(Self.group),"name":"n"}"#)
        #expect(notified == #"{"ok":true,"outcome":"applied","seq":3,"group":{"group":"g"}}"#)
        let deleted = service.send(#"{"op":"group.delete","app":"com.m",\#(Self.group),"key":"k","ifRevision":2}"#)
        #expect(
            deleted
                == #"{"ok":true,"outcome":"applied","seq":4,"#
                + #""group":{"group":"g","key":"k","state":"removed","revision":3}}"#)
        let head = #"{"epoch":"e1","seq":"#
        let at = service.events.map { event in
            event.json.split(separator: #""at":"#, maxSplits: 1).dropFirst().first.map { $0.prefix(13) } ?? ""
        }
        #expect(service.events.count == 4)
        #expect(service.events.map(\.topic) == ["k", "k", "~", "k"].map { "com.o/group/g/\($0)" })
        #expect(
            service.events.map(\.json) == [
                head + #"1,"at":\#(at[0]),"event":"group.set","to":"present","cause":"command","by":{"req":"r1"},"#
                    + #""group":{"group":"g","key":"k","state":"present","revision":1,"value":{ "a" : 1.50 },"#
                    + #""by":"com.m","updatedAt":\#(at[0])}}"#,
                head + #"2,"at":\#(at[1]),"event":"group.set","from":"present","to":"present","cause":"command","#
                    + #""group":{"group":"g","key":"k","state":"present","revision":2,"value":"x","by":"com.o","#
                    + #""updatedAt":\#(at[1])}}"#,
                head + #"3,"at":\#(at[2]),"event":"group.notified","cause":"command","#
                    + #""notification":{"group":"g","name":"n","by":"com.m"}}"#,
                head + #"4,"at":\#(at[3]),"event":"group.deleted","from":"present","to":"removed","cause":"command","#
                    + #""group":{"group":"g","key":"k","state":"removed","revision":3,"value":null,"by":"com.m","#
                    + #""updatedAt":\#(at[3])}}"#,
            ])
    }

    @Test("refusals say why")
    func refusals() throws {
        let service = try started()
        func code(_ command: String) -> String {
            let answer = service.send(command)
            let code = answer.split(separator: #""code":""#).dropFirst().first?.prefix { $0 != "\"" } ?? ""
            let detail = answer.split(separator: #""detail":"#).dropFirst().first?.dropLast(2) ?? ""
            return "\(code) \(detail)"
        }
        #expect(
            code(#"{"op":"group.get","app":"com.x",\#(Self.group),"key":"k"}"#) == #"unauthorized {"group":"g"}"#)
        #expect(code(#"{"op":"group.info","app":"com.o","group":"no"}"#) == #"notFound {"group":"no"}"#)
        #expect(code(#"{"op":"group.create","app":"com.x",\#(Self.group)}"#) == #"conflict {"group":"g"}"#)
        #expect(code(#"{"op":"group.get","app":"com.o",\#(Self.group),"key":"k"}"#) == "notFound ")
        #expect(
            code(#"{"op":"group.set","app":"com.o",\#(Self.group),"key":"k","value":1,"ifRevision":2}"#)
                == #"conflict {"revision":0}"#)
        #expect(code(#"{"op":"group.leave","app":"com.o",\#(Self.group)}"#) == #"badField {"field":"app"}"#)
        let long = String(repeating: "x", count: 16_383)
        #expect(
            code(#"{"op":"group.set","app":"com.o",\#(Self.group),"key":"k","value":"\#(long)"}"#)
                == #"badField {"field":"value"}"#)
        #expect(service.events.isEmpty)
    }

    @Test("a page goes on behind its last key, and ends before a frame is too long")
    func pages() throws {
        let service = try started()
        let long = String(repeating: "x", count: 16_000)
        for key in 100..<170 {
            service.send(#"{"op":"group.set","app":"com.o",\#(Self.group),"key":"k\#(key)","value":"\#(long)"}"#)
        }
        var keys: [Substring] = []
        var cursor = ""
        var pages = 0
        repeat {
            let answer = service.send(#"{"op":"group.list","app":"com.m",\#(Self.group),"limit":1000\#(cursor)}"#)
            #expect(answer.utf8.count < 1 << 20 && answer.contains(#""total":70"#))
            keys += answer.split(separator: #""key":""#).dropFirst().map { $0.prefix(4) }
            let next = answer.split(separator: #""next":""#).dropFirst().first?.prefix { $0 != "\"" }
            cursor = next.map { #","cursor":"\#($0)""# } ?? ""
            pages += 1
        } while !cursor.isEmpty && pages < 10
        #expect(pages == 2 && keys == (100..<170).map { Substring("k\($0)") })
    }

    @Test("a member's read waits for the stream of the owner")
    func minSeq() throws {
        let service = try started()
        service.send(#"{"op":"group.set","app":"com.o",\#(Self.group),"key":"k","value":1}"#)
        let read = #"{"op":"group.get","app":"com.m",\#(Self.group),"key":"k","minSeq":"#
        #expect(service.send(read + "1}").contains(#""seq":1"#))
        #expect(service.send(read + #"2,"ttl":3}"#).contains("expired"))
        #expect(
            service.send(#"{"op":"group.get","app":"com.x",\#(Self.group),"key":"k","minSeq":9}"#)
                .contains("unauthorized"), "who is no member does not wait")
    }

    @Test("snapshots and digests show keys")
    func bulk() throws {
        let service = try started()
        for key in ["a", "b"] {
            service.send(#"{"op":"group.set","app":"com.o",\#(Self.group),"key":"\#(key)","value":1}"#)
        }
        let frames = service.pull(#"{"op":"bulk.snapshot","req":"s","app":"com.o","credit":4}"#)
        #expect(frames.count == 5 && frames[1] == "com.o/group/g/a" && frames[3] == "com.o/group/g/b")
        #expect(frames[2].hasPrefix(#"{"group":{"group":"g","key":"a","state":"present","revision":1,"value":1,"#))
        let digest = service.pull(#"{"op":"bulk.digest","req":"d","app":"com.o","prefix":"com.o/group/g/b"}"#)
        #expect(digest.last?.contains(#""entities":1"#) == true)
    }

    @Test("a change that is sent again is answered again, also by the next process")
    func retries() throws {
        let service = try started()
        let command =
            #"{"op":"group.set","client":"0198c0de-0000-7000-8000-00000000c11e","req":"q1","app":"com.o","#
            + #"\#(Self.group),"key":"k","value":1}"#
        let first = service.send(command)
        service.send(#"{"op":"group.delete","app":"com.o",\#(Self.group),"key":"k"}"#)
        #expect(service.send(command) == first)
        let next = try PartitionService(service.journal.state)
        #expect(next.send(command) == first && next.events.isEmpty)
    }

    @Test("killed after any commit, or amid the snapshot, everything comes back", arguments: 0..<6 as Range<UInt64>)
    func killed(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let service = try started()
        service.send(#"{"op":"group.create","app":"com.m","group":"h","members":["com.o","com.x"]}"#)
        // What was seen after so many batches.
        var seen: [Int: String] = [:]
        seen[service.journal.state.batchCount] = view(service)
        for _ in 0..<120 {
            service.send(command(&random))
            seen[service.journal.state.batchCount] = view(service)
            if random.next() % 4 == 0 { service.sweep() }
        }
        #expect(service.journal.states.count > 40, "seed \(seed)")
        #expect(service.journal.states.contains { $0.hasRows && !$0.isWhole }, "one that is behind, seed \(seed)")
        #expect(service.journal.states.contains { $0.hasRows && $0.isWhole }, "seed \(seed)")
        for state in service.journal.states {
            guard let wanted = seen[state.batchCount] else { continue }
            let next = try PartitionService(state)
            #expect(view(next) == wanted, "seed \(seed), after batch \(state.batchCount)")
        }
    }

    private func view(_ service: PartitionService) -> String {
        [
            #"{"op":"group.info","app":"com.o","group":"g"}"#, #"{"op":"group.list","app":"com.o","group":"g"}"#,
            #"{"op":"group.info","app":"com.m","group":"h"}"#, #"{"op":"group.list","app":"com.m","group":"h"}"#,
        ].map { service.send($0) }.joined(separator: "\n")
            + ["com.o", "com.m"].flatMap { service.pull(#"{"op":"bulk.digest","req":"d","app":"\#($0)"}"#) }.joined()
    }

    private func command(_ random: inout SeededGenerator) -> String {
        let app = ["com.o", "com.m", "com.x"][Int(random.next() % 3)]
        let group = random.next() % 2 == 0 ? "g" : "h"
        let key = "k\(random.next() % 4)"
        let head = #","app":"\#(app)","group":"\#(group)""#
        switch random.next() % 10 {
        case 0: return #"{"op":"group.admit"\#(head),"member":"com.x"}"#
        case 1: return #"{"op":"group.leave"\#(head)}"#
        case 2: return #"{"op":"group.notify"\#(head),"name":"n"}"#
        case 3, 4, 5: return #"{"op":"group.delete"\#(head),"key":"\#(key)"}"#
        default: return #"{"op":"group.set"\#(head),"key":"\#(key)","value":[\#(random.next() % 9)]}"#
        }
    }
}
