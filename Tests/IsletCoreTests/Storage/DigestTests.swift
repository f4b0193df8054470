import IsletCore
import Testing

@Suite("Digest")
struct DigestTests {
    private static func hash(_ text: String) -> TopicHash {
        var hash = TopicHash()
        for byte in text.utf8 { hash.combine(byte) }
        return hash
    }

    @Test(
        "FNV-1a of 64 bits, by its published vectors",
        arguments: [
            ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
        ] as [(String, UInt64)])
    func fnv(text: String, expected: UInt64) {
        #expect(Self.hash(text).value == expected)
        #expect(NaiveDigest.fnv1a(text) == expected, "the test's own, too")
    }

    /// A topic hash with a given value, by way of the inverse of FNV's last step being free to choose: revision 0
    /// leaves the hash as it is, so the digest of one entity is fmix64 of it.
    @Test("fmix64 by its published vectors, and the test's own")
    func fmix() {
        #expect(NaiveDigest.fmix64(0) == 0)
        #expect(NaiveDigest.fmix64(1) == 0xB456_BCFC_34C2_CB2C)
        #expect(NaiveDigest.fmix64(0xCBF2_9CE4_8422_2325) == 0xEFD0_1F60_BA99_2926)
        var digest = Digest()
        digest.toggle(topicHash: TopicHash(), revision: 0)
        #expect(digest.value == 0xEFD0_1F60_BA99_2926, "fmix64 of FNV's offset basis")
    }

    @Test("fmix64(0) and fmix64(1) through the digest itself")
    func fmixThroughDigest() {
        // The revision that cancels the hash: hash XOR revision × odd = wanted, with the odd factor's inverse mod 2^64.
        let inverse: UInt64 = 0xF1DE_83E1_9937_733D
        #expect(inverse &* 0x9E37_79B9_7F4A_7C15 == 1)
        for (wanted, expected) in [(0, 0), (1, 0xB456_BCFC_34C2_CB2C)] as [(UInt64, UInt64)] {
            var digest = Digest()
            let hash = Self.hash("com.a/activity/order/x")
            digest.toggle(topicHash: hash, revision: (hash.value ^ wanted) &* inverse)
            #expect(digest.value == expected)
        }
    }

    @Test("an entity goes in and out again; the order does not matter")
    func toggles() {
        var digest = Digest()
        digest.toggle(topicHash: Self.hash("a"), revision: 1)
        digest.toggle(topicHash: Self.hash("b"), revision: 7)
        let both = digest
        digest.toggle(topicHash: Self.hash("a"), revision: 1)
        var onlyB = Digest()
        onlyB.toggle(topicHash: Self.hash("b"), revision: 7)
        #expect(digest == onlyB)
        onlyB.toggle(topicHash: Self.hash("a"), revision: 1)
        #expect(onlyB == both && both.value != 0)
        #expect(both.value == NaiveDigest.share(topic: "a", revision: 1) ^ NaiveDigest.share(topic: "b", revision: 7))
    }

    @Test("a topic is its prefix and the id's text")
    func appendsID() {
        let id = EntityID(high: 0x0198_0A3F_5C00_7ABC, low: 0x8123_4567_89AB_CDEF)
        #expect(id.description == "01980a3f-5c00-7abc-8123-456789abcdef")
        #expect(
            Self.hash("com.a/activity/order/").appending(id).value
                == NaiveDigest.fnv1a("com.a/activity/order/01980a3f-5c00-7abc-8123-456789abcdef"))
    }
}
