/// The value of typed requests: about 1 KB as JSON.
package struct Item: Codable, Sendable {
    package struct Address: Codable, Sendable {
        let street, city, zip, country: String
    }

    package struct Line: Codable, Sendable {
        let sku: String
        let count: Int
        let price: Double
    }

    let id: Int
    let name: String
    let active: Bool
    let price: Double
    let tags: [String]
    let address: Address
    let items: [Line]

    package static let sample = Item(
        id: 7, name: "A folding table of oiled beech for six guests, delivered in one piece to a place of your choice",
        active: true, price: 12.5,
        tags: [
            "furniture-and-rooms", "kitchen-and-dining", "solid-wood", "beech", "folding-tables", "indoor", "oiled",
            "in-stock",
        ],
        address: Address(
            street: "12 Long Meadow Lane", city: "Market Harborough", zip: "LE16 7AB", country: "United Kingdom"),
        items: (1...8).map {
            Line(sku: "folding-table-of-oiled-beech-part-0\($0)-of-08", count: $0, price: Double($0) + 0.25)
        })
}
