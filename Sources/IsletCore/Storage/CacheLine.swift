/// What a processor fetches from memory at once.
enum CacheLine {
    /// On x86-64 and on most of arm64; where a line has more, some reads of it are spent for nothing.
    static var bytes: Int { 64 }
}
