import IsletServer
import Testing

@Suite struct PeerConnectionsTests {
    private func peer(_ name: String) -> Peer { Peer(destination: .commands, routingID: Array(name.utf8)) }

    private func knows(_ connections: PeerConnections, _ name: String, over descriptor: Int32) -> Bool {
        connections.knows(Array(name.utf8).span, over: descriptor)
    }

    @Test func aConnectionIsKnownFromItsFirstMessageToItsEnd() {
        var connections = PeerConnections()
        connections.spoke(peer("a"), over: 7)
        #expect(knows(connections, "a", over: 7))
        #expect(!knows(connections, "b", over: 7) && !knows(connections, "ab", over: 7))
        #expect(!knows(connections, "a", over: 8))
        #expect(connections.descriptor(of: peer("a")) == 7)
        #expect(connections.lost(7) == peer("a"))
        #expect(connections.lost(7) == nil && connections.descriptor(of: peer("a")) == nil)
    }

    @Test func theEndOfAFormerConnectionIsNotThatOfThePresentOne() {
        var connections = PeerConnections()
        connections.spoke(peer("a"), over: 7)
        connections.spoke(peer("a"), over: 8)
        #expect(connections.descriptor(of: peer("a")) == 8)
        #expect(connections.lost(7) == peer("a"))
        #expect(connections.descriptor(of: peer("a")) == 8)
    }

    @Test func aNumberThatIsUsedAgainIsNotTheFormerPeers() {
        var connections = PeerConnections()
        connections.spoke(peer("a"), over: 7)
        connections.spoke(peer("b"), over: 7)
        #expect(connections.descriptor(of: peer("a")) == nil)
        #expect(connections.lost(7) == peer("b"))
    }

    @Test func endsThatWereNotToldAreSeenByWhoSpeaks() {
        var connections = PeerConnections()
        connections.spoke(peer("a"), over: 7)
        #expect(connections.endedBy(peer("a"), over: 7).isEmpty && connections.endedBy(peer("b"), over: 8).isEmpty)
        #expect(connections.endedBy(peer("a"), over: 8) == [peer("a")])
        #expect(connections.endedBy(peer("b"), over: 7) == [peer("a")])
        connections.spoke(peer("a"), over: 8)
        #expect(connections.endedBy(peer("b"), over: 7).isEmpty)
    }

    /// A ROUTER makes the others up, and each only once.
    @Test func whoHasNamedItselfIsKnown() {
        var connections = PeerConnections()
        let unnamed = Peer(destination: .commands, routingID: [0, 1, 2, 3, 4])
        connections.spoke(unnamed, over: 7)
        #expect(!connections.hasNamed && !unnamed.isNamed)
        connections.spoke(peer("a"), over: 8)
        connections.spoke(peer("a"), over: 8)
        #expect(connections.hasNamed && peer("a").isNamed)
        connections.spoke(unnamed, over: 8)
        #expect(!connections.hasNamed)
        connections.spoke(peer("a"), over: 7)
        _ = connections.lost(8)
        #expect(connections.hasNamed)
        _ = connections.lost(7)
        #expect(!connections.hasNamed)
        #expect(connections.endedBy(unnamed, over: 9).isEmpty)
    }
}
