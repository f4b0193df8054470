/// The contract's digest over listed entities, written from the contract's sentence.
package struct StreamDigest {
    private var sum: UInt64 = 0

    package init() {}

    package mutating func toggle(topic: String, revision: Int) {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in topic.utf8 {
            hash ^= UInt64(byte)
            hash = hash &* 1_099_511_628_211
        }
        var key = hash ^ (UInt64(revision) &* 0x9E37_79B9_7F4A_7C15)
        key ^= key >> 33
        key = key &* 0xff51_afd7_ed55_8ccd
        key ^= key >> 33
        key = key &* 0xc4ce_b9fe_1a85_ec53
        key ^= key >> 33
        sum ^= key
    }

    /// 16 lower-case hexadecimal digits.
    package var text: String {
        let hex = String(sum, radix: 16)
        return String(repeating: "0", count: 16 - hex.count) + hex
    }
}
