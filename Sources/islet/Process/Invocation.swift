/// How the person has called this command, so that suggestions can be typed as they stand.
enum Invocation {
    /// Such as `islet` or `.build/release/islet`.
    static let name = CommandLine.arguments.first ?? "islet"
}
