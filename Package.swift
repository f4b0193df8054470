// swift-tools-version: 6.2

import PackageDescription

/// One set of rules for every target: Swift 6, strict concurrency, and no warning is left standing.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The tests themselves need no optimizer, which is half the time of a build; what they test is built with it.
let tests = strict + [.unsafeFlags(["-Onone"])]

let package = Package(
    name: "islet",
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "islet", targets: ["islet"]),
        .library(name: "IsletClient", targets: ["IsletClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
        .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
        .package(url: "https://github.com/apple/swift-configuration", .upToNextMinor(from: "1.4.0"), traits: []),
        .package(url: "https://github.com/jpsim/Yams", .upToNextMinor(from: "6.2.2")),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", .upToNextMinor(from: "2.13.0")),
        // Only its server: no router, no Foundation.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", .upToNextMinor(from: "2.28.1"), traits: []),
        .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.2")),
        .package(url: "https://github.com/apple/swift-http-types", .upToNextMinor(from: "1.8.0"), traits: []),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", .upToNextMinor(from: "0.2.0")),
        .package(url: "https://github.com/apple/swift-metrics", .upToNextMinor(from: "2.13.0")),
    ],
    targets: [
        .systemLibrary(name: "CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSystemInfo"),

        .target(name: "IsletCore", swiftSettings: strict),
        .target(name: "IsletProtocol", dependencies: ["IsletCore"], swiftSettings: strict),
        // A layer of SQLite's, which asks for functions in C.
        .target(name: "CCombiningVFS", dependencies: ["CSQLite"]),
        // A setting of SQLite's for the whole process, which asks for functions in C; the program's alone to choose.
        .target(name: "CSQLiteMemory", dependencies: ["CSQLite"]),
        // Memory is in C's hands in these two: every use of it is marked `unsafe`.
        .target(
            name: "IsletJournal", dependencies: ["CSQLite", "CCombiningVFS", "CSystemInfo"],
            swiftSettings: strict + [.strictMemorySafety()]),
        .target(name: "ZeroMQ", dependencies: ["CZeroMQ"], swiftSettings: strict + [.strictMemorySafety()]),
        .target(
            name: "IsletMetrics", dependencies: [.product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: strict),
        .target(
            name: "IsletServer",
            dependencies: [
                "IsletCore", "IsletProtocol", "IsletJournal", "IsletMetrics", "ZeroMQ",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Yams", package: "Yams"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            swiftSettings: strict),
        .target(name: "IsletClient", dependencies: ["IsletCore", "IsletProtocol", "ZeroMQ"], swiftSettings: strict),
        // What people select by: one grammar for the command and the board.
        .target(name: "IsletFilter", dependencies: ["IsletClient"], swiftSettings: strict),
        .target(
            name: "IsletHTTP",
            dependencies: [
                "IsletClient", "IsletFilter", "IsletProtocol", "IsletServer", "ZeroMQ",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["Board"],
            swiftSettings: strict,
            plugins: ["EmbedBoard"]),
        // The board's files become Swift: a literal of text compiles in no time, one of bytes in half a minute.
        .executableTarget(name: "islet-embed", swiftSettings: strict),
        .plugin(name: "EmbedBoard", capability: .buildTool(), dependencies: ["islet-embed"]),
        .executableTarget(
            name: "islet",
            dependencies: [
                "IsletServer", "IsletHTTP", "IsletClient", "IsletFilter", "IsletCore", "IsletProtocol", "IsletJournal",
                "ZeroMQ", "CSystemInfo", "CSQLiteMemory",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Yams", package: "Yams"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),

        // Counts what is allocated, in whatever links it.
        .target(name: "CAllocationCount"),
        .executableTarget(
            name: "islet-bench",
            dependencies: ["CAllocationCount", "IsletCore", "IsletProtocol", "IsletJournal", "IsletServer"],
            swiftSettings: strict),

        // The simulator: the oracle depends on nothing, so that it cannot share code with what it judges.
        .target(name: "IsletOracle", swiftSettings: strict),
        .target(
            name: "IsletSimulation",
            dependencies: ["IsletOracle", "IsletServer", "IsletJournal", "IsletCore", "IsletProtocol"],
            swiftSettings: strict),
        .executableTarget(name: "islet-sim", dependencies: ["IsletSimulation"], swiftSettings: strict),

        // What `scripts/fuzz` and the tests throw bytes at.
        .target(
            name: "IsletFuzz", dependencies: ["IsletCore", "IsletProtocol", "IsletJournal"], swiftSettings: strict),
        // Loss of power: takes over the calls of the system that write, in whatever links it.
        .target(name: "CPowerLoss"),
        .target(name: "IsletPowerLoss", dependencies: ["CPowerLoss", "IsletJournal"], swiftSettings: strict),
        .executableTarget(name: "islet-powerloss", dependencies: ["IsletPowerLoss"], swiftSettings: strict),

        .testTarget(name: "IsletCoreTests", dependencies: ["IsletCore"], swiftSettings: strict),
        .testTarget(
            name: "IsletProtocolTests", dependencies: ["IsletProtocol", "IsletCore"], swiftSettings: tests),
        .testTarget(
            name: "IsletJournalTests", dependencies: ["IsletJournal", "CCombiningVFS", "CSQLite"], exclude: ["Fixtures"],
            swiftSettings: tests),
        .testTarget(name: "ZeroMQTests", dependencies: ["ZeroMQ"], swiftSettings: tests),
        .testTarget(
            name: "IsletMetricsTests",
            dependencies: ["IsletMetrics", .product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: tests),
        .testTarget(
            name: "IsletServerTests",
            dependencies: ["IsletServer", "IsletCore", "IsletProtocol", "IsletJournal", "ZeroMQ"],
            swiftSettings: tests),
        .testTarget(
            name: "IsletHTTPTests",
            dependencies: [
                "IsletHTTP", "IsletProtocol", "IsletServer", "IsletJournal", "ZeroMQ",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "IsletSimulationTests", dependencies: ["IsletSimulation", "IsletOracle"], swiftSettings: tests),
        .testTarget(
            name: "IsletCommandTests", dependencies: ["islet", "IsletClient", "IsletFilter"], swiftSettings: tests),
        .testTarget(
            name: "IsletFilterTests", dependencies: ["IsletFilter", "IsletClient"], swiftSettings: tests),
        .testTarget(name: "IsletFuzzTests", dependencies: ["IsletFuzz"], swiftSettings: tests),
        .testTarget(name: "IsletPowerLossTests", dependencies: ["IsletPowerLoss"], swiftSettings: tests),
        .testTarget(
            name: "IsletClientTests",
            dependencies: ["IsletClient", "IsletServer", "ZeroMQ", .product(name: "Logging", package: "swift-log")],
            swiftSettings: tests),
    ],
    swiftLanguageModes: [.v6]
)
