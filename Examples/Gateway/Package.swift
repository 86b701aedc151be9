// swift-tools-version: 6.1
// A gateway on Errand, and the same gateway on AsyncHTTPClient. It is a separate package, so that nobody who imports
// Errand gets these dependencies.
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")

let package = Package(
    name: "errand-gateway",
    products: [
        .executable(name: "gateway", targets: ["gateway"]),
        .executable(name: "gateway-ahc", targets: ["gateway-ahc"]),
    ],
    dependencies: [
        .package(name: "errand", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", .upToNextMinor(from: "1.37.0")),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // These two targets replace swift-prometheus and swift-otel. A service would use those packages, but they are
        // not available where this project is built.
        .target(name: "PrometheusText", dependencies: [metrics], swiftSettings: settings),
        .target(
            name: "TraceFile",
            dependencies: [
                lifecycle,
                .product(name: "Errand", package: "errand"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        // Adds what Hummingbird lacks: it handles callers that hang up, and no request is lost in a shutdown.
        .target(
            name: "CallerConnections",
            dependencies: [
                httpTypes, logging, metrics, nio,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ],
            swiftSettings: settings),
        // The common parts of both gateways: the server, and the rules for header fields.
        .target(
            name: "GatewayParts",
            dependencies: [
                "CallerConnections", configuration, httpTypes, lifecycle, logging, metrics, nio,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "gateway",
            dependencies: [
                "GatewayParts", "PrometheusText", "TraceFile", configuration, httpTypes, lifecycle, logging, metrics,
                nio, signals,
                .product(name: "Errand", package: "errand"),
                .product(name: "ErrandConfiguration", package: "errand"),
                .product(name: "ErrandLifecycle", package: "errand"),
                .product(name: "ErrandMetrics", package: "errand"),
                .product(name: "ErrandNIO", package: "errand"),
                .product(name: "ErrandTracing", package: "errand"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "gateway-ahc",
            dependencies: [
                "GatewayParts", "PrometheusText", configuration, httpTypes, lifecycle, logging, metrics, nio,
                signals,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ],
            swiftSettings: settings),
    ]
)
