/// The contract's digest, written once more from its words and from the published algorithms.
enum NaiveDigest {
    static func fnv1a(_ text: String) -> UInt64 {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in text.utf8 {
            hash ^= UInt64(byte)
            hash = hash &* 1_099_511_628_211
        }
        return hash
    }

    static func fmix64(_ value: UInt64) -> UInt64 {
        var k = value
        k = k ^ (k >> 33)
        k = k &* 18_397_679_294_719_823_053
        k = k ^ (k >> 33)
        k = k &* 14_181_476_777_654_086_739
        k = k ^ (k >> 33)
        return k
    }

    /// One entity's share.
    static func share(topic: String, revision: UInt64) -> UInt64 {
        fmix64(fnv1a(topic) ^ (revision &* 0x9E37_79B9_7F4A_7C15))
    }
}
