/// What stands on the command line.
struct Options {
    var subject: Subject
    /// Operations of a round; nil: the subject's own number.
    var count: Int?
    var rounds = 5
    var isJSON = false
    var marksRegions = false

    /// Nil where it cannot be read.
    init?(_ arguments: ArraySlice<String>) {
        var rest = arguments
        guard let subject = rest.popFirst().flatMap(Subject.init(rawValue:)) else { return nil }
        self.subject = subject
        while let argument = rest.popFirst() {
            switch argument {
            case "--json": isJSON = true
            case "--regions": marksRegions = true
            case "--count", "--rounds":
                guard let value = rest.popFirst().flatMap({ Int($0) }), (1...100_000_000).contains(value) else {
                    return nil
                }
                if argument == "--count" { count = value } else { rounds = value }
            default: return nil
            }
        }
    }
}
