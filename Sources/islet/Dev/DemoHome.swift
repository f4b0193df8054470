/// The home of the demo, whose controls can be tapped.
enum DemoHome {
    static let app = "com.example.home"
}
