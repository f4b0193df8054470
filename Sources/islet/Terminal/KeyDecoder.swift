/// What a person presses.
package enum Key: Hashable, Sendable {
    case character(Character)
    /// With the control key, such as `control("l")`.
    case control(Character)
    case enter, escape, backspace, delete, tab, backTab
    case up, down, left, right, pageUp, pageDown, home, end
}

/// Makes keys of the bytes that a terminal sends, which may come in any pieces. What it does not know is passed over,
/// however long it is; it remembers a few bytes at most.
package struct KeyDecoder {
    private enum State {
        case ground
        /// After ESC: the key itself, or the beginning of a sequence.
        case escape
        /// After `ESC [`, with its parameters so far.
        case sequence(parameters: [UInt8])
        /// After `ESC O`.
        case shift
        /// Within a character of UTF-8.
        case character([UInt8], missing: Int)
    }

    private var state = State.ground

    /// A decoder that has seen nothing.
    package init() {}

    /// Parameters longer than this are of no sequence that is known.
    private static let parametersMax = 8

    /// Whether an ESC waits for what follows: `timeOut()` is to be called if nothing does.
    package var isWaiting: Bool {
        switch state {
        case .escape: true
        case .ground, .sequence, .shift, .character: false
        }
    }

    /// The keys that these bytes complete.
    package mutating func keys(of bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes { take(byte, &keys) }
        return keys
    }

    /// Nothing followed an ESC for a while: it was the key.
    package mutating func timeOut() -> [Key] {
        guard isWaiting else { return [] }
        state = .ground
        return [.escape]
    }

    private mutating func take(_ byte: UInt8, _ keys: inout [Key]) {
        switch state {
        case .ground:
            begin(byte, &keys)
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence(parameters: [])
            case UInt8(ascii: "O"): state = .shift
            case _:
                keys.append(.escape)
                state = .ground
                begin(byte, &keys)
            }
        case .sequence(let parameters):
            switch byte {
            case 0x40...0x7E:
                state = .ground
                guard parameters.count <= Self.parametersMax else { break }
                if let key = Self.key(final: byte, parameters: parameters) { keys.append(key) }
            case 0x20...0x3F:
                if parameters.count <= Self.parametersMax { state = .sequence(parameters: parameters + [byte]) }
            case _:
                state = .ground
                begin(byte, &keys)
            }
        case .shift:
            state = .ground
            if let key = Self.key(final: byte, parameters: []) { keys.append(key) }
        case .character(let bytes, let missing):
            guard byte & 0xC0 == 0x80 else {
                state = .ground
                return begin(byte, &keys)
            }
            guard missing == 1 else {
                state = .character(bytes + [byte], missing: missing - 1)
                return
            }
            state = .ground
            if let text = String(validating: bytes + [byte], as: UTF8.self), let character = text.first {
                keys.append(.character(character))
            }
        }
    }

    private mutating func begin(_ byte: UInt8, _ keys: inout [Key]) {
        switch byte {
        case 0x1B: state = .escape
        case 0x0D, 0x0A: keys.append(.enter)
        case 0x09: keys.append(.tab)
        case 0x7F, 0x08: keys.append(.backspace)
        case 0x01...0x1A: keys.append(.control(Character(Unicode.Scalar(byte + 0x60))))
        case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
        case 0xC2...0xDF: state = .character([byte], missing: 1)
        case 0xE0...0xEF: state = .character([byte], missing: 2)
        case 0xF0...0xF4: state = .character([byte], missing: 3)
        case _: break
        }
    }

    /// The key of `ESC [ … final` and `ESC O final`, as xterm, the Linux console and VT220 send them.
    private static func key(final: UInt8, parameters: [UInt8]) -> Key? {
        let number = parameters.prefix { $0 != UInt8(ascii: ";") }
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return .right
        case UInt8(ascii: "D"): return .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "Z"): return .backTab
        case UInt8(ascii: "M") where parameters.isEmpty: return .enter
        case UInt8(ascii: "~"):
            switch String(decoding: number, as: UTF8.self) {
            case "1", "7": return .home
            case "3": return .delete
            case "4", "8": return .end
            case "5": return .pageUp
            case "6": return .pageDown
            case _: return nil
            }
        case _: return nil
        }
    }
}
