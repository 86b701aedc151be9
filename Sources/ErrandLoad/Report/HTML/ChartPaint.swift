/// The look of a shape in a chart. Each kind has a class, which the style sheet colours for light and dark screens. It
/// also has the light colours as attributes of SVG, because a Content-Security-Policy may refuse a style sheet in a
/// page, as that of Jenkins does, and shapes without any colour are black areas.
enum ChartPaint {
    /// A line, by its place.
    case line(Int)
    /// A single value, in the colour of the line.
    case dot(Int)
    /// An area, by its place.
    case area(Int)
    /// A cell of a heat map, by its step from 0 to 5.
    case heat(Int)
    case grid, axis
    /// The time after the measured part.
    case outside
    /// Invisible areas with tooltips.
    case tips

    /// The colours are those of Okabe and Ito, which people with any colour vision can distinguish. They are darker
    /// where a thin line on white needs it. Lines also differ by their dashes.
    private static let colors = ["#0072b2", "#6b747d", "#cc5200", "#a34482", "#00875f", "#8a6d00"]
    private static let dashes = ["", "7 4", "2 4", "10 4 2 4", "14 5", "1 6"]
    /// Opaque, because cells may overlap by a part of a pixel.
    private static let heats = ["#c2d6e4", "#9dbdd4", "#78a4c4", "#548cb4", "#2f73a4", "#0a5a94"]

    /// The number of different lines.
    static var count: Int { colors.count }

    /// The attributes of a shape or a group.
    var attributes: String {
        switch self {
        case .line(let place):
            let dashes = Self.dashes[place].isEmpty ? "" : " stroke-dasharray=\"\(Self.dashes[place])\""
            return "class=\"s\(place)\" fill=\"none\" stroke=\"\(Self.colors[place])\" stroke-width=\"2\" "
                + "stroke-linejoin=\"round\" stroke-linecap=\"round\"\(dashes)"
        case .dot(let place):
            return "class=\"s\(place)\" fill=\"none\" stroke=\"\(Self.colors[place])\" stroke-width=\"7\" "
                + "stroke-linecap=\"round\""
        case .area(let place): return "class=\"f\(place)\" fill=\"\(Self.colors[place])\""
        case .heat(let step):
            return "class=\"h\(step)\" fill=\"\(Self.heats[step])\" shape-rendering=\"crispEdges\""
        case .grid: return "class=\"grid\" fill=\"none\" stroke=\"#e6e9ec\""
        case .axis: return "class=\"axis\" fill=\"none\" stroke=\"#c9ced3\""
        case .outside: return "class=\"outside\" fill=\"#59626b\" fill-opacity=\"0.1\""
        case .tips: return "class=\"tips\" fill=\"none\" pointer-events=\"all\""
        }
    }

    /// A group of shapes of one paint; empty if there are no shapes.
    func group(_ shapes: [String]) -> String {
        shapes.isEmpty ? "" : "<g \(attributes)>\(shapes.joined(separator: "\n"))</g>"
    }
}
