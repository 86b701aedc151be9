// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")

/// The library's targets in layers. Each target in the first line sees the targets before it. The other targets see the
/// first line, but not each other.
let parts = [
    "ErrandModel", "ErrandEngine", "ErrandClient",
    "ErrandCaching", "ErrandDownloads", "ErrandGroups", "ErrandEvents", "ErrandAuthentication", "ErrandLogging",
    "ErrandResilience",
]
/// For targets that import Errand: SwiftPM recompiles them only if a target that they name changes.
let library = (["Errand"] + parts).map { Target.Dependency(stringLiteral: $0) }

let package = Package(
    name: "errand",
    products: [
        .library(name: "Errand", targets: ["Errand"] + parts),
        .library(name: "ErrandXML", targets: ["ErrandXML"]),
        .library(name: "ErrandSQLite", targets: ["ErrandSQLite"]),
        .library(name: "ErrandMetrics", targets: ["ErrandMetrics"]),
        .library(name: "ErrandTracing", targets: ["ErrandTracing"]),
        .library(name: "ErrandLifecycle", targets: ["ErrandLifecycle"]),
        .library(name: "ErrandConfiguration", targets: ["ErrandConfiguration", "ErrandConfigurationKeys"]),
        .library(name: "ErrandNIO", targets: ["ErrandNIO"]),
        .library(name: "ErrandTesting", targets: ["ErrandTesting"]),
        .library(name: "ErrandLoad", targets: ["ErrandLoad"]),
        .library(name: "CErrand", targets: ["CErrand"]),
        .executable(name: "errand", targets: ["errand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibcurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CLibuv", pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CBrotli", pkgConfig: "libbrotlidec",
            providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(
            name: "CZstd", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        // The C core. CMakeLists.txt builds the same files without the Swift targets.
        .target(
            name: "CErrand",
            dependencies: ["CLibcurl", "CLibuv", "CZlib", "CBrotli", "CZstd"],
            cSettings: [.define("_GNU_SOURCE"), .headerSearchPath(".")]),
        // Values without I/O: requests, responses, errors, URLs, header fields, JSON.
        .target(name: "ErrandModel", dependencies: ["CZlib", httpTypes], swiftSettings: settings),
        // Transports: the protocol, the reactor over the core, callback queues, cookies.
        .target(name: "ErrandEngine", dependencies: ["ErrandModel", "CErrand", httpTypes], swiftSettings: settings),
        // The main interface: commands, clients, requests, interceptors, accessories, streams.
        .target(
            name: "ErrandClient", dependencies: ["ErrandEngine", deque, httpTypes, logging], swiftSettings: settings),
        // The parts that plug into the client, independent of each other.
        .target(name: "ErrandCaching", dependencies: ["ErrandClient", httpTypes, logging], swiftSettings: settings),
        .target(name: "ErrandDownloads", dependencies: ["ErrandClient", deque, httpTypes], swiftSettings: settings),
        .target(name: "ErrandGroups", dependencies: ["ErrandClient", httpTypes], swiftSettings: settings),
        .target(name: "ErrandEvents", dependencies: ["ErrandClient", deque, httpTypes], swiftSettings: settings),
        .target(name: "ErrandAuthentication", dependencies: ["ErrandClient", httpTypes], swiftSettings: settings),
        .target(name: "ErrandLogging", dependencies: ["ErrandClient", httpTypes, logging], swiftSettings: settings),
        .target(
            name: "ErrandResilience", dependencies: ["ErrandClient", httpTypes, heap], swiftSettings: settings),
        // The module that users import: all of the above.
        .target(
            name: "Errand", dependencies: parts.map { Target.Dependency(stringLiteral: $0) } + [httpTypes],
            swiftSettings: settings),
        // Separate, because FoundationXML brings libxml2 and ICU.
        .target(name: "ErrandXML", dependencies: library, swiftSettings: settings),
        // Separate, because it brings SQLite.
        .target(name: "ErrandSQLite", dependencies: library + ["CSQLite"], swiftSettings: settings),
        // Separate, because it brings swift-metrics.
        .target(
            name: "ErrandMetrics",
            dependencies: library + [.product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: settings),
        // Separate, because it brings swift-distributed-tracing.
        .target(
            name: "ErrandTracing",
            dependencies: library + [.product(name: "Tracing", package: "swift-distributed-tracing")],
            swiftSettings: settings),
        // Separate, because it brings swift-service-lifecycle.
        .target(
            name: "ErrandLifecycle",
            dependencies: library + [.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")],
            swiftSettings: settings),
        // The keys of settings: a table without dependencies, which the tool prints.
        .target(name: "ErrandConfigurationKeys", swiftSettings: settings),
        // Separate, because it brings swift-configuration.
        .target(
            name: "ErrandConfiguration",
            dependencies: library + [
                "ErrandConfigurationKeys", .product(name: "Configuration", package: "swift-configuration"),
            ],
            swiftSettings: settings),
        // Separate, because it brings SwiftNIO.
        .target(
            name: "ErrandNIO", dependencies: library + [.product(name: "NIOCore", package: "swift-nio")],
            swiftSettings: settings),
        // Load tests. Separate, because it brings HdrHistogram.
        .target(
            name: "ErrandLoad",
            dependencies: library + [
                "CZlib", httpTypes, .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            swiftSettings: settings),
        // A scripted server that misbehaves on demand; the C tests use it too.
        .target(name: "CErrandFaultServer", cSettings: [.define("_GNU_SOURCE")]),
        .target(
            name: "ErrandTesting",
            dependencies: library + ["CErrandFaultServer"],
            swiftSettings: settings),
        .executableTarget(
            name: "errand",
            dependencies: library + [
                "CErrand",
                "CSQLite",
                "ErrandConfigurationKeys",
                "ErrandLoad",
                "ErrandSQLite",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            path: "Sources/errand-tool",
            swiftSettings: settings),
        // The demo program, which scripts/demo runs.
        .executableTarget(
            name: "errand-demo",
            dependencies: library,
            path: "Examples/Demo",
            exclude: ["demo.http", "nginx.conf.in"],
            swiftSettings: settings),
        // Sends a load with different client settings to a server that falls ill by a script. scripts/demo runs it too.
        .executableTarget(
            name: "errand-sick-server", dependencies: library, path: "Examples/SickServer", swiftSettings: settings),
        // The load whose costs scripts/gates counts.
        .executableTarget(
            name: "errand-gates", dependencies: library, path: "Benchmarks/Gates", swiftSettings: settings),
        // The same load with products whose code errand-gates must not have.
        .executableTarget(
            name: "errand-gates-products",
            dependencies: library + [
                "ErrandMetrics", "ErrandTracing", .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            path: "Benchmarks/GatesProducts",
            swiftSettings: settings),
        .testTarget(
            name: "ErrandTests",
            dependencies: library + [
                "ErrandTesting", "ErrandConfigurationKeys", "CErrand", "CZlib",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandIntegrationTests",
            dependencies: library + ["ErrandTesting", "CErrand", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandXMLTests",
            dependencies: library + [
                "ErrandXML", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandMetricsTests",
            dependencies: library + [
                "ErrandMetrics", "ErrandTracing", "ErrandTesting",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["Conventions.json"],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandTracingTests",
            dependencies: library + [
                "ErrandTracing", "ErrandTesting", .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
        // The tests of the cache file run this program in separate processes, to kill them or to restrict their
        // rights.
        .executableTarget(
            name: "errand-cache-probe",
            dependencies: library + ["ErrandSQLite", "ErrandTesting", "CSQLite"],
            path: "Tests/CacheProbe",
            swiftSettings: settings),
        .testTarget(
            name: "ErrandSQLiteTests",
            dependencies: library + ["ErrandSQLite", "ErrandTesting", "CSQLite", "errand-cache-probe"],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandLifecycleTests",
            dependencies: library + [
                "ErrandConfiguration", "ErrandConfigurationKeys", "ErrandLifecycle", "ErrandMetrics", "ErrandTesting",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandConfigurationTests",
            dependencies: library + [
                "ErrandConfiguration", "ErrandConfigurationKeys", "ErrandTesting",
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandNIOTests",
            dependencies: library + [
                "ErrandNIO", "ErrandTesting", "CErrand", .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandLoadTests",
            dependencies: library + ["ErrandLoad", "ErrandTesting", httpTypes],
            swiftSettings: settings),
        // These tests run the built tool.
        .testTarget(
            name: "ErrandToolTests",
            dependencies: [
                "errand", "errand-sick-server", "ErrandLoad", "ErrandTesting",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Samples"],
            swiftSettings: settings),
    ],
    cLanguageStandard: .gnu11
)

// The parsers under libFuzzer: `scripts/fuzz`. The target exists only then, because the program has no main function
// except libFuzzer's.
if Context.environment["ERRAND_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "errand-fuzz",
            dependencies: library + [
                "CErrand", "CSQLite", "ErrandConfigurationKeys", "ErrandLoad", "ErrandSQLite",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            path: "Tests/Fuzz/Swift",
            exclude: ["Tool/Tool.swift", "Tool/Arguments/AttachedValues.swift", "Tool/Manual"],
            swiftSettings: settings))
}

// The library and its tests without the programs, for builds with a sanitizer: `scripts/test`. The tests of the cache
// file need the probe.
if Context.environment["ERRAND_LIBRARY_ONLY"] != nil {
    package.targets.removeAll { target in
        target.name == "ErrandToolTests" || (target.type == .executable && target.name != "errand-cache-probe")
    }
    package.products.removeAll { $0.name == "errand" }
}
