@main
struct IsletCommand {
    static func main() {}
}
