import Testing

@testable import ErrandConfiguration

/// From texts to values.
@Suite struct ConfigurationTextTests {
    static let durationTexts: [(String, Duration)] = [
        ("250ms", .milliseconds(250)), ("5s", .seconds(5)), ("1m", .seconds(60)), ("1.5h", .seconds(5400)),
        ("2d", .seconds(172_800)), ("10us", .microseconds(10)), ("0", .zero), ("0s", .zero),
        ("0.1s", .milliseconds(100)),
    ]

    @Test(arguments: durationTexts) func durations(_ text: String, _ duration: Duration) {
        #expect(ConfigurationText.duration(text) == duration)
    }

    @Test(arguments: ["", "5", "s", "5 s", "-1s", "+1s", "1e3s", "0x1s", "inf", "1..2s", "٣s", "5S", "99999999999d"])
    func noDurations(_ text: String) {
        #expect(ConfigurationText.duration(text) == nil)
    }

    @Test(arguments: [
        ("0", 0), ("4096", 4096), ("64KiB", 65_536), ("64k", 65_536), ("10MiB", 10 << 20), ("2g", 2 << 30),
        ("1TiB", 1 << 40), ("1gib", 1 << 30),
    ]) func bytes(_ text: String, _ count: Int) {
        #expect(ConfigurationText.bytes(text) == count)
    }

    @Test(arguments: ["", "k", "-1", "+1", "1.5m", "1KB", "9223372036854775807g", "1 k"])
    func noBytes(_ text: String) {
        #expect(ConfigurationText.bytes(text) == nil)
    }

    @Test func flagsAndNumbers() {
        for text in ["true", "YES", "on", "1"] { #expect(ConfigurationText.flag(text) == true) }
        for text in ["false", "No", "off", "0"] { #expect(ConfigurationText.flag(text) == false) }
        for text in ["", "2", "tru", "y"] { #expect(ConfigurationText.flag(text) == nil) }
        #expect(ConfigurationText.number("0.5") == 0.5 && ConfigurationText.number("3") == 3)
        for text in ["", ".5", "-1", "1e3", "nan", "1.2.3"] { #expect(ConfigurationText.number(text) == nil) }
        for text in ["", "+1", "-1", "1.0", "99999999999999999999"] { #expect(ConfigurationText.count(text) == nil) }
        #expect(ConfigurationText.parts(" a, b ,,c", separator: ",") == ["a", "b", "", "c"])
    }
}
