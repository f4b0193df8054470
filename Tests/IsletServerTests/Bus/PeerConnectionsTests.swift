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
}
