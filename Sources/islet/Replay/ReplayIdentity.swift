/// Who a replay is to the target: the same for the same recording, so that a command that was executed is known again.
package enum ReplayIdentity {
    /// A UUID (version 8) made of the recording's first event and of what it is called at the target.
    package static func client(_ recording: Recording, _ names: ReplayNames) -> String {
        var text = recording.identity + Array(names.prefix.utf8)
        for (old, new) in names.map.sorted(by: { $0.key < $1.key }) { text += Array("\u{1F}\(old)=\(new)".utf8) }
        let high = hash(text, seed: 0xCBF2_9CE4_8422_2325) & ~0xF000 | 0x8000
        let low = hash(text, seed: 0x8422_2325_CBF2_9CE4) & ~(3 << 62) | 2 << 62
        let digits = Array(hexadecimal(high) + hexadecimal(low))
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return parts.joined(separator: "-")
    }

    /// FNV-1a with another beginning, and mixed at the end.
    private static func hash(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        return hash ^ hash >> 33
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
