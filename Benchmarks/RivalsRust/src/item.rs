//! The value of typed requests, as `Item.sample` of the Swift rivals: 990 bytes as JSON.

use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Item {
    id: i64,
    name: String,
    active: bool,
    price: f64,
    tags: Vec<String>,
    address: Address,
    items: Vec<Line>,
}

#[derive(Serialize, Deserialize)]
struct Address {
    street: String,
    city: String,
    zip: String,
    country: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    sku: String,
    count: i64,
    price: f64,
}

impl Item {
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }

    pub fn sample() -> Item {
        let tags = [
            "furniture-and-rooms",
            "kitchen-and-dining",
            "solid-wood",
            "beech",
            "folding-tables",
            "indoor",
            "oiled",
            "in-stock",
        ];
        Item {
            id: 7,
            name: "A folding table of oiled beech for six guests, delivered in one piece to a place of your choice"
                .into(),
            active: true,
            price: 12.5,
            tags: tags.map(String::from).into(),
            address: Address {
                street: "12 Long Meadow Lane".into(),
                city: "Market Harborough".into(),
                zip: "LE16 7AB".into(),
                country: "United Kingdom".into(),
            },
            items: (1..=8)
                .map(|number| Line {
                    sku: format!("folding-table-of-oiled-beech-part-0{number}-of-08"),
                    count: number,
                    price: number as f64 + 0.25,
                })
                .collect(),
        }
    }
}
