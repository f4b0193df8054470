import Foundation
import IsletCore
import IsletProtocol
import IsletServer
import Testing

/// `docs/limits.md` says what the code does.
@Suite struct LimitsTableTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/limits.md").standardized

    /// The cells of each row that begins with a name in backquotes, by that name.
    private func rows() throws -> [(name: String, cells: [String])] {
        try String(contentsOf: Self.page, encoding: .utf8).split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `") else { return nil }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return (String(cells[0].split(separator: "`")[0]), Array(cells.dropFirst()))
        }
    }

    private func number(_ number: Int) -> String {
        var (text, rest) = ("", number)
        while rest >= 1_000 {
            text = ",\(String(1_000 + rest % 1_000).dropFirst())\(text)"
            rest /= 1_000
        }
        return "\(rest)\(text)"
    }

    private func bytes(_ bytes: Int) -> String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
    }

    @Test func whatWaitsStandsInTheTableAsItIs() throws {
        let rows = try rows().filter { row in WaitingWork(rawValue: row.name) != nil }
        #expect(rows.map(\.name) == WaitingWork.allCases.map(\.rawValue))
        for (work, row) in zip(WaitingWork.allCases, rows) {
            let limits = work.limits
            let time = limits.longest.map { "; \($0 < 3_600_000 ? "\($0 / 1_000) s" : "\($0 / 3_600_000) h")" } ?? ""
            try #require(row.cells.count == 5)
            #expect(row.cells[0] == "\(number(limits.count)); \(bytes(limits.bytes))\(time)")
            #expect(row.cells[1] == "\(number(limits.countOfPeer)); \(bytes(limits.bytesOfPeer))")
            #expect(!row.cells[2].isEmpty)
            #expect(row.cells[3] == "`islet_waiting{work=\"\(work.rawValue)\"}`")
            #expect(row.cells[4] == "fixed")
        }
    }

    @Test func theOtherLimitsStandInTheTableAsTheyAre() throws {
        let (provider, outbox) = (ProviderTable.Limits(), OutboxLimits())
        let expected = [
            ["command", bytes(InboundMessages.maximumCommandBytes), "the same"],
            ["commands", number(InboundMessages.maximumCommands), "the same"],
            ["connections", "half the files of the process; \(number(ConnectionLimits.perSocket)) an address", "none"],
            ["subscriptions", bytes(SubscriptionTable.bytesInAll), number(SubscriptionTable.perPeer)],
            ["unread", bytes(outbox.totalBytes), "\(number(outbox.messages)); \(bytes(outbox.bytes))"],
            ["events", "none", number(Int(ServiceSockets.waitingEvents))],
            ["providers", number(provider.maximumProviders), "none"],
            ["kinds", number(ControlKindTable.maximumKinds), number(DeclarationLimits.counts.upperBound)],
            ["declarations", bytes(Engine.maximumDeclaredBytes), "none"],
            ["recommendations", bytes(KindSayings.maximumBytes), "none"],
            ["calls", number(provider.maximumCalls), number(provider.maximumCapacity)],
            ["waitingReads", number(provider.waitingReads), "none"],
            ["waitingValues", number(provider.waitingValues), "none"],
            ["waitingActions", number(provider.waitingActions), "none"],
            ["waitingRetries", number(provider.waitingRetries), "none"],
            ["failureReason", "none", number(CallFailure.reasonLimit)],
            ["reloads", number(ReloadSweep<WidgetCause>.maximum), "none"],
            ["apps", number(AppTable.maximumApps), "none"],
            ["devices", number(DeviceTable.maximumDevices), "none"],
            ["appsOfDevice", number(DeviceTable.maximumApps), "none"],
            ["conditionsOfDevice", number(DeviceConditions.maximumApps), "none"],
            ["entities", number(RuleSet.standard.maximumEntities), "none"],
            ["retained", number(RuleSet.standard.maximumRetained), "none"],
        ]
        let rows = try rows().filter { row in WaitingWork(rawValue: row.name) == nil }
        #expect(rows.map { [$0.name] + $0.cells.prefix(2) } == expected)
        #expect(rows.allSatisfy { $0.cells.count == 5 && !$0.cells.contains("") })
    }
}
