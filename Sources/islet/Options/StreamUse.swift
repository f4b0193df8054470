/// What a command reads beside the answers to its commands.
enum StreamUse {
    case nothing
    /// What joins are answered, such as which apps there are.
    case joins
    /// Events, and by the bulk socket what was before them or was missed.
    case events
}
