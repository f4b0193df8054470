/// How the person has called this command, so that suggestions can be typed as they stand.
enum Invocation {
    /// Such as `islet` or `.build/release/islet`.
    static let name = CommandLine.arguments.first ?? "islet"

    /// The options that have a value, each after a space, such as ` --app com.example --device phone-1`.
    static func options(_ given: KeyValuePairs<String, String?>) -> String {
        given.compactMap { name, value in value.map { " --\(name) \(word($0))" } }.joined()
    }

    /// A text as one word of a shell.
    private static func word(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._:/@,+-".contains($0)) }
        return isPlain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
