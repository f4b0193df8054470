/// What the simulator is told on its command line.
struct Options {
    var first: UInt64 = 1
    var seeds = 100
    var steps = 400
    var failures = 1
    var isVerbose = false
    var isOnce = false
    /// Steps as a failure prints them, instead of those of the seed.
    var script: String?
    var isJSON = false
    /// Each seed is named on standard error before it runs.
    var isChatty = false
    /// The script of a seed that fails stays as long as it is.
    var isUnshrunk = false

    /// False where an argument is not understood.
    mutating func read(_ arguments: ArraySlice<String>) -> Bool {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--verbose": isVerbose = true
            case "--once": isOnce = true
            case "--json": isJSON = true
            case "--names": isChatty = true
            case "--unshrunk": isUnshrunk = true
            case "--script":
                guard let text = rest.popFirst() else { return false }
                (script, isVerbose) = (text, true)
            case "--seed", "--first", "--seeds", "--steps", "--failures":
                guard let text = rest.popFirst(), let value = UInt64(text), value < 1 << 60 else { return false }
                switch argument {
                case "--seeds": seeds = Int(value)
                case "--steps": steps = Int(value)
                case "--failures": failures = Int(value)
                case "--seed":
                    first = value
                    seeds = 1
                default: first = value
                }
            default: return false
            }
        }
        return true
    }
}
