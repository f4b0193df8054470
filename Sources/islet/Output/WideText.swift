import IsletClient

/// The columns that a wide table has beyond the others.
enum WideText {
    static let head = ["ID", "CAUSE", "SINCE", "CONTENT"]

    /// The whole id, the last cause, when it began, and what it is about.
    static func cells(_ row: RawObject) -> [String] {
        let since = (row["startedAt"] ?? row["addedAt"] ?? row["startDate"])?.integer.map(TimeText.full)
        let content = row["contentState"] ?? row["configuration"] ?? row["entry"]?.object?["content"]
        return [
            row["id"]?.string ?? "", row["cause"]?.string ?? "", since ?? "-",
            content?.description.shortened(to: contentWidth) ?? "-",
        ]
    }

    private static let contentWidth = 100
}
