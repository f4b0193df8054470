/// The version that the command says it has.
enum ClientVersion {
    static let text = "0.1.0"
}
