import IsletCore

/// Commands as publishers write them: the same that `scripts/load` sends, and a few with more in them.
enum SampleFrames {
    static let app = "com.example.bench"

    /// An id as a publisher would number it.
    static func id(_ number: Int) -> EntityID {
        EntityID(high: 0x0000_0000_0000_7000, low: 0x8000_0000_0000_0000 | UInt64(number))
    }

    /// A content state of exactly so many bytes, most of them one string.
    static func content(_ number: Int, bytes count: Int = 256) -> [UInt8] {
        padded(#"{"n":\#(number),"run":0,"text":""#, to: count)
    }

    /// A content state as apps have it: many short members, 256 bytes.
    static func nestedContent(_ number: Int) -> [UInt8] {
        padded(
            #"{"stage":"onTheWay","eta":\#(number % 90),"courier":{"name":"Zoë","vehicle":"bike","rating":4.85},"#
                + #""position":{"lat":52.520008,"lon":13.404954},"items":[{"id":17,"done":true},"#
                + #"{"id":18,"done":false}],"note":null,"steps":[1,2,3,5,8,13],"tip":2.5,"zone":""#, to: 256)
    }

    private static func padded(_ head: String, to count: Int) -> [UInt8] {
        Array(head.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: max(0, count - head.utf8.count - 2))
            + Array("\"}".utf8)
    }

    /// - Parameter staleDate: in milliseconds; nil: the update has none.
    static func update(
        _ number: Int, of activity: Int, content: [UInt8]? = nil, staleDate: Milliseconds? = nil
    ) -> [UInt8] {
        let head =
            #"{"op":"activity.update","req":"\#(number)","app":"\#(app)","id":"\#(id(activity))","#
            + #""contentState":"#
        return Array(head.utf8) + (content ?? self.content(number))
            + Array((staleDate.map { #","staleDate":\#($0)}"# } ?? "}").utf8)
    }

    /// An update with all members that it may have.
    static func fullUpdate(_ number: Int) -> [UInt8] {
        let head =
            #"{"op":"activity.update","req":"c7-\#(number)","client":"\#(id(7))","ttl":5000,"app":"\#(app)","#
            + #""key":"order-\#(number)","device":"phone-\#(number)","contentState":"#
        let tail =
            #","staleDate":1780003600000,"relevanceScore":12.5,"alert":{"title":"Nearly there","body":"Five minutes"},"#
            + #""timestamp":1780000000000,"ifRevision":7,"source":"push"}"#
        return Array(head.utf8) + content(number) + Array(tail.utf8)
    }

    /// An update whose key is written with an escape.
    static func escapedUpdate(_ number: Int) -> [UInt8] {
        let head =
            #"{"op":"activity.update","req":"\#(number)","app":"\#(app)","key":"order\u002d\#(number)","contentState":"#
        return Array(head.utf8) + content(number) + Array("}".utf8)
    }

    /// - Parameter staleDate: in milliseconds; nil: it has none.
    static func start(_ number: Int, staleDate: Milliseconds? = nil) -> [UInt8] {
        let date = staleDate.map { #""staleDate":\#($0),"# } ?? ""
        let head =
            #"{"op":"activity.start","req":"\#(number)","app":"\#(app)","type":"Bench","attributes":{},\#(date)"#
            + #""id":"\#(id(number))","contentState":"#
        // Another content than that of the update with this number, which would change nothing.
        return Array(head.utf8) + content(-number - 1) + Array("}".utf8)
    }

    static func end(_ number: Int) -> [UInt8] {
        Array(
            (#"{"op":"activity.end","req":"\#(number)","app":"\#(app)","id":"\#(id(number))","#
                + #""dismissalPolicy":"immediate"}"#).utf8)
    }

    static func tap(_ number: Int) -> [UInt8] {
        Array(#"{"op":"control.tap","req":"\#(number)","app":"\#(app)","id":"\#(id(number))"}"#.utf8)
    }

    static func providerAnswer(_ number: Int) -> [UInt8] {
        Array(#"{"op":"provider.answer","provider":"\#(id(1))","call":"\#(number)","value":true}"#.utf8)
    }
}

/// The bytes that a command's ranges point into, for commands that no decoder read.
struct FrameBuilder {
    private(set) var bytes: [UInt8] = []

    mutating func run(_ text: String) -> FrameRange { run(Array(text.utf8)) }

    mutating func run(_ text: [UInt8]) -> FrameRange {
        let start = bytes.count
        bytes += text
        return FrameRange(offset: start, count: bytes.count - start)
    }
}
